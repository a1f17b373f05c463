"""Bad input: one clear message, the documented exit code, nothing started, nothing overwritten."""
import json
import shutil
import unittest

from command import CommandTest, make_setuid

USAGE, UNSUITABLE, NO_INPUT, UNAVAILABLE, CANT_CREATE = 64, 65, 66, 69, 73
PLAIN = "int main(void) { return 0; }"


class Words(CommandTest):
    def test_unknown_verb(self):
        self.assert_refused(USAGE, "'frobnicate'", "frobnicate")

    def test_no_verb(self):
        self.assert_refused(USAGE, "no verb")

    def test_misspelt_option_is_not_taken_for_the_program(self):
        self.assert_refused(USAGE, "--netwrok", "run", "-n", "2", "--netwrok", "lsb", "--", "./app")

    def test_missing_program(self):
        self.assert_refused(USAGE, "no program", "run", "-n", "2")
        self.assert_refused(USAGE, "no program", "run", "-n", "2", "--")
        self.assert_refused(USAGE, "after ':'", "run", "-n", "2", "--", "./app", ":", "-n", "2")

    def test_number_of_ranks(self):
        self.assert_refused(USAGE, "missing", "run", "--", "./app")
        for bad in ("0", "-3", "four", "1e3", "100001"):
            self.assert_refused(USAGE, f"'{bad}'", "run", f"--ranks={bad}", "--", "./app")

    def test_number_of_ranks_from_the_environment(self):
        self.set("NPLUS1_RANKS", "0")
        self.assert_refused(USAGE, "'0'", "run", "--", "./app")

    def test_network(self):
        self.assert_refused(USAGE, "--network", "run", "-n", "2", "--network", "carrier-pigeon", "--", "./app")
        self.assert_refused(USAGE, "--network", "run", "-n", "2", "--network", "lsb:latency=soon", "--", "./app")

    def test_choices_and_grammars(self):
        for flag, value in (("--clock", "sundial"), ("--protocol", "none"), ("--direct", "maybe"),
                            ("--on-deadlock", "shrug"), ("--transport", "pigeon"), ("--collectives", "bcast=magic"),
                            ("--hash", "md5"), ("--hash", "crc32,"), ("--inline-payloads", "65")):
            self.assert_refused(USAGE, flag, "run", "-n", "2", flag, value, "--", "./app")
        for bad in ("fast", "scale:", "scale:-1", "fixed:x", "file:absent", "fixed"):
            self.assert_refused(USAGE, "--compute", "run", "-n", "2", "--compute", bad, "--", "./app")
        for bad in ("soon", "1e-6,", ",1", "1,2,3"):
            self.assert_refused(USAGE, "--poll-cost", "run", "-n", "2", "--poll-cost", bad, "--", "./app")

    def test_a_table_of_compute_times_is_read_before_anything_starts(self):
        for line in ("0 MPI_Send", "0 MPI_Send 5m", "0 MPI_Sned 5ms", "one MPI_Send 5ms"):
            self.write("table", f"* MPI_Recv 1us\n{line}\n")
            self.assert_refused(USAGE, "table:2: ", "run", "-n", "2", "--compute", "file:table", "--", "./app")
        self.write("table", "# nothing but a comment\n")
        self.assert_refused(USAGE, "table", "run", "-n", "2", "--compute", "file:table", "--", "./app")
        self.assert_refused(USAGE, "directory", "run", "-n", "2", "--compute", f"file:{self.folder}", "--", "./app")

    def test_paths_that_cannot_be_followed_are_no_bug(self):
        (self.folder / "loop").symlink_to("loop")
        for name in ("loop", "n" * 300):
            for words in (("collectives", name), ("diff", name, name), ("convert", name, "-o", "x.csv"), ("report", name)):
                self.assert_refused(NO_INPUT, name, *words)
            for format in ("otf2", "ti", "goal", "csv"):
                self.assert_refused(NO_INPUT, name, "convert", name, "--from", format, "-o", "x.n1r")

    def test_the_result_of_a_run_without_a_recording_is_told(self):
        (self.folder / "DIR").mkdir()
        self.write("DIR/summary.json", "{}")
        for verb in ("replay", "waitstates", "collectives"):
            self.assert_refused(NO_INPUT, "DIR is the result of a run that kept no recording", verb, "DIR")
        self.assert_refused(NO_INPUT, "kept no recording", "whatif", "DIR", "--sweep")

    def test_options_that_would_have_no_part_in_it(self):
        self.assert_refused(USAGE, "--patch", "overlap", "DIR", "--efficiency", "--patch", "FILE")
        for more in ("--network=lsb", "--eager=1", "--balance=all", "--collectives=openmpi", "--finding=1"):
            self.assert_refused(USAGE, more.split("=")[0], "whatif", "DIR", "--sweep", more)
        self.write("nothing.toml", "")
        self.assert_refused(USAGE, "nothing.toml: is empty", "whatif", "DIR", "--hypothesis", "nothing.toml")

    def test_what_the_parser_refuses_is_said_in_words(self):
        self.assert_refused(USAGE, "0 is not greater than 0", "replay", "d", "--compute-scale", "0")
        self.assert_refused(USAGE, "no verb was given", "guidelines")
        self.assertIn("next: nplus1 guidelines check --help", self.nplus1("guidelines", "check", "d", "--nonsense").stderr)

    def test_an_unknown_name_among_known_ones_is_an_error(self):
        for option, names in (("--functions", "Bcast,Nonsense"), ("--set", "pgmpi,nonsense")):
            self.assert_refused(USAGE, f"{option}: no guideline has", "guidelines", "run", "-n", "2", "-o", "g", option, names)

    def test_what_is_no_number_is_within_no_range(self):
        for words in ("replay x --compute-scale nan", "convert x -o y.ti --flops NaN", "overlap x --at-least nan",
                      "replay x --reenact --patience -nan", "guidelines check x --alpha nan(1)", "guidelines run -n 2 -o x --window nan"):
            self.assert_refused(USAGE, "is not a number", *words.split())

    def test_less_than_nothing_is_no_number_of_things(self):
        """Nor 18446744073709551615 of them."""
        for words in ("guidelines run -n 2 -o x --sizes 8,-1", "overlap x --events=-1", "whatif x --events=-1"):
            self.assert_refused(USAGE, "Value -1 is", *words.split())
        for window in ("-1", "inf", "0"):
            self.assert_refused(USAGE, "not in range", "guidelines", "run", "-n", "2", "-o", "x", f"--window={window}")

    def test_open_quote_in_mpi_args(self):
        self.assert_refused(USAGE, "quote", "run", "-n", "2", "--mpi-args", "-f 'hosts", "--", "./app")


