"""A skip is a failure where everything was installed, unless it is listed."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

RUNNER = pathlib.Path(__file__).parents[1] / "run_suite.py"
SUITE = """import unittest
class Some(unittest.TestCase):
    def test_that_runs(self):
        pass
    @unittest.skipUnless({there}, "not here")
    def test_that_needs_something(self):
        pass
"""


class RunSuite(unittest.TestCase):
    def run_suite(self, there, strict):
        environment = {k: v for k, v in os.environ.items() if k != "NPLUS1_NO_SKIPS"} | ({"NPLUS1_NO_SKIPS": "1"} if strict else {})
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "some_test.py").write_text(SUITE.format(there=there))
            return subprocess.run([sys.executable, RUNNER, "some_test"], cwd=folder, env=environment, capture_output=True, text=True,
                                  check=False)

    def test_a_skip_fails_only_where_all_was_installed(self):
        self.assertEqual(self.run_suite(True, True).returncode, 0)
        self.assertEqual(self.run_suite(False, False).returncode, 0)
        done = self.run_suite(False, True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("SKIPPED: some_test.Some.test_that_needs_something: not here", done.stderr)

    def leave_out(self, pattern):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "some_test.py").write_text(SUITE.format(there=False))
            pathlib.Path(folder, "list").write_text(f"{pattern}: a reason\n")
            environment = {**os.environ, "NPLUS1_NO_SKIPS": "1", "NPLUS1_LEAVE_OUT": str(pathlib.Path(folder, "list"))}
            return subprocess.run([sys.executable, RUNNER, "some_test"], cwd=folder, env=environment, capture_output=True,
                                  text=True, check=False)

    def test_what_is_to_be_left_out_is_not_run(self):
        done = self.leave_out("Some.*needs")
        self.assertEqual((done.returncode, "Ran 1 test " in done.stderr), (0, True), done.stderr)
        done = self.leave_out("some_test")
        self.assertEqual((done.returncode, "all of its 2 tests are left out" in done.stdout), (0, True), done.stderr)

    def test_listed_ones_have_reasons(self):
        sys.path.insert(0, str(RUNNER.parent))
        import run_suite
        allowed = run_suite.listed(run_suite.LISTED.read_text())
        self.assertTrue(all(len(entry) == 2 and len(entry[1]) > 20 for entry in allowed), allowed)
        self.assertEqual(run_suite.unlisted([("endings_test.Endings.test_a_full_disk", "no mount")], allowed), [])
        self.assertEqual(len(run_suite.unlisted([("endings_test.Endings.test_other", "")], allowed)), 1)


if __name__ == "__main__":
    unittest.main()
