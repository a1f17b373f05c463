"""nplus1-patch end to end: patches that git apply and patch -p1 take, programs that compile and give the same output on
four ranks as before, for programs written out here and for random ones (patch_cases.py)."""
import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import broken_patchers
import patch_cases

BINARIES = pathlib.Path(os.environ.get("NPLUS1", "nplus1")).resolve().parent
PATCH = pathlib.Path(os.environ.get("NPLUS1_PATCH", BINARIES / "nplus1-patch"))
MPIRUN = os.environ.get("NPLUS1_MPIRUN", "mpirun.mpich")
RANKS = 4

HEAD = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static void late(int rank) { if (rank % 2) usleep(2000); }
"""
MAIN = """int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
"""
END = """  double mine = result, all[16];
  MPI_Gather(&mine, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (int i = 0; rank == 0 && i < size; i++) printf("%d %.17g\\n", i, all[i]);
  MPI_Finalize();
  return 0;
}
"""

BORDER_1D = HEAD + MAIN + """  int g = 4000, prev = (rank + size - 1) % size, next = (rank + 1) % size;
  float* local = (float*)calloc(3 * g, sizeof(float));
  double result = 0;
  MPI_Status a, b;
  for (int i = 0; i < g; i++) local[g + i] = rank + i % 5;
  for (int it = 0; it < 5; it++) {
    late(rank + it);
    MPI_Sendrecv(& local[1 * g], g, MPI_FLOAT, prev, 0,
                 & local[(1+1) * g], g, MPI_FLOAT, next, 0,
                 MPI_COMM_WORLD, &a);

    MPI_Sendrecv(& local[1 * g], g, MPI_FLOAT, next, 0,
                 & local[0 * g], g, MPI_FLOAT, prev, 0,
                 MPI_COMM_WORLD, &b);
    for (int i = 0; i < g; i++) local[g + i] = 0.5f * local[g + i] + local[i] + local[2 * g + i];  /* WAIT */
    result += local[g + 3] + a.MPI_SOURCE + 10 * b.MPI_SOURCE;
  }
