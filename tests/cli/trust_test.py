"""What a number relies on is printed with the number, by every verb: a recording whose run had a forced decision and
order inversions, made by nplus1 convert, without MPI."""
import json
import shutil
import subprocess
import unittest

from command import CommandTest, NPLUS1
from whatif_test import LINES

FORCED = "3 forced decisions: made without proof that nothing earlier could come"
INVERTED = "1 order inversion: matched before an earlier message was known"
UNKNOWN = "how far it can be believed is not known"
TRUST = {"active_ranks": 2, "events": 4, "clock_mismatches": 0, "order_inversions": 1, "forced_decisions": 3,
         "relies_on_buffering": False, "cores": 2}
VERBS = [("replay",), ("replay", "--sweep", "latency=1us,2us"), ("replay", "--network", "lsb:latency=2us,bandwidth=1GBps"),
         ("whatif", "--scale", "factor=2"), ("whatif", "--sweep"), ("waitstates",), ("collectives",), ("collectives", "--price"),
         ("patterns",)]


class Trust(CommandTest):
    def setUp(self):
        super().setUp()
        self.write("two.jsonl", "".join(json.dumps(line) + "\n" for line in LINES))
        (self.folder / "run").mkdir()
        done = self.nplus1("convert", "two.jsonl", "-o", "run/recording", "--to", "recording")
        self.assertEqual(done.returncode, 0, done.stderr)

    def summary(self, trust, folder="run"):
        self.write(f"{folder}/summary.json", json.dumps({"recording": {"path": "recording"}, "trust": trust}))

    def printed(self, verb, source):
        done = self.nplus1(verb[0], source, *verb[1:])
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_every_verb_prints_what_its_numbers_rely_on(self):
        self.summary(TRUST)
        for verb in VERBS:
            for source in ("run", "run/recording", "run/"):
                with self.subTest(verb=verb, source=source):
                    text = self.printed(verb, source)
                    self.assertIn(FORCED, text)
                    self.assertIn(INVERTED, text)

    def test_so_does_diff_for_both(self):
        self.summary(TRUST)
        shutil.copytree(self.folder / "run", self.folder / "other")
        self.summary({**TRUST, "forced_decisions": 7}, "other")
        text = self.nplus1("diff", "run", "other").stdout
        self.assertIn(FORCED, text)
        self.assertIn("7 forced decisions", text)

    def test_a_clean_run_leaves_nothing_to_say(self):
        self.summary({**TRUST, "forced_decisions": 0, "order_inversions": 0})
        for verb in VERBS:
            with self.subTest(verb=verb):
                text = self.printed(verb, "run")
                for word in ("forced", "inversion", UNKNOWN):
                    self.assertNotIn(word, text)

    def test_a_recording_without_its_summary_says_that_nothing_is_known(self):
        for verb in (("replay",), ("waitstates",), ("whatif", "--scale", "factor=2"), ("replay", "--sweep", "latency=1us")):
            with self.subTest(verb=verb):
                self.assertRegex(self.printed(verb, "run"), "can be believed is not known")

    def test_the_summary_of_another_run_that_stands_beside_is_not_taken(self):
        shutil.move(self.folder / "run" / "recording", self.folder / "run" / "imported")
        self.summary(TRUST)
        for verb in (("replay",), ("waitstates",)):
            text = self.printed(verb, "run/imported")
            self.assertNotIn("forced", text)
            self.assertIn(UNKNOWN, text)

    def test_json_has_both_the_runs_and_the_replays(self):
        self.summary(TRUST)
        for verb, found in ((("replay",), lambda d: (d["run_trust"], d["trust"])),
                            (("replay", "--sweep", "latency=1us"), lambda d: (d["run_trust"], d["points"][0]["trust"])),
                            (("waitstates",), lambda d: (d["trust"], {"forced_decisions": 0}))):
            self.printed((*verb, "--json", "out.json"), "run")
            run, replay = found(json.loads((self.folder / "out.json").read_text()))
            self.assertEqual((run["forced_decisions"], run["order_inversions"], replay["forced_decisions"]), (3, 1, 0), verb)

    def test_a_result_folder_of_a_replay_says_it_too(self):
        self.summary(TRUST)
        self.printed(("replay", "-o", "again"), "run")
        self.assertIn(FORCED, (self.folder / "again" / "summary.txt").read_text())


