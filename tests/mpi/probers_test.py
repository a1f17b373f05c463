"""Programs that probe, under hypotheses that change what their probes find (programs/probers.c): whoever receives what it has found
still does, and whoever probes for its library's progress waits for nothing."""
import json
import random
import subprocess
import unittest

from live import NPLUS1, LiveTest

HYPOTHESES = [["--scale", "factor=0.05"], ["--scale", "factor=5"], ["--scale", "ranks=1,factor=10"],
              ["--scale", "ranks=2,factor=0.1"], ["--network", "lsb:latency=1e-7,bandwidth=1e10"],
              ["--network", "lsb:latency=2e-4,bandwidth=1e8"]]


class Probers(LiveTest):
    SEEDS = 3

    def check(self, way):
        for seed in range(self.SEEDS):
            run = self.observe(4, "probers", way, seed)
            for words in random.Random(seed).sample(HYPOTHESES, 3):
                with self.subTest(way=way, seed=seed, hypothesis=words):
                    file = self.folder / "whatif.json"
                    done = subprocess.run([str(NPLUS1), "whatif", str(run.folder), *words, "--json", str(file)], text=True,
                                          capture_output=True, check=False)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertNotIn("never comes", done.stdout)
                    self.assertGreater(json.loads(file.read_text())["after"]["virtual_time_s"], 0)

    def test_who_serves_by_probes_serves_all(self):
        self.check("serve")

    def test_who_answers_before_it_receives_does(self):
        self.check("answer")

    def test_who_probes_for_progress_waits_for_nothing(self):
        self.check("progress")


if __name__ == "__main__":
    unittest.main()
