"""Jobs that begin with MPI_Session_init. L = 1 ms, B = 1 MB/s: 1000 bytes take 2 ms."""
from live import LiveTest

import unittest

WAYS = ((), ("--direct", "off"), ("--transport", "tcp"))


class SessionsAlone(LiveTest):
    """Programs that cannot call MPI_Init are observed from the first MPI_Session_init to the last MPI_Session_finalize."""

    def test_messages_and_collectives_take_their_virtual_times(self):
        """The second time rank 1 leaves the barrier before it L before rank 0, and so waits longer."""
        for scenario, waits in (("alone", (2000,)), ("two", (2000, 3000))):
            for way in WAYS:
                with self.subTest(scenario=scenario, way=way):
                    run = self.exact("sessions_only", scenario, ranks=3, options=way)
                    self.assertEqual(run.stdout, "".join(f"received after {w} us\n" for w in waits))
                    self.assertEqual(run.summary["point_to_point"]["messages"][0][1], len(waits))

    def test_a_communicator_is_made_when_all_members_have_come(self):
        """Rank 1 is 5 ms late, and hears of nobody later than that; the others of it one message later."""
        run = self.exact("sessions_only", "late", ranks=2)
        self.assertEqual(sorted(run.stdout.splitlines()), ["0 made after 6000 us", "1 made after 5000 us"])

    def test_one_rank_runs_as_bare(self):
        """Where nplus1 asked MPICH 4.0 for progress, it crashed: such a job is not observed."""
        run = self.observe(1, "sessions_only", "solo")
        self.assertEqual((run.stdout, run.summary), ("received\n", None))

    def test_who_never_ends_its_session_is_observed_until_then(self):
        run = self.observe(3, "sessions_only", "never")
        self.assertEqual(run.summary["trust"]["active_ranks"], 3)
        self.assertEqual(run.summary["point_to_point"]["messages"][0][1], 1)

    def test_native_runs_record_them(self):
        run = self.observe(3, "sessions_only", "alone", options=("--native", "--record", "full"))
        self.assertTrue((run.folder / "recording").exists())


class BesideMpiInit(LiveTest):
    """Programs that may call MPI_Init are observed from there, in whatever order ranks begin."""

    def test_is_observed_from_mpi_init(self):
        for scenario, seen in (("inside", 2), ("outside", 1), ("mixed", 1)):
            with self.subTest(scenario=scenario):
                run = self.exact("sessions", scenario, ranks=3)
                self.assertEqual(run.summary["point_to_point"]["messages"][0][1], seen)


if __name__ == "__main__":
    unittest.main()
