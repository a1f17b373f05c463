#!/usr/bin/env python3
"""A run says by itself what to fix first: in the terminal, and in its report with wait states and hand-written
collectives. Usage: findings_test.py BINARIES"""
import json
import os
import pathlib
import re
import shlex
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

    def test_each_problem_is_named_once_and_fewer_than_three_are_said_to_be_all(self):
        lines = self.terminal.split("What to fix first")[1].splitlines()[1:]
        self.assertEqual(sum("shared evenly by the ranks" in line for line in lines), 1, lines)
        self.assertFalse(any("not sent at all" in line or "network" in line for line in lines), lines)
        self.assertRegex(lines[1], r"of \d+ changes tried, no other problem's saves 1 %")

    def test_both_problems_of_the_demo_are_named_once_each(self):
        """The demo's program: every fourth rank has three times the work, and rank 0 sends to each in turn."""
        done = nplus1(self.binaries, "demo", "-o", pathlib.Path(self.scratch.name, "demo"))
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stderr.split("What to fix first")[1].splitlines()[1:]
        self.assertEqual(sum("shared evenly by the ranks" in line for line in lines), 1, lines)
        self.assertEqual(sum("bcast" in line.lower() for line in lines), 1, lines)

    def test_a_run_without_virtual_time_has_nothing_to_save(self):
        folder = pathlib.Path(self.scratch.name, "nothing")
        done = nplus1(self.binaries, "run", "-n", "1", "--compute", "fixed:0", "--network", "lsb:latency=0,bandwidth=1e18", "-o", folder,
                      "--", pathlib.Path(self.binaries, "examples/hello_c"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("nan", done.stderr)
        self.assertIn("takes no virtual time", done.stderr)

    def test_a_recording_that_cannot_be_read_is_said_to_be_the_reason(self):
        folder = pathlib.Path(self.scratch.name, "it's damaged")
        done = nplus1(self.binaries, "run", "-n", "2", "--compute", "fixed:0", "-o", folder, "--",
                      pathlib.Path(self.binaries, "examples/hello_c"))
        self.assertEqual(done.returncode, 0, done.stderr)
        for file in (folder / "recording").rglob("*.n1r"):
            file.write_bytes(b"no recording")
        done = nplus1(self.binaries, "report", folder)
        self.assertIn("the recording cannot be read", done.stderr)

    def test_a_printed_command_can_be_pasted(self):
        """The folder's name has a space and an apostrophe: a shell must find it again."""
        folder = pathlib.Path(self.scratch.name, "it's mine")
        done = nplus1(self.binaries, "run", "-n", "4", "--compute", "fixed:0", "-o", folder, "--",
                      pathlib.Path(self.binaries, "examples/planted"), "imbalance", "planted")
        self.assertEqual(done.returncode, 0, done.stderr)
        command = re.search(r"\(more: (nplus1 whatif .* --sweep)\)", done.stderr).group(1)
        sweep = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=100,
                               env={**os.environ, "PATH": f"{self.binaries}:{os.environ['PATH']}"})
        self.assertEqual(sweep.returncode, 0, sweep.stderr)
        again = re.search(r"the rest as it was: (nplus1 whatif .*) FLAGS", sweep.stdout).group(1)
        self.assertEqual(shlex.split(again)[2], str(folder))

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
