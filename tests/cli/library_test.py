"""A program outside of the tree links what `cmake --install` leaves, and finds in a recording what the command finds."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

BUILD = os.environ["NPLUS1_BUILD"]
HERE = pathlib.Path(__file__).parent
LIMIT = 240


class Library(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="nplus1-library-test-")
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        cls.prefix = cls.folder / "prefix"
        cls.environment = {k: v for k, v in os.environ.items() if not k.startswith("NPLUS1")}
        cls.run_here("cmake", "--install", BUILD, "--prefix", cls.prefix)
        shutil.copytree(HERE / "library", cls.folder / "source")
        cls.run_here("cmake", "-S", "source", "-B", "build", f"-DCMAKE_PREFIX_PATH={cls.prefix}")
        cls.run_here("cmake", "--build", "build")
        table = cls.folder / "table"
        table.write_text("3 MPI_Allreduce 5ms\n* MPI_Allreduce 1ms\n* * 20us\n")
        cls.run_here(cls.prefix / "bin/nplus1", "run", "-n", 4, "-q", "-o", "out", "--compute", f"file:{table}", "--",
                     next(cls.prefix.glob("lib/**/nplus1/examples/imbalance")), 6, 1)
        cls.platform = cls.prefix / "share/nplus1/platforms/torus.xml"
        cls.lines = cls.run_here(cls.folder / "build/analyse", "out", cls.platform).stdout.splitlines()

    @classmethod
    def run_here(cls, *words):
        done = subprocess.run([str(w) for w in words], cwd=cls.folder, env=cls.environment, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT, check=False)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done

    def document(self, *words):
        self.run_here(self.prefix / "bin/nplus1", *words, "--json", "document.json")
        return json.loads((self.folder / "document.json").read_text())

    def said(self, what):
        return [line.split(maxsplit=1)[1] for line in self.lines if line.split()[0] == what]

    def test_a_replay_takes_what_the_command_says(self):
        here, recorded, identity = self.said("replay")[0].split()
        self.assertEqual((here, identity), (recorded, "1"))
        self.assertAlmostEqual(float(here), self.document("replay", "out")["virtual_time_s"], places=11)

    def test_platforms_are_found_beside_the_library(self):
        document = self.document("replay", "out", "--platform", self.platform)
        self.assertAlmostEqual(float(self.said("platform")[0]), document["virtual_time_s"], places=11)

    def test_what_to_fix_is_what_the_command_lists(self):
        listed = [c for c in self.document("whatif", "out", "--sweep", "-q")["candidates"] if c["leads"]]
        self.assertGreater(len(listed), 1)
        self.assertEqual([fix.split(maxsplit=1)[1] for fix in self.said("fix")], [c["what"] for c in listed])

    def test_wait_states_collectives_and_comparisons_are_the_commands(self):
        efficiencies = self.document("waitstates", "out")["efficiencies"]
        self.assertAlmostEqual(float(self.said("parallel_efficiency")[0]), efficiencies["parallel"], places=9)
        found = self.document("collectives", "out")
        self.assertEqual([c.split()[0] for c in self.said("collective")], [f["kind"] for f in found])
        after = self.document("whatif", "out", "--balance", "all")["after"]["virtual_time_s"]
        self.assertAlmostEqual(float(self.said("balanced")[0]), after, places=11)

    def test_errors_say_what_is_wrong_and_what_to_do(self):
        self.assertEqual(len(self.said("error")), 1)
        self.assertRegex(self.said("error")[0], r"nowhere.*; \S")

    def test_pkg_config_says_the_same_and_nothing_but_the_header_is_exported(self):
        environment = {**self.environment, "PKG_CONFIG_PATH": str(next(self.prefix.glob("lib*/**/pkgconfig")))}
        flags = subprocess.run(["pkg-config", "--cflags", "--libs", "nplus1"], env=environment, capture_output=True,
                               text=True, check=True).stdout.split()
        self.run_here("c++", "source/analyse.cpp", "-o", "by_pkg_config", *flags)
        library = next(self.prefix.glob("lib*/**/libnplus1.so"))
        symbols = subprocess.run(["nm", "-DC", "--defined-only", library], capture_output=True, text=True, check=True)
        ours = [line for line in symbols.stdout.splitlines() if "nplus1::" in line and "nplus1::api::" not in line]
        self.assertEqual(ours, [])


if __name__ == "__main__":
    unittest.main()
