#!/usr/bin/env python3
"""The view of overlap: chains drawn in time, how much is hidden, and what cannot be deferred. Usage: overlap_test.py BINARIES"""
import json
import pathlib
import subprocess
import sys
import unittest

from page import Report


class Overlap(Report):
    @classmethod
    def make_page(cls):
        folder, result = pathlib.Path(cls.scratch.name, "run"), pathlib.Path(cls.scratch.name, "overlap")
        nplus1, program = pathlib.Path(cls.binaries, "nplus1"), pathlib.Path(cls.binaries, "examples", "overlap_1d")
        for words in (["run", "-q", "-n", "4", "--record-accesses", "--compute", "fixed:0", "--network",
                       "lsb:latency=20us,bandwidth=1GBps", "-o", folder, "--", program, "blocking", "1000", "5", "30"],
                      ["overlap", folder, "-q", "-o", result]):
            done = subprocess.run([nplus1, *words], capture_output=True, text=True, timeout=100, check=False)
            if done.returncode != 0:
                raise RuntimeError(done.stderr)
        cls.document = json.loads((result / "overlap.json").read_text())
        return (result / "report.html").resolve()

    def setUp(self):
        super().setUp()
        self.go("overlap")

    def count(self, selector):
        return self.browser.value(f"document.querySelectorAll('#panel-overlap {selector}').length")

    def test_each_request_of_a_chain_is_drawn_with_its_window_its_wait_and_its_use(self):
        requests = len(self.document["chains"][0]["instance"]["requests"])
        self.assertEqual(requests, 4)
        for mark in (".legal-window", ".request", ".wait"):
            self.assertEqual(self.count(f"[data-figure=chain-1] {mark}"), requests, mark)
        self.assertGreaterEqual(self.count("[data-figure=chain-1] .touch"), 2)

    def test_windows_contain_their_requests(self):
        sides = self.browser.value(
            "[...document.querySelectorAll('#panel-overlap [data-figure=chain-1] g')].filter((g) => g.querySelector('.request'))"
            ".map((g) => ['.legal-window', '.request'].map((c) => { const b = g.querySelector(c).getBBox(); return [b.x, b.x + b.width]; }))")
        self.assertEqual(len(sides), 4)
        for (window, request) in sides:
            self.assertLessEqual(window[0], request[0] + 2.5)

    def test_the_efficiency_and_the_table_are_there(self):
        text = self.browser.value("document.querySelector('#panel-overlap').textContent")
        self.assertIn("Overlap efficiency", text)
        self.assertIn("MPI_Sendrecv at overlap_1d.c:72", text)

    def test_what_recording_the_accesses_took_is_there(self):
        text = self.browser.value("document.querySelector('#panel-overlap [data-card=access-cost]').textContent")
        self.assertIn(self.document["accesses"]["cost"], text)
        self.assertRegex(text, r"[1-9]\d* faults \(.* single steps .* changes of protection")


class Chains(Report):
    """The view with as many chains as a program may have."""
    chains = 1

    @classmethod
    def make_page(cls):
        page = Overlap.make_page.__func__(cls)
        document = cls.document
        sample = document["chains"][0]
        document["chains"] = [{**sample, "id": f"{i:016x}", "contexts": sample["contexts"] * (1 + 50 * (i % 3))}
                              for i in range(cls.chains)]
        text = page.read_text()
        begin = text.index(">", text.index('id="data-overlap"')) + 1
        end = text.index("</script>", begin)
        page.write_text(text[:begin] + json.dumps(document).replace("<", "\\u003c") + text[end:])
        return page

    def setUp(self):
        super().setUp()
        self.go("overlap")

    def test_nothing_scrolls_sideways_and_all_are_there(self):
        for wide, shown in self.browser.value("[...document.querySelectorAll('#panel-overlap .scroll'), document.documentElement]"
                                              ".map((e) => [e.scrollWidth, e.clientWidth])"):
            self.assertLessEqual(wide, shown)
        rows = self.browser.value("[...document.querySelectorAll('#panel-overlap tbody')].map((t) => t.children.length)")
        self.assertEqual(rows[0] if self.chains else 0, self.chains)
        drawn = self.browser.value("document.querySelectorAll('#panel-overlap [data-figure^=chain-]').length")
        self.assertEqual(drawn, min(self.chains, 12))
        if self.chains:
            self.browser.click("#panel-overlap .disclosure")
            text = self.browser.value("document.querySelector('#panel-overlap .detail').textContent")
            self.assertIn("With MPI's weak progress it saves grouped", text)


class LongNames(Report):
    """Files may have long names: a row says its direction, its line and its bytes, whatever the width."""
    name = "a_file_name_that_is_much_longer_than_there_could_be_room_for_beside_any_figure_at_all.cpp"

    @classmethod
    def make_page(cls):
        page = Overlap.make_page.__func__(cls)
        text = page.read_text()
        begin = text.index(">", text.index('id="data-overlap"')) + 1
        end = text.index("</script>", begin)
        page.write_text(text[:begin] + text[begin:end].replace("overlap_1d.c", cls.name) + text[end:])
        return page

    def test_tables_break_them_and_do_not_scroll_sideways(self):
        self.go("overlap")
        for wide, shown in self.browser.value("[...document.querySelectorAll('#panel-overlap .scroll'), document.documentElement]"
                                              ".map((e) => [e.scrollWidth, e.clientWidth])"):
            self.assertLessEqual(wide, shown)

    def test_labels_of_rows_stand_within_the_figure_and_keep_their_lines(self):
        self.go("overlap")
        rows = self.browser.value(
            "[...document.querySelectorAll('#panel-overlap [data-figure=chain-1] g')].filter((g) => g.querySelector('.request'))"
            ".map((g) => { const t = g.querySelector('text'), b = t.getBBox(), w = g.querySelector('.legal-window').getBBox();"
            " return [t.textContent, b.x, b.x + b.width, w.x]; })")
        self.assertEqual(len(rows), 4)
        for text, left, right, window in rows:
            self.assertGreaterEqual(left, 0, text)
            self.assertLess(right, window, text)
            self.assertRegex(text, r"^(send|receive) a_file.*….*cpp:7[26], .*B$")


class NoChains(Chains):
    chains = 0


class ManyChains(Chains):
    chains = 40


class ManyChainsInTheDark(ManyChains):
    dark = True


if __name__ == "__main__":
    Report.binaries = sys.argv.pop(1)
    unittest.main()