EMPTY = """{"record": "run", "text": "nplus1-events/1", "ranks": 2}
{"record": "property", "name": "network", "text": "lsb"}
"""


class SettingsFile(CommandTest):
    def test_absent(self):
        self.assert_refused(USAGE, "'absent.toml'", "run", "-n", "2", "--config", "absent.toml", "--", "./app")

    def test_not_toml(self):
        self.write("nplus1.toml", "[run]\nnetwork = \n")
        self.assert_refused(USAGE, "nplus1.toml:2", "run", "-n", "2", "--", "./app")

    def test_unknown_key(self):
        self.write("nplus1.toml", "[run]\nnetwrok = 'lsb'\n")
        self.assert_refused(USAGE, "'netwrok'", "run", "-n", "2", "--", "./app")

    def test_bad_value(self):
        self.write("nplus1.toml", "[run]\nclock = 'sundial'\n")
        self.assert_refused(USAGE, "nplus1.toml:2: clock", "run", "-n", "2", "--", "./app")

    def test_every_verb_reads_its_table(self):
        for verb, words in (("replay", ["d"]), ("whatif", ["d"]), ("waitstates", ["d"]), ("patterns", ["d"]), ("report", ["d"]),
                            ("collectives", ["d"]), ("convert", ["d", "-o", "x.goal"]), ("calibrate", ["-n", "2", "-o", "x"]),
                            ("diff", ["d", "e"]), ("doctor", []), ("guidelines.check", ["d"]), ("guidelines.advise", ["d"]),
                            ("guidelines.confirm", ["d"]), ("guidelines.run", ["-n", "2", "-o", "x"]),
                            ("guidelines.tune", ["d", "-o", "x.so"])):
            with self.subTest(verb=verb):
                self.write("nplus1.toml", f"[{verb}]\nno-such-key = 1\n")
                self.assert_refused(USAGE, f"nplus1.toml:2: [{verb}] has an unknown key 'no-such-key'", *verb.split("."), *words)

    def test_a_wrong_table_is_an_error_whichever_verb_reads_the_file(self):
        for text, mention in (("[replay]\nnetwrok = 'lsb'\n", "nplus1.toml:2: [replay] has an unknown key 'netwrok'"),
                              ("[repaly]\nnetwork = 'lsb'\n", "'repaly'"), ("network = 'lsb'\n", "'network'"),
                              ("[guidelines]\nbudget = '1h'\n", "'budget'"), ("replay = 3\n", "'replay'")):
            with self.subTest(text=text):
                self.write("nplus1.toml", text)
                self.assert_refused(USAGE, mention, "run", "-n", "2", "--", "./app")

    def test_a_setting_of_another_verb_than_run_counts(self):
        self.write("nplus1.toml", "[replay]\nnetwork = 'carrier-pigeon'\n[whatif]\nscale = ['factor=x', 'factor=2']\n")
        self.write("two.jsonl", EMPTY)
        self.assertEqual(self.nplus1("convert", "two.jsonl", "-o", "two.n1r").returncode, 0)
        self.assert_refused(USAGE, "carrier-pigeon", "replay", "two.n1r")
        self.assert_refused(USAGE, "factor=x", "whatif", "two.n1r")


