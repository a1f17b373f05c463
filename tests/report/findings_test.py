#!/usr/bin/env python3
"""A run says by itself what to fix first: in the terminal, and in its report with wait states and hand-written
collectives. Usage: findings_test.py BINARIES"""
import json
import os
import pathlib
import re
import shlex
import shutil
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
        self.assertEqual(sum("balance " in line for line in lines), 1, lines)
        self.assertFalse(any("leave out the messages" in line or "network" in line for line in lines), lines)
        self.assertRegex(lines[1], r"of \d+ changes tried, no other problem's saves 1 %")

    def test_both_problems_of_the_demo_are_named_once_each(self):
        """The demo's program: every fourth rank has three times the work, and rank 0 sends to each in turn."""
        done = nplus1(self.binaries, "demo", "-o", pathlib.Path(self.scratch.name, "demo"))
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stderr.split("What to fix first")[1].splitlines()[1:]
        balances = [line for line in lines if "balance " in line]
        elsewhere = [line for line in balances if "exchange_borders" not in line]
        self.assertEqual(len(balances) - len(elsewhere), 1, lines)
        self.assertEqual(sum("bcast" in line.lower() for line in lines), 1, lines)
        # Its computing is measured: what a busy host adds elsewhere may look systematic, but never for much.
        for line in elsewhere:
            self.assertLess(float(re.search(r"([\d.]+) %", line).group(1)), 3, lines)

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
        self.assertIn("balance ", self.browser.text("#fix-first li"))

    def test_the_overview_says_of_overlap_what_the_terminal_says(self):
        at_most = re.search(r"at most +([\d.]+) %  not looked at", self.terminal)
        told = self.browser.text("#fix-first")
        self.assertEqual("Not looked at" in told, at_most is not None, told)

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

    def test_overlap_is_not_looked_for_where_nobody_knows_when_data_are_used_and_that_is_said(self):
        told = {}
        for options in ((), ("--record-accesses",)):
            folder = pathlib.Path(self.scratch.name, "halo" + "".join(options))
            done = nplus1(self.binaries, "run", "-n", "4", "--compute", "fixed:1e-4", "--network", "lsb:latency=1e-3,bandwidth=1e9",
                          *options, "-o", folder, "--", pathlib.Path(self.binaries, "examples/halo"), "5", "1000")
            self.assertEqual(done.returncode, 0, done.stderr)
            sweep = folder / "sweep.json"
            told[options] = done.stderr + nplus1(self.binaries, "whatif", folder, "--sweep", "--json", sweep).stdout
            document = json.loads(sweep.read_text())
            self.assertIn('"overlap_not_looked_at"', (folder / "report.html").read_text())
            computing = document["before"]["efficiencies"]["communication"]
            expected = 0 if options else min(computing, 1 - computing)
            self.assertAlmostEqual(document["overlap_not_looked_at"], expected, places=9)
        self.assertRegex(told[()], r"at most +[\d.]+ %  not looked at: communication that computing could hide")
        self.assertEqual(told[()].count("not looked at"), 2)
        self.assertNotIn("not looked at", told[("--record-accesses",)])

    def test_a_native_recording_has_no_network_to_try_changes_on(self):
        folder = pathlib.Path(self.scratch.name, "native")
        done = nplus1(self.binaries, "run", "-n", "2", "--native", "--record", "full", "-o", folder, "--",
                      pathlib.Path(self.binaries, "examples/halo"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("What to fix", done.stderr)
        self.assertNotIn("lacks", done.stderr)
        self.assertIn('id="data-waitstates"', (folder / "report.html").read_text())


class OfAClock(Report):
    """The interval of the virtual time, as a run with --compute warm leaves it beside its results."""
    @classmethod
    def make_page(cls):
        folder = pathlib.Path(cls.scratch.name, "run")
        done = nplus1(cls.binaries, "run", "-q", "-n", "2", "--compute", "fixed:1e-3", "-o", folder, "--",
                      pathlib.Path(cls.binaries, "examples/halo"))
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        cls.folder = folder
        cls.time = json.loads((folder / "summary.json").read_text())["virtual_time_s"]
        cls.tell(cls.time)
        return (folder / "report.html").resolve()

    @classmethod
    def tell(cls, time):
        clock = {"schema": "nplus1-clock/1", "virtual_time_s": time, "from_s": 0.5 * time, "to_s": 1.5 * time,
                 "lowest_s": 0.25 * time, "measured_s": 3 * time, "kinds": []}
        (cls.folder / "clock.json").write_text(json.dumps(clock))
        (cls.folder / "warm").mkdir(exist_ok=True)
        done = nplus1(cls.binaries, "report", cls.folder)
        if done.returncode != 0:
            raise RuntimeError(done.stderr)

    def test_the_first_screen_has_the_interval_beside_the_virtual_time(self):
        tile = self.browser.text(".tiles")
        self.assertIn("nine of ten: ", tile)
        self.assertIn("at least ", tile)
        self.assertRegex(self.browser.text("header"), r"of virtual time \(.* to .*\)")
        self.assertIn("In nine cases of ten", self.browser.text("#panel-overview"))

    def test_times_of_another_clock_have_none(self):
        self.tell(2 * self.time)
        self.addCleanup(self.tell, self.time)
        self.browser.requests()
        self.browser.open(self.page.as_uri())
        self.assertNotIn("nine of ten", self.browser.text("#report"))

    def test_json_has_it_where_it_has_the_virtual_time(self):
        shutil.copytree(self.folder / "recording", self.folder / "warm/recording", dirs_exist_ok=True)
        self.addCleanup(shutil.rmtree, self.folder / "warm/recording")
        for words in (["waitstates", self.folder], ["whatif", self.folder, "--scale", "factor=0.5"], ["whatif", self.folder, "--sweep", "-q"]):
            file = self.folder / "told.json"
            done = nplus1(self.binaries, *words, "--json", file)
            self.assertEqual(done.returncode, 0, done.stderr)
            told = json.loads(file.read_text())
            interval = told.get("before", told)["virtual_time_interval"]
            self.assertEqual(interval["share"], 0.9)
            self.assertAlmostEqual(interval["from_s"], 0.5 * self.time)
            self.assertAlmostEqual(interval["highest_s"], 3 * self.time)


if __name__ == "__main__":
    Report.binaries = sys.argv.pop(1)
    unittest.main()
