"""An analyser and an export format from sources that the tree does not know: one file each, and no other line."""
import collections
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

NPLUS1, EXTENDED = pathlib.Path(os.environ["NPLUS1"]), pathlib.Path(os.environ["NPLUS1_EXTENDED"])
LIMIT = 60


class Extensions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="nplus1-extensions-test-")
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        program = NPLUS1.parent / "examples/halo"
        cls.run_here(NPLUS1, "run", "-n", 4, "-q", "-o", "out", "--compute", "fixed:10us", "--", program, 5, 64, 1)

    @classmethod
    def run_here(cls, *words, code=0):
        done = subprocess.run([str(w) for w in words], cwd=cls.folder, text=True, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=LIMIT, check=False)
        assert done.returncode == code, (words, done.stdout, done.stderr)
        return done

    def test_the_analyser_leaves_its_document_beside_the_others_and_in_the_page(self):
        self.run_here(EXTENDED, "replay", "out", "-o", "again")
        calls = json.loads((self.folder / "again/calls.json").read_text())
        self.assertEqual(calls["MPI_Waitall"], 4 * 5)
        self.assertIn('id="data-calls"', (self.folder / "again/report.html").read_text())
        self.run_here(NPLUS1, "replay", "out", "-o", "without")
        self.assertFalse((self.folder / "without/calls.json").exists())

    def test_the_format_is_written_by_the_ending_of_the_name_and_never_read(self):
        done = self.run_here(EXTENDED, "convert", "out", "-o", "out.names")
        self.assertIn("names cannot hold: times", done.stderr)
        lines = collections.Counter((self.folder / "out.names").read_text().split()[1::2])
        self.assertEqual(lines["MPI_Waitall"], 4 * 5)
        self.assertIn("only written", self.run_here(EXTENDED, "convert", "out.names", "-o", "x.csv", code=65).stderr)
        self.assertIn("cannot be told", self.run_here(NPLUS1, "convert", "out", "-o", "y.names", code=64).stderr)
        self.assertIn("names", self.run_here(EXTENDED, "convert", "out", "-o", "z", code=64).stderr)


if __name__ == "__main__":
    unittest.main()
