"""`nplus1 collectives` on a recorded program: by one process and by several, as in the paper, with prices, in a report."""
import json
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from live import LiveTest, NPLUS1

RANKS = 6
PLATFORMS = pathlib.Path(__file__).resolve().parents[2] / "platforms"


def collectives(folder, *options, check=True):
    """The list, and what was printed."""
    with tempfile.TemporaryDirectory() as scratch:
        file = pathlib.Path(scratch, "collectives.json")
        done = subprocess.run([str(NPLUS1), "collectives", str(folder), "--json", str(file), *options],
                              capture_output=True, text=True, check=False, timeout=300)
        if check and done.returncode:
            raise AssertionError(done.stderr)
        return (json.loads(file.read_text()) if file.exists() else None), done


class Analysers(LiveTest):
    def recorded(self, *words):
        return self.observe(RANKS, "manual_collectives", *words,
                            options=("--record", "full", "--compute", "fixed:0", "--network",
                                     "loggops:L=2e-6,o=1e-6,g=1e-6,G=1e-9,O=0,S=65536"))

    def test_several_analysers_find_exactly_what_one_finds(self):
        folder = self.recorded().folder
        alone, _ = collectives(folder)
        self.assertGreaterEqual(len(alone), 4)
        for count in ("2", "3", "7"):
            together, _ = collectives(folder, "--analysers", count)
            self.assertEqual(together, alone, count)

    def test_so_do_they_where_all_search_one_large_group_together(self):
        """Half a million messages of 1024 ranks, of which 0.9 spread 440 payloads: too many for any other way."""
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch, "recording")
            subprocess.run([str(NPLUS1.parent / "detector_bench"), "500000", "440", str(folder)], check=True)
            alone, _ = collectives(folder)
            self.assertEqual([(f["kind"], f["certainty"], f["count"], f["messages"]) for f in alone],
                             [("bcast", "certain", 440, 440 * 1023)])
            for count in ("2", "3"):
                together, _ = collectives(folder, "--analysers", count)
                self.assertEqual(together, alone, count)

    def test_the_papers_method_is_the_same_by_several_too(self):
        folder = self.recorded().folder
        alone, _ = collectives(folder, "--method", "paper")
        together, _ = collectives(folder, "--method", "paper", "--analysers", "3")
        self.assertEqual(together, alone)
        serial = [f for f in alone if f["kind"] == "bcast" and f["roots"] == [0]]
        self.assertEqual([(f["count"], f["messages"]) for f in serial], [(5, 5 * (RANKS - 1))])
        self.assertNotIn("scatter", [f["kind"] for f in alone], "without Send_To_Self it cannot be seen")

    def test_the_saving_predicted_is_what_carrying_it_out_saves(self):
        before, after = self.recorded(), self.recorded("library")
        found, done = collectives(before.folder, "--price")
        priced = [f for f in found if f["saving_s"] is not None]
        self.assertEqual([f["saving_s"] for f in priced], sorted((f["saving_s"] for f in priced), reverse=True))
        self.assertEqual({f["saving_error_s"] for f in priced}, {0.0}, "the recorded network is repeated exactly")
        serial = next(f for f in priced if f["kind"] == "bcast" and f["roots"] == [0])
        saved = float(before.summary["virtual_time_s"] - after.summary["virtual_time_s"])
        self.assertAlmostEqual(serial["saving_s"], saved, delta=1e-9)
        self.assertIn("saves", done.stdout)

    def test_where_the_run_cannot_be_repeated_the_error_is_not_known_rather_than_none(self):
        """The platform's file is gone: savings elsewhere are known, how exact replays of this recording are is not."""
        platform = self.folder / "platform.xml"
        shutil.copy(PLATFORMS / "cluster64.xml", platform)
        run = self.observe(RANKS, "manual_collectives",
                           options=("--record", "full", "--compute", "fixed:0", "--platform", str(platform)))
        platform.unlink()
        found, done = collectives(run.folder, "--network", "lsb")
        priced = [f for f in found if f["saving_s"] is not None]
        self.assertTrue(priced)
        self.assertEqual({f["saving_error_s"] for f in priced}, {None})
        self.assertTrue(all("platform.xml" in f["evidence"][-1] for f in priced), priced[0]["evidence"])
        self.assertIn("(error of the replay: not known)", done.stdout)

    def test_so_is_the_saving_of_a_broadcast_that_is_polled_for(self):
        """HPL's way: receivers look for the message again and again, which they would not do without it."""
        options = ("--record", "full", "--compute", "fixed:0", "--network", "loggops:L=2e-6,o=1e-6,g=1e-6,G=1e-9,O=0,S=65536")
        for variant in ("1ring", "long"):
            before = self.observe(4, "hpl_broadcasts", variant, 1, 4, 8, options=options)
            after = self.observe(4, "hpl_broadcasts", "library", 1, 4, 8, options=options)
            (found,), _ = collectives(before.folder, "--price")
            saved = float(before.summary["virtual_time_s"] - after.summary["virtual_time_s"])
            self.assertAlmostEqual(found["saving_s"], saved, delta=1e-9, msg=variant)

    def test_every_finding_has_a_drawing_of_one_instance(self):
        found, _ = collectives(self.recorded().folder)
        for finding in found:
            self.assertEqual(len(finding["pattern"]), finding["messages"] // finding["count"], finding["kind"])
            self.assertTrue({r for s, d, *_ in finding["pattern"] for r in (s, d)} <= set(finding["ranks"]))

    def test_bad_input_is_one_clear_error(self):
        with tempfile.TemporaryDirectory() as empty:
            for options in ((), ("--analysers", "2")):
                _, done = collectives(empty, *options, check=False)
                self.assertEqual(done.returncode, 66)
                self.assertIn("nothing is shown", done.stderr)
        _, done = collectives(self.recorded().folder, "--method", "paper", "--price", check=False)
        self.assertEqual(done.returncode, 64)


if __name__ == "__main__":
    unittest.main()