""" + END

HALO_2D = HEAD + """#define N 64
static double grid[N + 2][N + 2], next_grid[N + 2][N + 2];
static void exchange(int up, int down, int left, int right, MPI_Datatype column, MPI_Comm comm) {
  MPI_Sendrecv(&grid[1][1], N, MPI_DOUBLE, up, 1, &grid[N + 1][1], N, MPI_DOUBLE, down, 1, comm, MPI_STATUS_IGNORE);
  MPI_Sendrecv(&grid[N][1], N, MPI_DOUBLE, down, 2, &grid[0][1], N, MPI_DOUBLE, up, 2, comm, MPI_STATUS_IGNORE);
  MPI_Sendrecv(&grid[1][1], 1, column, left, 3, &grid[1][N + 1], 1, column, right, 3, comm, MPI_STATUS_IGNORE);
  MPI_Sendrecv(&grid[1][N], 1, column, right, 4, &grid[1][0], 1, column, left, 4, comm, MPI_STATUS_IGNORE);
}
""" + MAIN + """  int up, down, left, right, dims[2] = {2, 2}, periods[2] = {0, 1};
  double result = 0;
  MPI_Comm comm;
  MPI_Datatype column;
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &comm);
  MPI_Cart_shift(comm, 0, 1, &up, &down);
  MPI_Cart_shift(comm, 1, 1, &left, &right);
  MPI_Type_vector(N, 1, N + 2, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  for (int i = 0; i < N + 2; i++) for (int j = 0; j < N + 2; j++) grid[i][j] = rank + (i * 7 + j) % 13;
  for (int it = 0; it < 6; it++) {
    late(rank);
    exchange(up, down, left, right, column, comm);
    for (int i = 1; i <= N; i++) for (int j = 1; j <= N; j++)
      next_grid[i][j] = 0.2 * (grid[i][j] + grid[i - 1][j] + grid[i + 1][j] + grid[i][j - 1] + grid[i][j + 1]);
    for (int i = 1; i <= N; i++) for (int j = 1; j <= N; j++) grid[i][j] = next_grid[i][j];
    result += grid[1][1] + grid[N][N / 2];
  }
""" + END

SEND_THEN_RECEIVE = HEAD + MAIN + """  int n = 20;  /* eager */
  double *out = (double*)malloc(n * sizeof *out), *in = (double*)calloc(n, sizeof *in), result = 0;
  for (int i = 0; i < n; i++) out[i] = rank * 100 + i;
  for (int it = 0; it < 5; it++) {
    late(rank + it);
    if (rank < size - 1)
      MPI_Send(out, n, MPI_DOUBLE, rank + 1, it, MPI_COMM_WORLD); // to the right
    if (rank > 0) {
      MPI_Status status;
      (void)status;
      /* from the left */
      MPI_Recv(in, n, MPI_DOUBLE, rank - 1, it, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    double inner = 0;
    for (int i = 0; i < 1000; i++) inner += i * 1e-3;
    for (int i = 0; i < n; i++) out[i] += in[i] + inner;  /* WAIT */
    result += out[2];
  }
""" + END

EDGES_AND_STATUSES = HEAD + MAIN + """  double a[3] = {1, 2, 3}, b[3] = {0, 0, 0}, c[3] = {0, 0, 0}, result = 0;
  MPI_Status status[2];
  int left = rank == 0 ? MPI_PROC_NULL : rank - 1, right = rank == size - 1 ? MPI_PROC_NULL : rank + 1;
  for (int it = 0; it < 5; it++) {
    int k = 0;
    late(rank);
    MPI_Sendrecv(a, 3, MPI_DOUBLE, right, 7, b, 3, MPI_DOUBLE, left, 7, MPI_COMM_WORLD, &status[0]);
    MPI_Sendrecv(a, 2, MPI_DOUBLE, left, 8, c, 3, MPI_DOUBLE, right, 8, MPI_COMM_WORLD, &status[1]);
    result += it;
    for (k = 0; k < 2; k++) {  /* WAIT */
      int count;
      MPI_Get_count(&status[k], MPI_DOUBLE, &count);
      result += 1000 * count + 100 * (status[k].MPI_SOURCE == MPI_PROC_NULL) + status[k].MPI_TAG * (status[k].MPI_SOURCE != MPI_PROC_NULL);
    }
    for (k = 0; k < 3; k++) a[k] += 0.25 * b[k] - 0.125 * c[k];
    result += a[0] + a[2];
  }
""" + END

CPP = HEAD + """#include <vector>
template <class T>
class Field {
 public:
  Field(int n, int rank, int size) : data_(n + 2, T(rank)), left_((rank + size - 1) % size), right_((rank + 1) % size) {}
  T step(int it) {
    T sum{};
    std::vector<double> log;
    late(left_ + it);
    const int n = static_cast<int>(data_.size()) - 2;
    MPI_Sendrecv(&data_[1], 1, MPI_DOUBLE, left_, 0, &data_[n + 1], 1, MPI_DOUBLE, right_, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&data_[n], 1, MPI_DOUBLE, right_, 1, &data_[0], 1, MPI_DOUBLE, left_, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    auto square = [](double x) { return x * x; };
    log.push_back(square(it));
    for (int i = 1; i <= n; i++) sum += data_[i - 1] + 2 * data_[i + 1];  // WAIT
    data_[1] += 0.01 * sum + log[0];
    data_[n] -= 0.02 * sum;
    return sum;
  }
 private:
  std::vector<T> data_;
  int left_, right_;
};
""" + MAIN + """  Field<double> field(30, rank, size);
  double result = 0;
  for (int it = 0; it < 5; it++) result += field.step(it);
""" + END


def request_for(text, file):
    """All blocking calls of a text as one chain, with the wait before the line that says WAIT, else behind the calls."""
    calls, wait = [], {"where": "after_calls"}
    for number, line in enumerate(text.splitlines(), 1):
        if found := re.search(r"\bMPI_(Sendrecv|Send|Recv)\(", line):
            kind = {"Sendrecv": "sendrecv", "Send": "send", "Recv": "receive"}[found[1]]
            calls.append({"file": str(file), "line": number, "function": "MPI_" + found[1], "kind": kind, "watched": True})
        if "WAIT" in line:
            wait = {"where": "before_line", "file": str(file), "line": number}
    return [{"id": "1", "calls": calls, "wait": wait}]


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, timeout=120, **options)


class Workshop:
    """A folder with a program, as it was and patched."""

    def __init__(self, folder, name, text, flags=""):
        self.folder, self.name, self.flags = pathlib.Path(folder), name, flags
        self.original = self.folder / "original"
        self.original.mkdir(parents=True)
        self.source = self.original / name
        self.source.write_bytes(text.encode())
        self.compiler = "mpicxx.mpich" if name.endswith("pp") else "mpicc.mpich"

    def ask(self, chains):
        done = run(PATCH, input=json.dumps({"version": 1, "flags": self.flags, "chains": chains}))
        if done.returncode != 0:
            raise AssertionError(f"nplus1-patch: {done.returncode}: {done.stderr}")
        return json.loads(done.stdout)

    def applied(self, diff, tool):
        """The folder after `git apply --check` and git apply, or after patch -p1."""
        copy = self.folder / tool
        shutil.copytree(self.original, copy, ignore=shutil.ignore_patterns("*.exe"))  # what runs there is compiled there
        (self.folder / "changes.diff").write_bytes(diff.encode())
        commands = {"git": [("git", "apply", "--check", "--verbose"), ("git", "apply")], "patch": [("patch", "-p1", "--fuzz=0", "-i")]}[tool]
        for command in commands:
            done = run(*command, self.folder / "changes.diff", cwd=copy)
            if done.returncode != 0:
                raise AssertionError(f"{' '.join(command)}: {done.stdout}{done.stderr}\n{diff}")
        return copy / self.name

    def output(self, source, *arguments):
        program = source.with_suffix(".exe")
        if not program.exists():
            done = run(self.compiler, "-O2", *self.flags.split(), source, "-o", program)
            if done.returncode != 0:
                raise AssertionError(f"{source} does not compile: {done.stderr}")
        done = run(MPIRUN, "-n", RANKS, program, *arguments)
        if done.returncode != 0:
            raise AssertionError(f"{source}: {done.stdout}{done.stderr}")
        return done.stdout


@unittest.skipUnless(PATCH.exists(), "nplus1 was built without libclang")
class Patched(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="nplus1-patch-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def patched(self, name, text, requests, flags=""):
        """Patches the one chain of a program; checks both tools and the output. Returns the diff."""
        work = Workshop(self.folder / name.replace(".", "_"), name, text, flags)
        answer = work.ask(request_for(text, work.source))
        chain = answer["chains"][0]
        self.assertNotIn("refusal", chain)
        self.assertEqual(answer["diff"], chain["diff"])
        by_git, by_patch = work.applied(answer["diff"], "git"), work.applied(answer["diff"], "patch")
        self.assertEqual(by_git.read_bytes(), by_patch.read_bytes())
        self.assertEqual(work.output(by_git), work.output(work.source))
        self.assertIn(f"MPI_Waitall({requests}, ", chain["diff"])
        return chain["diff"]

    def test_the_papers_1d_program_comes_out_as_printed_there(self):
        diff = self.patched("border.c", BORDER_1D, 4)
        self.assertRegex(diff, r"\+    MPI_Waitall\(4, req_18, status_18\);\n(\+ .*PROC_NULL.*\n)?\+    \*\(&a\) = status_18\[1\];\n"
                               r"(\+ .*PROC_NULL.*\n)?\+    \*\(&b\) = status_18\[3\];\n")

    def test_a_2d_halo_of_four_exchanges_is_one_chain_of_eight_requests(self):
        self.patched("halo.c", HALO_2D, 8)

    def test_sends_and_receives_in_branches_of_a_loop(self):
        diff = self.patched("pair.c", SEND_THEN_RECEIVE, 2)
        self.assertIn("{MPI_REQUEST_NULL, MPI_REQUEST_NULL}", diff)

    def test_edges_without_neighbours_and_statuses_that_are_used_later(self):
        self.patched("edges.c", EDGES_AND_STATUSES, 4)

    def test_cpp(self):
        self.patched("field.cpp", CPP, 4)

    def test_files_with_other_line_ends_and_without_a_last_one(self):
        self.patched("border.c", BORDER_1D.replace("\n", "\r\n").rstrip(), 4)

    def test_c89(self):
        text = re.sub(r"for \(int i = ", "for (i = ", BORDER_1D.replace("double result = 0;", "double result = 0; int i, it; double mine, all[16];", 1)
                      .replace("for (int it = ", "for (it = ").replace("double mine = result, all[16];", "mine = result;"))
        text = text.replace("  MPI_Status a, b;\n", "").replace("int rank, size;", "int rank, size; MPI_Status a, b;")
        diff = self.patched("border89.c", text.replace("  int g = 4000", "  {\n  int g = 4000").replace("  return 0;", "  }\n  return 0;")
                            .replace("  for (i = 0; i < g", "  for (i = 0; i < g", 1), 4, "-std=gnu89")
        self.assertIn("+    {\n", diff)

    def test_bad_input_is_one_message_and_no_answer(self):
        for text in ("", "{}", '{"version": 1, "chains": [{"id": 3}]}'):
            done = run(PATCH, input=text)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("this is no request for a patch", done.stderr)

    def test_random_programs_are_patched_right_or_refused(self):
        counts = collections.Counter()
        for seed in (3, 4, 5):
            counts += check_random(self.folder / str(seed), seed, 8)
        self.assertGreater(counts["patched"], 4, counts)
        self.assertGreater(sum(counts.values()) - counts["patched"], 2, counts)

    def test_random_programs_notice_a_broken_patcher(self):
        for breakage in broken_patchers.BREAKAGES:
            with self.subTest(breakage=breakage):
                self.assertTrue(any(is_noticed(self.folder / f"{breakage}-{seed}", seed, breakage) for seed in range(11, 17)))


def check_random(folder, seed, functions, breakage=None):
    """How many functions of a random program are patched, and how many refused for which reason. Raises for a wrong one.
    `breakage`: the patcher makes that mistake; where it has no occasion to, nothing is counted."""
    suffix, flags, text, made = patch_cases.program(seed, functions)
    work = Workshop(folder, "random" + suffix, text, flags)
    expected = {mode: work.output(work.source, mode) for mode in "01"}
    answer = work.ask([function.chain(work.source) for function in made])
    counts = collections.Counter(chain.get("refusal", {}).get("code", "patched") for chain in answer["chains"])
    if breakage:
        answer["diff"], has_mistake = broken_patchers.broken(answer["diff"], breakage)
        if not has_mistake:
            return collections.Counter()
    if answer["diff"]:
        by_git, by_patch = work.applied(answer["diff"], "git"), work.applied(answer["diff"], "patch")
        if by_git.read_bytes() != by_patch.read_bytes():
            raise AssertionError(f"seed {seed}: git and patch differ")
        for mode, lines in expected.items():
            got = work.output(by_git, mode)
            wrong = {line.split(":")[0] for line in set(got.splitlines()) ^ set(lines.splitlines())}
            if wrong:
                raise AssertionError(f"seed {seed}, mode {mode}: other output of functions {sorted(wrong)}\n{answer['diff']}")
    return counts


def is_noticed(folder, seed, breakage):
    """Whether a random program comes out wrong; None where the patcher has no occasion for its mistake."""
    try:
        return False if check_random(folder, seed, 8, breakage) else None
    except (AssertionError, subprocess.TimeoutExpired):
        return True


def main():
    parser = argparse.ArgumentParser(description="Many random programs, by hand.")
    parser.add_argument("--cases", type=int, required=True, help="programs, of 12 functions each")
    parser.add_argument("--seed", type=int, default=100)
    parser.add_argument("--broken", choices=sorted(broken_patchers.BREAKAGES), help="how many programs notice this mistake")
    arguments = parser.parse_args()
    if arguments.broken:
        return count_noticed(arguments)
    counts, failed = collections.Counter(), 0
    for seed in range(arguments.seed, arguments.seed + arguments.cases):
        with tempfile.TemporaryDirectory(prefix="nplus1-patch-cases-") as folder:
            try:
                counts += check_random(pathlib.Path(folder), seed, 12)
            except AssertionError as error:
                failed += 1
                print(f"seed {seed}: {error}", flush=True)
    print(sum(counts.values()), "functions:", dict(counts), failed, "programs failed")
    return 1 if failed else 0


def count_noticed(arguments):
    noticed = collections.Counter()
    for seed in range(arguments.seed, arguments.seed + arguments.cases):
        with tempfile.TemporaryDirectory(prefix="nplus1-patch-cases-") as folder:
            noticed[is_noticed(pathlib.Path(folder) / "case", seed, arguments.broken)] += 1
    print(f"{arguments.broken}: noticed by {noticed[True]} programs, not by {noticed[False]}; no occasion in {noticed[None]}")
    return 0


if __name__ == "__main__":
    if "--cases" in sys.argv:
        sys.exit(main())
    unittest.main()
