"""What the tests of the report share: making a report, and looking at its parts."""
import csv
import io
import json
import pathlib
import subprocess
import tempfile
import unittest

import synthetic
from browser import Browser

TABS = ["overview", "communication", "mix", "over-time", "timeline", "tables"]


def make_report(binaries, folder):
    """report.html in a result folder, as a user makes it."""
    subprocess.run([pathlib.Path(binaries, "nplus1"), "report", folder], check=True, stdout=subprocess.DEVNULL)
    return pathlib.Path(folder, "report.html").resolve()


class Report(unittest.TestCase):
    """A browser for all tests of a class, and a fresh page for each."""
    binaries = None
    dark = False

    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.page = cls.make_page()
        cls.browser = Browser(dark=cls.dark)
        cls.addClassCleanup(cls.browser.__exit__)

    @classmethod
    def make_page(cls):
        return make_report(cls.binaries, cls.make_folder())

    @classmethod
    def make_folder(cls):
        raise NotImplementedError

    def setUp(self):
        self.browser.requests()
        self.browser.open(self.page.as_uri())
        self.wait_until_drawn()

    def tearDown(self):
        self.assertEqual(self.browser.console(), [], "the console is silent")
        mine = [url for url in self.browser.requests() if not url.startswith(("chrome:", "chrome-untrusted:", "data:", "blob:"))]
        self.assertEqual(mine, [self.page.as_uri()], "nothing is asked for but the page itself")

    # --- shorthand ---
    def go(self, tab):
        self.browser.click(f"#tab-{tab}")
        self.assertTrue(self.browser.value("!document.getElementById(arguments[0]).hidden", f"panel-{tab}"))
        self.wait_until_drawn()

    def wait_until_drawn(self):
        """Figures are drawn when the browser has laid the page out, which is after a click has returned."""
        self.browser.wait("[...document.querySelectorAll('.drawing')].every((b) => b.clientWidth === 0 || b.childNodes.length > 0)")

    def set_layers(self, *names):
        for name in self.browser.value("[...document.querySelectorAll('[data-layer]')].map((b) => b.dataset.layer)"):
            box = f"[data-layer='{name}']"
            if self.browser.value("document.querySelector(arguments[0]).checked", box) != (name in names):
                self.browser.click(box)

    def csv(self, name, selector):
        self.browser.click(selector)
        return list(csv.reader(io.StringIO(self.browser.downloaded(f"{name}.csv"))))

    def ink(self, canvas):
        """How many colours the canvas shows: one is an empty one."""
        return self.browser.value("new Set(new Uint32Array(document.querySelector(arguments[0]).getContext('2d').getImageData(0, 0, "
                                  "document.querySelector(arguments[0]).width, document.querySelector(arguments[0]).height).data.buffer)).size", canvas)


class Synthetic(Report):
    ranks = 16
    kind = "stencil"

    @classmethod
    def make_folder(cls):
        folder = pathlib.Path(cls.scratch.name, "result")
        synthetic.write(folder, cls.ranks, cls.kind)
        cls.patterns = json.loads((folder / "patterns.json").read_text())
        return folder
