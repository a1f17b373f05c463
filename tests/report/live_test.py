#!/usr/bin/env python3
"""A real run leaves a report whose numbers are those of its JSON files. Usage: live_test.py BINARIES"""
import json
import pathlib
import subprocess
import sys
import unittest

from page import Report


class Live(Report):
    @classmethod
    def make_folder(cls):
        folder = pathlib.Path(cls.scratch.name, "cg")
        done = subprocess.run([pathlib.Path(cls.binaries, "nplus1"), "run", "-n", "4", "-o", folder, "--",
                               pathlib.Path(cls.binaries, "examples/cg_traffic")], capture_output=True, text=True, timeout=100)
        if done.returncode != 0:
            raise RuntimeError(done.stderr)
        cls.summary = done.stderr
        cls.by_run = (folder / "report.html").read_text()
        return folder

    def test_the_simulator_writes_the_same_page_as_the_verb(self):
        def documents(page):
            return {name: json.loads(page.split(f'id="data-{name}">')[1].split("</script>")[0]) for name in ("patterns", "summary", "timeline")}
        by_verb = documents(self.page.read_text())
        self.assertEqual(documents(self.by_run), by_verb)
        self.assertIn("report.html", self.summary)

    def test_row_0_is_that_of_the_paper(self):  # Riesen 2006, figure 4: 416, 1265, 1, 1 with the barrier's messages
        self.go("communication")
        self.set_layers("point_to_point", "barrier")
        self.browser.focus("[data-map=messages]")
        found = []
        for key in ["ArrowLeft", "ArrowRight", "ArrowRight", "ArrowRight"]:
            self.browser.press(key)
            found.append(self.browser.text("#cell-readout").split(": ")[1].split(" message")[0])
        self.assertEqual(found, ["416", "1,265", "1", "1"])

    def test_the_timeline_ends_with_the_run_and_has_every_message(self):
        timeline = json.loads((self.page.parent / "timeline.json").read_text())
        summary = json.loads((self.page.parent / "summary.json").read_text())
        self.assertEqual(timeline["run_end_ps"], round(summary["virtual_time_s"] * 1e12))
        self.assertEqual(timeline["messages"]["sent"], sum(map(sum, summary["point_to_point"]["messages"])))
        self.assertEqual(timeline["messages"]["shown"], timeline["messages"]["sent"])
        self.assertGreaterEqual(min(timeline["messages"]["flight_ps"]), 1000000)  # the latency: 1 us
        for row, compute in zip(timeline["rows"], summary["compute_s"]):
            computing = row["end_ps"] - sum(row["length_ps"])
            self.assertAlmostEqual(computing * 1e-12, compute, places=9)
        self.go("timeline")
        self.assertGreater(self.ink("#timeline-canvas"), 5)


if __name__ == "__main__":
    Report.binaries = sys.argv.pop(1)
    unittest.main()
