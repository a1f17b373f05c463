#!/usr/bin/env python3
"""A run says by itself what to fix first: in the terminal, and in its report with wait states and hand-written
collectives. Usage: findings_test.py BINARIES"""
import json
import pathlib
import re
import subprocess
import sys
import unittest

from page import Report


def nplus1(binaries, *words, **options):
    return subprocess.run([pathlib.Path(binaries, "nplus1"), *words], capture_output=True, text=True, timeout=100, **options)


class Findings(Report):
    program = ["planted", "imbalance", "planted"]

    @classmethod
    def make_page(cls):
        folder = pathlib.Path(cls.scratch.name, "run")
        command = [pathlib.Path(cls.binaries, "examples", cls.program[0]), *cls.program[1:]]
        done = nplus1(cls.binaries, "run", "-n", "4", "--compute", "fixed:0", "-o", folder, "--", *command)
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        cls.folder, cls.terminal = folder, done.stderr
        return (folder / "report.html").resolve()

    def test_the_terminal_ends_with_what_the_sweep_ranks_first(self):
        sweep = pathlib.Path(self.scratch.name, "sweep.json")
        done = nplus1(self.binaries, "whatif", self.folder, "--sweep", "--json", sweep)
        self.assertEqual(done.returncode, 0, done.stderr)
        document = json.loads(sweep.read_text())
        best = document["candidates"][0]
        last = self.terminal.split("What to fix first")[1].splitlines()[1]
        self.assertIn(best["what"], last)
        share = float(re.search(r"([\d.]+) %", last).group(1))
        self.assertAlmostEqual(share, 100 * best["saved_s"] / document["before"]["virtual_time_s"], places=1)
        self.assertGreater(share, 20)

    def test_the_overview_leads_with_it(self):
        self.assertIn("shared evenly by the ranks", self.browser.text("#fix-first li"))

    def test_the_whole_sweep_and_the_wait_states_have_views(self):
        self.go("fixes")
        self.assertIn("an ideal network", self.browser.text("#panel-fixes"))
        self.go("waiting")
        self.assertIn("parallel efficiency", self.browser.text("#panel-waiting"))

    def test_a_balanced_program_is_told_that_nothing_helps_much(self):
        folder = pathlib.Path(self.scratch.name, "alone")
        done = nplus1(self.binaries, "run", "-n", "1", "--compute", "fixed:1e-3", "-o", folder, "--",
                      pathlib.Path(self.binaries, "examples/halo"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"What to fix: of \d+ changes tried, none saves 1 %")

    def test_a_native_recording_has_no_network_to_try_changes_on(self):
        folder = pathlib.Path(self.scratch.name, "native")
        done = nplus1(self.binaries, "run", "-n", "2", "--native", "--record", "full", "-o", folder, "--",
                      pathlib.Path(self.binaries, "examples/halo"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("What to fix", done.stderr)
        self.assertNotIn("lacks", done.stderr)
        self.assertIn('id="data-waitstates"', (folder / "report.html").read_text())


if __name__ == "__main__":
    Report.binaries = sys.argv.pop(1)
    unittest.main()
