"""Programs that are linked with Open MPI: they do what they do bare, and their virtual times and patterns are those of the
same programs linked with MPICH. Nothing here depends on how fast the machine is.

Environment (set by ctest): NPLUS1_OPENMPI_TEST_PROGRAMS, the folder of the programs built by Open MPI's compilers."""
import os
import pathlib
import signal
import subprocess
import unittest

from live import NPLUS1, PROGRAMS, LiveTest, environment, left_in_shared_memory, read, shared_files, wait_until

OPEN_MPI = pathlib.Path(os.environ.get("NPLUS1_OPENMPI_TEST_PROGRAMS", "."))
MPIRUN = os.environ.get("NPLUS1_OPENMPI_MPIRUN") or "mpirun.openmpi"
NETWORKS = ("lsb:latency=1e-6,bandwidth=1e9", "lsb:latency=1e-6,bandwidth=1e9,eager=1024",
            "loggops:L=2e-6,o=3e-7,g=1e-6,G=1e-9,O=1e-11,S=4096")
SAME = ("ranks", "virtual_time_s", "rank_end_s", "compute_s", "point_to_point", "collectives", "communicator_calls",
        "message_sizes", "unmodelled")
LIMIT = 300  # seconds; everything here takes a few, where nobody else uses the machine


def lines(text):
    return sorted(text.splitlines())


class OpenMpiTest(LiveTest):
    def of(self, program):
        path = OPEN_MPI / program
        return str(path) if path.exists() else program

    def run_command(self, command, more=None, input=None, timeout=LIMIT):
        return super().run_command(command, {"OMPI_MCA_mpi_yield_when_idle": 1, **(more or {})}, input, timeout)

    def bare_command(self, ranks, *words):
        return [MPIRUN, *(["--allow-run-as-root"] if os.geteuid() == 0 else []), "--oversubscribe", "-np", str(ranks),
                self.of(words[0]), *map(str, words[1:])]

    def as_bare(self, ranks, *words, options=("--compute", "fixed:1e-6"), active=True):
        """The bare run's output, lines in any order, and exit code; the run."""
        bare = self.bare(ranks, *words)
        run = self.observe(ranks, self.of(words[0]), *words[1:], options=options, code=bare.code)
        self.assertEqual(lines(run.stdout), lines(bare.stdout), bare.stderr + run.stderr)
        if active:
            self.assertIsNotNone(run.summary, run.stderr)
            self.assertEqual(run.summary["trust"]["active_ranks"], ranks)
            self.assertEqual(run.summary["trust"]["clock_mismatches"], 0)
        return run

    def as_mpich(self, ranks, *words, network=NETWORKS[0], options=()):
        """Both libraries' runs agree on all that is exact; Open MPI's."""
        named = {"ranks": ranks, "network": network, "compute": "fixed:1e-6", "options": options, "timeout": LIMIT}
        of_mpich = self.exact(*words, **named)
        ours = self.exact(self.of(words[0]), *words[1:], **named)
        self.assertEqual(lines(ours.stdout), lines(of_mpich.stdout))
        for key in SAME:
            self.assertEqual(ours.summary[key], of_mpich.summary[key], f"{words} {network} {options}: {key}")
        return ours


class Bottom(OpenMpiTest):
    def test_displacements_may_be_addresses_behind_it(self):
        run = self.as_bare(3, "bottom")
        self.assertNotIn("look wrong", run.stderr)
        self.assertTrue(run.summary["complete"])


class Rounding(OpenMpiTest):
    def test_sums_are_bares_to_the_last_bit(self):
        for ranks in (4, 5):
            run = self.as_bare(ranks, "rounded_sums")
            self.assertTrue(run.summary["complete"])
            self.assertEqual(run.summary["trust"]["forced_decisions"], 0)


