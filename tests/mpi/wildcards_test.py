"""A pending receive from any source has a handle as any other, in every language and from every thread."""
import unittest

from live import LiveTest

WAYS = [(), ("--direct", "off"), ("--transport", "tcp"), ("--compute", "fixed:1e-6")]


class Wildcards(LiveTest):
    def check(self, ranks, *words, ways=WAYS):
        bare = self.bare(ranks, *words)
        self.assertEqual(bare.code, 0, bare.stderr)
        for way in ways:
            with self.subTest(way=way):
                run = self.observe(ranks, *words, options=way)
                self.assertEqual((run.stdout, run.stderr), (bare.stdout, ""))
                self.assertTrue(run.summary["complete"])
                self.assertEqual(run.summary["trust"]["active_ranks"], ranks)
                self.assertEqual(run.summary["trust"]["clock_mismatches"], 0)

    def test_handles_of_pending_receives(self):
        self.check(3, "wildcards")

    def test_as_many_receives_may_be_pending_as_bare(self):
        """MPICH has room for 262,144 requests: one for each receive, while it is pending as well as later."""
        for run in (self.bare(3, "wildcards", 200000), self.observe(3, "wildcards", 200000)):
            self.assertEqual((run.stdout, run.code), ("", 0), run.stderr)

    def test_fortran(self):
        self.check(3, "wildcards_f08")

    def test_four_threads_with_wildcards_each(self):
        self.check(3, "threads", 20, ways=[("--compute", "fixed:1e-6", *way) for way in WAYS[:3]])

    def test_four_threads_with_wildcards_each_whose_computing_is_measured(self):
        """Which of them is found out too late depends on the machine; what they get does not."""
        for way in WAYS[:3]:
            run = self.observe(3, "threads", 20, options=way)
            self.assertEqual((run.stdout, run.summary["trust"]["clock_mismatches"]), ("threads: sum 4560480\n", 0))

    def test_a_cancelled_receive_that_was_matched_before(self):
        run = self.exact("irecv -1 4 1; delay 0.2; recv 1 4 2; cancel 0", "send 0 4 1; send 0 4 2")
        self.assertEqual(run.stdout.splitlines(), ["from 1, tag 2, 4 bytes", "not cancelled", "from 1, tag 1, 4 bytes"])

    def test_a_cancelled_named_receive_leaves_its_message_to_the_next_one(self):
        for direct in ("on", "off"):
            with self.subTest(direct=direct):
                run = self.exact("irecv 1 4 9; cancel 0; barrier; recv 1 4 9", "barrier; send 0 4 9",
                                 options=("--direct", direct))
                self.assertEqual(run.stdout.splitlines(), ["cancelled", "from 1, tag 9, 4 bytes"])
                self.assertEqual(run.summary["trust"]["order_inversions"], 0)

    def test_receives_behind_a_wildcard_keep_their_order(self):
        run = self.exact("irecv -1 4; irecv 1 8; compute 1; waitall", "send 0 4; send 0 8")
        self.assertEqual(run.stdout.splitlines(), ["from 1, tag 0, 4 bytes", "from 1, tag 0, 8 bytes"])


if __name__ == "__main__":
    unittest.main()
