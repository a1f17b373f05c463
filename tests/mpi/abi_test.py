"""MPICH's ABI by the names that other libraries of it have (Intel MPI, MVAPICH, Cray): a program is observed whose library is
libmpi.so.12, a link to MPICH's or one that calls itself so, also where nothing called libmpich is in the process, and where the
library was opened by itself, as Python does. Debian has MPICH's library only; under the other names it is a copy of that."""
import json
import pathlib
import re
import subprocess
import unittest

from live import LiveTest, NPLUS1

SOURCES = pathlib.Path(__file__).resolve().parent / "programs"
LIBRARIES = pathlib.Path("/usr/lib/x86_64-linux-gnu")
HEADERS = "/usr/include/x86_64-linux-gnu/mpich"
STEPS = ("allreduce 8; send 1 100; recv -1 100", "allreduce 8; recv 0 100; send 0 100")
# Opens what has the program, and with it the MPI library, for itself.
OPENS = """#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char** argv) {
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  int (*run)(void) = library == NULL ? NULL : (int (*)(void))dlsym(library, "run");
  if (run == NULL) fprintf(stderr, "%s\\n", dlerror());
  return run == NULL || argc < 2 ? 9 : run();
}
"""
OPENED = """#include <mpi.h>
#include <stdio.h>
int run(void) {
  int rank, n, had[2] = {0, 0}, mine[2] = {1, 2}, class = 0;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int code = MPI_Sendrecv(mine, 2, MPI_INT, (rank + 1) % n, 0, had, 1, MPI_INT, (rank + n - 1) % n, 0, MPI_COMM_WORLD,
                                MPI_STATUS_IGNORE);
  MPI_Error_class(code, &class);
  printf("%d of %d: %s\\n", rank, n, class == MPI_ERR_TRUNCATE ? "truncated" : "?");
  return MPI_Finalize();
}
"""
# Looks each function up in the MPI library that it opens.
LOOKS_UP = """#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) {
  void* library = dlopen(argv[argc - 1], RTLD_NOW | RTLD_LOCAL);
  int (*init)(int*, char***) = (int (*)(int*, char***))dlsym(library, "MPI_Init");
  int (*rank)(MPI_Comm, int*) = (int (*)(MPI_Comm, int*))dlsym(library, "MPI_Comm_rank");
  int (*barrier)(MPI_Comm) = (int (*)(MPI_Comm))dlsym(library, "MPI_Barrier");
  int (*finalize)(void) = (int (*)(void))dlsym(library, "MPI_Finalize");
  int mine = -1;
  init(NULL, NULL);
  rank(MPI_COMM_WORLD, &mine);
  barrier(MPI_COMM_WORLD);
  printf("rank %d\\n", mine);
  printf("%s\\n", dlsym(library, "MPI_Nothing") == NULL && dlsym(RTLD_DEFAULT, "MPI_Nothing") == NULL ? dlerror() : "found");
  return finalize();
}
"""
# Stands between a program and an MPI library, as libraries do that translate one ABI into another.
BETWEEN = """#include <dlfcn.h>
#include <mpi.h>
static void* behind(const char* name) {
  return dlsym(dlopen("libmpich.so.12", RTLD_NOW | RTLD_LOCAL), name);
}
#define FORWARDS(name, parameters, arguments) \\
  int P##name parameters { return ((int (*) parameters)behind(#name)) arguments; } \\
  int name parameters { return P##name arguments; }
FORWARDS(MPI_Init, (int* n, char*** words), (n, words))
FORWARDS(MPI_Comm_rank, (MPI_Comm comm, int* rank), (comm, rank))
FORWARDS(MPI_Comm_size, (MPI_Comm comm, int* size), (comm, size))
FORWARDS(MPI_Barrier, (MPI_Comm comm), (comm))
FORWARDS(MPI_Finalize, (void), ())
"""
THROUGH = """#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) {
  int rank, n;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  MPI_Barrier(MPI_COMM_WORLD);
  printf("rank %d of %d\\n", rank, n);
  return MPI_Finalize();
}
"""


def renamed(source, target, names):
    """A copy of a library of MPICH's in which names of libraries are shorter ones."""
    data = source.read_bytes()
    for old, new in names:
        old = b"\0" + old.encode() + b"\0"
        assert data.count(old) == 1, (source, old, data.count(old))
        data = data.replace(old, (b"\0" + new.encode()).ljust(len(old), b"\0"))
    target.write_bytes(data)
    return target


