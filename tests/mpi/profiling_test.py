"""Programs with a profiling library of their own (MPI_X that calls PMPI_X): linked as a library or into the program, or
preloaded. It does what it does bare, and what it calls takes virtual time."""
import subprocess
import unittest

from live import LiveTest, seconds
from openmpi_test import OPEN_MPI, OpenMpiTest

PROGRAM = r"""
#include <mpi.h>
int main(int argc, char** argv) {
  int rank, value = 7, length = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Pcontrol(3, "a name", &length);
  if (rank == 0) MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  if (rank == 1) MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return length;
}
"""

# Its sends are synchronous, which shows in virtual time.
PROFILER = r"""
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
static int sends, rank;
int MPI_Init(int* argc, char*** argv) {
  int outcome = PMPI_Init(argc, argv);
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return outcome;
}
int MPI_Send(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  ++sends;
  return PMPI_Ssend(buffer, count, type, to, tag, comm);
}
int MPI_Pcontrol(const int level, ...) {
  va_list more;
  va_start(more, level);
  const char* name = va_arg(more, const char*);
  *va_arg(more, int*) = level + (int)strlen(name);
  va_end(more);
  return MPI_SUCCESS;
}
int MPI_Finalize(void) {
  printf("rank %d: %d sends\n", rank, sends);
  fflush(stdout);
  return PMPI_Finalize();
}
"""

# It calls the next MPI_Send by itself.
PASSED_OVER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
int MPI_Send(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  int (*next)(const void*, int, MPI_Datatype, int, int, MPI_Comm);
  *(void**)&next = dlsym(RTLD_NEXT, "MPI_Send");
  return next(buffer, count, type, to, tag, comm);
}
"""
CODE = 3 + len("a name")
MESSAGE = seconds("1.004e-3")
NETWORK = ("--network", "lsb:latency=1e-3,bandwidth=1e6", "--compute", "fixed:0")


class Profiled:
    """What holds for both MPI libraries; with a LiveTest."""
    COMPILER = "mpicc.mpich"

    def compiled(self, name, *sources, flags=()):
        paths = []
        for source in sources:
            paths.append(self.folder / f"{name}-{len(paths)}.c")
            paths[-1].write_text(source)
        subprocess.run([self.COMPILER, "-O1", "-o", self.folder / name, *paths, *flags], check=True)
        return self.folder / name

    def library(self, name, source):
        return self.compiled(name, source, flags=("-shared", "-fPIC", "-ldl"))

    def linked(self):
        self.library("libprofiler.so", PROFILER)
        return self.compiled("linked", PROGRAM, flags=(f"-L{self.folder}", "-lprofiler", f"-Wl,-rpath,{self.folder}"))

    def check_profiled(self, program, more=None, options=NETWORK):
        run = self.observe(2, program, options=options, more=more, code=CODE)
        self.assertEqual(sorted(run.stdout.splitlines()), ["rank 0: 1 sends", "rank 1: 0 sends"])
        return run

    def test_a_library_that_the_program_is_linked_with_does_what_it_does_bare(self):
        bare = self.bare(2, self.linked())
        self.assertEqual(sorted(bare.stdout.splitlines()), ["rank 0: 1 sends", "rank 1: 0 sends"])
        self.assertEqual(self.check_profiled(self.linked()).summary["rank_end_s"], [MESSAGE, MESSAGE])

    def test_so_does_one_that_is_preloaded(self):
        run = self.check_profiled(self.compiled("plain", PROGRAM), {"LD_PRELOAD": self.library("profiler.so", PROFILER)})
        self.assertEqual(run.summary["rank_end_s"], [MESSAGE, MESSAGE])

    def test_so_does_one_in_the_program_itself(self):
        run = self.check_profiled(self.compiled("inside", PROGRAM, PROFILER))
        self.assertEqual(run.summary["rank_end_s"], [MESSAGE, MESSAGE])

    def test_so_does_one_while_nothing_is_simulated(self):
        self.check_profiled(self.linked(), options=("--native", "--record", "full"))

    def test_one_that_looks_for_the_next_function_by_itself_hides_nothing(self):
        preloaded = self.library("next.so", PASSED_OVER)
        run = self.observe(2, self.compiled("plain", PROGRAM), options=NETWORK, more={"LD_PRELOAD": preloaded})
        self.assertEqual(run.summary["rank_end_s"], [0, MESSAGE])


class Profiling(Profiled, LiveTest):
    def test_so_does_one_where_patterns_alone_are_counted(self):
        run = self.check_profiled(self.linked(), options=("--patterns-only",))
        self.assertTrue((run.folder / "patterns.json").exists(), run.stderr)


@unittest.skipUnless(OPEN_MPI.is_dir(), "built without Open MPI")
class ProfilingWithOpenMpi(Profiled, OpenMpiTest):
    COMPILER = "mpicc.openmpi"


if __name__ == "__main__":
    unittest.main()
