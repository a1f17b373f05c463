"""nplus1.h and nplus1.f90 need no library: no-ops without nplus1, and whatever is preloaded wins."""
import os
import subprocess
import unittest

from command import CommandTest

INCLUDE = os.environ["NPLUS1_INCLUDE"]

C_PROGRAM = """
#include "nplus1.h"
#include <stdio.h>
int main(void) {
  nplus1_region_begin("solver");
  nplus1_compute(0.25);
  nplus1_compute(0.5);
  nplus1_region_end("solver");
  printf("active %d\\n", nplus1_active());
  return 0;
}
"""

FORTRAN_PROGRAM = """
program main
  use nplus1
  call nplus1_region_begin('solver ')
  call nplus1_compute(0.25d0)
  call nplus1_compute(0.5d0)
  call nplus1_region_end('solver')
  print '(a,i0)', 'active ', merge(1, 0, nplus1_active())
end program
"""

PRELOADED = """
#include <stdio.h>
void nplus1_compute(double seconds) { printf("compute %g\\n", seconds); fflush(stdout); }
void nplus1_region_begin(const char *name) { printf("begin [%s]\\n", name); fflush(stdout); }
void nplus1_region_end(const char *name) { printf("end [%s]\\n", name); fflush(stdout); }
int nplus1_active(void) { return 1; }
"""

SEEN = "begin [solver]\ncompute 0.25\ncompute 0.5\nend [solver]\nactive 1\n"


class PublicHeader(CommandTest):
    def check(self, *compiler):
        subprocess.run([*compiler, "-o", "program"], cwd=self.folder, check=True)
        library = self.compile("preloaded.so", PRELOADED, "-shared", "-fPIC")
        bare = subprocess.run(["./program"], cwd=self.folder, text=True, capture_output=True, check=True)
        self.assertEqual(bare.stdout, "active 0\n")
        observed = subprocess.run(["./program"], cwd=self.folder, text=True, capture_output=True, check=True,
                                  env={**os.environ, "LD_PRELOAD": str(library)})
        self.assertEqual(observed.stdout, SEEN)

    def test_c(self):
        self.write("main.c", C_PROGRAM)
        self.check(os.environ["CC"], "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{INCLUDE}", "main.c")

    def test_cpp(self):
        self.write("main.cpp", C_PROGRAM)
        self.check(os.environ["CXX"], "-Wall", "-Wextra", "-Werror", f"-I{INCLUDE}", "main.cpp")

    def test_position_dependent_program(self):
        self.write("main.c", C_PROGRAM)
        self.check(os.environ["CC"], "-no-pie", "-fno-pie", f"-I{INCLUDE}", "main.c")

    def test_fortran(self):
        self.write("main.f90", FORTRAN_PROGRAM)
        self.check(os.environ["FC"], "-Wall", f"{INCLUDE}/nplus1.f90", "main.f90")


if __name__ == "__main__":
    unittest.main()
