"""Partitioned communication: times that can be worked out by hand (docs/partitioned.md; L = 1 ms, B = 1 MB/s, four
partitions of 1000 bytes), data, whatever completes it, and replays."""
import collections
import json
import unittest
from decimal import Decimal

from live import LiveTest, NPLUS1

WAYS = ((), ("--direct", "off"), ("--transport", "tcp"))
RENDEZVOUS = "lsb:latency=1e-3,bandwidth=1e6,eager=500"
INTRODUCTION = 32  # bytes


class Partitioned(LiveTest):
    def times(self, scenario, **named):
        """{(rank, what): microseconds}, the same in every way and when replayed; nothing is unmodelled."""
        all_ways = []
        for way in WAYS:
            run = self.exact("partitioned", scenario, ranks=2, options=(*way, "--record", "full"), **named)
            self.assertEqual(run.summary["unmodelled"]["calls"], 0)
            found = collections.defaultdict(list)
            for line in run.stdout.splitlines():
                rank, what, value = line.split()
                found[int(rank), what].append(int(value))
            all_ways.append((dict(found), run.summary["rank_end_s"]))
            done = self.run_command([str(NPLUS1), "replay", str(run.folder), "--json", str(self.folder / "replay.json")])
            self.assertEqual(done.returncode, 0, done.stderr)
            replayed = json.loads((self.folder / "replay.json").read_text(), parse_float=Decimal)
            self.assertEqual(replayed["rank_end_s"], run.summary["rank_end_s"])
        self.assertEqual(all_ways[1:], all_ways[:1] * (len(WAYS) - 1))
        return all_ways[0][0]

    def test_a_partition_leaves_when_it_is_ready(self):
        """The last is ready at 4 ms, and there L + s/B = 2 ms later. A message of all 4000 bytes would come at 9 ms."""
        self.assertEqual(self.times("early"), {(0, "wait"): [4000], (1, "wait"): [6000]})

    def test_a_partition_is_seen_when_it_has_arrived(self):
        times = self.times("arrivals")[1, "arrived"]
        for seen, ready in zip(times, (1000, 2000, 3000, 4000), strict=True):
            self.assertTrue(ready + 2000 <= seen <= ready + 2000 + 10, times)  # a failed look costs up to 10 us

    def test_rendezvous_begins_with_the_second_round(self):
        """A receiver that starts 10 ms late: the first time the partitions have come by then. The second time each waits for
        it: L + s/B after it has started. (The sender leaves the barrier before that round L later.)"""
        self.assertEqual(self.times("late", network=RENDEZVOUS),
                         {(0, "round"): [0, 11000], (1, "round"): [10000, 12000]})
        self.assertEqual(self.times("late"), {(0, "round"): [0, 0], (1, "round"): [10000, 10000]})

    def test_what_the_receiver_does_before_it_waits_holds_no_partition_back(self):
        for network in ("lsb:latency=1e-3,bandwidth=1e6", RENDEZVOUS):
            self.times("crossed", network=network)

    def test_each_partition_is_a_message_and_the_first_round_has_one_more(self):
        run = self.exact("partitioned", "late", ranks=2)
        self.assertEqual(run.summary["point_to_point"]["messages"][0][1], 2 * 4 + 1)
        self.assertEqual(run.summary["point_to_point"]["bytes"][0][1], 2 * 4000 + INTRODUCTION)

    def test_both_sides_may_divide_the_message_as_they_like(self):
        self.times("divide")

    def test_every_call_that_completes_does(self):
        for network in ("lsb:latency=1e-3,bandwidth=1e6", RENDEZVOUS):
            self.times("complete", network=network)

    def test_requests_match_in_the_order_of_their_making(self):
        for network in ("lsb:latency=1e-3,bandwidth=1e6", RENDEZVOUS):
            self.times("match", network=network)

    def test_threads(self):
        """The last partition is ready after 4 ms: the other threads' clocks begin where MPI_Start has left."""
        times = self.times("threads")
        self.assertEqual(times[0, "end"], [4000])
        self.assertTrue(6000 <= times[1, "end"][0] <= 6010, times)

    def test_what_mpi_refuses(self):
        bare = self.bare(2, "partitioned", "errors")
        self.assertEqual(self.observe(2, "partitioned", "errors", code=None).code, bare.code)

    def test_accesses_are_recorded_and_nothing_races(self):
        for scenario in ("early", "arrivals", "complete"):
            run = self.exact("partitioned", scenario, ranks=2, options=("--record-accesses",))
            done = self.run_command([str(NPLUS1), "overlap", str(run.folder)])
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("race", done.stdout)

    def test_native_runs_pass_it_on(self):
        """MPICH 4.0 fails bare where partitioned requests meet MPI_Testall or go to the rank itself."""
        for scenario in ("arrivals", "late", "crossed"):
            for options in (("--native",), ("--native", "--record", "full")):
                self.observe(2, "partitioned", scenario, options=options)


if __name__ == "__main__":
    unittest.main()
