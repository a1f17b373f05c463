"""`--compute recorded:DIR`: the compute times of another run, to the picosecond, also while accesses are recorded."""
import unittest

from live import LiveTest

NETWORK = ("--network", "lsb:latency=1e-6,bandwidth=1e9")
OVERLAP = ("overlap_1d", "blocking", 4000, 20, 0)


class RecordedCompute(LiveTest):
    def followed(self, ranks, *words, options=(), source_options=()):
        """(the run that was recorded, another with its times)."""
        source = self.observe(ranks, *words, options=(*NETWORK, "--record", "full", *source_options))
        run = self.observe(ranks, *words, options=(*NETWORK, "--compute", f"recorded:{source.folder}", *options))
        self.assertEqual(sorted(run.stdout.splitlines()), sorted(source.stdout.splitlines()))
        self.assertEqual([n for n in run.summary["notes"] if "did not make the calls" in n], [])
        self.assertEqual(run.summary["trust"]["clock_mismatches"], 0)
        return source, run

    def check_equal(self, source, run):
        for key in ("rank_end_s", "compute_s"):
            self.assertEqual(run.summary[key], source.summary[key])

    def test_measured_times_come_again_to_the_picosecond(self):
        for ranks, *words in ((4, "halo"), (3, "waitany"), (4, *OVERLAP), (3, "exchanges")):
            with self.subTest(program=words):
                self.check_equal(*self.followed(ranks, *words))

    def test_they_come_again_while_accesses_are_recorded(self):
        for ranks, *words in ((4, "halo"), (4, *OVERLAP)):
            with self.subTest(program=words):
                self.check_equal(*self.followed(ranks, *words, options=("--record-accesses",)))

    def test_a_run_with_given_times_can_be_followed_while_its_own_had_accesses(self):
        self.check_equal(*self.followed(4, *OVERLAP, source_options=("--compute", "fixed:1e-5", "--record-accesses")))

    def test_another_number_of_ranks_is_refused_before_anything_starts(self):
        source = self.observe(2, "ping_pong", options=("--record", "full"))
        run = self.observe(3, "ping_pong", options=("--compute", f"recorded:{source.folder}"), code=64)
        self.assertIn("is of 2 ranks, and this run is to have 3", run.stderr)
        self.assertIsNone(run.summary)

    def test_what_is_no_recording_is_refused_before_anything_starts(self):
        run = self.observe(2, "ping_pong", options=("--compute", f"recorded:{self.folder}"), code=64)
        self.assertIn("--compute", run.stderr)
        self.assertIsNone(run.summary)

    def test_a_recording_of_accesses_is_no_source_for_another_as_it_has_their_cost(self):
        source = self.observe(2, "ping_pong", options=("--record-accesses",))
        run = self.observe(2, "ping_pong", options=("--record-accesses", "--compute", f"recorded:{source.folder}"), code=64)
        self.assertIn("was itself measured while accesses were recorded", run.stderr)

    def test_another_program_runs_to_its_end_with_measured_times_and_the_difference_is_named(self):
        source = self.observe(2, "ping_pong", options=("--record", "full"))
        run = self.observe(2, "halo", options=("--compute", f"recorded:{source.folder}"))
        self.assertTrue(run.summary["complete"])
        notes = [n for n in run.summary["notes"] if "did not make the calls" in n]
        self.assertEqual(len(notes), 1, run.summary["notes"])
        self.assertRegex(notes[0], r"2 of 2 ranks .* rank 0 called MPI_\w+ where it has MPI_\w+, after \d+ calls; from there")

    def test_measured_times_under_the_recording_of_accesses_name_the_way_to_better_ones(self):
        run = self.observe(2, "accesses", "heap", options=("--record-accesses",))
        notes = " ".join(run.summary["notes"])
        self.assertIn("nplus1 run -n 2 --record-accesses --compute recorded:plain -- accesses", notes)


if __name__ == "__main__":
    unittest.main()
