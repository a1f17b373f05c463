"""`nplus1 patterns` and `nplus1 diff` on real runs: known answers of the bundled programs."""
import json
import subprocess
import unittest

import live_test
from live_test import EXAMPLES, NPLUS1

HELP = subprocess.run([NPLUS1, "run", "--help"], text=True, capture_output=True, check=True).stdout
# program, ranks; each with fixed compute times, so that two runs can be compared
PROGRAMS = [("cg_traffic", 4), ("halo", 4), ("imbalance", 8), ("master_worker", 4), ("ping_pong", 2), ("waitany", 4),
            ("wavefront", 4), ("hello_c", 3)]


def dense(layer, ranks):
    matrix = [[0] * ranks for _ in range(ranks)]
    for row in layer["rows"]:
        for destination, messages in zip(row["destinations"], row["messages"]):
            matrix[row["source"]][destination] = messages
    return matrix


class Patterns(unittest.TestCase):
    setUp = live_test.Live.setUp
    call = live_test.Live.call

    def run_example(self, folder, program, ranks, *options):
        result = self.call(NPLUS1, "run", "-q", "-n", ranks, "-o", folder, "--compute", "fixed:1e-6", *options, "--",
                           EXAMPLES / program)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return self.folder / folder

    def nplus1(self, code, *words):
        result = self.call(NPLUS1, *words)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result.stdout

    def table(self, name):
        return [[int(n) for n in line.split(",")] for line in (self.folder / name).read_text().splitlines()]

    def test_cg_gives_the_row_of_the_paper_with_and_without_the_barrier(self):
        self.run_example("cg", "cg_traffic", 4)
        layers = {layer["name"]: layer for layer in json.loads((self.folder / "cg/patterns.json").read_text())["layers"]}
        self.assertEqual(sorted(layers), ["barrier", "point_to_point", "reduce"])
        self.assertEqual(dense(layers["point_to_point"], 4)[0], [416, 1264, 0, 0])
        self.assertEqual(dense(layers["barrier"], 4), [[0, 1, 1, 1], [0] * 4, [0] * 4, [0] * 4])
        self.assertEqual(dense(layers["reduce"], 4), [[0] * 4, [1, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]])
        self.nplus1(0, "patterns", "cg", "--csv", "alone")
        self.nplus1(0, "patterns", "cg", "--csv", "together", "--layers", "p2p,barrier")
        self.assertEqual(self.table("alone/messages.csv")[0], [416, 1264, 0, 0])
        self.assertEqual(self.table("together/messages.csv")[0], [416, 1265, 1, 1])

    def test_matrices_equal_those_of_the_summary(self):
        for program, ranks in PROGRAMS:
            folder = self.run_example(program, program, ranks)
            patterns = json.loads((folder / "patterns.json").read_text())
            summary = json.loads((folder / "summary.json").read_text())
            self.assertEqual(dense(patterns["layers"][0], ranks), summary["point_to_point"]["messages"], program)
            self.assertTrue(patterns["complete"])
            self.assertEqual(patterns["rank"]["end_s"], summary["rank_end_s"])

    def test_a_ranks_time_is_computing_and_mpi(self):
        """One thread, nothing unmodelled: the two add up to the end, exactly but for the doubles' last digit."""
        for program, ranks in PROGRAMS:
            folder = self.run_example(program, program, ranks)
            rank = json.loads((folder / "patterns.json").read_text())["rank"]
            for end, compute, mpi in zip(rank["end_s"], rank["compute_s"], rank["mpi_s"]):
                self.assertAlmostEqual(end, compute + mpi, delta=1e-14, msg=program)

    def test_a_crashed_run_has_its_patterns(self):
        (self.folder / "crash.c").write_text(
            "#include <mpi.h>\n#include <stdlib.h>\nint main(int c, char** v) { int r, x = 0; MPI_Init(&c, &v);\n"
            "MPI_Comm_rank(MPI_COMM_WORLD, &r);\nif (r == 0) for (int i = 0; i < 7; ++i)"
            " MPI_Send(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);\n"
            "else for (int i = 0; i < 7; ++i) MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n"
            "if (r == 1) abort();\nMPI_Barrier(MPI_COMM_WORLD); MPI_Finalize(); return 0; }\n")
        subprocess.run(["mpicc.mpich", "-o", "crash", "crash.c"], cwd=self.folder, check=True)
        self.assertNotEqual(self.call(NPLUS1, "run", "-q", "-n", 2, "-o", "dead", "--", "./crash").returncode, 0)
        patterns = json.loads((self.folder / "dead/patterns.json").read_text())
        self.assertFalse(patterns["complete"])
        self.assertEqual(dense(patterns["layers"][0], 2), [[0, 7], [0, 0]])
        self.assertIn("INCOMPLETE", self.nplus1(0, "patterns", "dead"))

    def test_json_written_again_is_the_same(self):
        folder = self.run_example("ring", "halo", 4)
        self.nplus1(0, "patterns", "ring", "--json", "again.json")
        self.assertEqual((self.folder / "again.json").read_text(), (folder / "patterns.json").read_text())

    def test_equal_runs_have_no_difference_and_others_do(self):
        self.run_example("a", "cg_traffic", 4)
        self.run_example("b", "cg_traffic", 4)
        self.run_example("c", "halo", 4)
        self.assertIn("Same communication pattern", self.nplus1(0, "diff", "a", "b"))
        self.assertIn("point_to_point 0 -> 0 ", self.nplus1(1, "diff", "a", "c"))
        self.nplus1(66, "diff", "a", "nowhere")

    def test_screen_is_bounded_and_aligned_with_many_ranks(self):
        self.run_example("many", "imbalance", 16)
        text = self.nplus1(0, "patterns", "many", "--heatmap", "--layers", "all", "--topology", "nodes:4")
        self.assertLess(max(len(line) for line in text.splitlines()), 120)
        self.assertLess(len(text.splitlines()), 120)
        self.assertIn("MPI_Allreduce", text)

    def test_live_patterns_equal_those_of_the_recording(self):
        for program, ranks in PROGRAMS:
            folder = self.run_example(program, program, ranks, "--record", "full")
            self.nplus1(0, "patterns", folder / "recording", "--json", f"{program}.json")
            self.assertEqual(json.loads((self.folder / f"{program}.json").read_text()),
                             json.loads((folder / "patterns.json").read_text()), program)


if __name__ == "__main__":
    unittest.main()
