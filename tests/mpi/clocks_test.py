"""What the clock says: it ends loops, sleeps advance it by what they asked for, other clocks follow it when told."""
import os
import unittest

from live import LiveTest, seconds

MESSAGE = seconds("0.002")  # 1000 bytes at L = 1 ms and B = 1 MB/s


class Clocks(LiveTest):
    def test_a_loop_on_wtime_ends(self):
        for compute in ("fixed:0", "fixed:1e-6", "measured"):
            with self.subTest(compute=compute):
                run = self.observe(2, "script", "wtime 0.01; send 1 4", "recv 0 4", options=("--compute", compute))
                self.assertGreaterEqual(run.summary["rank_end_s"][0], seconds("0.01"))
                self.assertLess(run.summary["rank_end_s"][0], seconds("0.5" if compute == "measured" else "0.0102"))

    def test_sleeps_advance_the_clock_by_what_they_asked_for(self):
        for sleep in ("sleep 0.05", "usleep 0.05"):
            with self.subTest(sleep):
                self.assertEqual(self.ends(f"{sleep}; send 1 1000", "recv 0 1000"),
                                 [seconds("0.05"), seconds("0.05") + MESSAGE])

    def test_time_that_passes_unseen_does_not_count(self):
        self.assertEqual(self.ends("delay 0.2; send 1 1000", "recv 0 1000"), [0, MESSAGE])

    def test_other_clocks_are_virtual_when_told(self):
        run = self.observe(2, "plain", "clocks", options=("--compute", "fixed:0", "--virtual-clocks"))
        self.assertEqual(run.stdout.split(), ["60", "60", "60", "60"])

    def test_other_clocks_are_real_unless_told(self):
        run = self.observe(2, "plain", "clocks", options=("--compute", "fixed:0"))
        self.assertEqual(run.stdout.split()[0:2] + run.stdout.split()[3:], ["0", "0", "60"])

    def test_a_sleep_until_a_virtual_time_lasts_as_long_as_that_lies_ahead(self):
        run = self.observe(2, "plain", "until", options=("--compute", "fixed:0", "--virtual-clocks"), timeout=60)
        self.assertEqual(run.stdout, "20\n")

    def test_computing_beyond_all_clocks_ends_the_simulation_and_not_the_program(self):
        for compute in ("compute 1e300", "compute 1e300; compute 1e300", "compute 6e6; compute 6e6"):
            with self.subTest(compute):
                run = self.observe(2, "script", f"{compute}; send 1 4", "recv 0 4", options=("--compute", "fixed:0"))
                said = "the simulation ended early (rank 0: a call at the time 4611686018427387905); the program went on"
                self.assertTrue(any(note.startswith(said) for note in run.summary["notes"]), run.summary["notes"])

    def test_a_sleep_for_ever_ends_with_a_signal(self):
        for options in ((), ("--virtual-clocks",)):
            with self.subTest(options):
                run = self.observe(2, "plain", "forever", options=("--compute", "fixed:0", *options))
                self.assertEqual(run.stdout, "interrupted refused\n")

    def test_virtual_time_of_day_counts_virtual_time_once(self):
        run = self.observe(3, "callbacks", "day", options=("--compute", "fixed:0", "--virtual-clocks"))
        self.assertEqual(sorted(run.stdout.splitlines()), ["0.0 0.0", "0.3 0.3", "0.6 0.6"])

    def test_wtime_is_virtual_in_functions_that_mpi_calls(self):
        for options in ((), ("--virtual-clocks",)):
            run = self.observe(3, "callbacks", "wtime", options=("--compute", "fixed:1e-6", *options))
            self.assertEqual(run.stdout.replace("\n", ""), "virtual" * 3)  # newlines of three ranks may come late

    def test_more_computing_threads_than_cores_are_said(self):
        cores = len(os.sched_getaffinity(0))
        ranks = max(2, cores // 3 + 1)
        for words, options, expected in ((("helpers",), (), True), (("who",), (), False),
                                         (("helpers",), ("--compute", "fixed:1e-6"), False)):
            run = self.observe(ranks, "plain", *words, options=options)
            notes = [note for note in run.summary["notes"] if "without calling MPI" in note]
            self.assertEqual(len(notes), int(expected))
            if expected:
                self.assertIn(f"{3 * ranks} threads compute on {cores} cores, {2 * ranks} of them", notes[0])

    def test_threads_that_start_later_have_not_computed_before(self):
        rounds = 10
        run = self.exact("joins", rounds, ranks=2, compute="fixed:1e-3")
        # Before each Send, Barrier and receive, and before Finalize.
        self.assertEqual(run.summary["compute_s"], [seconds("0.001") * (3 * rounds + 1)] * 2)


if __name__ == "__main__":
    unittest.main()
