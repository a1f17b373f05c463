"""Runs `nplus1` in a scratch folder, with stand-ins for mpirun, the simulator and the preloaded library."""
import os
import pathlib
import stat
import subprocess
import tempfile
import unittest

NPLUS1 = os.environ["NPLUS1"]
CC = os.environ.get("CC", "cc")
LIMIT = 60


class CommandTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="nplus1-cli-test-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("NPLUS1_", "UCX_", "LD_PRELOAD"))}
        self.script("app", "exit 0")
        self.set("NPLUS1_STUBS", self.write("stubs.so", ""))
        self.set("NPLUS1_SIMNODE", self.write("simnode", ""))
        self.set("NPLUS1_MPIRUN", self.script("mpirun", "exit 0"))

    def set(self, name, value):
        self.environment[name] = str(value)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def script(self, name, body):
        path = self.write(name, f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
        return path

    def compile(self, name, source, *flags):
        self.write(name + ".c", source)
        subprocess.run([CC, "-o", name, name + ".c", *flags], cwd=self.folder, check=True)
        return self.folder / name

    def nplus1(self, *words, stdin=subprocess.DEVNULL):
        return subprocess.run([NPLUS1, *map(str, words)], cwd=self.folder, env=self.environment, text=True, stdin=stdin,
                              capture_output=True, timeout=LIMIT, check=False)

    def start(self, *words):
        return subprocess.Popen([NPLUS1, *map(str, words)], cwd=self.folder, env=self.environment, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def assert_refused(self, code, mention, *words):
        """One message with cause, consequence and next step; the documented code; nothing started, nothing left."""
        before = sorted(p.name for p in self.folder.iterdir())
        self.script("mpirun", f"touch {self.folder}/started")
        result = self.nplus1(*words)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertEqual(result.stdout, "")
        lines = result.stderr.splitlines()
        self.assertEqual(len(lines), 3, result.stderr)
        self.assertTrue(lines[0].startswith("nplus1: "), lines[0])
        self.assertIn(mention, lines[0])
        self.assertTrue(lines[1].startswith("  so: ") and len(lines[1]) > 10, lines[1])
        self.assertTrue(lines[2].startswith("  next: ") and len(lines[2]) > 10, lines[2])
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), before)


def make_setuid(path):
    path.chmod(path.stat().st_mode | stat.S_ISUID)
