"""Call sites of Python programs: what Python itself says of its frames is the oracle. With MPICH by ctypes, for which an
interpreter suffices, with Open MPI by mpi4py; both give up the interpreter's lock while MPI runs.

Environment: NPLUS1_PYTHONS, interpreters with a space between (all by hand; /usr/bin/python3)."""
import collections
import json
import os
import pathlib
import subprocess
import unittest

from live import NPLUS1, LiveTest
from openmpi_test import OpenMpiTest

SOURCE = pathlib.Path(__file__).parent / "programs" / "call_sites.py"
PYTHONS = os.environ.get("NPLUS1_PYTHONS", "/usr/bin/python3").split()
# As everybody writes it: functions are looked up in the library that is opened.
CTYPES = """import ctypes
mpi = ctypes.CDLL("libmpich.so.12")
world, provided, rank = 0x44000000, ctypes.c_int(), ctypes.c_int()
mpi.MPI_Init_thread(None, None, 3, ctypes.byref(provided))
mpi.MPI_Comm_rank(world, ctypes.byref(rank))
RANK = rank.value
"""
MPI4PY = "from mpi4py import MPI\nRANK = MPI.COMM_WORLD.rank\n"
EVERYTHING = ("--record", "full", "--frames", "16")


class PythonTest(LiveTest):
    CALL, HEAD, END = "mpi.MPI_Barrier(world)", CTYPES, "mpi.MPI_Finalize()"

    def program(self, text, name="program.py"):
        file = self.folder / name
        text = text.replace("HEAD", self.HEAD).replace("CALL", self.CALL).replace("END", self.END)
        file.write_text(text, encoding="utf-8")
        return file

    def known_to_python(self, frames):
        """Calls by frames."""
        calls = collections.Counter()
        for file in self.folder.glob("seen.*.json"):
            for stack, n in json.loads(file.read_text()).items():
                calls[tuple(map(tuple, json.loads(stack)[:frames]))] += n
        return calls

    def told(self, sites):
        calls = collections.Counter()
        for site in sites:
            if site["call"] == "MPI_Barrier":
                calls[tuple((f["file"], f["line"], f["function"]) for f in site["frames"])] += site["calls"]
        return calls

    def check(self, frames, sites):
        self.assertGreater(len(self.known_to_python(frames)), 70)
        self.assertEqual(self.told(sites), self.known_to_python(frames))

    def sites(self, run):
        self.assertEqual(run.summary["trust"]["active_ranks"], 2, run.stderr)
        self.assertRegex(run.summary["application"], r"\.py$")  # the script, not who reads it
        return json.loads((run.folder / "patterns.json").read_text())["call_sites"]

    def check_of_any_length(self, python, more=()):
        program = self.program(SOURCE.read_text(encoding="utf-8"))
        for frames, options in ((1, ("--frames", "1")), (4, ()), (16, EVERYTHING)):
            with self.subTest(python=python, options=options):
                self.check(frames, self.sites(self.observe(2, python, program, options=(*more, *options))))


class WithCtypes(PythonTest):
    # An interpreter that has mpi4py would be taken for a program of that library's.
    MPICH = ("--mpi", "mpich")

    def test_call_sites_are_what_python_says(self):
        for python in PYTHONS:
            self.check_of_any_length(python, self.MPICH)

    def test_of_patterns_alone_too(self):
        program = self.program(SOURCE.read_text(encoding="utf-8"))
        run = self.observe(2, PYTHONS[0], program, options=(*self.MPICH, "--patterns-only"))
        patterns = self.folder / "counted.json"
        done = self.run_command([str(NPLUS1), "patterns", str(run.folder), "--json", str(patterns)])
        self.assertEqual(done.returncode, 0, done.stderr)
        counted = json.loads(patterns.read_text())
        self.assertEqual(counted["application"], program.name)
        self.check(4, counted["call_sites"])

    def test_the_programs_own_c_stands_before_its_callers(self):
        source = self.folder / "own.c"
        source.write_text("#include <mpi.h>\nvoid exchange(void);\nstatic void __attribute__((noinline)) inner(void) {\n"
                          "  MPI_Barrier(MPI_COMM_WORLD); __asm__ volatile(\"\");\n}\nvoid exchange(void) {\n  inner();\n"
                          "  MPI_Barrier(MPI_COMM_WORLD); __asm__ volatile(\"\");\n}\n")
        library = self.folder / "libown.so"
        subprocess.run(["mpicc.mpich", "-g", "-O1", "-shared", "-fPIC", "-o", library, source], check=True)
        program = self.program(f"""HEAD
own = ctypes.CDLL("{library}")
def step(): own.exchange()
step()
END
""")
        run = self.observe(2, PYTHONS[0], program, options=self.MPICH)
        names = {tuple((pathlib.Path(file).name, line, function) for file, line, function in frames): n
                 for frames, n in self.told(self.sites(run)).items()}
        step = [(program.name, 9, "step"), (program.name, 10, "<module>")]
        self.assertEqual(names, {(("own.c", 4, "inner"), ("own.c", 7, "exchange"), *step): 2, (("own.c", 8, "exchange"), *step): 2})

    def test_a_deadlock_names_the_lines(self):
        program = self.program("""HEAD
class Solver:
    def receive(self):
        mpi.MPI_Recv(None, 0, 0x4c00010d, 1 - RANK, 5, world, ctypes.c_void_p(1))
Solver().receive()
""")
        run = self.observe(2, PYTHONS[0], program, options=self.MPICH, code=None)
        for rank in range(2):
            self.assertRegex(run.stderr, rf"rank {rank} in MPI_Recv.* called from (Solver\.)?receive \(program\.py:10\), waits for rank {1 - rank}")


class WithMpi4py(PythonTest, OpenMpiTest):
    CALL, HEAD, END = "MPI.COMM_WORLD.Barrier()", MPI4PY, ""

    def test_call_sites_are_what_python_says(self):
        if self.run_command([PYTHONS[0], "-c", "import mpi4py"]).returncode != 0:
            self.skipTest("Debian's python3-mpi4py is not installed")
        self.check_of_any_length(PYTHONS[0])


if __name__ == "__main__":
    unittest.main()
