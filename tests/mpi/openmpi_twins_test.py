"""`--compute warm` of programs that are linked with Open MPI: what twins_test asks of MPICH's."""
import json
import unittest

from openmpi_test import OpenMpiTest

WARM = ("--compute", "warm")


class Twins(OpenMpiTest):
    def clock(self, run):
        return json.loads((run.folder / "clock.json").read_text())

    def test_nothing_of_the_programs_is_touched(self):
        run = self.as_bare(4, "twin_witness", 40, 2e-4, options=WARM)
        self.assertTrue(run.summary["complete"])
        clock = self.clock(run)
        self.assertGreaterEqual(clock["samples"], 8)
        self.assertLessEqual(clock["lowest_s"], clock["virtual_time_s"])
        self.assertLessEqual(clock["virtual_time_s"], clock["measured_s"])

    def test_a_program_that_may_have_threads_and_has_none(self):
        run = self.as_bare(4, "twin_witness", 40, 2e-4, "multiple", options=WARM)
        self.assertGreaterEqual(self.clock(run)["samples"], 8)

    def test_nobody_else_notices_them(self):
        for way in ("opened", "reused", "signalled", "filtered", "first", "spawns"):
            with self.subTest(way=way):
                run = self.as_bare(2, "twin_neighbors", way, 60, options=WARM)
                if way not in ("opened", "filtered", "first"):
                    self.assertGreater(self.clock(run)["samples"], 0)

    def test_results_with_that_clock_are_a_runs(self):
        run = self.as_bare(4, "twin_witness", 20, 2e-4, options=WARM)
        clock = self.clock(run)["virtual_time_s"]
        warm = run.folder / "warm"
        self.assertEqual(json.loads((warm / "summary.json").read_text())["virtual_time_s"], clock)
        again = self.as_bare(4, "twin_witness", 20, 2e-4, options=("--compute", f"recorded:{warm}"))
        self.assertAlmostEqual(float(again.summary["virtual_time_s"]), clock, delta=0.05 * clock)

    def test_threads_of_the_programs_forbid_twins(self):
        """Open MPI's own, which every rank has, do not."""
        run = self.as_bare(2, "threads", options=WARM)
        self.assertTrue(run.summary["complete"])


if __name__ == "__main__":
    unittest.main()
