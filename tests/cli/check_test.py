"""`nplus1 check`: what it says of a program before it runs is what the run finds."""
import json
import os
import pathlib
import shutil
import subprocess
import unittest

from command import CommandTest

NPLUS1 = os.environ["NPLUS1"]
PROGRAMS = pathlib.Path(NPLUS1).parent / "mpi-tests"
EXAMPLES = pathlib.Path(NPLUS1).parent / "examples"

# Calls of each treatment, of which one hides in a library.
LIBRARY = """#include <mpi.h>
void store(int rank) {
  MPI_File file;
  MPI_File_open(MPI_COMM_WORLD, "stored", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
  MPI_File_write_at(file, rank * 4, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  char port[MPI_MAX_PORT_NAME];
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Lookup_name("nobody has published it", MPI_INFO_NULL, port);
}
"""
PROGRAM = """#include <mpi.h>
void store(int rank);
int main(int argc, char** argv) {
  int rank, sum;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  PMPI_Barrier(MPI_COMM_WORLD);
  MPI_Win window;
  MPI_Win_create(&sum, 4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  if (rank == 0) MPI_Put(&rank, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
  store(rank);
  MPI_Finalize();
  return 0;
}
"""


class Check(CommandTest):
    def check(self, program):
        done = self.nplus1("check", program, "--json", "check.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout, json.loads((self.folder / "check.json").read_text())

    def build(self, mpicc="mpicc.mpich"):
        (self.folder / "store.c").write_text(LIBRARY)
        (self.folder / "program.c").write_text(PROGRAM)
        subprocess.run([mpicc, "-shared", "-fPIC", "-o", "libstore.so", "store.c"], cwd=self.folder, check=True)
        subprocess.run([mpicc, "-o", "program", "program.c", "-L.", "-lstore", f"-Wl,-rpath,{self.folder}"],
                       cwd=self.folder, check=True)

    def test_what_is_not_modelled_is_what_the_run_counts(self):
        self.build()
        self.is_what_the_run_counts()

    @unittest.skipUnless(shutil.which("mpicc.openmpi"), "Open MPI is not installed")
    def test_what_is_not_modelled_is_what_the_run_with_open_mpi_counts(self):
        self.build("mpicc.openmpi")
        self.is_what_the_run_counts()

    def is_what_the_run_counts(self):
        text, found = self.check("./program")
        self.assertEqual(found["modelled"], ["MPI_Allreduce", "MPI_Barrier", "MPI_File_close", "MPI_File_open",
                                             "MPI_File_write_at", "MPI_Finalize", "MPI_Init", "MPI_Put",
                                             "MPI_Win_create", "MPI_Win_fence", "MPI_Win_free"])
        self.assertEqual(found["local"], ["MPI_Comm_rank", "MPI_Comm_set_errhandler"])
        self.assertEqual({f["name"]: f["kind"] for f in found["unmodelled"]},
                         {"MPI_Lookup_name": "spawn"})
        self.assertEqual([pathlib.Path(f).name for f in found["files"]], ["program", "libstore.so"])
        self.assertIn("dynamic processes", text)
        for stand_in in ("NPLUS1_STUBS", "NPLUS1_SIMNODE", "NPLUS1_MPIRUN"):
            del self.environment[stand_in]
        run = self.nplus1("run", "-q", "-n", "2", "-o", "out", "--", "./program")
        self.assertEqual(run.returncode, 0, run.stderr)
        summary = json.loads((self.folder / "out/summary.json").read_text())
        self.assertEqual({c["name"] for c in summary["unmodelled"]["by_name"]}, {f["name"] for f in found["unmodelled"]})
        self.assertEqual({c["name"] for c in summary["collectives"]}, {"MPI_Allreduce", "MPI_Barrier"})

    def test_a_library_alone_is_looked_at_too(self):
        self.build()
        text, found = self.check("libstore.so")
        self.assertEqual([f["name"] for f in found["unmodelled"]], ["MPI_Lookup_name"])
        self.assertIn("dynamic processes", text)

    def test_every_language_binding_is_understood(self):
        expected = {"MPI_Init", "MPI_Finalize"}
        for program in ("hello_c", "hello_cpp", "hello_mpifh", "hello_mpi", "hello_f08"):
            with self.subTest(program=program):
                text, found = self.check(EXAMPLES / program)
                self.assertLessEqual(expected, set(found["modelled"]))
                self.assertIn("MPI_Comm_rank", found["local"] + found["modelled"])
                self.assertEqual((found["unmodelled"], found["unknown"]), ([], []))
                self.assertIn("All of its communication takes virtual time.", text)

    def test_of_all_test_programs_what_the_binding_declares_is_known(self):
        """A symbol of MPI's that a program imports is in one of the lists: none is passed over in silence."""
        programs = sorted(p for p in PROGRAMS.iterdir() if os.access(p, os.X_OK) and p.is_file())
        self.assertGreater(len(programs), 40)
        for program in programs:
            done = self.nplus1("check", program, "--json", "check.json")
            if done.returncode != 0:
                continue  # statically linked, and refused
            found = json.loads((self.folder / "check.json").read_text())
            listed = {n.lower() for k in ("modelled", "local", "unknown") for n in found[k]}
            listed |= {f["name"].lower() for f in found["unmodelled"]}
            symbols = subprocess.run(["nm", "-D", "--undefined-only", program], capture_output=True, text=True, check=True)
            for line in symbols.stdout.splitlines():
                name = line.split()[-1].split("@")[0].lower()
                if name.startswith(("mpi_", "pmpi_")) and "U" in line.split():
                    plain = name.removeprefix("p").rstrip("_").removesuffix("_f08ts").removesuffix("_f08").removesuffix("_cdesc")
                    self.assertIn(plain, listed, program)

    def test_what_cannot_be_observed_is_refused_as_by_run(self):
        self.assert_refused(66, "was not found in PATH", "check", "no_such_program")
        (self.folder / "libbad.so").write_text("no library")
        self.assert_refused(66, "is no library that can be read", "check", "libbad.so")
        text, found = self.check("true")
        self.assertEqual((found["modelled"], found["unmodelled"]), ([], []))
        self.assertIn("imports no MPI function", text)


if __name__ == "__main__":
    unittest.main()
