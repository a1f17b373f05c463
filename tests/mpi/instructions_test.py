"""`--clock instructions`, with a counter of the program's own where the processor's would be."""
import unittest
from decimal import Decimal

from live import LiveTest


class Instructions(LiveTest):
    def counted(self, *words, options=(), more=None):
        return self.observe(2, "counted", *words, options=("--clock", "instructions", *options),
                            more=more or {"TEST_NPLUS1_COUNTS": "1"})

    def test_the_clock_counts_instructions_and_no_cold_cycles(self):
        """Cold steps have twice the cycles and more; what is learned of the warm ones is charged for all but the first four."""
        warm = self.counted(400, "warm")
        cold = self.counted(400, "cold")
        self.assertEqual(warm.summary["clock"], "instructions")
        self.assertEqual(warm.summary["clock_reason"], "asked for")
        self.assertEqual(cold.summary["trust"]["clock_mismatches"], 0)
        ratio = cold.summary["virtual_time_s"] / warm.summary["virtual_time_s"]
        self.assertGreater(ratio, 0.999)
        self.assertLess(ratio, 1.02)

    def test_work_that_differs_between_ranks_stays(self):
        computing = self.counted(100, "cold").summary["compute_s"]
        self.assertAlmostEqual(computing[1] / computing[0], 2, delta=Decimal("0.05"))

    def test_the_program_sees_that_clock(self):
        middle, end = map(float, self.counted(20, "warm").stdout.split())
        self.assertAlmostEqual(end / middle, 2, delta=0.01)

    def test_without_counters_nothing_starts_and_the_message_says_why(self):
        line = self.command(2, "counted", 3, options=("--clock", "instructions"))
        done = self.run_command(line, more={"TEST_NPLUS1_COUNTS": "none"})
        self.assertEqual(done.returncode, 69)
        self.assertIn("counters cannot be read", done.stderr)
        self.assertIn("nothing was started", done.stderr)
        self.assertIn("--compute warm", done.stderr)

    def test_on_other_hosts_without_counters_it_is_cpu_time_and_said(self):
        run = self.counted(20, "warm", options=("--mpi-args", "-bind-to none"), more={"TEST_NPLUS1_COUNTS": "none"})
        self.assertTrue(any("2 of 2 ranks" in note for note in run.summary["notes"]), run.summary["notes"])

    def test_what_cannot_be_together_is_refused(self):
        for other in (("--native",), ("--compute", "warm"), ("--record-accesses",)):
            line = self.command(2, "counted", 3, options=("--clock", "instructions", *other))
            done = self.run_command(line, more={"TEST_NPLUS1_COUNTS": "1"})
            self.assertEqual(done.returncode, 64, other)
            self.assertIn("--clock instructions" if other[0] != "--record-accesses" else other[0], done.stderr)


if __name__ == "__main__":
    unittest.main()
