"""Threads begin at their creator's virtual time, a join waits for the joined thread's end in virtual time, and threads that
receive from anybody have the same times in every run."""
import unittest

from live import LiveTest, seconds
from replay_test import ReplayTest

BEGIN, COMPUTE, MESSAGE = seconds("0.005"), seconds("0.001"), seconds("0.001004")  # L = 1 ms, 4 bytes at 1 MB/s
CLOCK = seconds("2e-8")  # what the MPI_Wtime at the end costs


class Joins(LiveTest):
    def check(self, manner, threads, work, **named):
        """Rank 0 sends when `work` is done after its beginning; rank 1 receives that last."""
        end = BEGIN + work
        for options in ((), ("--direct", "off"), ("--transport", "tcp")):
            with self.subTest(manner=manner, options=options):
                self.assertEqual(self.ends("joined_threads", manner, threads, ranks=2, options=options, **named),
                                 [end + CLOCK, end + MESSAGE + CLOCK])

    def test_threads_that_run_side_by_side_take_as_long_as_one(self):
        self.check("once", 1, COMPUTE + 2 * MESSAGE)
        self.check("once", 2, COMPUTE + 2 * MESSAGE)

    def test_threads_that_are_joined_one_after_the_other_take_the_sum(self):
        self.check("chain", 3, 3 * (COMPUTE + 2 * MESSAGE))

    def test_a_thread_that_starts_another_hands_its_time_on(self):
        self.check("nested", 3, 3 * (COMPUTE + 2 * MESSAGE))

    def test_a_thread_that_never_calls_mpi_is_waited_for_too(self):
        self.check("silent", 2, COMPUTE)


class Repeatable(ReplayTest):
    def test_threads_that_receive_from_anybody_have_the_same_times_under_random_delays(self):
        def run(**more):
            done = self.exact("threads", 10, ranks=3, compute="fixed:1e-7", network="lsb:latency=1e-6,bandwidth=1e9",
                              **more)
            trust = done.summary["trust"]
            self.assertEqual((trust["order_inversions"], trust["forced_decisions"]), (0, 0))
            return done
        first = run()
        self.assertEqual(self.replay(first.folder)["rank_end_s"], first.summary["rank_end_s"])
        for options in (("--direct", "off"), ("--transport", "tcp")):
            self.assertEqual(run(options=options).summary["rank_end_s"], first.summary["rank_end_s"], options)
        for seed in range(5):
            again = run(more={"NPLUS1_TEST_DELAY": f"random:{seed}:0.001"})
            self.assertEqual(again.summary["rank_end_s"], first.summary["rank_end_s"], f"seed {seed}")


class Same(ReplayTest):
    """Threads that send and receive the same messages: who gets which is the machine's, the same natively and in virtual
    time, in the ranks and in the simulator."""

    def test_ranks_and_simulator_agree_on_who_gets_which_message(self):
        eager, waiting = "lsb:latency=1e-6,bandwidth=1e9", "lsb:latency=1e-6,bandwidth=1e9,eager=64,handshake=2e-6"
        for network, options in ((eager, ()), (eager, ("--direct", "off")), (eager, ("--transport", "tcp")), (waiting, ())):
            with self.subTest(network=network, options=options):
                run = self.exact("same_messages", 40, ranks=2, compute="fixed:1e-7", network=network, options=options)
                self.assertEqual(run.summary["trust"]["order_inversions"], 0)
                self.assertEqual(self.replay(run.folder)["rank_end_s"], run.summary["rank_end_s"])
                self.replay(run.folder, "--network", waiting)  # where messages come in another order, nobody waits for ever

    def test_a_matched_probe_and_a_receive_of_another_thread_share_messages(self):
        """Natively, too, each gets what it gets in virtual time: where a send waits for its receive, a receive that got
        the probe's message instead would leave both waiting. A replay gives each what it got."""
        network, slower = "lsb:latency=1e-6,bandwidth=1e9", "lsb:latency=5e-6,bandwidth=1e8"
        for more, options in ((",eager=0", ()), (",eager=0,handshake=2e-6", ()), ("", ()), ("", ("--direct", "off"))):
            with self.subTest(network=network + more, options=options):
                run = self.exact("probed_messages", 40, ranks=2, compute="fixed:1e-7", network=network + more,
                                 options=options)
                self.assertEqual(run.summary["trust"]["order_inversions"], 0)
                self.assertEqual(self.replay(run.folder)["rank_end_s"], run.summary["rank_end_s"])
                for words in (("--network", slower + more), ("--decisions", "recorded"), ("--decisions", "adapted")):
                    again = self.replay(run.folder, *words)
                    self.assertTrue(again["finished"], words)
                    self.assertEqual(again["trust"]["order_inversions"], 0, words)


class Manners(LiveTest):
    """The program ends as it does bare, whatever it does with its threads; where these wait for each other only by joins,
    nothing is decided by force."""
    JOINED = ("async", "turns", "many", "funnelled")
    OTHERS = ("detached", "pool", "signal", "ends", "outlive", "rest")

    def test_each_ends_as_bare(self):
        for manner in (*self.JOINED, *self.OTHERS):
            with self.subTest(manner):
                run = self.exact("thread_manners", manner, ranks=3, compute="fixed:1e-6",
                                 network="lsb:latency=1e-6,bandwidth=1e9", code=1 if manner == "detached" else 0)
                self.assertEqual(sorted(run.stdout.splitlines()), [f"rank {r}: done" for r in range(3)])
                if manner in self.JOINED:
                    trust = run.summary["trust"]
                    self.assertEqual((trust["order_inversions"], trust["forced_decisions"]), (0, 0))


if __name__ == "__main__":
    unittest.main()
