"""Platforms under real programs: contention, topologies, mappings, and the same times again."""
import json
import pathlib
import subprocess
import unittest

import live

PLATFORMS = pathlib.Path(__file__).resolve().parents[2] / "platforms"


class Platforms(live.LiveTest):
    def ends(self, ranks, pattern, size, options, rest=()):
        """Each rank's virtual end in seconds, and the summary."""
        output = self.folder / f"out{self.runs}"
        self.runs += 1
        line = self.command(ranks, "smpi_patterns", pattern, size, output=output,
                            options=("--compute", "fixed:0", *options))
        run = subprocess.run(line, capture_output=True, text=True, timeout=live.LIMIT, env=live.environment(),
                             check=True)
        ends = dict(words.split() for words in run.stdout.splitlines())
        return {int(r): float(t) for r, t in ends.items()}, json.loads((output / "summary.json").read_text())

    def makespan(self, ranks, pattern, size, *options):
        return max(self.ends(ranks, pattern, size, options)[0].values())

    def on(self, platform, *more):
        return "--platform", PLATFORMS / f"{platform}.xml", *more

    def test_two_runs_give_the_same_times_on_every_platform(self):
        for platform in ("two_hosts", "cluster64", "fat_tree", "torus", "dragonfly"):
            ranks = 2 if platform == "two_hosts" else 9
            for pattern in ("wavefront", "transpose", "ring"):
                with self.subTest(platform=platform, pattern=pattern):
                    first, summary = self.ends(ranks, pattern, 20000, self.on(platform))
                    again, _ = self.ends(ranks, pattern, 20000, self.on(platform))
                    self.assertEqual(first, again)
                    self.assertEqual(summary["trust"]["order_inversions"], 0)

    def test_calibrations_and_names_of_any_length_reach_the_ranks(self):
        """Five pieces for each of the three overheads, as SMPI's calibration procedure gives them."""
        pieces = ("0:8.930097312e-06:7.654382981e-10;1420:1.396843123e-05:2.974094001e-10;"
                  "32768:1.540828732e-05:2.441040337e-10;65536:2.379990017e-04:1.000000001e-11;"
                  "327680:1.000000001e-09:1.000000003e-12")
        costs = [word for name in ("os", "or", "ois") for word in ("--simgrid", f"smpi/{name}:{pieces}")]
        _, summary = self.ends(4, "ring", 20000, self.on("cluster64", *costs, "--record-region", "r" * 1000))
        self.assertEqual(summary["trust"]["active_ranks"], 4)
        self.assertEqual(summary["recording"]["events"], 0)  # in no such region

    def test_eight_senders_to_one_take_eight_times_as_long_where_links_are_shared(self):
        for network, factor in ((self.on("cluster64"), 8), (("--network", "lsb:bandwidth=1.25e9"), 1)):
            one = self.makespan(2, "incast", 4000000, *network)
            eight = self.makespan(9, "incast", 4000000, *network)
            self.assertAlmostEqual(eight / one, factor, delta=0.1 * factor)

    def test_a_reduction_by_the_network_takes_as_long_with_any_number_of_ranks(self):
        for algorithm, factor in (("hardware", 1), ("linear", 15)):
            two, sixteen = (self.makespan(ranks, "reduce", 4000000, *self.on("cluster64", "--collectives", f"reduce={algorithm}"))
                            for ranks in (2, 16))
            self.assertAlmostEqual(sixteen / two, factor, delta=0.1 * factor, msg=algorithm)

    def test_the_summary_says_when_the_model_knows_no_contention(self):
        _, without = self.ends(2, "ring", 8, ())
        _, shared = self.ends(2, "ring", 8, self.on("cluster64"))
        self.assertTrue(any("no contention" in note for note in without["notes"]))
        self.assertFalse(any("no contention" in note for note in shared["notes"]))

    def test_topologies_differ_for_random_pairs_and_not_for_neighbours(self):  # ranks in the order of the hosts
        fat, torus = (self.makespan(16, "pairs", 1000000, *self.on(p)) for p in ("fat_tree", "torus"))
        self.assertGreater(max(fat, torus), 1.2 * min(fat, torus))
        fat, torus = (self.makespan(16, "nearest", 1000000, *self.on(p)) for p in ("fat_tree", "torus"))
        self.assertLess(max(fat, torus), 1.05 * min(fat, torus))

    def test_a_bad_mapping_costs_what_its_shared_links_cost(self):
        # Pairs 0-1 and 2-3. Good: neighbours in x. Bad: node-0 to node-2 and node-1 to node-3 are two hops in a ring
        # of four; their routes share a link, so each gets half.
        maps = {"good": "node-0 node-1 node-2 node-3\n", "bad": "node-0 node-2 node-1 node-3\n"}
        times = {}
        for name, text in maps.items():
            (self.folder / name).write_text(text)
            times[name] = self.makespan(4, "nearest", 10000000, *self.on("torus", "--map", self.folder / name))
        self.assertAlmostEqual(times["bad"] / times["good"], 2, delta=0.1)

    def test_a_platform_that_does_not_fit_is_refused_before_anything_starts(self):
        for options, part in ((("--platform", "nowhere.xml"), "nowhere.xml"),
                              (self.on("two_hosts"), "2 cores for 3 ranks"),
                              (self.on("torus", "--model", "ns-3"), "ahead of the ranks"),
                              (("--map", "block"), "--platform"),
                              (self.on("torus", "--network", "lsb"), "keep one")):
            line = self.command(3, "smpi_patterns", "ring", 8, options=options)
            run = subprocess.run(line, capture_output=True, text=True, timeout=live.LIMIT, env=live.environment())
            self.assertNotEqual(run.returncode, 0)
            self.assertIn(part, run.stderr)
            self.assertIn("nothing was started", run.stderr)


if __name__ == "__main__":
    unittest.main()
