"""One-sided communication: times that can be worked out by hand (docs/one_sided.md; L = 1 ms, B = 1 MB/s), what MPI
refuses, replays, and a target that waits for something in virtual time and lets transfers in."""
import collections
import json
import pathlib
import unittest
from decimal import Decimal

from live import NPLUS1, LiveTest
from openmpi_test import OPEN_MPI, OpenMpiTest

PLATFORMS = pathlib.Path(__file__).resolve().parents[2] / "platforms"
WAYS = ((), ("--direct", "off"), ("--transport", "tcp"))
KINDS = ("created", "shared", "dynamic")


class OneSided(LiveTest):
    components = ()  # of the MPI library, that carry one-sided communication out

    def test_a_target_that_waits_for_a_message_lets_transfers_in(self):
        for component in self.components or (None,):
            for words in ((), ("accumulate",)):
                with self.subTest(component=component, words=words):
                    self.lets_transfers_in(words, {"OMPI_MCA_osc": component} if component else {})

    def lets_transfers_in(self, words, more):
        took, simulated = {}, {}
        for way, options in (("native", ("--native",)), ("simulated", ())):
            run = self.observe(3, self.of("one_sided"), 50, *words, options=options, more=more)
            took[way], whole = float(run.stdout.split()[0]), int(run.stdout.split()[1])
            self.assertEqual(whole, 50)
            simulated = run.summary
        self.assertTrue(simulated["complete"])
        self.assertEqual(simulated["unmodelled"]["calls"], 0)
        # A target that sleeps between looks at the MPI library takes some 13 s, on an idle machine too.
        self.assertLess(took["simulated"], 4 + 5 * took["native"])

    def ways(self):
        return [(options, {}) for options in WAYS] + [((), {"OMPI_MCA_osc": name}) for name in self.components]

    def times(self, scenario, ranks=2, kind="allocated"):
        """{(rank, call): microseconds of each such call}, the same in every way; nothing is unmodelled or forced."""
        all_ways = []
        for way, more in self.ways():
            run = self.exact(self.of("windows"), scenario, kind, ranks=ranks, options=(*way, "--record", "full"), more=more)
            self.assertEqual(run.summary["unmodelled"]["calls"], 0)
            self.assertEqual(run.summary["trust"]["order_inversions"], 0)
            found = collections.defaultdict(list)
            for line in run.stdout.splitlines():
                rank, call, value = line.split()
                found[int(rank), call].append(int(value))
            all_ways.append((dict(found), run.summary["rank_end_s"]))
            self.assertEqual(self.replayed(run.folder), run.summary["rank_end_s"])
        self.assertEqual(all_ways[1:], all_ways[:1] * (len(all_ways) - 1))
        return all_ways[0][0]

    def replayed(self, folder, *options):
        done = self.run_command([str(NPLUS1), "replay", str(folder), "--json", str(self.folder / "replay.json"), *options])
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads((self.folder / "replay.json").read_text(), parse_float=Decimal)["rank_end_s"]

    def test_fences(self):
        times = self.times("fence")
        self.assertEqual(times[0, "put"], [0])
        # A barrier of two is a message each way. A put of 2 ms and its acknowledgement come before it at the origin,
        # whose barrier then finds the target's message.
        self.assertEqual(times[0, "fence"], [1000, 3000, 3000])
        self.assertEqual(times[1, "fence"], [1000, 4000, 3000])

    def test_groups(self):
        times = self.times("groups")
        self.assertEqual(times[0, "start"], [1000])
        self.assertEqual(times[0, "complete"], [3000])
        self.assertEqual(times[1, "post"], [0])
        self.assertEqual(times[1, "wait"], [1000 + 3000 + 1000])
        self.assertGreater(times[1, "looks"][0], 1)

    def test_locks_are_held_in_turn(self):
        times = self.times("turns", ranks=4)
        held = 3000 + 1000  # the put, its acknowledgement, and the word that the lock is free
        self.assertEqual(sorted(times[rank, "lock"] for rank in (1, 2, 3)),
                         [[2000 + turn * (held + 1000)] for turn in range(3)])
        for rank in (1, 2, 3):
            self.assertEqual((times[rank, "put"], times[rank, "unlock"]), ([0], [3000]))

    def test_an_exclusive_lock_keeps_updates_apart(self):
        self.times("locks", ranks=4)

    def test_windows_of_every_kind_take_the_same_times(self):
        for scenario, ranks in (("fence", 2), ("groups", 2), ("locks", 4), ("turns", 3), ("requests", 2), ("fetch", 2)):
            with self.subTest(scenario):
                ends = {kind: self.exact(self.of("windows"), scenario, kind, ranks=ranks).summary["rank_end_s"]
                        for kind in ("allocated", *KINDS)}
                self.assertEqual(ends, dict.fromkeys(ends, ends["allocated"]))

    def test_requests(self):
        times = self.times("requests")
        self.assertEqual(times[0, "waitall"], [1000 + 2000])  # the get; the put's buffer was copied
        self.assertEqual(times[0, "flush"], [0])
        self.assertEqual(times[0, "nobody"], [0])

    def test_fetching_forms(self):
        times = self.times("fetch")
        self.assertEqual(times[1, "flush"], [2008])
        self.assertEqual(times[0, "flush"], [2008, 2004, 2012])

    def test_what_mpi_refuses_is_as_bare(self):
        bare = self.bare(2, self.of("windows"), "errors")
        for way in WAYS:
            run = self.exact(self.of("windows"), "errors", ranks=2, options=way)
            self.assertEqual(sorted(run.stdout.splitlines()), sorted(bare.stdout.splitlines()))

    def test_a_replay_on_a_platform_is_what_a_run_there_is(self):
        platform = ("--platform", str(PLATFORMS / "cluster64.xml"))
        for scenario, ranks in (("fence", 2), ("groups", 2), ("turns", 4), ("fetch", 2)):
            with self.subTest(scenario):
                there = self.observe(ranks, self.of("windows"), scenario, options=("--compute", "fixed:0", "--record", "full", *platform))
                self.assertEqual(self.replayed(there.folder), there.summary["rank_end_s"])
                here = self.exact(self.of("windows"), scenario, ranks=ranks, options=("--record", "full"))
                if scenario != "groups":  # how often is looked depends on the network
                    self.assertEqual(self.replayed(here.folder, *platform), there.summary["rank_end_s"])

    def test_otf2_has_each_transfer_and_its_end(self):
        run = self.exact(self.of("windows"), "fetch", ranks=2, options=("--record", "full"))
        for source, name in ((run.folder, "run.otf2"), (run.folder, "run.jsonl"), ("run.otf2", "back.n1r")):
            done = self.run_command([str(NPLUS1), "convert", "-q", str(self.folder / source), "-o", str(self.folder / name)])
            self.assertEqual(done.returncode, 0, done.stderr)
        printed = self.run_command(["otf2-print", str(self.folder / "run.otf2" / "traces.otf2")])
        self.assertEqual((printed.returncode, printed.stderr), (0, ""))
        records = collections.Counter(line.split()[0] for line in printed.stdout.splitlines() if line.startswith("RMA_"))
        lines = [json.loads(line) for line in (self.folder / "run.jsonl").read_text().splitlines()]
        told = collections.Counter(line["operation"] for line in lines if line.get("kind") in ("one_sided", "window_sync"))
        self.assertGreater(told["fetch_and_op"], 0)
        atomic = sum(told[name] for name in ("accumulate", "get_accumulate", "fetch_and_op", "compare_and_swap"))
        self.assertEqual((records["RMA_PUT"], records["RMA_GET"], records["RMA_ATOMIC"]), (told["put"], told["get"], atomic))
        self.assertEqual(records["RMA_OP_COMPLETE_REMOTE"], told["put"] + told["get"] + atomic)
        self.assertEqual((records["RMA_ACQUIRE_LOCK"], records["RMA_RELEASE_LOCK"]), (told["lock"], told["unlock"]))
        self.assertEqual(self.replayed(self.folder / "back.n1r"), run.summary["rank_end_s"])

    def test_native_recordings_are_replayed(self):
        for scenario in ("fence", "groups", "locks", "requests"):
            run = self.observe(2, self.of("windows"), scenario, options=("--native", "--record", "full"))
            self.assertEqual(len(self.replayed(run.folder, "--network", "lsb")), 2)


@unittest.skipUnless((OPEN_MPI / "windows").exists(), "built without Open MPI")
class OneSidedOfOpenMpi(OpenMpiTest, OneSided):
    components = ("rdma", "pt2pt", "ucx", "sm,pt2pt")


if __name__ == "__main__":
    unittest.main()