class ThatWereStartedForTheOtherLibrary(OpenMpiTest):
    """Of a script nobody knows from outside what it will start, and of Python not which mpi4py it will import."""
    OF_OPEN_MPI, OF_MPICH = "libmpi_cxx.so.40", "libmpichfort.so.12"

    def script(self, line, name="start"):
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{line}\n", encoding="utf-8")
        path.chmod(0o755)
        return path

    def told(self, started, maker, *words):
        run = self.observe(2, *words, options=("--mpi", started), code=65)
        self.assertIn(f"the program's MPI library is of {maker} (/", run.stderr)
        self.assertIn(f"nplus1 run --mpi {'openmpi' if maker == 'Open MPI' else 'mpich'} ...", run.stderr)

    def test_end_before_their_first_call_and_say_what_to_do(self):
        self.told("mpich", "Open MPI", self.script(f"exec '{self.of('bottom')}'"))
        self.told("openmpi", "MPICH", self.script(f"exec '{PROGRAMS / 'bottom'}'"))

    def test_also_where_python_has_the_library_for_itself(self):
        self.told("mpich", "Open MPI", "/usr/bin/python3", "-c", "from mpi4py import MPI")
        self.told("openmpi", "MPICH", "/usr/bin/python3", "-c",
                  "import ctypes; ctypes.CDLL('libmpich.so.12'); mpi = ctypes.CDLL(None); mpi.MPI_Init(None, None)")
        for started, maker, library in (("mpich", "Open MPI", "libmpi.so.40"), ("openmpi", "MPICH", "libmpich.so.12")):
            self.told(started, maker, "/usr/bin/python3", "-c", f"import ctypes; ctypes.CDLL('{library}').MPI_Init(None, None)")

    def mpi4py(self, folder, library):
        """What looks like one from outside, linked with a library of that MPI's."""
        package = self.folder / folder / "mpi4py"
        package.mkdir(parents=True)
        (package / "__init__.py").touch()
        (package / "MPI.so").symlink_to(next(pathlib.Path("/usr/lib").glob(f"*/{library}")))

    def test_python_imports_from_the_folder_of_its_script(self):
        self.mpi4py(".", self.OF_OPEN_MPI)
        self.mpi4py("place", self.OF_MPICH)
        script = self.folder / "place" / "program.py"
        script.write_text("#!/usr/bin/python3\n", encoding="utf-8")
        script.chmod(0o755)
        (self.folder / "link.py").symlink_to(script)
        mpich, ours = "libnplus1-stubs.so", "libnplus1-openmpi.so"
        for words, library in ((("place/program.py",), mpich), (("-u", "-W", "ignore", "link.py"), mpich), (("place",), mpich),
                               (("-Xutf8", "place/program.py"), mpich), (("-c", "import mpi4py"), ours),
                               (("-um", "module", "place/program.py"), ours), (("missing.py",), ours)):
            with self.subTest(words=words):
                self.assertIn(library, self.printed("/usr/bin/python3", *words))
        self.assertIn(mpich, self.printed("place/program.py"))

    def printed(self, *words):
        done = self.run_command([str(NPLUS1), "run", "--print", "-n", "2", "--", *words])
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout


class Dynamic(OpenMpiTest):
    def test_who_meets_by_a_port_talks_as_bare_and_what_is_not_modelled_is_counted(self):
        """MPI_Comm_spawn is not tried: its connection between jobs is made from both ends at once, and bare it may hang."""
        run = self.as_bare(2, "dynamic", "ports")
        self.assertIn("0 met 1", run.stdout)
        self.assertEqual({call["name"]: call["count"] for call in run.summary["unmodelled"]["by_name"]},
                         {"MPI_Open_port": 1, "MPI_Close_port": 1, "MPI_Comm_accept": 1, "MPI_Comm_connect": 1,
                          "MPI_Sendrecv": 2})
        self.assertTrue(run.summary["complete"])


class AsMpich(OpenMpiTest):
    def test_examples_have_mpichs_times_on_every_network(self):
        for network in NETWORKS:
            for words in (("halo", 10, 20000), ("cg_traffic", 3), ("waitany", 4, 10), ("master_worker", 5, 10)):
                with self.subTest(words=words, network=network):
                    self.as_mpich(4, *words, network=network)

    def test_every_way_to_the_simulator_gives_the_same_times(self):
        for options in (("--direct", "off"), ("--transport", "tcp")):
            with self.subTest(options=options):
                self.as_mpich(4, "halo", 5, 20000, options=options)

    def test_bindings_of_all_languages_are_observed(self):
        for program in ("hello_c", "hello_cpp", "hello_mpifh", "hello_mpi", "hello_f08"):
            with self.subTest(program=program):
                self.as_mpich(3, program)

    def test_fortrans_special_addresses(self):
        self.assertEqual(self.as_mpich(4, "fortran_constants").stdout, "constants: 10 0 1 4 9 30 30\n")

    def test_wildcards(self):
        self.as_mpich(3, "wildcards_f08")
        run = self.as_bare(3, "wildcards")  # MPICH's has calls of MPI 4
        self.assertTrue(run.summary["complete"])

    def test_matched_probes(self):
        self.as_bare(2, "probed_messages", 10)

    def test_threads(self):
        self.as_mpich(2, "joined_threads", "chain", 3)
        self.as_mpich(3, "threads", 10)

    def test_all_collectives_and_communicators(self):
        """Of every call and form of MPI 3, alone and beside messages: the data are right, and the times reproducible."""
        for manner in ("alone", "chatty", "pending"):
            with self.subTest(manner=manner):
                ends = {tuple(self.exact(self.of("all_collectives"), "all", "4,20000", manner, ranks=4, compute="fixed:1e-6",
                                         network=NETWORKS[0], timeout=LIMIT, options=options).summary["rank_end_s"])
                        for options in ((), ("--direct", "off"))}
                self.assertEqual(len(ends), 1)

    def test_communicators_that_are_freed_while_a_part_of_a_reduction_is_left(self):
        for ranks in (5, 7):
            self.as_bare(ranks, "freed_communicators")

    def test_exchanges_of_elements_without_data(self):
        """Elements of a type without data at one side, none at the other: nobody waits for anybody."""
        for call in ("alltoallv", "alltoallw", "alltoallv_in_place", "alltoallw_in_place"):
            for ranks in (2, 5):
                with self.subTest(call=call, ranks=ranks):
                    run = self.as_bare(ranks, "elements_without_data", call)
                    self.assertEqual(run.stdout, f"{sum(range(ranks))}\n")

    def test_neighborhoods_in_which_one_process_is_the_neighbor_at_both_sides(self):
        for ranks, *sizes in ((1, 1), (2, 2), (3, 3), (4, 1, 4), (6, 2, 3)):
            with self.subTest(sizes=sizes):
                self.as_bare(ranks, "neighbors_twice", *sizes)


