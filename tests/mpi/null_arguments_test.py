"""Every modelled MPI function, called with each of its pointer arguments null in turn: what MPI returns bare it returns
under nplus1. The calls are generated from MPICH's own prototypes; those that crash bare are left out."""
import pathlib
import re
import shutil
import subprocess
import unittest

from live import LIMIT, LiveTest

SOURCE = pathlib.Path(__file__).parents[2]
MPICC = shutil.which("mpicc.mpich") or "mpicc"
# Called otherwise, or they need another job, or their arguments are no pointers of the caller's.
LEFT_OUT = {"MPI_Init", "MPI_Init_thread", "MPI_Finalize", "MPI_Abort", "MPI_Pcontrol", "MPI_Intercomm_create",
            "MPI_Comm_create_from_group", "MPI_Intercomm_create_from_groups", "MPI_Wtime"}
BY_NAME = {"dest": "MPI_PROC_NULL", "source": "MPI_PROC_NULL", "root": "0", "tag": "0", "sendtag": "0", "recvtag": "0",
           "color": "0", "key": "0", "reorder": "0", "high": "0", "split_type": "MPI_COMM_TYPE_SHARED",
           "status": "MPI_STATUS_IGNORE", "array_of_statuses": "MPI_STATUSES_IGNORE", "comm": "grid", "comm_old": "grid",
           "sendtypes": "types", "recvtypes": "types", "op": "MPI_SUM", "info": "MPI_INFO_NULL", "group": "group",
           "target_rank": "0", "target_disp": "0", "size": "64",
           "indx": "zeros", "degrees": "ones", "destinations": "zeros", "sources": "zeros", "dims": "ones"}
BY_TYPE = {"int": "1", "MPI_Count": "1", "MPI_Aint": "1", "MPI_Datatype": "MPI_INT", "MPI_Comm": "grid", "MPI_Request": "MPI_REQUEST_NULL",
           "MPI_Message": "MPI_MESSAGE_NULL", "MPI_Win": "window", "MPI_Errhandler": "MPI_ERRORS_RETURN"}
POINTERS = {"MPI_Request*": "&request", "MPI_Comm*": "&made", "MPI_Status*": "MPI_STATUS_IGNORE", "int*": "&number",
            "MPI_Count*": "&large", "MPI_Aint*": "places", "MPI_Message*": "&message", "MPI_Win*": "&made_window", "void*": "buffer", "MPI_Session*": "&session",
            "MPI_Datatype*": "&type", "int[]": "ones", "MPI_Count[]": "large_ones", "MPI_Aint[]": "places",
            "MPI_Request[]": "&request", "MPI_Status[]": "MPI_STATUSES_IGNORE"}
PROGRAM = """
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static sigjmp_buf back;
static void crash(int signal) { siglongjmp(back, signal); }
static char buffer[1 << 16], other[1 << 16], memory[1 << 10];
static int ones[64], zeros[64], number;
static MPI_Count large_ones[64], large;
static MPI_Aint places[64];
static MPI_Datatype types[64], type;
static MPI_Comm grid, made;
static MPI_Request request;
static MPI_Message message;
static MPI_Group group;
static MPI_Win window, made_window;
static MPI_Session session;
static void reset(void) {
  type = MPI_INT, made = MPI_COMM_NULL, request = MPI_REQUEST_NULL, message = MPI_MESSAGE_NULL;
  for (int i = 0; i < 64; ++i) ones[i] = 1, zeros[i] = 0, large_ones[i] = 1, places[i] = 0, types[i] = MPI_INT;
}
static int call(int i) {
  switch (i) {
%s  }
  return -1;
}
int main(int argc, char** argv) {
  struct sigaction action;
  MPI_Init(&argc, &argv);
  memset(&action, 0, sizeof(action));
  action.sa_handler = crash;
  action.sa_flags = SA_NODEFER;
  sigaction(SIGSEGV, &action, NULL);
  sigaction(SIGBUS, &action, NULL);
  sigaction(SIGALRM, &action, NULL);
  reset();
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Cart_create(MPI_COMM_WORLD, 1, ones, ones, 0, &grid);
  MPI_Comm_set_errhandler(grid, MPI_ERRORS_RETURN);
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  MPI_Win_create(memory, sizeof(memory), 1, MPI_INFO_NULL, grid, &window);
  MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
  MPI_Win_lock_all(0, window);
  for (int i = 0; i < %d; ++i) {
    char name[32];
    sprintf(name, " %%d ", i);
    if (strstr(argv[1], name) != NULL) continue;
    printf("%%d ", i);
    fflush(stdout);
    reset();
    if (sigsetjmp(back, 1) != 0) {
      printf("crash\\n");
      continue;
    }
    alarm(1); /* what hangs counts as what crashes */
    int class = -1, code = call(i);
    if (request != MPI_REQUEST_NULL) MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
    alarm(0);
    MPI_Error_class(code, &class);
    printf("%%d\\n", class);
  }
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
"""


