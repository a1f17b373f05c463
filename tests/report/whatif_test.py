#!/usr/bin/env python3
"""The report of a hypothesis shows both sides with the numbers of whatif.json, and a timeline of each. Usage:
whatif_test.py BINARIES"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

from browser import Browser
from page import Report


class WhatIf(Report):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scratch.cleanup)
        folder = pathlib.Path(cls.scratch.name)
        nplus1 = pathlib.Path(cls.binaries, "nplus1")
        for words in (("run", "-q", "-n", "4", "--compute", "fixed:0", "-o", "run", "--", pathlib.Path(cls.binaries, "examples/planted"),
                       "imbalance", "planted"), ("whatif", "run", "--balance", "all", "-o", "even")):
            done = subprocess.run([nplus1, *words], cwd=folder, capture_output=True, text=True, timeout=100)
            if done.returncode != 0:
                raise RuntimeError(done.stderr)
        cls.page = (folder / "even" / "report.html").resolve()
        cls.whatif = json.loads((folder / "even" / "whatif.json").read_text())
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.__exit__)

    def test_both_sides_stand_next_to_each_other(self):
        self.go("whatif")
        text = self.browser.text("#panel-whatif")
        self.assertIn("balance all", text)
        saved = 100 * self.whatif["saved_s"] / self.whatif["before"]["virtual_time_s"]
        self.assertGreater(saved, 20)
        row = self.browser.value("[...document.querySelectorAll('#panel-whatif tr')].find((r) => r.children[0].textContent === 'virtual time')"
                                 ".lastElementChild.textContent")
        self.assertEqual(row, f"-{saved:.1f} %")
        self.assertIn("identity replay exact", text)

    def test_each_side_has_its_timeline(self):
        self.go("whatif")
        for side in ("before", "after"):
            self.assertGreater(self.ink(f"#timeline-{side}-canvas"), 3, side)

    def test_wait_states_have_a_view(self):
        self.go("waiting")
        text = self.browser.text("#panel-waiting")
        self.assertIn("wait at NxN", text)
        self.assertIn("exchange_borders", text)
        self.assertIn("parallel efficiency", text)


if __name__ == "__main__":
    WhatIf.binaries = sys.argv.pop(1)
    unittest.main()