class AsBare(OpenMpiTest):
    def test_exit_codes(self):
        ring = "send 1 100; recv 1 100"
        for last in ("return 5", "", "exit 4", "abort 7", f"raise {signal.SIGSEGV.value}", f"raise {signal.SIGKILL.value}"):
            with self.subTest(last=last):
                run = self.as_bare(2, "script", f"{ring}; {last}", "recv 0 100; send 0 100; " + ("recv 0 4" if last and last != "return 5" else ""))
                self.assertEqual(run.summary["point_to_point"]["messages"], [[0, 1], [1, 0]])

    def test_programs_that_end_before_mpi_init(self):
        for code in (0, 3):
            run = self.as_bare(3, "plain", "early", code, active=False)
            self.assertIn("there is no result", run.stderr)

    def test_errors_are_reported_where_they_are_bare(self):
        """Classes and handlers of receives that are too short, however they are completed. Bare, a persistent request is gone
        afterwards; and the error of a message that was probed for goes to MPI_COMM_WORLD's handler under nplus1."""
        def told(run):
            return [line for line in run.stdout.splitlines() if not line.startswith(("persist ", "mrecv "))]
        bare, run = self.bare(2, "truncated"), self.observe(2, self.of("truncated"))
        self.assertEqual(told(run), told(bare))
        self.assertEqual(len(told(run)), 28)

    def test_a_fatal_error_names_the_programs_call(self):
        words = ("script", "send 1 100", "recv 0 4")
        saying = "An error occurred in MPI_Recv"
        # ORTE may lose the message when both ranks end at once ("Data unpack would read past end of buffer").
        ours = self.until_heard(saying, lambda: self.observe(2, self.of(words[0]), *words[1:], code=None))
        self.assertEqual(ours.code, self.until_heard(saying, lambda: self.bare(2, *words)).code)

    def test_functions_of_the_programs(self):
        for way in ("longjmp", "throw", "refuse"):
            with self.subTest(way=way):
                self.as_bare(3, "callbacks", way)
        self.assertIn("virtual", self.observe(3, self.of("callbacks"), "wtime", options=("--compute", "fixed:1e-6")).stdout)

    def test_a_deadlock_is_proved(self):
        run = self.observe(2, self.of("script"), "recv 1 4", "recv 0 4", code=86)
        self.assertIn("deadlock", run.stderr)

    def test_several_programs(self):
        run = self.observe(1, self.of("hello_c"), ":", "-n", "2", self.of("hello_mpifh"), code=None)
        self.assertEqual(run.summary["trust"]["active_ranks"], 3, run.stderr)

    def test_ranks_that_are_bound_have_the_cores_of_all(self):
        """Open MPI binds two ranks to a core each, if nobody says anything else."""
        cores = min(len(os.sched_getaffinity(0)), 2)
        run = self.observe(2, self.of("hello_c"), options=("--mpi-args", "--bind-to core:overload-allowed", "--compute", "measured"))
        self.assertEqual(run.summary["trust"]["cores"], cores)
        self.assertEqual(any("push each other's data" in note for note in run.summary["notes"]), cores < 2)

    def test_a_shell_around_the_program(self):
        """It is started as a program of Open MPI's where that is said; nplus1 within it is none of the job's."""
        script = self.folder / "starts.sh"
        script.write_text(f"#!/bin/sh\n{NPLUS1} --version > /dev/null || exit 9\n{self.of('bottom')}\n")
        script.chmod(0o755)
        run = self.observe(2, script, options=("--mpi", "openmpi"))
        self.assertEqual(run.summary["trust"]["active_ranks"], 2)

    def test_no_process_stays(self):
        self.observe(2, self.of("hello_c"))

        def of_this_test():
            return [p for p in pathlib.Path("/proc").glob("[0-9]*/environ") if str(self.folder).encode() in read(p)]
        self.assertEqual(wait_until(lambda: not of_this_test()), True)

    def test_no_shared_memory_stays_however_a_job_ends(self):
        """Of Open MPI's own: its mpirun removes it when ranks have not. (Where mpirun itself is killed it stays, bare as well.)"""
        before = shared_files()
        for script, code in (("abort 7", 7), ("raise 9", None), ("raise 11", None), ("exit 4", 4), ("recv 1 4", 86)):
            with self.subTest(script=script):
                self.observe(2, self.of("script"), script, "recv 0 4", code=code)
                self.assertEqual(left_in_shared_memory(before, "vader_segment"), [])
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with self.subTest(signal=number):
                job = subprocess.Popen(self.command(2, self.of("script"), "send 1 4; delay 30", "recv 0 4; delay 30"), cwd=self.folder,
                                       env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                self.assertTrue(wait_until(lambda: sum("vader_segment" in f for f in shared_files() - before) >= 2))
                job.send_signal(number)
                self.assertNotEqual(job.wait(LIMIT), 0)
                self.assertEqual(left_in_shared_memory(before, "vader_segment"), [])


class Simulator(OpenMpiTest):
    def test_a_program_goes_on_without_the_simulator(self):
        run = self.observe(2, self.of("hello_c"), more={"NPLUS1_SIMNODE": "/bin/false"})
        self.assertIn("rank 1 of 2", run.stdout)
        self.assertIsNone(run.summary)

    def test_native_recordings(self):
        run = self.observe(2, self.of("halo"), 5, 1000, options=("--native", "--record", "full"))
        self.assertTrue(run.summary["complete"], run.stderr)
        self.assertEqual(self.run_command([str(NPLUS1), "replay", str(run.folder), "--network", "lsb"]).returncode, 0)

    def test_python(self):
        """mpi4py opens the library itself; which one is seen before anything is started."""
        python = "/usr/bin/python3"
        program = self.folder / "program.py"
        program.write_text("from mpi4py import MPI\nc = MPI.COMM_WORLD\nsum = c.allreduce(c.rank + 1)\n"
                           "token = c.sendrecv(c.rank, dest=(c.rank + 1) % c.size, source=MPI.ANY_SOURCE)\n"
                           "if c.rank == 0: print(sum, token, c.Get_name())\n")
        if self.run_command([python, "-c", "import mpi4py"]).returncode != 0:
            self.skipTest("Debian's python3-mpi4py is not installed")
        run = self.as_bare(3, python, program)
        self.assertEqual(run.stdout, "6 2 MPI_COMM_WORLD\n")
        self.assertGreaterEqual(sum(map(sum, run.summary["point_to_point"]["messages"])), 3)


class Refused(OpenMpiTest):
    def refused(self, mention, *options, verb=("run",)):
        done = self.run_command([str(NPLUS1), *verb, "-n", "2", *options, "--", self.of("hello_c")])
        self.assertEqual(done.returncode, 65, done.stderr)
        self.assertEqual(done.stdout, "")
        said = done.stderr.splitlines()
        self.assertEqual([line.split(":")[0].strip() for line in said], ["nplus1", "so", "next"], done.stderr)
        self.assertIn(mention, said[0])
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_what_is_for_mpich_only(self):
        self.refused("--hostfile", "--mpi-args", "--hostfile hosts")
        self.refused("--record-accesses", "--record-accesses")
        self.refused("overlap measure", verb=("overlap", "measure"))

    def test_programs_of_two_libraries(self):
        done = self.run_command([str(NPLUS1), "run", "-n", "1", "--", self.of("hello_c"), ":", "-n", "1",
                                 str(NPLUS1.parent / "examples" / "hello_c")])
        self.assertEqual(done.returncode, 65)
        self.assertIn("is linked with MPICH, and one before it with Open MPI", done.stderr)

    def test_doctor_says_for_which_libraries_it_is(self):
        said = self.run_command([str(NPLUS1), "doctor"]).stdout
        self.assertIn("Open MPI: for its programs, too", said)


if __name__ == "__main__":
    unittest.main()