@unittest.skipUnless((LIBRARIES / "libmpich.so.12").exists(), "this is for Debian's MPICH")
class OtherNames(LiveTest):
    def setUp(self):
        super().setUp()
        self.link, self.other, self.fortran = (self.folder / name for name in ("link", "other", "fortran"))
        for folder in (self.link, self.other, self.fortran):
            folder.mkdir()
        (self.link / "libmpi.so.12").symlink_to(LIBRARIES / "libmpich.so.12")
        renamed(LIBRARIES / "libmpich.so.12", self.other / "libmpi.so.12", [("libmpich.so.12", "libmpi.so.12")])

    def compile(self, name, source, *flags):
        output = self.folder / name
        if not isinstance(source, pathlib.Path):
            source, text = self.folder / f"{name}.c", source
            source.write_text(text)
        subprocess.run(["gcc", "-O1", "-pthread", f"-I{HEADERS}", f"-I{SOURCES.parents[2]}", f"-I{SOURCES.parents[2]}/include",
                        "-o", output, source, *map(str, flags)], check=True)
        return output

    def script(self):
        """It asks for libmpi.so.12 alone."""
        program = self.compile("script", SOURCES / "script.c", self.other / "libmpi.so.12", "-lm")
        needed = subprocess.run(["readelf", "-d", program], capture_output=True, text=True, check=True).stdout
        self.assertIn("[libmpi.so.12]", needed)
        self.assertNotIn("libmpich", needed)
        return program

    def found_in(self, folder):
        return {"LD_LIBRARY_PATH": folder}

    def test_our_libraries_ask_for_no_mpi_library(self):
        for library in sorted((NPLUS1.parents[1] / "lib").glob("libnplus1-*.so")):
            needed = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout
            self.assertNotIn("libmpi", needed, library)

    def test_a_program_of_libmpi_so_12_has_the_times_of_libmpichs(self):
        expected = self.exact(*STEPS, options=("--record", "full")).summary["rank_end_s"]
        program = self.script()
        for folder in (self.link, self.other):
            for options in ((), ("--transport", "tcp"), ("--direct", "off")):
                with self.subTest(folder=folder.name, options=options):
                    run = self.exact(program, *STEPS, ranks=2, options=options, more=self.found_in(folder))
                    self.assertEqual(run.summary["rank_end_s"], expected)
            for options in (("--native", "--record", "full"), ("--patterns-only",)):
                with self.subTest(folder=folder.name, options=options):
                    run = self.observe(2, program, *STEPS, options=options, more=self.found_in(folder))
                    self.assertTrue((run.folder / "patterns.json").exists(), run.stderr)

    def test_nothing_called_libmpich_is_loaded_there(self):
        program = self.script()
        done = self.run_command(["ldd", str(program)], self.found_in(self.other))
        self.assertNotIn("libmpich", done.stdout)

    def test_a_library_opened_by_itself(self):
        opens = self.compile("opens", OPENS, "-ldl")
        opened = self.compile("libopened.so", OPENED, "-shared", "-fPIC", self.other / "libmpi.so.12")
        for folder in (self.link, self.other):
            with self.subTest(folder=folder.name):
                run = self.exact(opens, opened, ranks=3, more=self.found_in(folder))
                self.assertEqual(sorted(run.stdout.splitlines()), [f"{rank} of 3: truncated" for rank in range(3)])
                self.assertEqual(sum(map(sum, run.summary["point_to_point"]["messages"])), 3)

    def calls(self, run):
        return {c["call"]: c["calls"] for c in json.loads((run.folder / "patterns.json").read_text())["call_sites"]}

    def test_functions_that_the_program_looks_up_in_the_library(self):
        program = self.compile("looks_up", LOOKS_UP, "-ldl")
        bare = self.bare(2, program, "libmpich.so.12").stdout.splitlines()
        self.assertEqual(sum("undefined symbol: MPI_Nothing" in line for line in bare), 2)
        for folder, library in ((self.other, "libmpi.so.12"), (self.folder, "libmpich.so.12")):
            for options in (("--record", "full"), ("--patterns-only",)):
                with self.subTest(library=library, options=options):
                    run = self.observe(2, program, library, options=options, more=self.found_in(folder))
                    # A rank's newline may come behind what another prints.
                    self.assertEqual(sorted(re.findall(r"rank \d", run.stdout)), ["rank 0", "rank 1"])
                    self.assertEqual(self.calls(run), {"MPI_Barrier": 2})

    def test_a_library_between_the_program_and_mpi(self):
        library = self.compile("libbetween.so", BETWEEN, "-shared", "-fPIC", "-ldl")
        program = self.compile("through", THROUGH, library, f"-Wl,-rpath,{self.folder}")
        run = self.exact(program, ranks=3, options=("--record", "full"))
        self.assertEqual(sorted(re.findall(r"rank \d of 3", run.stdout)), [f"rank {rank} of 3" for rank in range(3)])
        self.assertEqual(self.calls(run), {"MPI_Barrier": 3})

    def test_fortran(self):
        renamed(LIBRARIES / "libmpichfort.so.12", self.other / "libmpifort.so.12",
                [("libmpichfort.so.12", "libmpifort.so.12"), ("libmpich.so.12", "libmpi.so.12")])
        program = self.folder / "hello"
        subprocess.run(["gfortran", "-fallow-argument-mismatch", f"-I{HEADERS}", "-o", program,
                        SOURCES.parents[2] / "examples/hello_mpifh.f90", self.other / "libmpifort.so.12", self.other / "libmpi.so.12"],
                       cwd=self.folder, check=True)
        run = self.exact(program, ranks=2, more=self.found_in(self.other))
        self.assertIn("rank 1 of 2", run.stdout)

    def test_check_and_doctor(self):
        program = self.script()
        done = self.run_command([str(NPLUS1), "check", str(program)], self.found_in(self.other))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("All of its communication takes virtual time", done.stdout)
        self.assertNotIn("not linked with MPI", done.stdout + done.stderr)
        done = self.run_command([str(NPLUS1), "check", str(program)])  # where no such library is
        self.assertEqual(done.returncode, 65)
        self.assertIn("libmpi.so.12", done.stderr)

    def test_doctor_says_what_to_do_where_the_library_has_another_name(self):
        hidden = ["unshare", "--mount", "--", "sh", "-c", f"mount --bind /dev/null {LIBRARIES}/libmpich.so.12 && exec \"$@\"", "sh"]
        if subprocess.run([*hidden, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("mount is not allowed here")
        (self.other / "libmpich.so.12").symlink_to("libmpi.so.12")
        refused = self.run_command([*hidden, str(NPLUS1), "doctor"])
        self.assertEqual(refused.returncode, 1, refused.stdout)
        self.assertIn("put a link libmpich.so.12", refused.stdout)
        done = self.run_command([*hidden, str(NPLUS1), "doctor"], self.found_in(self.other))
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main()