class Programs(CommandTest):
    def refuse(self, code, mention, program="./bad"):
        self.assert_refused(code, mention, "run", "-n", "2", "--", program)

    def test_absent_folder_or_not_executable(self):
        self.refuse(NO_INPUT, "./bad")
        self.refuse(NO_INPUT, "not found in PATH", "no-such-program")
        self.write("text", "hello")
        self.refuse(NO_INPUT, "not executable", "./text")
        (self.folder / "folder").mkdir()
        self.refuse(NO_INPUT, "is a folder", "./folder")
        self.refuse(NO_INPUT, "not a regular file", "/dev/null")

    def test_later_sections_are_checked_too(self):
        self.assert_refused(NO_INPUT, "./bad", "run", "-n", "2", "--", "./app", ":", "-n", "1", "./bad")

    def test_static(self):
        self.compile("bad", PLAIN, "-static")
        self.refuse(UNSUITABLE, "statically linked")
        self.compile("bad", PLAIN, "-static-pie")
        self.refuse(UNSUITABLE, "statically linked")

    def test_setuid(self):
        make_setuid(self.compile("bad", PLAIN))
        self.refuse(UNSUITABLE, "setuid")

    def test_other_mpi(self):
        for name in ("libmpi.so.20", "libmpi_abi.so.0"):
            with self.subTest(name=name):
                self.compile(name, "int MPI_Init(void) { return 0; }", "-shared", "-fPIC", f"-Wl,-soname,{name}")
                self.compile("bad", "int MPI_Init(void); int main(void) { return MPI_Init(); }", "-L.", f"-l:{name}",
                             "-Wl,-rpath,$ORIGIN")
                self.refuse(UNSUITABLE, name)

    def test_other_mpi_behind_another_library(self):
        self.compile("libmpi.so.20", "int MPI_Init(void) { return 0; }", "-shared", "-fPIC", "-Wl,-soname,libmpi.so.20")
        self.compile("libwork.so", "int MPI_Init(void); int work(void) { return MPI_Init(); }", "-shared", "-fPIC", "-L.",
                     "-l:libmpi.so.20", "-Wl,-rpath,$ORIGIN")
        self.compile("bad", "int work(void); int main(void) { return work(); }", "-L.", "-lwork", "-Wl,-rpath,$ORIGIN")
        self.refuse(UNSUITABLE, "libmpi.so.20")

    def test_open_mpi_1_10_whose_library_is_called_as_mpichs(self):
        self.compile("libopen-rte.so.12", "int rte(void) { return 0; }", "-shared", "-fPIC", "-Wl,-soname,libopen-rte.so.12")
        self.compile("libmpi.so.12", "int rte(void); int MPI_Init(void) { return rte(); }", "-shared", "-fPIC",
                     "-Wl,-soname,libmpi.so.12", "-L.", "-l:libopen-rte.so.12", "-Wl,-rpath,$ORIGIN")
        self.compile("bad", "int MPI_Init(void); int main(void) { return MPI_Init(); }", "-L.", "-l:libmpi.so.12",
                     "-Wl,-rpath,$ORIGIN")
        self.refuse(UNSUITABLE, "Open MPI 1.10")

    def test_mpichs_abi_by_crays_names_is_let_through(self):
        for name in ("libmpi_cray.so.12", "libmpi_gnu_91.so.12", "libmpi.so.12"):
            with self.subTest(name=name):
                self.compile(name, "int MPI_Init(void) { return 0; }", "-shared", "-fPIC", f"-Wl,-soname,{name}")
                self.compile("good", "int MPI_Init(void); int main(void) { return MPI_Init(); }", "-L.", f"-l:{name}",
                             "-Wl,-rpath,$ORIGIN")
                self.assertNotIn("not linked with MPI", self.nplus1("run", "--print", "-n", "2", "--", "./good").stderr)

    def test_missing_library(self):
        self.compile("libwork.so", "int work(void) { return 0; }", "-shared", "-fPIC", "-Wl,-soname,libwork.so")
        self.compile("bad", "int work(void); int main(void) { return work(); }", "-L.", "-lwork")
        (self.folder / "libwork.so").unlink()
        self.refuse(UNSUITABLE, "libwork.so")

    def test_mpi_linked_statically_into_a_dynamic_program(self):
        self.compile("bad", "int PMPI_Init(void) { return 0; } int main(void) { return PMPI_Init(); }")
        self.refuse(UNSUITABLE, "contains an MPI library")

    def test_other_machine_and_32_bits(self):
        good = self.compile("bad", PLAIN).read_bytes()
        e_machine, ei_class, riscv = 18, 4, 243
        other = bytearray(good)
        other[e_machine] = riscv
        (self.folder / "bad").write_bytes(other)
        self.refuse(UNSUITABLE, "another machine")
        narrow = bytearray(good)
        narrow[ei_class] = 1
        (self.folder / "bad").write_bytes(narrow)
        self.refuse(UNSUITABLE, "32-bit")

    def test_damaged_elf_never_crashes_the_check(self):
        good = self.compile("bad", PLAIN).read_bytes()
        for end in (4, 20, 64, 100, len(good) // 2):
            (self.folder / "bad").write_bytes(good[:end])
            self.assertGreaterEqual(self.nplus1("run", "-n", "2", "--print", "--", "./bad").returncode, 0)


class Output(CommandTest):
    def refuse(self, mention, path):
        self.assert_refused(CANT_CREATE, mention, "run", "-n", "2", "-o", path, "--", "./app")

    def test_folder_in_use_is_never_overwritten(self):
        (self.folder / "old").mkdir()
        self.write("old/summary.json", "older")
        self.refuse("not empty", "old")
        self.assertEqual((self.folder / "old/summary.json").read_text(), "older")

    def test_a_file_is_in_the_way(self):
        self.write("file", "older")
        self.refuse("file", "file")
        self.assertEqual((self.folder / "file").read_text(), "older")

    def test_places_where_no_folder_can_be_made(self):
        self.refuse("/proc/result", "/proc/result")
        self.write("file", "")
        self.refuse("file/result", "file/result")


class Installation(CommandTest):
    def test_missing_parts_are_named_and_no_folder_is_left(self):
        for variable, mention in (("NPLUS1_STUBS", "NPLUS1_STUBS"), ("NPLUS1_SIMNODE", "NPLUS1_SIMNODE"),
                                  ("NPLUS1_MPIRUN", "NPLUS1_MPIRUN")):
            kept = self.environment[variable]
            self.set(variable, "/absent/part")
            self.assert_refused(UNAVAILABLE, mention, "run", "-n", "2", "--", "./app")
            self.set(variable, kept)

    def test_no_mpirun_at_all(self):
        del self.environment["NPLUS1_MPIRUN"]
        self.set("PATH", self.folder / "empty")
        self.assert_refused(UNAVAILABLE, "mpirun", "run", "-n", "2", "--", "./app")


class Warnings(CommandTest):
    def test_a_program_without_mpi_is_noted_but_run(self):
        shutil.copy(self.compile("plain", PLAIN), self.folder / "plain2")
        result = self.nplus1("run", "-n", "2", "--", "./plain2")
        self.assertEqual(result.returncode, 0)
        self.assertIn("not linked with MPI", result.stderr)

    def test_two_mpi_libraries(self):
        """A program of MPICH's with a library of Open MPI's, as of ScaLAPACK there is one for each."""
        self.compile("libmpi.so.40", "int MPI_Comm_rank(void) { return 0; }", "-shared", "-fPIC", "-Wl,-soname,libmpi.so.40")
        self.compile("libmpich.so.12", "int MPI_Init(void) { return 0; }", "-shared", "-fPIC", "-Wl,-soname,libmpich.so.12")
        self.compile("mixed", "int MPI_Init(void), MPI_Comm_rank(void); int main(void) { return MPI_Init() + MPI_Comm_rank(); }",
                     "-L.", "-l:libmpich.so.12", "-l:libmpi.so.40", "-Wl,-rpath,$ORIGIN")
        for said in (self.nplus1("run", "--print", "-n", "2", "--", "./mixed").stderr, self.nplus1("check", "./mixed").stderr):
            self.assertIn("two MPI libraries, libmpich.so.12 and libmpi.so.40", said)


class Goal(CommandTest):
    """A GOAL program is simulated as what it is, or refused with its line."""
    PROGRAM = ("num_ranks 2\nrank 0 {\nl1: send 1001b to 1 tag 5\nl2: calc 100\nl2 irequires l1\n}\n"
               "rank 1 {\nl1: recv 1001b from -1 tag 5\n}\n")
    NETWORK = ("--network", "loggops:L=2us,o=1us,g=1us,G=1ns")

    def file(self, text):
        path = self.folder / "program.goal"
        path.write_text(text)
        return str(path)

    def test_a_program_ends_when_logGOPS_says(self):
        result = self.folder / "ends.json"
        done = self.nplus1("replay", self.file(self.PROGRAM), *self.NETWORK, "--json", result)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("ends at      0.000005000000 s", done.stdout)
        self.assertEqual(json.loads(result.read_text())["rank_end_s"], [1.1e-6, 5e-6])

    def test_what_never_ends_is_said(self):
        done = self.nplus1("replay", self.file(self.PROGRAM.replace("from -1 tag 5", "from 0 tag 4")), *self.NETWORK)
        self.assertIn("1 operation waits for what never comes", done.stdout)
        self.assertIn("not received 1 message\n", done.stdout)

    def test_bad_lines_and_networks(self):
        self.assert_refused(NO_INPUT, "program.goal:3: there is no rank 7", "replay",
                            self.file(self.PROGRAM.replace("to 1", "to 7")), *self.NETWORK)
        long = "".join(f"l{i}: calc 1000000000000000\n" for i in range(5))
        self.assert_refused(NO_INPUT, "longer than 53 days", "replay",
                            self.file(f"num_ranks 1\nrank 0 {{\n{long}}}\n"), *self.NETWORK)
        goal = self.file(self.PROGRAM)
        self.assert_refused(USAGE, "does not say its network", "replay", goal)
        self.assert_refused(USAGE, "on LogGOPS alone", "replay", goal, "--network", "lsb")
        self.assert_refused(USAGE, "only --network and --json", "replay", goal, *self.NETWORK, "-o", "x")
        self.assert_refused(USAGE, "there is no 'none'", "replay", goal, "--network", "loggops:interfaces=none")


if __name__ == "__main__":
    unittest.main()