def prototypes():
    """{name: [(type, name), ...]} of MPICH's header; arrays have "[]" in their types."""
    shown = subprocess.run([MPICC, "-show"], capture_output=True, text=True, check=True).stdout
    folders = re.findall(r"-I(\S+)", shown)
    header = next(pathlib.Path(f) / "mpi_proto.h" for f in folders if (pathlib.Path(f) / "mpi_proto.h").exists())
    found = {}
    for name, inside in re.findall(r"\bint\s+(MPI_\w+)\s*\(([^()]*)\)\s*MPICH_", header.read_text()):
        pieces = [" ".join(p.replace("const", " ").split()) for p in inside.split(",")]
        found[name] = [parameter(p) for p in pieces if p not in ("void", "...")]
    return found


def parameter(piece):
    before, name, arrays = re.fullmatch(r"(.*?)(\w+)((?:\[\w*\])*)", piece).groups()
    return before.replace(" ", "") + arrays, name


def value(kind, name):
    if kind in POINTERS and name not in BY_NAME:
        return "other" if name == "recvbuf" else POINTERS[kind]
    return BY_NAME.get(name) or BY_TYPE.get(kind) or POINTERS.get(kind)


class NullArguments(LiveTest):
    def cases(self):
        table = (SOURCE / "stubs" / "table" / "functions.txt").read_text()
        modelled = {line.split()[0] for line in table.splitlines() if line.split()[1:2] == ["modelled"]}
        cases = []
        for name, parameters in sorted(prototypes().items()):
            if name not in modelled - LEFT_OUT:
                continue
            values = [value(*p) for p in parameters]
            self.assertNotIn(None, values, f"{name}: teach this test about {parameters}")
            for i, (kind, _) in enumerate(parameters):
                if "*" in kind or "[" in kind:
                    given = ", ".join("NULL" if i == j else v for j, v in enumerate(values))
                    cases.append(f"{name}({given})")
        return cases

    def build(self, cases):
        source, program = self.folder / "nulls.c", self.folder / "nulls"
        calls = "".join(f"    case {i}: return {text};\n" for i, text in enumerate(cases))
        source.write_text(PROGRAM % (calls, len(cases)))
        subprocess.run([MPICC, "-w", "-O0", str(source), "-o", str(program)], check=True, timeout=LIMIT)
        return program

    def results(self, text):
        return dict(line.split() for line in text.splitlines() if len(line.split()) == 2)

    def run_bare(self, program, skipped):
        """Without what crashes; MPICH's assertions end the process, at the last case that was begun."""
        while True:
            run = self.bare(1, program, skip_list(skipped))
            begun = re.findall(r"^(\d+) ", run.stdout, flags=re.M)
            told = self.results(run.stdout)
            crashed = {int(i) for i, what in told.items() if what == "crash"}
            crashed |= {int(begun[-1])} if begun and begun[-1] not in told else set()
            if run.code == 0 and not crashed:
                return told
            self.assertTrue(crashed, run.stderr)
            skipped |= crashed

    def test_null_pointers_give_the_same_errors(self):
        cases = self.cases()
        self.assertGreater(len(cases), 400)
        program, skipped = self.build(cases), set()
        bare = self.run_bare(program, skipped)
        self.assertGreater(len(bare), 0.6 * len(cases))
        run = self.observe(1, program, skip_list(skipped), options=("--compute", "fixed:0"))
        told = self.results(run.stdout)
        for i, text in enumerate(cases):
            self.assertEqual(told.get(str(i)), bare.get(str(i)), text)
        self.assertTrue(run.summary["complete"])


def skip_list(skipped):
    return " " + " ".join(map(str, sorted(skipped))) + " "


if __name__ == "__main__":
    unittest.main()
