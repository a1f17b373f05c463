"""nplus1 replay: a recorded program through the engine again. On its own network everything comes out as it was; on
another, closed forms and live runs say what must come out."""
import json
import pathlib
import unittest
from decimal import Decimal

from live import NPLUS1
from recorded import RecordedTest

EXAMPLES = [(4, "ping_pong", 50, 3000), (4, "halo", 20, 20000), (5, "master_worker", 40, 10), (4, "waitany", 6, 10),
            (4, "wavefront", 10), (4, "cg_traffic"), (4, "imbalance", 4, 1), (3, "hello_c"), (2, "threads")]
# Nothing in them depends on who is first: what they do is the same on every network.
DETERMINISTIC = [e for e in EXAMPLES if e[1] in ("ping_pong", "halo", "wavefront", "cg_traffic", "imbalance")]
PLATFORMS = pathlib.Path(__file__).parents[2] / "platforms"
NETWORKS = ["lsb:latency=1e-6,bandwidth=1e9", "lsb:latency=1e-6,bandwidth=1e9,eager=1024",
            "loggops:L=2e-6,o=3e-7,g=1e-6,G=1e-9,O=1e-11",
            "loggops:L=2e-6,o=3e-7,g=1e-6,G=1e-9,O=1e-11,S=4096,interfaces=both"]


CLOCK_READS = Decimal("40e-9")  # ping_pong reads MPI_Wtime twice, at 20 ns of virtual time each


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
        adapted = self.replay(run.folder, "--decisions", "adapted")
        self.assertEqual(adapted["rank_end_s"], run.summary["rank_end_s"])
        for count in ("swapped_completions", "early_completions", "other_messages", "tests_that_waited", "gave_up"):
            self.assertEqual(adapted[count], 0, count)


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

    def test_making_communicators_costs_what_mpich_sends_live_as_in_replays(self):
        program = (8, "exchanges", "rows", "mended", 3)  # one MPI_Comm_split
        words = ("--network", NETWORKS[0], "--compute", "fixed:1e-7")
        ranks, *command = program
        plain = self.observe(ranks, *command, options=words)
        priced = self.observe(ranks, *command, options=(*words, "--collectives", "synchronize=context_id"))
        self.assertGreater(priced.summary["virtual_time_s"], plain.summary["virtual_time_s"])
        replayed = self.replay(plain.folder, "--collectives", "synchronize=context_id")
        self.assertEqual(replayed["rank_end_s"], priced.summary["rank_end_s"])
        self.assertEqual(self.replay(priced.folder)["largest_difference_s"], 0)

    def test_a_ping_pong_takes_two_times_latency_and_transfer(self):
        recorded = self.run_on((2, "ping_pong", 50, 3000), NETWORKS[0], "fixed:0").folder
        for latency, bandwidth in ((Decimal("7e-6"), 10 ** 9), (Decimal("1e-3"), 10 ** 6)):
            replayed = self.replay(recorded, "--network", f"lsb:latency={latency},bandwidth={bandwidth}")
            self.assertEqual(replayed["virtual_time_s"], 100 * (latency + Decimal(3000) / bandwidth) + CLOCK_READS)

    def test_compute_scales_with_the_processors(self):
        recorded = self.run_on((4, "wavefront", 10), NETWORKS[0], "fixed:1e-6").folder
        alone = "lsb:latency=0,bandwidth=1e30"
        once, twice = (self.replay(recorded, "--network", alone, "--compute-scale", scale)["virtual_time_s"] for scale in "12")
        self.assertEqual(twice, 2 * once)

    def test_programs_that_depend_on_who_is_first_reach_their_end(self):
        for example in EXAMPLES:
            recorded = self.run_on(example, NETWORKS[0], "fixed:1e-7").folder
            with self.subTest(example=example):
                replayed = self.replay(recorded, "--network", "lsb:latency=50us,bandwidth=1e8")
                self.assertTrue(replayed["finished"])
                self.assertGreater(replayed["virtual_time_s"], replayed["recorded_virtual_time_s"])

    def test_a_platform_replays_as_it_runs_live(self):
        flags = ("--platform", str(PLATFORMS / "cluster64.xml"), "--model", "SMPI")
        for example in DETERMINISTIC:
            ranks, *words = example
            recorded = self.run_on(example, NETWORKS[0], "fixed:1e-7").folder
            live = self.observe(ranks, *words, options=(*flags, "--compute", "fixed:1e-7"))
            with self.subTest(example=example):
                self.assertEqual(self.replay(recorded, *flags)["rank_end_s"], live.summary["rank_end_s"])
                identity = self.replay(live.folder)
                self.assertTrue(identity["identity"])
                self.assertEqual(identity["largest_difference_s"], 0)


