"""Programs of their own for nplus1 overlap and its patches, each written out here: what is found of them, and that what is
patched still says the same, races nowhere and takes the virtual time that was predicted."""
import json
import os
import pathlib
import shutil
import subprocess

from live import NPLUS1, LiveTest

INCLUDE = pathlib.Path(__file__).resolve().parents[2] / "include"
NETWORK = "lsb:latency=20us,bandwidth=1GBps,eager=20000"
HEAD = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include "nplus1.h"
static int rank, ranks, left, right;
"""
MAIN = """
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  left = (rank + ranks - 1) % ranks;
  right = (rank + 1) % ranks;
  double sum = 0, all = 0;
"""
END = """
  MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%.6f\\n", all);
  MPI_Finalize();
  return 0;
}
"""
ARRAYS = """
  const int n = 500;
  double* u = (double*)calloc(n, sizeof(double)); /* pages apart from what else is used */
  double* v = (double*)aligned_alloc(4096, 8192);
  double* w = (double*)aligned_alloc(4096, 8192);
  for (int i = 0; i < n; ++i) u[i] = rank + i, v[i] = w[i] = 0;
"""


def line_of(text, mark):
    return next(i for i, line in enumerate(text.splitlines(), 1) if mark in line)


class Scenarios(LiveTest):
    def build(self, text, name="program.c", compiler="mpicc.mpich", flags=("-g", "-O2"), env=None):
        source = self.folder / "sources" / name
        source.parent.mkdir(exist_ok=True)
        if text is not None:
            source.write_text(text)
        program = source.parent / "program"
        subprocess.run([compiler, *flags, f"-I{INCLUDE}", "-o", program, source, "-ldl"], check=True,
                       env=None if env is None else {**os.environ, **env})
        return program

    def recorded(self, program, ranks=3):
        return self.exact(program, ranks=ranks, network=NETWORK, compute="fixed:0", options=["--record-accesses"])

    def overlap(self, run, *words):
        file = self.folder / "overlap.json"
        done = subprocess.run([str(NPLUS1), "overlap", str(run.folder), "-q", "--json", str(file), *map(str, words)], cwd=self.folder,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.screen = done.stdout
        return json.loads(file.read_text())

    def found(self, text, ranks=3, **named):
        return self.overlap(self.recorded(self.build(text, **named), ranks))

    def lines(self, chain):
        return [c["line"] for c in chain["contexts"]]

    def patched(self, text, ranks=3, name="program.c", compiler="mpicc.mpich"):
        """Records, patches, compiles and records again; the diff."""
        if not (NPLUS1.parent / "nplus1-patch").exists():
            self.skipTest("nplus1-patch was not built: libclang-14-dev is missing")
        before = self.recorded(self.build(text, name=name, compiler=compiler), ranks)
        patch = self.folder / "overlap.patch"
        patch.unlink(missing_ok=True)
        found = self.overlap(before, "--patch", patch, "--compile", f"-I{INCLUDE}", "--at-least", 1)
        self.told = self.screen  # of the program before
        self.assertTrue(patch.exists(), self.screen)
        subprocess.run(["patch", "-s", "-p1", "-d", self.folder / "sources", "-i", patch], check=True)
        after = self.recorded(self.build(None, name=name, compiler=compiler), ranks)
        self.assertEqual(after.stdout, before.stdout)
        self.assertEqual(self.overlap(after)["races"], [])
        took, written = (float(r.summary["virtual_time_s"]) for r in (after, before))
        self.chain, = (c for c in found["chains"] if c["patch"])
        saving = self.chain["savings"]["one_wait"]["asynchronous_s"]
        self.assertGreater(written, took, "the patch saves time")
        self.assertLess(abs(saving - (written - took)), 0.02 * (written - took), "predicted and carried out")
        return patch.read_text()

    EDGES = HEAD + MAIN + ARRAYS + """
  MPI_Status a, b;
  const int up = rank == 0 ? MPI_PROC_NULL : left, down = rank == ranks - 1 ? MPI_PROC_NULL : right;
  for (int i = 0; i < 5; ++i) {
    MPI_Sendrecv(u, n, MPI_DOUBLE, up, 0, v, n, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, &a); /* ONE */
    MPI_Sendrecv(u, n, MPI_DOUBLE, down, 1, w, n, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, &b); /* TWO */
    nplus1_compute(40e-6);
    u[0] += v[1] + w[2]; /* USE */
    sum += a.MPI_SOURCE + 10 * b.MPI_SOURCE;
  }
  sum += u[0];
