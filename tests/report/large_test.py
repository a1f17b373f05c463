#!/usr/bin/env python3
"""Reports of 1024 ranks: they stay small, open quickly, and are read block by block. Usage: large_test.py BINARIES"""
import sys
import time
import unittest

from page import TABS, Report, Synthetic

LARGEST = 20e6  # bytes
LONGEST = 10  # seconds; 2 on an idle machine


class Dense(Synthetic):
    ranks = 1024
    kind = "dense"

    def test_a_dense_matrix_fits_and_opens(self):
        self.assertLess(self.page.stat().st_size, LARGEST)
        begin = time.monotonic()
        self.browser.open(self.page.as_uri())
        self.assertLess(time.monotonic() - begin, LONGEST)
        for tab in TABS:
            self.go(tab)
        self.browser.run("window.stop()")
        self.assertIn("1,024 ranks", self.browser.text("header"))
        self.browser.requests()
        self.browser.open(self.page.as_uri())

    def test_cells_are_sums_of_pairs_until_zoomed_in(self):
        self.go("communication")
        self.set_layers("point_to_point")
        self.browser.focus("[data-map=messages]")
        self.browser.press("ArrowRight")  # ranks 0-3 to ranks 4-7: sizes s + d + 1, summed over 4 x 4
        self.assertIn(f"ranks 0–3 → ranks 4–7: 16 messages, {sum(s + d + 1 for s in range(4) for d in range(4, 8))} bytes",
                      self.browser.text("#cell-readout"))
        self.browser.press("Enter")
        self.assertIn("a cell is one pair", self.browser.text("#panel-communication"))
        self.assertIn("rank 0 → rank 4: 1 message, 5 bytes", self.browser.text("#cell-readout"))


class Stencil(Synthetic):
    ranks = 1024

    def test_the_timeline_says_that_it_shows_bins(self):
        self.go("timeline")
        self.assertIn("shows the shares of its time", self.browser.text("#panel-timeline"))
        self.browser.focus("#timeline-canvas")
        self.browser.press(".")
        self.assertRegex(self.browser.text("#timeline-readout"), r"^rank 0, .*: computing 100 %$")
        self.browser.press("[", "[")
        self.assertIn("rows 0–255 of 1024", self.browser.text("#timeline-status"))
        self.assertGreater(self.ink("#timeline-canvas"), 3)

    def test_bars_of_many_ranks_are_means(self):
        self.assertIn("Each bar is the mean of 8 ranks", self.browser.text("[data-figure=time-per-rank]"))
        self.browser.focus("[data-figure=time-per-rank] svg")
        self.browser.press("End")
        self.assertIn("ranks 1016–1023: computing 1.5 ms", self.browser.text("[data-figure=time-per-rank] .readout"))


if __name__ == "__main__":
    Report.binaries = sys.argv.pop(1)
    unittest.main()
