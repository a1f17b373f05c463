#!/usr/bin/env python3
"""Every view of a report in headless Chromium, by keyboard and by mouse; what it shows is compared with numbers that
synthetic.py's header lets one compute by hand. Usage: views_test.py BINARIES
"""
import json
import re
import sys
import unittest

import synthetic
from page import TABS, Report, Synthetic


class Views(Synthetic):
    def test_tabs_are_walked_with_arrow_keys_and_each_view_shows_something(self):
        self.browser.focus("#tab-overview")
        for tab in TABS[1:] + TABS[:1]:
            self.browser.press("ArrowRight")
            self.assertEqual(self.browser.value("document.activeElement.id"), f"tab-{tab}")
            self.assertGreater(len(self.browser.text(f"#panel-{tab}")), 100)
        self.browser.press("End")
        self.assertEqual(self.browser.value("document.activeElement.id"), "tab-tables")

    def test_the_address_leads_to_a_view(self):
        self.go("mix")
        address = self.browser.value("location.href")
        self.assertEqual(address, self.page.as_uri() + "#mix")
        self.browser.open("about:blank", "body")
        self.browser.open(address)
        self.wait_until_drawn()
        self.assertFalse(self.browser.value("document.getElementById('panel-mix').hidden"))
        self.assertTrue(self.browser.value("document.getElementById('panel-overview').hidden"))
        self.browser.requests()
        self.browser.open(self.page.as_uri())

    def test_names_from_the_program_are_text_and_not_markup(self):
        self.assertEqual(self.browser.text("h1"), "synthetic stencil <b>&amp;</script>")
        self.assertEqual(self.browser.value("document.title"), "synthetic stencil <b>&amp;</script>")

    def test_the_overview_has_the_totals(self):
        tiles = dict(self.browser.value("[...document.querySelectorAll('.tile')].map((t) => [t.children[0].textContent, t.children[1].textContent])"))
        # 10 * (1 + ... + 15) + 5 * 16 messages; half of the ranks compute 1 of 3 ms, half 2.
        self.assertEqual(tiles, {"Virtual time": "3 ms", "Computing": "50 %", "In MPI": "50 %", "Waiting": "45 %", "Imbalance": "33 %",
                                 "Messages": "1,280", "Collectives": "3"})
        trust = self.browser.text(".trust")
        self.assertIn("All 16 ranks were observed", trust)
        self.assertIn("Decisions without proof that nothing earlier could come: 2", trust)
        self.assertIn("halo.c:57", self.browser.text("#panel-overview"))

    def test_charts_are_read_with_arrow_keys(self):
        self.browser.focus("[data-figure=time-per-rank] svg")
        self.browser.press("ArrowRight", "ArrowRight")
        self.assertEqual(self.browser.text("[data-figure=time-per-rank] .readout"),
                         "rank 1: computing 2 ms, in MPI, not waiting 100 µs, waiting 900 µs, after its end 0 s")
        self.browser.pointer("[data-figure=time-per-rank] svg", 0, 0, click=False)
        self.assertRegex(self.browser.text("[data-figure=time-per-rank] .readout"), r"^rank [78]: computing")

    def test_a_figure_gives_its_data_as_a_table_and_as_csv(self):
        self.browser.click("[data-figure=time-per-rank] .tools button")
        self.assertEqual(self.browser.value("document.querySelectorAll('[data-figure=time-per-rank] tbody tr').length"), 16)
        rows = self.csv("time-per-rank", "[data-figure=time-per-rank] .tools button:last-child")
        self.assertEqual([row[0] for row in rows[1:]], [str(r) for r in range(16)])
        self.assertEqual([float(row[1]) for row in rows[1:3]], [0.001, 0.002])

    def test_heatmap_cells_are_read_by_keyboard_and_layers_add_up(self):
        self.go("communication")
        self.assertGreater(self.ink("[data-map=messages]"), 10)
        self.browser.focus("[data-map=messages]")
        self.browser.press("ArrowRight")  # from 0, 0
        expected = {("point_to_point",): "10 messages, 10,000 bytes = 9.77 KiB.", ("bcast",): "3 messages, 12,288 bytes = 12 KiB.",
                    ("point_to_point", "bcast"): "13 messages, 22,288 bytes = 21.8 KiB (Point-to-point 10, Bcast 3)."}
        for layers, text in expected.items():
            self.set_layers(*layers)
            self.assertIn(f"rank 0 → rank 1: {text}", self.browser.text("#cell-readout"))

    def test_the_wire_is_shown_instead_of_the_layers(self):
        self.go("communication")
        self.set_layers("bcast")
        self.browser.focus("[data-map=messages]")
        self.browser.press("Home", "ArrowRight")
        wire = "[data-layer=wire]"
        for expected, disabled in (("4 messages, 400 bytes.", True), ("3 messages, 12,288 bytes = 12 KiB.", False)):
            self.browser.click(wire)
            self.assertIn(expected, self.browser.text("#cell-readout"))
            self.assertEqual(self.browser.value("document.querySelector('[data-layer=bcast]').disabled"), disabled)
        self.assertIn("messages of mpich", self.browser.text("[data-figure=communication]"))

    def test_every_cell_reads_as_the_matrix_has_it(self):
        self.go("communication")
        self.set_layers("point_to_point")
        wanted = {(row["source"], d): m for row in self.patterns["layers"][0]["rows"] for d, m in zip(row["destinations"], row["messages"])}
        self.browser.focus("[data-map=bytes]")
        for row in range(4):
            for column in range(16):
                self.browser.press("ArrowRight" if row % 2 == 0 else "ArrowLeft") if column else self.browser.press("ArrowDown" if row else "ArrowLeft")
                text = self.browser.text("#cell-readout")
                source, destination, count = map(int, re.match(r"rank (\d+) → rank (\d+): ([\d]+) message", text).groups())
                self.assertEqual(source, row)
                self.assertEqual(count, wanted.get((source, destination), 0), text)

    def test_the_pointer_reads_cells_too(self):
        self.go("communication")
        self.browser.pointer("[data-map=messages]", 20, 20, click=False)
        self.assertRegex(self.browser.text("#cell-readout"), r"rank \d+ → rank \d+: \d+ message")

    def test_heatmap_scale_and_zoom(self):
        self.go("communication")
        self.assertIn("log scale", self.browser.text("[data-map=messages] + .legend-strip"))
        self.browser.click("#panel-communication .controls > .tools input")
        self.assertIn("linear scale", self.browser.text("[data-map=messages] + .legend-strip"))
        self.browser.focus("[data-map=messages]")
        self.browser.press("Enter")
        self.assertIn("Senders 0–7, receivers 0–7 of 16", self.browser.text("#panel-communication"))
        self.browser.press(*["ArrowDown"] * 9)
        self.assertIn("Senders 2–9", self.browser.text("#panel-communication"))
        self.assertIn("rank 9 → rank 0", self.browser.text("#cell-readout"))
        self.browser.press("Backspace")
        self.assertNotIn("Senders", self.browser.text("#panel-communication"))

    def test_the_matrix_is_downloaded_with_the_layers_chosen(self):
        self.go("communication")
        self.set_layers("bcast")
        rows = self.csv("communication", "[data-figure=communication] figcaption .tools button:last-child")
        self.assertEqual(rows[0], ["source", "destination", "messages", "bytes"])
        self.assertEqual(sorted(map(tuple, rows[1:])), sorted(("0", str(d), "3", "12288") for d in range(1, 16)))

    def test_sizes_by_bucket_true_size_and_element(self):
        self.go("mix")
        self.browser.focus("[data-figure=message-sizes] svg")
        self.browser.press("ArrowRight")
        self.assertEqual(self.browser.text("[data-figure=message-sizes] .readout"), "≤ 16 B: 80")
        self.browser.focus("[data-figure=true-sizes] svg")
        self.browser.press("End")
        self.assertEqual(self.browser.text("[data-figure=true-sizes] .readout"), "1,000 bytes: 1,200 messages")
        self.browser.click("input[value=elements]")
        self.browser.focus("[data-figure=true-sizes] svg")
        self.browser.press("End")
        self.assertEqual(self.browser.text("[data-figure=true-sizes] .readout"), "125 elements: 1,200 messages")
        self.assertIn("MPI_Bcast on 16 ranks, root 0", self.browser.text("[data-figure=collectives]"))
        self.browser.click("[data-figure=message-sizes] input[type=checkbox]")
        self.assertGreater(self.browser.value("document.querySelectorAll('[data-figure=message-sizes] svg rect').length"), 1)

    def test_over_time_has_bins(self):
        self.go("over-time")
        self.browser.focus("[data-figure=collectives-over-time] svg")
        self.browser.press("ArrowRight", *["ArrowRight"] * 10)
        self.assertEqual(self.browser.text("[data-figure=collectives-over-time] .readout"), "200 µs to 220 µs: 16")
        self.browser.focus("[data-figure=busy] canvas")
        self.browser.press("ArrowDown")
        self.assertIn("rank 1, 0 s to 20 µs: computing 100 %", self.browser.text("[data-figure=busy] .readout"))

    def test_timeline_zooms_pans_and_reads_calls(self):
        self.go("timeline")
        whole = self.browser.text("#timeline-status")
        self.assertTrue(whole.startswith("0 s to 3 ms (3 ms)"), whole)
        self.assertIn("15 messages in view", whole)
        self.assertGreater(self.ink("#timeline-canvas"), 5)
        self.browser.focus("#timeline-canvas")
        self.browser.press(".")
        self.assertEqual(self.browser.text("#timeline-readout"), "rank 0: MPI_Waitall at halo.c:57, 1.8 ms (1 ms to 2.8 ms)")
        self.browser.press(".")
        self.assertEqual(self.browser.text("#timeline-readout"), "rank 0: MPI_Bcast at halo.c:80, 200 µs (2.8 ms to 3 ms)")
        self.browser.press("ArrowDown", ",", ",")
        self.assertEqual(self.browser.text("#timeline-readout"), "rank 1: computing, 2 ms (0 s to 2 ms)")
        self.browser.press("+")
        self.assertIn("(1.5 ms)", self.browser.text("#timeline-status"))
        self.browser.press("ArrowRight")
        self.assertNotEqual(self.browser.text("#timeline-status"), whole)
        self.browser.press("0")
        self.assertEqual(self.browser.text("#timeline-status"), whole)

    def test_timeline_by_mouse(self):
        self.go("timeline")
        whole = self.browser.text("#timeline-status")
        self.browser.click_text("Zoom in", "#panel-timeline")
        self.assertIn("(1.5 ms)", self.browser.text("#timeline-status"))
        before = self.browser.text("#timeline-status")
        self.browser.pointer("#timeline-canvas", 0, 0, drag_to=(-150, 0))
        self.assertNotEqual(self.browser.text("#timeline-status"), before)
        self.assertIn("(1.5 ms)", self.browser.text("#timeline-status"))
        self.browser.wheel("#timeline-canvas", -300)
        self.assertNotIn("(1.5 ms)", self.browser.text("#timeline-status"))
        self.browser.click_text("Whole run", "#panel-timeline")
        self.assertEqual(self.browser.text("#timeline-status"), whole)
        self.browser.pointer("#timeline-canvas", 0, 0, click=False)
        self.assertRegex(self.browser.text("#timeline-readout"), r"^rank \d+: ")

    def test_tables_sort_filter_and_open(self):
        self.go("tables")
        first = "return document.querySelector('[data-table=call-sites] tbody td').textContent"
        self.assertEqual(self.browser.run(first), "MPI_Waitall")
        self.browser.click("[data-table=call-sites] th:nth-child(8) button")  # messages, most first
        self.assertEqual(self.browser.run(first), "MPI_Isend")
        self.assertEqual(self.browser.value("document.querySelector('[data-table=call-sites] th:nth-child(8)').getAttribute('aria-sort')"), "descending")
        self.browser.focus("[data-table=call-sites] input")
        self.browser.press(*"bcast")
        self.assertEqual(self.browser.value("document.querySelectorAll('[data-table=call-sites] tbody tr').length"), 1)
        self.browser.click("[data-table=call-sites] .disclosure")
        self.assertIn("/home/u/app/src/halo.c:80", self.browser.text("[data-table=call-sites] .detail"))
        self.assertEqual(len(self.csv("ranks", "[data-table=ranks] .tools button")), 17)

    def test_documents_are_downloaded_as_they_are(self):
        self.browser.click_text("patterns.json")
        loaded = json.loads(self.browser.downloaded("patterns.json"))
        self.assertEqual(loaded["layers"], self.patterns["layers"])
        for column in ("messages_sent", "bytes_received", "partners"):
            self.assertEqual(loaded["rank"][column], self.patterns["rank"][column])

    def test_both_themes(self):
        self.go("communication")
        colour = "getComputedStyle(document.body).backgroundColor"
        light = self.browser.value(colour)
        self.assertEqual(light, "rgb(246, 247, 249)")
        self.browser.click("#theme")
        self.assertEqual(self.browser.value(colour), "rgb(18, 22, 27)")
        self.assertGreater(self.ink("[data-map=messages]"), 10)
        self.browser.click("#theme")
        self.assertEqual(self.browser.value(colour), light)

    def test_everything_with_a_function_is_reachable_and_named(self):
        for tab in TABS:
            self.go(tab)
        nameless = self.browser.value("[...document.querySelectorAll('button, input, select, canvas[tabindex], svg[tabindex]')].filter((e) => !("
                                      "e.getAttribute('aria-label') || e.textContent.trim() || (e.labels && e.labels.length))).map((e) => e.outerHTML)")
        self.assertEqual(nameless, [])
        doubled = self.browser.value("[...document.querySelectorAll('[id]')].map((e) => e.id).filter((id, i, all) => all.indexOf(id) !== i)")
        self.assertEqual(doubled, [])

    def test_paper_has_all_views(self):
        self.browser.run("window.dispatchEvent(new Event('beforeprint'))")
        self.assertEqual(self.browser.value("[...document.querySelectorAll('[role=tabpanel]')].filter((p) => p.hidden || p.childElementCount === 0).length"), 0)
        self.browser.run("window.dispatchEvent(new Event('afterprint'))")
        self.assertEqual(self.browser.value("[...document.querySelectorAll('[role=tabpanel]')].filter((p) => !p.hidden).length"), 1)


