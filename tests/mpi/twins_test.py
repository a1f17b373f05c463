"""`--compute warm`: what the ranks' twins measure, and that nobody but nplus1 notices them."""
import json
import pathlib
import unittest

from live import NPLUS1, LiveTest


class Twins(LiveTest):
    def clock(self, run):
        report = self.folder / "clock.json"
        done = self.run_command([str(NPLUS1), "clock", str(run.folder), "--json", str(report)])
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(report.read_text()), done.stdout

    def test_nothing_of_the_programs_is_touched(self):
        """Memory, shared memory, files, signals, faults, children and the exit code are as bare."""
        words = ("twin_witness", 40, 2e-4)
        bare = self.bare(4, *words)
        run = self.observe(4, *words, options=("--compute", "warm"), code=3)
        self.assertEqual(bare.code, 3)
        self.assertEqual(sorted(run.stdout.splitlines()), sorted(bare.stdout.splitlines()))
        self.assertTrue(run.summary["complete"])
        self.assertEqual(run.summary["trust"]["clock_mismatches"], 0)
        clock, _ = self.clock(run)
        self.assertGreaterEqual(clock["samples"], 8)

    def test_the_clock_lies_between_its_ends(self):
        run = self.observe(4, "twin_witness", 40, 2e-4, options=("--compute", "warm"), code=3)
        clock, text = self.clock(run)
        self.assertLessEqual(clock["lowest_s"], clock["virtual_time_s"])
        self.assertLessEqual(clock["virtual_time_s"], clock["measured_s"])
        self.assertLessEqual(clock["computing_s"], clock["computing_measured_s"])
        self.assertTrue(clock["finished"])
        self.assertIn("with warm caches", text)
        # Arithmetic alone needs no caches: a twin finds what the rank did.
        self.assertGreater(clock["virtual_time_s"], 0.5 * clock["measured_s"])

    def test_another_network_and_a_platform_are_replayed_with_that_clock(self):
        run = self.observe(4, "twin_witness", 20, 2e-4, options=("--compute", "warm"), code=3)
        platform = pathlib.Path(__file__).parents[2] / "platforms" / "torus.xml"
        for network in (("--network", "lsb:latency=1ms,bandwidth=1e6"), ("--platform", str(platform))):
            report = self.folder / "there.json"
            done = self.run_command([str(NPLUS1), "clock", str(run.folder), *network, "--json", str(report)])
            self.assertEqual(done.returncode, 0, done.stderr)
            clock = json.loads(report.read_text())
            self.assertLessEqual(clock["lowest_s"], clock["virtual_time_s"])
            self.assertLessEqual(clock["virtual_time_s"], clock["measured_s"])

    def test_results_with_that_clock_are_a_runs(self):
        run = self.observe(4, "twin_witness", 20, 2e-4, options=("--compute", "warm"), code=3)
        warm = self.folder / "warm"
        done = self.run_command([str(NPLUS1), "clock", str(run.folder), "-o", str(warm), "--record", "--json",
                                 str(self.folder / "c.json")])
        self.assertEqual(done.returncode, 0, done.stderr)
        clock = json.loads((self.folder / "c.json").read_text())
        summary = json.loads((warm / "summary.json").read_text())
        self.assertEqual(summary["virtual_time_s"], clock["virtual_time_s"])
        replayed = self.run_command([str(NPLUS1), "replay", str(warm)])
        self.assertIn("every rank ends exactly when it did", replayed.stdout)

    def test_a_run_without_twins_has_no_such_clock(self):
        run = self.observe(2, "twin_witness", 2, 1e-5, code=3)
        done = self.run_command([str(NPLUS1), "clock", str(run.folder)])
        self.assertEqual(done.returncode, 66)
        self.assertIn("nplus1 run --compute warm", done.stderr)

    def test_threads_forbid_twins(self):
        """With another thread in the process no twin is made; the run is as measured."""
        run = self.observe(2, "threads", options=("--compute", "warm"), code=None)
        self.assertTrue(run.summary["complete"])


if __name__ == "__main__":
    unittest.main()
