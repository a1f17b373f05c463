#!/usr/bin/env python3
"""The view of a sweep: a map where two keys vary, a line where one does, with the numbers of the JSON. Usage:
sweep_test.py BINARIES"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

from browser import Browser
from page import Report


class Sweep(Report):
    words = None

    @classmethod
    def setUpClass(cls):
        if cls.words is None:
            raise unittest.SkipTest("the common part")
        cls.scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scratch.cleanup)
        folder = pathlib.Path(cls.scratch.name)
        nplus1 = pathlib.Path(cls.binaries, "nplus1")
        for words in (("run", "-q", "-n", "4", "--compute", "fixed:0", "-o", "run", "--", pathlib.Path(cls.binaries, "examples/halo"), "20"),
                      ("replay", "-q", "run", "--sweep", cls.words, "--html", "sweep.html", "--json", "sweep.json")):
            done = subprocess.run([nplus1, *words], cwd=folder, capture_output=True, text=True, timeout=100)
            if done.returncode != 0:
                raise RuntimeError(done.stderr)
        cls.page = (folder / "sweep.html").resolve()
        cls.sweep = json.loads((folder / "sweep.json").read_text())
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.__exit__)

    def setUp(self):
        super().setUp()
        self.go("sweep")

    def in_figure(self, script, name="sweep-time"):
        return self.browser.value(f"(() => {{ const f = document.querySelector('[data-figure={name}]'); return {script}; }})()")


class TwoKeys(Sweep):
    words = "bandwidth=1e8..1e10 x4,latency=1us,10us,100us"

    def cells(self, name="sweep-time"):
        return self.in_figure("[...f.querySelectorAll('rect.cell')].map((r) => ({ text: r.textContent, fill: r.style.fill, "
                              "x: +r.getAttribute('x'), y: +r.getAttribute('y') }))", name)

    def test_are_a_map_with_a_cell_for_each_replay(self):
        for name in ("sweep-time", "sweep-communication"):
            cells = self.cells(name)
            self.assertEqual(len(cells), 12)
            self.assertEqual(len({c["x"] for c in cells}), 4, "columns: the key with more values")
            self.assertEqual(len({c["y"] for c in cells}), 3)
            self.assertEqual(self.in_figure("f.querySelectorAll('circle').length", name), 0)

    def test_each_cell_says_what_its_replay_gave(self):
        cells = sorted(self.cells(), key=lambda c: (c["x"], -c["y"]))  # the bandwidth grows to the right, the latency upwards
        for cell, point in zip(cells, sorted(self.sweep["points"], key=lambda p: p["values"])):
            said, unit = cell["text"].rsplit(": ", 1)[1].split()
            seconds = float(said) * {"ms": 1e-3, "µs": 1e-6, "s": 1}[unit]
            self.assertAlmostEqual(seconds / point["virtual_time_s"], 1, delta=0.006, msg=f"{cell['text']} is {point}")
        self.assertTrue(cells[0]["text"].startswith("bandwidth 100 MB/s, latency 1 µs: "), cells[0]["text"])

    def test_the_slowest_is_the_darkest_and_stands_at_the_top_left(self):
        slowest = max(self.sweep["points"], key=lambda p: p["virtual_time_s"])
        self.assertEqual([float(f"{v:.6g}") for v in slowest["values"]], [1e8, 1e-4])
        cells = self.cells()
        corner = min(cells, key=lambda c: (c["x"], c["y"]))  # the least bandwidth, the greatest latency: rows go up
        light = self.browser.value("arguments[0].map((c) => d3.hcl(c).l)", [c["fill"] for c in cells])
        self.assertEqual(cells[light.index(min(light))]["text"], corner["text"])
        self.assertGreater(len({c["fill"] for c in cells}), 6)

    def test_the_table_has_the_same_numbers(self):
        self.in_figure("f.querySelector('button').click()")
        rows = self.in_figure("f.querySelectorAll('tbody tr').length")
        self.assertEqual(rows, 12)

    def test_arrow_keys_read_it(self):
        for _ in range(2):
            self.in_figure("f.querySelector('svg').dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight' }))")
        text = self.in_figure("f.querySelector('.readout').textContent")
        self.assertRegex(text, r"^bandwidth 464\.2 MB/s, latency 100 µs: ")


class OneKey(Sweep):
    words = "latency=1us..1ms x5"

    def test_is_a_line(self):
        self.assertEqual(self.in_figure("f.querySelectorAll('circle').length"), 5)
        self.assertEqual(self.in_figure("f.querySelectorAll('rect.cell').length"), 0)


if __name__ == "__main__":
    Sweep.binaries = sys.argv.pop(1)
    unittest.main()