class Dark(Synthetic):
    dark = True

    def test_the_page_follows_the_system(self):
        self.assertEqual(self.browser.value("getComputedStyle(document.body).backgroundColor"), "rgb(18, 22, 27)")
        for tab in TABS:
            self.go(tab)


class TwoRanks(Synthetic):
    ranks = 2

    def test_small_runs_have_all_views(self):
        for tab in TABS:
            self.go(tab)
        self.assertIn("2 ranks", self.browser.text("header"))

    def test_of_ranks_with_one_thread_nothing_is_said_of_sums(self):
        self.assertNotIn("threads", self.browser.text("[data-figure=time-per-rank]"))


class ThreadedRanks(Synthetic):
    ranks = 2

    @classmethod
    def make_folder(cls):
        """Each of two threads computes all of the time."""
        folder = super().make_folder()
        cls.patterns["rank"]["compute_s"] = [2 * synthetic.END] * cls.ranks
        (folder / "patterns.json").write_text(json.dumps(cls.patterns))
        return folder

    def test_bars_that_are_longer_than_the_run_say_why(self):
        self.assertIn("a bar is their sum, which may be longer than the run", self.browser.text("[data-figure=time-per-rank]"))


if __name__ == "__main__":
    Report.binaries = sys.argv.pop(1)
    unittest.main()
