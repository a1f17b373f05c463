"""A program that runs live on a platform, and the replay of its recording, agree to the picosecond: on the five platforms
that nplus1 brings, for messages of every protocol (detached, rendezvous), and for collectives."""
import pathlib
import unittest

from replay_test import ReplayTest

PLATFORMS = pathlib.Path(__file__).resolve().parents[2] / "platforms"
FIXED = ("--compute", "fixed:1e-6")
PROGRAMS = [("wavefront", 12), ("wavefront", 6, 20000), ("halo", 20, 20000), ("halo", 11, 100000),
            ("smpi_patterns", "transpose,alltoall", "20000,100000")]
RANKS = 8


class LiveEqualsReplay(ReplayTest):
    def on(self, platform):
        """Ranks 0 to 7; the two hosts hold four each, which meet on loopback and on the wire."""
        mapping = self.folder / "map"
        mapping.write_text("host-0*4 host-1*4\n")
        more = ("--map", str(mapping)) if platform == "two_hosts" else ()
        return ("--platform", str(PLATFORMS / f"{platform}.xml"), *more)

    def check(self, flags, program):
        live = self.observe(RANKS, *program, options=(*flags, *FIXED))
        trust = live.summary["trust"]
        self.assertEqual((trust["order_inversions"], trust["forced_decisions"], trust["clock_mismatches"]), (0, 0, 0))
        replayed = self.replay(live.folder)
        self.assertTrue(replayed["identity"])
        self.assertEqual(replayed["rank_end_s"], live.summary["rank_end_s"])
        self.assertEqual(replayed["largest_difference_s"], 0)
        return live.summary["rank_end_s"]

    def compare(self, platform):
        flags = self.on(platform)
        for program in PROGRAMS:
            with self.subTest(platform=platform, program=program):
                ends = self.check(flags, program)
                elsewhere = self.observe(RANKS, *program, options=("--network", "lsb", *FIXED))
                self.assertNotEqual(elsewhere.summary["rank_end_s"], ends)
                self.assertEqual(self.replay(elsewhere.folder, *flags)["rank_end_s"], ends)

    def test_on_two_hosts(self):
        self.compare("two_hosts")

    def test_on_a_flat_cluster(self):
        self.compare("cluster64")

    def test_on_a_fat_tree(self):
        self.compare("fat_tree")

    def test_on_a_torus(self):
        self.compare("torus")

    def test_on_a_dragonfly(self):
        self.compare("dragonfly")


if __name__ == "__main__":
    unittest.main()