""" + END

    HALO_2D = HEAD + MAIN + """
  const int n = 300; /* rows of 2400 bytes and columns of the same, whose hulls overlap */
  double* grid = (double*)aligned_alloc(4096, (size_t)304 * 304 * 8);
  for (int i = 0; i < 304 * 304; ++i) grid[i] = rank + i % 7;
  MPI_Datatype column;
  MPI_Type_vector(n, 1, 304, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  const int x = rank % 2, y = rank / 2, beside = 2 * y + 1 - x, above = 2 * (1 - y) + x; /* of 2 x 2, a torus */
  for (int i = 0; i < 4; ++i) {
    MPI_Sendrecv(grid + 305, n, MPI_DOUBLE, above, 1, grid + 301 * 304 + 1, n, MPI_DOUBLE, above, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* A */
    MPI_Sendrecv(grid + 300 * 304 + 1, n, MPI_DOUBLE, above, 2, grid + 1, n, MPI_DOUBLE, above, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* B */
    MPI_Sendrecv(grid + 305, 1, column, beside, 3, grid + 304 + 301, 1, column, beside, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* C */
    MPI_Sendrecv(grid + 304 + 300, 1, column, beside, 4, grid + 304, 1, column, beside, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* D */
    nplus1_compute(200e-6);
    grid[305] += grid[1] + grid[304] + grid[301 * 304 + 1] + grid[304 + 301]; /* USE */
  }
  sum += grid[305];
""" + END

    def test_a_halo_of_four_exchanges_in_two_dimensions_is_one_chain_of_eight_requests(self):
        chain, = self.found(self.HALO_2D, ranks=4)["chains"]
        self.assertEqual(self.lines(chain), [line_of(self.HALO_2D, f"/* {mark} */") for mark in "ABCD"])
        self.assertEqual((chain["requests"], chain["count"], chain["touch"]["line"]), (8, 16, line_of(self.HALO_2D, "USE")))

    def test_an_early_read_of_what_was_received_makes_two_chains_of_each_time_around(self):
        text = self.RING.replace("/* ONE */", "/* ONE */\n    sum += v[3]; /* READ */")
        one, two, read, use = (line_of(text, f"/* {mark} */") for mark in ("ONE", "TWO", "READ", "USE"))
        chains = {tuple(self.lines(c)): c for c in self.found(text)["chains"]}
        self.assertEqual({lines: (c["count"], c["touch"]["line"]) for lines, c in chains.items()}, {(one,): (15, read), (two,): (15, use)})
        self.assertEqual(chains[one,]["touch"]["offset"], 3 * 8)

    def test_an_early_write_of_what_was_sent_ends_the_chain_and_an_early_read_does_not(self):
        for early, ends in (("u[2] += 1;", True), ("sum += u[2];", False)):
            with self.subTest(early=early):
                text = self.RING.replace("/* ONE */", f"/* ONE */\n    {early} /* EARLY */")
                one, two, at, use = (line_of(text, f"/* {mark} */") for mark in ("ONE", "TWO", "EARLY", "USE"))
                chains = {tuple(self.lines(c)): c["touch"]["line"] for c in self.found(text)["chains"]}
                self.assertEqual(chains, {(one,): at, (two,): use} if ends else {(one, two): use})

    def test_edges_to_nobody_belong_to_the_chain_and_cost_nothing(self):
        found = self.found(self.EDGES, ranks=4)
        one, two, use = (line_of(self.EDGES, mark) for mark in ("ONE", "TWO", "USE"))
        self.assertEqual(len(found["chains"]), 1, "those at the edges make the same calls")
        chain = found["chains"][0]
        self.assertEqual(self.lines(chain), [one, two])
        self.assertEqual((chain["count"], chain["ranks"], chain["requests"], chain["touch"]["line"]), (20, 4, 4, use))
        # Each iteration waits for a message of 24 us behind the other's; grouped, both are behind 40 us of computing.
        self.assertAlmostEqual(chain["savings"]["grouped"]["asynchronous_s"], 5 * 48e-6, delta=1e-9)

    def test_the_patch_keeps_the_status_of_a_message_to_nobody(self):
        diff = self.patched(self.EDGES, ranks=4)
        self.assertIn("MPI_Waitall(4, ", diff)
        self.assertIn("MPI_PROC_NULL", diff)

    def test_ranks_at_the_edges_that_make_some_of_the_calls_are_changed_with_the_others(self):
        text = HEAD + MAIN + ARRAYS + """
  for (int i = 0; i < 5; ++i) {
    if (rank < ranks - 1) MPI_Send(u, n, MPI_DOUBLE, rank + 1, 0, MPI_COMM_WORLD); /* ONE */
    if (rank > 0) MPI_Recv(v, n, MPI_DOUBLE, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* TWO */
    if (rank > 0) MPI_Send(u, n, MPI_DOUBLE, rank - 1, 1, MPI_COMM_WORLD); /* THREE */
    if (rank < ranks - 1) MPI_Recv(w, n, MPI_DOUBLE, rank + 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* FOUR */
    nplus1_compute(40e-6);
    u[0] += v[1] + w[2]; /* USE */
  }
  sum += u[0];
""" + END
        found = self.found(text, ranks=4)
        lines = [line_of(text, mark) for mark in ("ONE", "TWO", "THREE", "FOUR")]
        whole = next(c for c in found["chains"] if self.lines(c) == lines)
        edges = [c for c in found["chains"] if c is not whole]
        self.assertEqual({tuple(self.lines(c)) for c in edges}, {(lines[0], lines[3]), (lines[1], lines[2])})
        self.assertEqual(sorted(whole["parts"]), sorted(c["id"] for c in edges))
        self.assertTrue(all(c["parts"] == [] and c["saving_s"] < 0.1 * whole["saving_s"] for c in edges), "alone they wait for the others")
        self.assertIn("MPI_Waitall(4, ", self.patched(text, ranks=4))

    def test_a_wrapper_that_is_inlined_in_two_lines_is_two_contexts(self):
        text = HEAD + """
static inline __attribute__((always_inline)) void swap(double* out, int to, double* in, int from) {
  MPI_Sendrecv(out, 500, MPI_DOUBLE, to, 0, in, 500, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* CALL */
}
""" + MAIN + ARRAYS + """
  for (int i = 0; i < 5; ++i) {
    swap(u, left, v, right);
    nplus1_compute(40e-6);
    u[0] += v[1]; /* USE ONE */
    swap(u, right, w, left);
    nplus1_compute(40e-6);
    u[0] += w[2]; /* USE TWO */
  }
  sum += u[0];
""" + END
        chains = self.found(text)["chains"]
        self.assertEqual(len(chains), 2, "one for each line that calls the wrapper")
        self.assertEqual({c["touch"]["line"] for c in chains}, {line_of(text, "USE ONE"), line_of(text, "USE TWO")})
        for chain in chains:
            self.assertEqual((self.lines(chain), chain["count"]), ([line_of(text, "CALL")], 15))

    def test_a_wrapper_that_is_inlined_in_two_lines_one_after_the_other_is_one_chain_of_two_contexts(self):
        text = HEAD + """
static inline __attribute__((always_inline)) void swap(double* out, int to, double* in, int from) {
  MPI_Sendrecv(out, 500, MPI_DOUBLE, to, 0, in, 500, MPI_DOUBLE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* CALL */
}
""" + MAIN + ARRAYS + """
  for (int i = 0; i < 5; ++i) {
    swap(u, left, v, right); /* ONE */
    swap(u, right, w, left); /* TWO */
    nplus1_compute(40e-6);
    u[0] += v[1] + w[2]; /* USE */
  }
  sum += u[0];
""" + END
        chain, = self.found(text)["chains"]
        call, one, two, use = (line_of(text, mark) for mark in ("CALL", "ONE", "TWO", "USE"))
        self.assertEqual((self.lines(chain), chain["count"], chain["touch"]["line"]), ([call, call], 15, use))
        self.assertEqual([c["called_from"]["line"] for c in chain["contexts"]], [one, two])
        self.assertIn(f"MPI_Sendrecv at program.c:{call} (from {one}), MPI_Sendrecv at program.c:{call} (from {two})", self.screen)
        self.assertAlmostEqual(chain["savings"]["grouped"]["asynchronous_s"], 5 * 48e-6, delta=1e-9)

    RING = HEAD + MAIN + ARRAYS + """
  for (int i = 0; i < 5; ++i) {
    MPI_Sendrecv(u, n, MPI_DOUBLE, left, 0, v, n, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* ONE */
    MPI_Sendrecv(u, n, MPI_DOUBLE, right, 1, w, n, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* TWO */
    nplus1_compute(40e-6);
    u[0] += v[1] + w[2]; /* USE */
  }
  sum += u[0];
""" + END

    def test_what_clang_has_built_has_the_right_file_and_lines(self):
        if shutil.which("clang-14") is None:
            self.skipTest("clang-14 is missing")
        for version in ("-gdwarf-4", "-gdwarf-5"):
            with self.subTest(version=version):
                found = self.found(self.RING, flags=(version, "-O2"), env={"MPICH_CC": "clang-14"})
                self.assertEqual(len(found["chains"]), 1)
                chain = found["chains"][0]
                self.assertEqual(self.lines(chain), [line_of(self.RING, "ONE"), line_of(self.RING, "TWO")])
                self.assertEqual({pathlib.Path(c["file"]).name for c in chain["contexts"]}, {"program.c"})
                self.assertEqual((chain["touch"]["line"], pathlib.Path(chain["touch"]["file"]).name),
                                 (line_of(self.RING, "USE"), "program.c"))

    def test_cpp_is_found_and_patched(self):
        text = """#include <mpi.h>
#include <cstdio>
#include <vector>
#include "nplus1.h"
struct Field {
  std::vector<double> cells, above, below;
  int up, down;
  void exchange_and_compute() {
    const int n = static_cast<int>(above.size());
    MPI_Sendrecv(cells.data(), n, MPI_DOUBLE, up, 0, below.data(), n, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // ONE
    MPI_Sendrecv(cells.data() + n, n, MPI_DOUBLE, down, 1, above.data(), n, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // TWO
    nplus1_compute(50e-6);
    for (int i = 0; i < n; ++i) cells[i] += above[i] + below[i]; // USE
  }
};
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Field f{std::vector<double>(4000, rank), std::vector<double>(1000), std::vector<double>(1000), (rank + ranks - 1) % ranks, (rank + 1) % ranks};
  for (int i = 0; i < 5; ++i) f.exchange_and_compute();
  double all = 0;
  MPI_Reduce(f.cells.data(), &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%f\\n", all);
  MPI_Finalize();
}
"""
        found = self.found(text, name="program.cpp", compiler="mpicxx.mpich")
        self.assertEqual([self.lines(c) for c in found["chains"]], [[line_of(text, "ONE"), line_of(text, "TWO")]])
        self.assertEqual(found["chains"][0]["touch"]["line"], line_of(text, "USE"))
        self.assertIn("MPI_Waitall(4, ", self.patched(text, name="program.cpp", compiler="mpicxx.mpich"))

    FORTRAN = """program ring
  use mpi
  use nplus1
  implicit none
  integer :: rank, ranks, left, right, i, error
  integer :: requests(4), statuses(MPI_STATUS_SIZE, 4)
  real(8), allocatable :: u(:), v(:), w(:)
  real(8) :: total
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  left = mod(rank + ranks - 1, ranks)
  right = mod(rank + 1, ranks)
  allocate(u(2000), v(2000), w(2000))
  u = rank
  do i = 1, 5
    call MPI_Sendrecv(u, 2000, MPI_REAL8, left, 0, v, 2000, MPI_REAL8, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error) ! ONE
    call MPI_Sendrecv(u, 2000, MPI_REAL8, right, 1, w, 2000, MPI_REAL8, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error) ! TWO
    call nplus1_compute(50d-6)
    u = u + v + w ! USE
  end do
  call MPI_Reduce(u, total, 1, MPI_REAL8, MPI_SUM, 0, MPI_COMM_WORLD, error)
  if (rank == 0) print *, total
  call MPI_Finalize(error)
end program
"""

    def build_fortran(self, text):
        return self.build(text, name="program.f90", compiler="mpif90.mpich",
                          flags=("-g", "-O2", "-ffree-line-length-none", str(INCLUDE / "nplus1.f90"), f"-J{self.folder}"))

    def test_fortran_is_found_and_advised(self):
        program = self.build_fortran(self.FORTRAN)
        one, two, use = (line_of(self.FORTRAN, mark) for mark in ("ONE", "TWO", "USE"))
        words = ["--patch", self.folder / "none.patch"] if (NPLUS1.parent / "nplus1-patch").exists() else []
        found = self.overlap(self.recorded(program), *words)
        chain = next(c for c in found["chains"] if self.lines(c) == [one, two])
        self.assertEqual((chain["touch"]["line"], pathlib.Path(chain["touch"]["file"]).name), (use, "program.f90"))
        self.assertTrue(chain["finding"])
        if words:
            self.assertIsNone(chain["patch"])
            for line in (one, two, use):
                self.assertIn(str(line), chain["not_patched"])
            self.assertFalse((self.folder / "none.patch").exists())

    def test_what_fortran_is_advised_takes_the_predicted_time_when_done_by_hand(self):
        before = self.recorded(self.build_fortran(self.FORTRAN))
        found = self.overlap(before)
        one, two, use = (line_of(self.FORTRAN, mark) for mark in ("ONE", "TWO", "USE"))
        chain = next(c for c in found["chains"] if self.lines(c) == [one, two])
        lines = self.FORTRAN.splitlines()
        lines[use - 1:use - 1] = ["    call MPI_Waitall(4, requests, statuses, error)"]
        for line, peer, memory, tag in ((two, ("right", "left"), "w", 1), (one, ("left", "right"), "v", 0)):
            lines[line - 1:line] = [
                f"    call MPI_Isend(u, 2000, MPI_REAL8, {peer[0]}, {tag}, MPI_COMM_WORLD, requests({2 * tag + 1}), error)",
                f"    call MPI_Irecv({memory}, 2000, MPI_REAL8, {peer[1]}, {tag}, MPI_COMM_WORLD, requests({2 * tag + 2}), error)"]
        after = self.recorded(self.build_fortran("\n".join(lines) + "\n"))
        self.assertEqual(after.stdout, before.stdout)
        self.assertEqual(self.overlap(after)["races"], [])
        took, written = (float(r.summary["virtual_time_s"]) for r in (after, before))
        predicted = written - chain["savings"]["grouped"]["asynchronous_s"]
        self.assertLess(took, 0.9 * written)
        self.assertLess(abs(predicted - took), 0.02 * took, "predicted and carried out")

    def test_a_status_that_is_used_holds_up_the_wait(self):
        text = HEAD + MAIN + ARRAYS + """
  MPI_Status status;
  int count = 0;
  for (int i = 0; i < 5; ++i) {
    MPI_Send(u, n, MPI_DOUBLE, right, 0, MPI_COMM_WORLD);
    MPI_Recv(v, n, MPI_DOUBLE, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status); /* ANY */
    sum += status.MPI_SOURCE;
    nplus1_compute(40e-6);
    sum += v[1];
    MPI_Send(u, n, MPI_DOUBLE, left, 1, MPI_COMM_WORLD);
    MPI_Recv(w, n, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &status); /* NAMED */
    nplus1_compute(40e-6);
    MPI_Get_count(&status, MPI_DOUBLE, &count); /* COUNT */
    nplus1_compute(40e-6);
    sum += w[2] + count; /* USE */
  }
""" + END
        found = self.found(text)
        refused = {n["line"]: n["reason"] for n in found["not_deferrable"]}
        self.assertEqual(refused, {line_of(text, "ANY"): "it takes any message, and the program asks which one it got"})
        named = [c for c in found["chains"] if line_of(text, "NAMED") in self.lines(c)]
        self.assertTrue(named)
        for chain in named:
            self.assertEqual((chain["ended_by"], chain["ending"]["line"]), ("call", line_of(text, "COUNT")))

    def test_two_receives_of_one_peer_and_tag_keep_their_order_in_the_patch(self):
        text = HEAD + MAIN + ARRAYS + """
  for (int i = 0; i < 5; ++i) {
    MPI_Send(u, n, MPI_DOUBLE, right, 0, MPI_COMM_WORLD);
    MPI_Send(u + 1, n - 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD);
    MPI_Recv(v, n, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(w, n, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    nplus1_compute(60e-6);
    u[0] += 3 * v[0] + 5 * w[0];
  }
  sum += u[0];
""" + END
        diff = self.patched(text)
        first, second = diff.index("MPI_Irecv(v, "), diff.index("MPI_Irecv(w, ")
        self.assertLess(first, second)
        self.assertLess(diff.index("MPI_Isend(u, "), diff.index("MPI_Isend(u + 1, "))

    PACKED = HEAD + MAIN + ARRAYS + """
  char room[64];
  for (int i = 0; i < 5; ++i) {
    int at = 0;
    MPI_Sendrecv(u, 20, MPI_DOUBLE, left, 0, v, 20, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* ONE */
    MPI_Pack(v + CELL, 1, MPI_DOUBLE, room, sizeof room, &at, MPI_COMM_WORLD); /* PACK */
    MPI_Allreduce(MPI_IN_PLACE, v + CELL, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD); /* REDUCE */
    MPI_Sendrecv(u, 20, MPI_DOUBLE, right, 1, w, 20, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* TWO */
    nplus1_compute(40e-6);
    u[0] += v[1] + w[2]; /* USE */
  }
  sum += u[0];
""" + END

    def test_calls_on_other_cells_of_the_page_go_by_and_on_the_message_end_the_chain(self):
        one, two, pack = (line_of(self.PACKED, mark) for mark in ("ONE", "TWO", "PACK"))
        chain, = self.found(self.PACKED.replace("CELL", "30"))["chains"]
        self.assertEqual(self.lines(chain), [one, two])
        chains = self.found(self.PACKED.replace("CELL", "3"))["chains"]
        self.assertEqual({tuple(self.lines(c)) for c in chains}, {(one,), (two,)})
        ended = next(c for c in chains if self.lines(c) == [one])
        self.assertEqual((ended["ended_by"], ended["touch"]["line"]), ("call", pack))

    def test_memory_that_is_freed_ends_the_chain(self):
        text = HEAD + MAIN + """
  for (int i = 0; i < 5; ++i) {
    double* out = (double*)calloc(100000, sizeof(double)); /* too large to be kept: free() gives it back */
    double* in = (double*)calloc(100000, sizeof(double));
    out[7] = rank;
    MPI_Sendrecv(out, 500, MPI_DOUBLE, left, 0, in, 500, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    nplus1_compute(40e-6);
    free(out); /* FREE */
    nplus1_compute(40e-6);
    sum += in[7];
    free(in);
  }
""" + END
        chains = self.found(text)["chains"]
        self.assertEqual(len(chains), 1)
        self.assertEqual((chains[0]["touch"]["by"], chains[0]["touch"]["line"]), ("free", line_of(text, "FREE")))
        diff = self.patched(text)
        self.assertRegex(diff, r"(?s)MPI_Waitall.*free\(out\)")

    SMALL = HEAD + MAIN + """
  const int n = 40;
  double *u = (double*)malloc(n * 8), *v = (double*)malloc(n * 8), *w = (double*)malloc(n * 8); /* on one page */
  int* counter = (int*)malloc(sizeof(int)); /* and this as well */
  *counter = 0;
  for (int i = 0; i < n; ++i) u[i] = rank + i, v[i] = w[i] = 0;
  for (int i = 0; i < 5; ++i) {
    MPI_Sendrecv(u, n, MPI_DOUBLE, left, 0, v, n, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* ONE */
    ++*counter;
    MPI_Sendrecv(u, n, MPI_DOUBLE, right, 1, w, n, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* TWO */
    nplus1_compute(60e-6);
    ++*counter;
    sum += u[3]; /* READ: allowed */
    u[1] += v[5] + w[2]; /* USE */
  }
  sum += u[1] + *counter;
""" + END

    def test_small_blocks_of_the_heap_that_share_a_page_are_known_to_the_byte(self):
        chain, = self.found(self.SMALL)["chains"]
        self.assertEqual(self.lines(chain), [line_of(self.SMALL, "ONE"), line_of(self.SMALL, "TWO")])
        self.assertEqual((chain["touch"]["line"], chain["touch"]["inexact"]), (line_of(self.SMALL, "USE"), False))
        self.assertIn(chain["touch"]["offset"], (5 * 8, 2 * 8, 1 * 8))
        self.assertAlmostEqual(chain["savings"]["grouped"]["asynchronous_s"], 5 * 2 * 20.32e-6, delta=1e-9)

    def test_small_blocks_of_the_heap_are_patched(self):
        self.assertIn("MPI_Waitall(4, ", self.patched(self.SMALL))

    def test_small_blocks_that_are_freed_end_the_chain(self):
        text = HEAD + MAIN + """
  for (int i = 0; i < 5; ++i) {
    double *out = (double*)malloc(40 * sizeof(double)), *in = (double*)malloc(40 * sizeof(double));
    for (int k = 0; k < 40; ++k) out[k] = rank + k;
    MPI_Sendrecv(out, 40, MPI_DOUBLE, left, 0, in, 40, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    nplus1_compute(40e-6);
    free(out); /* FREE */
    nplus1_compute(40e-6);
    sum += in[7];
    free(in);
  }
""" + END
        chain, = self.found(text)["chains"]
        # free() writes its links into the block, which it keeps.
        self.assertEqual((chain["ended_by"], chain["touch"]["line"], chain["touch"]["access"]), ("touch", line_of(text, "FREE"), "write"))
        self.assertRegex(self.patched(text), r"(?s)MPI_Waitall.*free\(out\)")

    def test_what_lies_on_the_stack_is_not_deferred_because_nobody_sees_it_used(self):
        text = HEAD + """
static __attribute__((noinline)) double step(int i) {
  double in[2], out[2] = {rank + i, i};
  MPI_Sendrecv(out, 2, MPI_DOUBLE, left, 0, in, 2, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const double both = in[0] + in[1];
  nplus1_compute(50e-6);
  return both;
}
""" + MAIN + "  for (int i = 0; i < 5; ++i) sum += step(i);\n" + END
        found = self.found(text)
        for chain in found["chains"]:
            self.assertEqual(chain["saving_s"], 0, "the call's data may be used as soon as it returns")
            self.assertTrue(chain["touch"]["inexact"])

    def test_the_wait_stands_before_what_one_rank_alone_uses_first(self):
        text = HEAD + """
static __attribute__((noinline)) double look(const double* p) { return rank == 0 ? p[3] : 0; }
""" + MAIN + ARRAYS + """
  for (int i = 0; i < 5; ++i) {
    MPI_Sendrecv(u, n, MPI_DOUBLE, left, 0, v, n, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    nplus1_compute(10e-6);
    sum += look(v); /* RANK 0 */
    nplus1_compute(30e-6);
    u[0] += v[1]; /* ALL */
  }
""" + END
        diff = self.patched(text, ranks=4)
        self.assertRegex(diff, r"(?s)MPI_Waitall.*RANK 0")
        self.assertEqual((self.chain["one_wait"]["where"], self.chain["one_wait"]["line"]), ("before_line", line_of(text, "RANK 0")))
        # Waiting where each rank's own data are used would hide all of 24 us, each time; one line is behind 10 us of computing.
        self.assertAlmostEqual(self.chain["savings"]["one_wait"]["asynchronous_s"], 5 * 10e-6, delta=1e-9)
        self.assertAlmostEqual(self.chain["savings"]["grouped"]["asynchronous_s"], 5 * 24e-6, delta=1e-9)
        self.assertIn(f"with one wait for all ranks and times (before program.c:{line_of(text, 'RANK 0')}", self.told)

    def test_data_that_another_function_uses_are_waited_for_behind_the_calls_and_the_saving_is_that(self):
        text = HEAD + """
static __attribute__((noinline)) void exchange(double* u, double* v, double* w, int n) {
  MPI_Sendrecv(u, n, MPI_DOUBLE, left, 0, v, n, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv(u, n, MPI_DOUBLE, right, 1, w, n, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static __attribute__((noinline)) void update(double* u, double* v, double* w) { u[0] += v[1] + w[2]; }
""" + MAIN + ARRAYS + """
  for (int i = 0; i < 5; ++i) {
    exchange(u, v, w, n);
    nplus1_compute(40e-6);
    update(u, v, w);
  }
  sum += u[0];
""" + END
        self.patched(text, ranks=4)
        self.assertEqual(self.chain["one_wait"], {"where": "after_calls", "file": None, "line": None})
        savings = self.chain["savings"]
        self.assertAlmostEqual(savings["one_wait"]["asynchronous_s"], 5 * 24e-6, delta=1e-9, msg="one message behind the other's")
        self.assertAlmostEqual(savings["grouped"]["asynchronous_s"], 5 * 48e-6, delta=1e-9, msg="both behind the computing")

    def test_copies_of_messages_are_not_made_in_memory_whose_pages_are_closed(self):
        """Short messages leave from copies that their receivers may read later. What the program has freed is still watched."""
        text = HEAD + MAIN + """
  for (int i = 0; i < 60; ++i) {
    const int n = 1200 + 97 * (i % 11);
    double* out = (double*)malloc(n * sizeof(double));
    double* in = (double*)malloc(n * sizeof(double));
    for (int k = 0; k < n; ++k) out[k] = rank + k;
    MPI_Send(out, n, MPI_DOUBLE, right, 0, MPI_COMM_WORLD);
    free(out);
    MPI_Send(in, 0, MPI_DOUBLE, right, 1, MPI_COMM_WORLD);
    MPI_Recv(in, n, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(in, 0, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sum += in[n - 1];
    free(in);
  }
""" + END
        program = self.build(text)
        last = [1199 + 97 * (i % 11) for i in range(60)]  # of what the left neighbour sends
        for _ in range(3):
            self.assertEqual(float(self.recorded(program).stdout), sum(3 * cell + 3 for cell in last))

    def test_pages_that_hold_much_else_can_be_patched_too(self):
        text = HEAD + MAIN + """
  const int n = 64, rows = 40;
  double* grid = (double*)malloc(sizeof(double) * n * (rows + 2));
  for (int i = 0; i < n * (rows + 2); ++i) grid[i] = rank + i % 7;
  for (int i = 0; i < 5; ++i) {
    MPI_Sendrecv(grid + n, n, MPI_DOUBLE, left, 0, grid + n * (rows + 1), n, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(grid + n * rows, n, MPI_DOUBLE, right, 1, grid, n, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    nplus1_compute(50e-6);
    for (int k = n; k < n * (rows + 1); ++k) grid[k] = 0.5 * grid[k] + 0.25 * (grid[k - n] + grid[k + n]);
  }
  for (int k = 0; k < n; ++k) sum += grid[n + k];
""" + END
        self.assertIn("MPI_Waitall(4, ", self.patched(text))


if __name__ == "__main__":
    import unittest
    unittest.main()
