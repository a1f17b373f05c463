"""Messages that do not fit: each member of a collective operation, and each receive, gets the error that it gets bare (its
class, and the error handler that is called), although nplus1 carries them otherwise than by the program's call."""
import unittest

from live import LiveTest
from openmpi_test import OPEN_MPI, OpenMpiTest

# MPICH loses the error of MPI_Isendrecv, which MPI demands.
LOST_BARE = "isendrecv"


def told(run):
    """{(operation, form, pattern, rank): what it was told}."""
    lines = [line.split(": ", 1) for line in run.stdout.splitlines()]
    return {tuple(case.split()): what for case, what in lines}


def fails(what):
    return what.split()[:2] != ["0", "0"]


class UnequalLengths(LiveTest):
    def both(self, ranks, operation):
        bare = self.bare(ranks, "unequal_lengths", operation)
        self.assertEqual(bare.code, 0, bare.stderr)
        ours = self.observe(ranks, "unequal_lengths", operation)
        self.assertTrue(ours.summary["complete"])
        bare, ours = told(bare), told(ours)
        self.assertEqual(len(bare), 12 * ranks)
        self.assertEqual(bare.keys(), ours.keys())
        return bare, ours

    def test_two_members_get_the_errors_that_they_get_bare(self):
        for operation in ("bcast", "bcast_init", "gather", "gatherv", "scatterv", "reduce", "allreduce"):
            with self.subTest(operation=operation):
                bare, ours = self.both(2, operation)
                self.assertTrue(any(fails(what) for what in bare.values()))
                for case, what in bare.items():
                    if operation != "reduce" or not case[2].startswith("large"):  # for which MPICH has another algorithm
                        self.assertEqual(ours[case], what, case)

    def test_four_members_get_the_errors_that_they_get_bare(self):
        for operation in ("gatherv", "scatterv", "allreduce"):
            with self.subTest(operation=operation):
                bare, ours = self.both(4, operation)
                self.assertEqual(ours, bare)

    def test_a_broadcast_fails_for_whom_it_fails_bare(self):
        """MPICH's tree makes another class of what its inner members pass on: rank 3 gets its message from rank 2."""
        for operation in ("bcast", "bcast_init"):
            bare, ours = self.both(4, operation)
            for case, what in bare.items():
                if case[-1] == "3":
                    self.assertEqual(fails(ours[case]), fails(what), case)
                else:
                    self.assertEqual(ours[case], what, case)

    def test_a_root_learns_of_what_was_cut_off_at_an_inner_member_of_the_tree(self):
        """That one has left by then in virtual time, and is told nothing."""
        for operation in ("gather", "reduce"):
            bare, ours = self.both(4, operation)
            self.assertIn("15", bare[operation, "blocking", "last_long", "rank", "0"])
            for case, what in bare.items():
                if case[-1] == "0" or case[1] == "started":
                    self.assertEqual(fails(ours[case]), fails(what), case)

    def test_a_fatal_error_has_the_same_exit_code_and_name(self):
        for operation, name in (("bcast", "internal_Bcast"), ("gather", "internal_Gather")):
            words, said = (2, "unequal_lengths", operation, "fatal"), "Fatal error in " + name
            bare = self.until_heard(said, lambda words=words: self.bare(*words))
            self.assertGreater(bare.code, 0)
            ours = self.until_heard(said, lambda words=words: self.observe(*words, code=None))
            self.assertEqual(ours.code, bare.code)

    def test_a_receive_that_is_too_short_calls_the_handler_that_it_calls_bare(self):
        def lines(run):
            return [line for line in run.stdout.splitlines() if not line.startswith(LOST_BARE)]

        bare = self.bare(2, "truncated")
        self.assertEqual(len(lines(bare)), 30, bare.stderr)
        for options in ((), ("--direct", "off"), ("--record-accesses",)):
            with self.subTest(options=options):
                self.assertEqual(lines(self.observe(2, "truncated", options=options)), lines(bare))


class OwnBlocks(LiveTest):
    """A root whose own block does not fit gets an error, the others get their blocks, and what follows comes as ever. Bare, those
    of MPI_Gather are left behind, and the next takes them for its own; others wait for ever in Open MPI's MPI_Scatter and in
    MPICH's MPI_Scatterv."""
    CHECKED = ("gather", "gatherv", "scatter", "scatterv")

    def test_that_do_not_fit_are_an_error_of_the_root_alone(self):
        for operation in ("gather", "gatherv", "scatter", "scatterv"):
            with self.subTest(operation=operation):
                run = self.observe(3, self.of("own_block"), operation)
                at_root = "truncated, handled 1 times" if operation in self.CHECKED else "no error, handled 0 times"
                told = [f"root {root}, rank {rank}: {at_root if rank == root else 'no error, handled 0 times'}, right"
                        for root in range(3) for rank in range(3)]
                self.assertEqual(sorted(run.stdout.splitlines()), told, run.stderr)
                self.assertTrue(run.summary["complete"])


@unittest.skipUnless((OPEN_MPI / "own_block").exists(), "built without Open MPI")
class OwnBlocksOfOpenMpi(OpenMpiTest, OwnBlocks):
    CHECKED = ("gather", "gatherv", "scatter")  # as bare


if __name__ == "__main__":
    unittest.main()
