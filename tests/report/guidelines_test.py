#!/usr/bin/env python3
"""The page of `nplus1 guidelines check` in headless Chromium, of measurements whose verdicts follow from how they are made:
ten mpiruns without noise between them but a thousandth. Usage: guidelines_test.py BINARIES
"""
import pathlib
import subprocess
import sys
import unittest

from page import Report

SIZES = [8, 1024, 65536]
MICROSECONDS = {"Reduce": [10, 20, 90], "Reduce_with_Allreduce": [12, 10, 30], "Bcast": [9, 5, 50], "Bcast_with_Allgatherv": [20, 20, 60]}


def measurements():
    rows = ["#@mpi_library=<b>MPI</script>", "mpirun,test,p,nrep_index,msize,runtime_sec,runtime_without_copies_sec"]
    rows += [f"{run},{test},4,0,{size},{time * (1000 + run)}e-9," for run in range(10) for test, times in MICROSECONDS.items()
             for size, time in zip(SIZES, times)]
    return "\n".join(rows) + "\n"


class Guidelines(Report):
    @classmethod
    def make_page(cls):
        folder = pathlib.Path(cls.scratch.name)
        (folder / "raw.csv").write_text(measurements())
        subprocess.run([pathlib.Path(cls.binaries, "nplus1"), "guidelines", "check", folder], check=True, capture_output=True)
        return (folder / "guidelines.html").resolve()

    def texts(self, selector):
        return self.browser.value("[...document.querySelectorAll(arguments[0])].map((e) => e.textContent)", selector)

    def test_tiles_count_guidelines_not_sizes(self):
        # Split: 64 calls of Bcast(1024) or 8192 of Bcast(8) take longer than Bcast(65536), and so on.
        self.assertEqual(self.texts(".tile dd"), ["1 of 2", "1 of 2", "0 of 2"])

    def test_the_violated_guideline_comes_first_its_violations_shaded_and_starred(self):
        self.assertIn("Reduce(n) <= Allreduce(n), on 4 processes", self.browser.value("document.querySelector('select').selectedOptions[0].textContent"))
        self.assertEqual(len(self.texts(".violation-band")), 2)
        self.assertEqual(self.texts("[data-figure=guideline] .stars"), ["", "***", "***"])
        self.assertEqual(self.browser.value("document.querySelectorAll('.run-median').length"), 2 * 3 * 10)

    def test_another_guideline_can_be_chosen(self):
        self.browser.run("const s = document.querySelector('select'); s.value = [...s.options].find((o) => "
                         "o.textContent.includes('Bcast is monotone')).value; s.dispatchEvent(new Event('change'))")
        self.assertEqual(self.texts("[data-figure=guideline] .stars"), ["***", ""])  # Bcast(8) is slower than Bcast(1024)
        self.assertIn("the next larger size", self.browser.text("[data-figure=guideline]"))

    def test_the_table_of_verdicts_has_a_cell_for_each_size(self):
        rows = {self.browser.text(f"[data-table=verdicts-4] tbody tr:nth-child({i + 1}) th"): self.texts(f"[data-table=verdicts-4] tbody tr:nth-child({i + 1}) td")
                for i in range(self.browser.value("document.querySelectorAll('[data-table=verdicts-4] tbody tr').length"))}
        self.assertEqual(rows["Reduce(n) <= Allreduce(n)"], ["·", "***", "***"])
        self.assertEqual(rows["Bcast is monotone"], ["***", "·", ""])
        self.assertEqual(rows["Bcast is split-robust"], ["", "·", "·"])

    def test_the_violations_can_be_sorted_and_downloaded(self):
        rows = self.csv("violations", "[data-table=violations] .tools button")
        self.assertEqual([(r[0], r[2]) for r in rows[1:]],
                         [("Reduce(n) <= Allreduce(n)", "65536"), ("Reduce(n) <= Allreduce(n)", "1024"), ("Bcast is monotone", "8")])
        self.assertAlmostEqual(float(rows[1][4]), 3, delta=0.01)

    def test_settings_are_text_and_not_markup(self):
        self.assertIn("<b>MPI</script>", self.browser.text("header"))


if __name__ == "__main__":
    Report.binaries = sys.argv.pop()
    unittest.main()
