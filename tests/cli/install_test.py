"""What `cmake --install` leaves is all that is needed: the installed command runs, replays and analyses on its own."""
import os
import pathlib
import subprocess
import tempfile
import unittest

BUILD = os.environ["NPLUS1_BUILD"]
LIMIT = 120


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="nplus1-install-test-")
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        cls.prefix = cls.folder / "prefix"
        subprocess.run(["cmake", "--install", BUILD, "--prefix", cls.prefix], check=True, capture_output=True)
        # Nothing may lead back to the build: not a variable, not the folder the command is started from.
        cls.environment = {k: v for k, v in os.environ.items() if not k.startswith("NPLUS1")}

    def nplus1(self, *words):
        result = subprocess.run([self.prefix / "bin/nplus1", *map(str, words)], cwd=self.folder, env=self.environment,
                                text=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def test_a_program_runs_and_its_recording_is_read_by_the_verbs(self):
        program = next(self.prefix.glob("lib/**/nplus1/examples/halo"))
        run = self.nplus1("run", "-n", 4, "-o", "out", "--", program)
        self.assertIn("4 of 4 ranks observed", run.stderr)
        self.assertIn("identity", self.nplus1("replay", "out").stdout)
        torus = self.prefix / "share/nplus1/platforms/torus.xml"
        self.assertIn("torus.xml", self.nplus1("replay", "out", "--platform", torus).stdout)
        self.assertIn("Efficiencies", self.nplus1("waitstates", "out").stdout)
        self.nplus1("collectives", "out")

    def test_programs_find_the_public_header_and_module(self):
        for name in ("nplus1.h", "nplus1.f90"):
            self.assertIn("nplus1_send_to_self", (self.prefix / "include" / name).read_text())

    def test_the_demo_needs_nothing_but_the_installation(self):
        self.assertIn("imbalance on 16 ranks", self.nplus1("demo").stderr)

    def test_every_verb_has_its_man_page(self):
        verbs = [line.split()[0] for line in self.nplus1("--help").stdout.split("Verbs:")[1].splitlines()
                 if line.startswith("  ") and line[2] != " "]
        self.assertGreater(len(verbs), 8)
        for verb in verbs:
            self.assertTrue((self.prefix / f"share/man/man1/nplus1-{verb}.1").is_file(), verb)


if __name__ == "__main__":
    unittest.main()
