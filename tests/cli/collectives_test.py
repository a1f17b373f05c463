"""`nplus1 collectives` on what is no recording with hashes: what can still be found, or one clear message."""
import pathlib
import shutil
import subprocess
import unittest

import live_test
from live_test import EXAMPLES, NPLUS1

SCENARIOS = pathlib.Path(EXAMPLES).parent / "mpi-tests"


class OtherRecordings(unittest.TestCase):
    setUp = live_test.Live.setUp
    call = live_test.Live.call

    def nplus1(self, code, *words):
        result = self.call(NPLUS1, *words)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result

    def recorded(self, program, *options):
        self.nplus1(0, "run", "-q", "-n", 4, "-o", "run", "--record", "full", *options, "--", SCENARIOS / program)

    def test_what_is_no_recording_is_called_that(self):
        (self.folder / "noise.bin").write_bytes(bytes(i * 37 % 256 for i in range(5000)))
        (self.folder / "letter.txt").write_text("Dear all,\nplease find attached nothing.\n")
        for file, code in (("noise.bin", 66), ("letter.txt", 65), ("absent", 66)):
            for options in ((), ("--analysers", "2")):
                with self.subTest(file, options=options):
                    message = self.nplus1(64 if options and code == 65 else code, "collectives", file, *options).stderr
                    self.assertIn(file, message)
                    self.assertIn("nothing is shown", message)
                    self.assertLessEqual(message.count("\n"), 3, message)

    def test_without_hashes_broadcasts_stay_hidden_and_that_is_said(self):
        self.recorded("p01_bcast_linear_noise", "--hash", "off")
        result = self.nplus1(0, "collectives", "run")
        self.assertIn("No hand-written", result.stdout)
        self.assertRegex(result.stderr, r"\d+ of \d+ messages come without hashes")

    def test_exports_that_keep_hashes_give_the_same(self):
        for program, answer in (("p08_barrier_dissemination", "barrier (certain), 3 times: ranks 0-3"),
                                ("p01_bcast_linear_noise", "bcast (certain), 1 time: ranks 0-3; root 0")):
            self.recorded(program)
            found = self.nplus1(0, "collectives", "run").stdout.splitlines()[0]
            self.assertIn(answer, found)
            for form in ("otf2", "jsonl"):
                with self.subTest(program, form=form):
                    self.nplus1(0, "convert", "-q", "run", "-o", f"{program}.{form}")
                    self.assertEqual(self.nplus1(0, "collectives", f"{program}.{form}").stdout.splitlines()[0], found)
            shutil.rmtree(self.folder / "run")

    def test_an_otf2_archive_has_its_definitions_in_order(self):
        """Source lines, and with them the frames of inlined functions, are known after the run only."""
        self.recorded("p13_allreduce_recdoubling_sum")
        self.nplus1(0, "convert", "-q", "run", "-o", "run.otf2")
        (anchor,) = (self.folder / "run.otf2").glob("*.otf2")
        done = subprocess.run(["otf2-print", anchor], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr[:500]), (0, ""))
        self.assertNotIn("out of order", done.stdout)

    def test_a_simulators_trace_says_what_it_lacks(self):
        self.recorded("p01_bcast_linear_noise")
        self.nplus1(0, "convert", "-q", "run", "-o", "run.ti")
        result = self.nplus1(0, "collectives", "run.ti")
        self.assertIn("No hand-written", result.stdout)
        self.assertIn("ti lacks: send modes, wildcards, probes, datatypes, hashes", result.stderr)
        self.assertRegex(result.stderr, r"(\d+) of \1 messages come without hashes")
        self.assertIn("nplus1 convert", self.nplus1(64, "collectives", "run.ti", "--price").stderr)


if __name__ == "__main__":
    unittest.main()
