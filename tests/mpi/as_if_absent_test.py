"""The program behaves as if nobody watched: errors that MPI returns, callbacks that leave by longjmp or by an exception,
memory that runs out, null pointers."""
import re
import unittest

from live import LiveTest


class AsIfAbsent(LiveTest):
    def same(self, ranks, *words, **named):
        bare = self.bare(ranks, *words)
        self.assertEqual(bare.code, 0, bare.stderr)
        run = self.observe(ranks, *words, **named)
        self.assertEqual(sorted(run.stdout.splitlines()), sorted(bare.stdout.splitlines()))
        return run

    def test_a_call_that_mpi_refuses_is_no_event(self):
        """Rank 0 is refused, then tells the others to come: an event for the refused call would wait for them."""
        for options in ((), ("--direct", "off")):
            run = self.same(3, "errors", options=("--compute", "fixed:1e-6", *options))
            self.assertIn("68 cases", run.stdout)
            self.assertTrue(run.summary["complete"])
            self.assertEqual(run.summary["trust"]["clock_mismatches"], 0)

    def test_an_attribute_that_is_not_copied_fails_at_once_and_not_for_the_others(self):
        """Rank 0's copy is refused by its own function; what it sends then is awaited by the others before they come."""
        for options in ((), ("--direct", "off"), ("--transport", "tcp")):
            run = self.same(3, "callbacks", "refuse", options=("--compute", "fixed:1e-6", *options))
            trust = run.summary["trust"]
            self.assertTrue(run.summary["complete"])
            self.assertEqual((trust["forced_decisions"], trust["clock_mismatches"]), (0, 0))
            calls = {c["name"]: c["calls_per_rank"] for c in run.summary["communicator_calls"]}
            self.assertEqual(calls["MPI_Comm_dup"], [2, 2, 2])  # those that were not refused

    def test_a_copy_that_fails_where_errors_end_the_program_has_the_same_exit_code(self):
        bare = self.bare(3, "callbacks", "refuse-fatal")
        self.assertNotEqual(bare.code, 0)
        self.observe(3, "callbacks", "refuse-fatal", code=bare.code)

    def test_ranks_stay_observed_when_an_error_handler_leaves(self):
        ends = set()
        for way in ("longjmp", "throw"):
            run = self.same(3, "callbacks", way, options=("--compute", "fixed:1e-6"))
            self.assertTrue(run.summary["complete"])
            self.assertEqual(run.summary["trust"]["clock_mismatches"], 0)
            # 2 messages that are too long for their receives, 4 shifts.
            self.assertEqual(run.summary["point_to_point"]["messages"], [[0, 6, 0], [0, 0, 6], [6, 0, 0]])
            ends.add(tuple(run.summary["rank_end_s"]))
        self.assertEqual(len(ends), 1)

    def test_attributes_of_a_type_are_not_copied_for_requests(self):
        for options in ((), ("--direct", "off"), ("--record-accesses",), ("--native", "--record", "full")):
            self.same(3, "type_attributes", options=options)

    def test_elements_with_padding_arrive_whole(self):
        """MPICH sends 36 KB in pieces, and cannot receive part of an element: where we send a copy, it must be cut as MPI's own."""
        for ranks in (2, 3, 4):
            for options in ((), ("--direct", "off"), ("--record-accesses",)):
                with self.subTest(ranks=ranks, options=options):
                    run = self.same(ranks, "padded", options=options)
                    if ranks < 4:  # where MPI_Gather packs for a second hop, and fails bare
                        self.assertNotIn("failed", run.stdout)

    def test_memory_that_a_copy_would_span_need_not_be_there(self):
        for ranks in (2, 4):
            self.assertTrue(self.same(ranks, "memory", "far").summary["complete"])

    def test_displacements_may_be_addresses_behind_the_bottom(self):
        for options in ((), ("--compute", "fixed:1e-6"), ("--record-accesses",)):
            run = self.same(3, "bottom", options=options)
            self.assertNotIn("look wrong", run.stderr)
            self.assertTrue(run.summary["complete"])
            self.assertEqual(run.summary["trust"]["clock_mismatches"], 0)

    def test_sums_are_bares_to_the_last_bit(self):
        for ranks in (4, 5):
            self.same(ranks, "rounded_sums")

    def test_members_that_have_nothing_to_exchange_in_place_need_not_agree_why(self):
        for ranks in (2, 5):
            self.assertTrue(self.same(ranks, "nothing_in_place").summary["complete"])

    def test_without_memory_a_run_is_simulated_from_the_reserve(self):
        run = self.same(2, "memory", "tight", 2000)
        self.assertTrue(run.summary["complete"])
        self.assertNotIn("out of memory", run.stderr)

    def test_without_any_memory_the_program_goes_on_and_observation_ends(self):
        run = self.same(2, "memory", "tight", 60000)
        self.assertIn(len(re.findall("out of memory: the program goes on without us", run.stderr)), (1, 2))  # ranks at once
        self.assertFalse(run.summary["complete"])
        self.assertTrue(any("could no longer be observed" in note for note in run.summary["notes"]))


if __name__ == "__main__":
    unittest.main()
