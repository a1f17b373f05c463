#!/usr/bin/env python3
"""Hand-written collectives in the report of a real run: the list, and a drawing of each pattern that has the messages
which the program sends. Usage: collectives_test.py BINARIES"""
import pathlib
import subprocess
import sys
import unittest

from page import Report

RANKS = 6


class Collectives(Report):
    @classmethod
    def make_folder(cls):
        folder = pathlib.Path(cls.scratch.name, "manual")
        subprocess.run([pathlib.Path(cls.binaries, "nplus1"), "run", "-q", "-n", str(RANKS), "-o", folder, "--",
                        pathlib.Path(cls.binaries, "mpi-tests/manual_collectives")], check=True, capture_output=True, timeout=100)
        cls.by_run = (folder / "report.html").read_text()
        return folder

    def arrows(self, name):
        """(step, from, to) of each arrow, by its title."""
        titles = self.browser.value("[...document.querySelectorAll(arguments[0])].map((t) => t.textContent)",
                                    f"[data-figure={name}] line.message title")
        return [tuple(int(w) for w in t.replace(":", "").replace(",", "").split() if w.isdigit())[:3] for t in titles]

    def figure_of(self, line_count, kind):
        names = self.browser.value("[...document.querySelectorAll('[data-figure^=pattern-]')].map((f) => "
                                   "[f.dataset.figure, f.querySelector('h3').textContent])")
        return [name for name, title in names if title.startswith(f"MPI_{kind},") and title.count(".c:") == line_count]

    def test_the_run_itself_puts_them_into_its_report(self):
        self.assertTrue('id="data-collectives"' in self.by_run)

    def test_the_list_names_each_with_its_lines(self):
        self.go("collectives")
        text = self.browser.text("#panel-collectives")
        for word in ("MPI_Bcast", "MPI_Allgather", "MPI_Alltoall", "MPI_Scatter", "manual_collectives.c:"):
            self.assertIn(word, text)

    def test_a_serial_broadcast_is_drawn_message_after_message(self):
        self.go("collectives")
        drawn = [self.arrows(name) for name in self.figure_of(2, "Bcast")]
        self.assertIn([(r, 0, r) for r in range(1, RANKS)], drawn, "a step for each send of rank 0")
        self.assertIn([(r + 1, r, r + 1) for r in range(RANKS - 1)], drawn, "a step for each link of the chain")

    def test_a_pairwise_exchange_takes_as_many_steps_as_partners(self):
        self.go("collectives")
        [name] = self.figure_of(1, "Alltoall")
        arrows = self.arrows(name)
        self.assertEqual(len(arrows), RANKS * (RANKS - 1))
        self.assertEqual({step for step, _, _ in arrows}, set(range(1, RANKS)))
        self.assertEqual(sorted({(a, b) for _, a, b in arrows}), [(a, b) for a in range(RANKS) for b in range(RANKS) if a != b])


if __name__ == "__main__":
    Report.binaries = sys.argv.pop(1)
    unittest.main()
