"""nplus1 replay: a recorded program through the engine again. On its own network everything comes out as it was; on
another, closed forms and live runs say what must come out."""
import json
import re
import unittest
from decimal import Decimal

from live import NPLUS1
from recorded import RecordedTest

EXAMPLES = [(4, "ping_pong", 50, 3000), (4, "halo", 20, 20000), (5, "master_worker", 40, 10), (4, "waitany", 6, 10),
            (4, "wavefront", 10), (4, "cg_traffic"), (4, "imbalance", 4, 1), (3, "hello_c"), (2, "threads")]
# Nothing in them depends on who is first: what they do is the same on every network.
DETERMINISTIC = [e for e in EXAMPLES if e[1] in ("ping_pong", "halo", "wavefront", "cg_traffic", "imbalance")]
NETWORKS = ["lsb:latency=1e-6,bandwidth=1e9", "lsb:latency=1e-6,bandwidth=1e9,eager=1024",
            "loggops:L=2e-6,o=3e-7,g=1e-6,G=1e-9,O=1e-11"]


class ReplayTest(RecordedTest):
    def replay(self, recording, *options, code=0):
        file = self.folder / "replay.json"
        done = self.run_command([str(NPLUS1), "replay", str(recording), "--json", str(file), *options])
        self.assertEqual(done.returncode, code, done.stderr)
        return json.loads(file.read_text(), parse_float=Decimal)

    def run_on(self, example, network, compute):
        ranks, *words = example
        return self.observe(ranks, *words, options=("--network", network, "--compute", compute))

    def check_identity(self, example, network, compute):
        run = self.run_on(example, network, compute)
        replayed = self.replay(run.folder)
        self.assertTrue(replayed["identity"])
        self.assertTrue(replayed["finished"])
        self.assertEqual(replayed["rank_end_s"], run.summary["rank_end_s"])
        self.assertEqual(replayed["rank_end_s"], replayed["recorded_rank_end_s"])
        self.assertEqual(replayed["largest_difference_s"], 0)
        self.assertEqual(replayed["coverage"], "complete")


class Identity(ReplayTest):
    def test_every_example_ends_as_it_did_with_given_compute_times(self):
        for example in EXAMPLES:
            for network in NETWORKS:
                with self.subTest(example=example, network=network):
                    self.check_identity(example, network, "fixed:1e-7")

    def test_every_example_ends_as_it_did_with_measured_compute_times(self):
        for example in EXAMPLES:
            with self.subTest(example=example):
                self.check_identity(example, NETWORKS[0], "measured")


class OtherNetworks(ReplayTest):
    def test_a_deterministic_program_replays_as_it_runs_live_on_that_network(self):
        for example in DETERMINISTIC:
            recorded = self.run_on(example, NETWORKS[0], "fixed:1e-7").folder
            for network in NETWORKS[1:]:
                with self.subTest(example=example, network=network):
                    live = self.run_on(example, network, "fixed:1e-7")
                    replayed = self.replay(recorded, "--network", network)
                    self.assertEqual(replayed["rank_end_s"], live.summary["rank_end_s"])
                    self.assertFalse(replayed["identity"])


if __name__ == "__main__":
    unittest.main()