class Results(ReplayTest):
    def test_a_result_folder_is_that_of_the_run(self):
        run = self.run_on((4, "halo", 20, 20000), NETWORKS[0], "fixed:1e-7")
        self.replay(run.folder, "-o", str(self.folder / "again"), "--record")
        again = json.loads((self.folder / "again" / "summary.json").read_text(), parse_float=Decimal)
        for key in ("rank_end_s", "compute_s", "point_to_point", "collectives", "virtual_time_s", "complete"):
            self.assertEqual(again.get(key), run.summary.get(key), key)
        files = {p.name for p in run.folder.iterdir()}
        self.assertLessEqual(files, {p.name for p in (self.folder / "again").iterdir()})
        self.assertEqual(self.replay(self.folder / "again")["largest_difference_s"], 0)

    def test_a_sweep_is_single_replays(self):
        run = self.run_on((4, "waitany", 6, 10), NETWORKS[0], "fixed:1e-7")
        files = {kind: self.folder / f"sweep.{kind}" for kind in ("json", "csv", "html")}
        done = self.run_command([str(NPLUS1), "replay", str(run.folder), "--sweep", "latency=1e-6..1e-4 x3,bandwidth=1e8,1e10",
                                 *(w for kind, file in files.items() for w in (f"--{kind}", str(file)))])
        self.assertEqual(done.returncode, 0, done.stderr)
        sweep = json.loads(files["json"].read_text(), parse_float=Decimal)
        self.assertEqual(sweep["keys"], ["latency", "bandwidth"])
        self.assertEqual(len(sweep["points"]), 6)
        self.assertEqual(len(files["csv"].read_text().splitlines()), 7)
        self.assertEqual(len(done.stdout.splitlines()), 7)
        self.assertIn('id="data-sweep"', files["html"].read_text())
        for point in sweep["points"]:
            latency, bandwidth = point["values"]
            single = self.replay(run.folder, "--network", f"lsb:latency={latency},bandwidth={bandwidth}")
            self.assertEqual(point["virtual_time_s"], single["virtual_time_s"])
            self.assertEqual(point["communication_share"], single["communication_share"])

    def test_a_cut_recording_is_replayed_as_far_as_it_goes(self):
        run = self.run_on((4, "halo", 200, 2000), NETWORKS[0], "fixed:1e-7")
        file = run.folder / "recording" / "events.n1r"
        file.write_bytes(file.read_bytes()[:-100])
        replayed = self.replay(run.folder)
        self.assertIn("incomplete", replayed["coverage"])
        self.assertLessEqual(replayed["virtual_time_s"], run.summary["virtual_time_s"])


class BadInput(ReplayTest):
    def test_each_is_one_message_of_three_lines(self):
        run = self.run_on((2, "ping_pong", 2, 8), NETWORKS[0], "fixed:0")
        for mention, words in (("bandwith", ("--network", "lsb:bandwith=1")), ("'bandwith'", ("--sweep", "bandwith=1e9")),
                               ("nowhere.xml", ("--platform", "nowhere.xml")), ("folder", ("--record",)),
                               ("--csv", ("--csv", "x.csv")), ("both", ("--platform", "x", "--network", "lsb")),
                               ("bcast", ("--collectives", "bcast=nonsense")), ("platform", ("--map", "block"))):
            done = self.run_command([str(NPLUS1), "replay", str(run.folder), *words])
            lines = done.stderr.splitlines()
            with self.subTest(words=words):
                self.assertEqual(done.returncode, 64)
                self.assertEqual(len(lines), 3, done.stderr)
                self.assertIn(mention, lines[0] + lines[2])
        self.assertEqual(self.run_command([str(NPLUS1), "replay", str(self.folder / "none")]).returncode, 66)


if __name__ == "__main__":
    unittest.main()