class Output(CommandTest):
    """What is printed gets out, whole and in order, or the exit code says that it did not."""

    def setUp(self):
        super().setUp()
        self.write("two.jsonl", "".join(json.dumps(line) + "\n" for line in LINES))
        self.assertEqual(self.nplus1("convert", "two.jsonl", "-o", "two.n1r").returncode, 0)

    def shell(self, line):
        return subprocess.run(["sh", "-c", line], cwd=self.folder, env={**self.environment, "NPLUS1": NPLUS1}, text=True,
                              capture_output=True, timeout=60, check=False)

    def test_a_full_disk_behind_stdout_is_no_success(self):
        for words in ("waitstates two.n1r", "patterns two.n1r", "--help"):
            done = self.shell(f'"$NPLUS1" {words} > /dev/full')
            self.assertEqual(done.returncode, 73, done.stderr)
            self.assertIn("could not be written to stdout", done.stderr)

    def test_a_current_folder_that_is_gone_is_said(self):
        for words in ("run -n 2 -- /bin/true", "run -n 2 -o new -- /bin/true", "replay two.n1r -o new"):
            done = self.shell(f'mkdir gone && cd gone && rmdir ../gone && exec "$NPLUS1" {words}')
            self.assertEqual(done.returncode, 66, done.stderr)
            self.assertNotIn("please report", done.stderr)

    def test_commands_that_are_proposed_can_be_pasted(self):
        (self.folder / "two words").mkdir()
        self.assertIn("guidelines run -o 'two words'", self.nplus1("guidelines", "check", "two words").stderr)

    def test_messages_that_nobody_can_read_change_no_exit_code(self):
        for words, code in (("waitstates two.n1r --fail-if 'virtual_time_s>0'", 2), ("nonsense", 64), ("patterns nothing", 66),
                            ("convert two.n1r -o new.csv", 0), ("report two.n1r -o new.html", 0)):
            for where in ("2> /dev/full", "2>&-", "<&- 2>&-"):
                for new in self.folder.glob("new.*"):
                    new.unlink()
                self.assertEqual(self.shell(f'"$NPLUS1" {words} {where}').returncode, code, (words, where))

    def test_devices_are_written_to_and_stay(self):
        done = self.nplus1("waitstates", "two.n1r", "--json", "/dev/stdout")
        self.assertIn('"schema": "nplus1-waitstates/1"', done.stdout)
        done = self.nplus1("waitstates", "two.n1r", "--json", "/dev/full")
        self.assertEqual(done.returncode, 73)
        self.assertIn("/dev/full", done.stderr)

    def test_both_streams_in_one_file_keep_their_order_and_their_lines(self):
        (self.folder / "measured").mkdir()
        tests = [f"{run},{test},2,0,{8 << size},{(10 + run) * slow}e-6,\n" for run in range(10) for size in range(12)
                 for test, slow in (("Reduce", 2), ("Reduce_with_Allreduce", 1), ("Gather", 2), ("Gather_with_Allgather", 1))]
        self.write("measured/raw.csv", "mpirun,test,p,nrep_index,msize,runtime_sec,runtime_without_copies_sec\n" + "".join(tests))
        self.shell('"$NPLUS1" guidelines check measured > both 2>&1')
        self.shell('"$NPLUS1" guidelines check measured > out 2> err')
        out, err = ((self.folder / name).read_text() for name in ("out", "err"))
        self.assertIn("wrote ", err)
        self.assertEqual((self.folder / "both").read_text(), out + err)


if __name__ == "__main__":
    unittest.main()
