"""The library that `nplus1 guidelines tune` makes under programs that call it in every way: they hold and print what they do
bare."""
import subprocess
import unittest

from guidelines_support import ALLOW_ROOT, HERE, OPEN_MPI, GuidelinesTest, all_replaced

OPENS = r"""#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char** argv) { /* calls the MPI library that it opens for itself alone, as modules of Python's do */
  void* library = dlopen(argv[1], RTLD_LAZY | RTLD_LOCAL);
  int (*init)(int*, char***) = dlsym(library, "MPI_Init"), (*finalize)(void) = dlsym(library, "MPI_Finalize");
  int (*allreduce)(const void*, void*, int, long, long, long) = dlsym(RTLD_DEFAULT, "MPI_Allreduce");
  int mine = 21, sum = 0;
  const int is_open_mpi = argv[2][0] == 'o';
  if (allreduce == NULL) allreduce = dlsym(library, "MPI_Allreduce");
  init(&argc, &argv);
  if (is_open_mpi)
    allreduce(&mine, &sum, 1, (long)dlsym(library, "ompi_mpi_int"), (long)dlsym(library, "ompi_mpi_op_sum"), (long)dlsym(library, "ompi_mpi_comm_world"));
  else
    allreduce(&mine, &sum, 1, 0x4c000405, 0x58000003, 0x44000000);
  printf("%d\n", sum);
  return finalize();
}
"""


class TunedCalls(GuidelinesTest):
    """What ranks print, bare and with every function replaced."""
    MPI, TEMPLATE = "mpich", "libnplus1-tuned.so"
    NAMES = ("turned", "interleaved", "bottom", "nothing", "refused", "refused buffers", "file", "threads")

    def ranks(self, *words, preload=None):
        environment = [f"LD_PRELOAD={preload}"] if preload else []
        return self.run_command([f"mpirun.{self.MPI}", "-np", "2", "/usr/bin/env", *environment, *map(str, words)], ALLOW_ROOT,
                                timeout=120)

    def program(self):
        output = self.folder / "calls"
        if not output.exists():
            subprocess.run([f"mpicc.{self.MPI}", "-w", "-pthread", "-o", output, HERE / "programs/tuned_calls.c"], check=True)
        return output

    def assert_as_bare(self, *words):
        bare, tuned = self.ranks(*words), self.ranks(*words, preload=all_replaced(self.folder, 2, self.TEMPLATE))
        self.assertEqual((tuned.returncode, sorted(tuned.stdout.splitlines())), (bare.returncode, sorted(bare.stdout.splitlines())),
                         tuned.stderr)
        self.assertEqual(bare.returncode, 0, bare.stderr)

    def test_hold_what_they_hold_bare(self):
        for name in self.NAMES:
            with self.subTest(name):
                self.assert_as_bare(self.program(), name)

    def test_are_made_by_programs_that_a_script_starts(self):
        script = self.folder / "start.sh"
        script.write_text(f"#!/bin/sh\nexec {self.program()} turned\n")
        script.chmod(0o755)
        self.assert_as_bare(script)

    def test_are_made_by_a_program_that_opens_its_mpi_library_itself(self):
        library = next(line.split()[2] for line in subprocess.run(["ldd", self.program()], capture_output=True, text=True,
                                                                  check=True).stdout.splitlines() if "libmpi" in line)
        source = self.folder / "opens.c"
        source.write_text(OPENS)
        opens = self.compiled(source, "-w", compiler="cc")
        self.assert_as_bare(opens, library, "ompi_mpi_" if self.MPI == "openmpi" else "-")

    def test_are_replaced_wherever_the_program_has_gone(self):
        counting = self.compiled(HERE / "counting.c", "-shared", "-fPIC", compiler=f"mpicc.{self.MPI}")
        all_replaced(self.folder, 2, self.TEMPLATE)
        done = self.ranks(self.program(), "elsewhere", preload=f"./all-2.so:{counting}")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count("Allreduce 0 Reduce 1 Bcast 1 "), 2, done.stdout)


@unittest.skipUnless(OPEN_MPI, "no Open MPI here")
class TunedCallsOpenMpi(TunedCalls):
    MPI, TEMPLATE = "openmpi", "libnplus1-tuned-openmpi.so"
    NAMES = ("turned", "interleaved", "bottom", "nothing", "refused", "file", "threads")


if __name__ == "__main__":
    unittest.main()
