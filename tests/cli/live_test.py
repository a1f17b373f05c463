"""The main job from outside: real ranks, the real simulator. Known answers of the bundled programs."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest
from decimal import Decimal

NPLUS1 = os.environ["NPLUS1"]
EXAMPLES = pathlib.Path(NPLUS1).parent / "examples"
MPIRUN = shutil.which("mpirun.mpich") or "mpirun"
LIMIT = 100


class Live(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="nplus1-live-test-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def call(self, *words):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("NPLUS1")}
        return subprocess.run([str(w) for w in words], cwd=self.folder, env=environment, text=True, timeout=LIMIT,
                              capture_output=True, stdin=subprocess.DEVNULL, check=False)

    def observe(self, ranks, program, *arguments, options=()):
        """Runs an example; its stdout and its summary, which must be complete and of all ranks."""
        result = self.call(NPLUS1, "run", "-q", "-n", ranks, "-o", "result", *options, "--", EXAMPLES / program, *arguments)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        summary = json.loads((self.folder / "result/summary.json").read_text(), parse_float=Decimal)
        self.assertTrue(summary["complete"])
        self.assertEqual(summary["ranks"], ranks)
        self.assertEqual(summary["trust"]["active_ranks"], ranks)
        shutil.rmtree(self.folder / "result")
        return result.stdout, summary

    def test_cg_has_the_counts_of_the_paper(self):
        _, summary = self.observe(4, "cg_traffic")
        self.assertEqual(summary["point_to_point"]["messages"][0], [416, 1264, 0, 0])
        vectors, row_scalars, row_pairs = 416 * 5600, 16 * 52 * 8, 16 * 16
        self.assertEqual(summary["point_to_point"]["bytes"][0], [vectors, vectors + row_scalars + row_pairs, 0, 0])
        collectives = {c["name"]: (c["comm_size"], c["root"], c["calls_per_rank"]) for c in summary["collectives"]}
        self.assertEqual(collectives, {"MPI_Barrier": (4, None, [1] * 4), "MPI_Reduce": (4, 0, [1] * 4)})

    def test_every_language_binding_prints_what_it_prints_bare(self):
        for program in ("hello_c", "hello_cpp", "hello_mpifh", "hello_mpi", "hello_f08"):
            bare = self.call(MPIRUN, "-np", 3, EXAMPLES / program)
            self.assertEqual(bare.returncode, 0)
            self.assertEqual(self.observe(3, program)[0], bare.stdout, program)

    def test_a_message_takes_latency_plus_size_over_bandwidth(self):
        """2 (L + s/B) per round, to the picosecond; the difference of two runs leaves start and end out."""
        options = ("--network", "lsb:latency=1e-3,bandwidth=1e6", "--compute", "fixed:0")
        ends = [self.observe(2, "ping_pong", rounds, 1000, options=options)[1]["rank_end_s"][0] for rounds in (20, 50)]
        self.assertEqual(ends[1] - ends[0], 30 * 2 * (Decimal("1e-3") + Decimal(1000) / Decimal("1e6")))

    def test_exit_codes_are_the_applications(self):
        exits = self.folder / "exits"
        exits.write_text("#!/bin/sh\nexit 5\n")
        exits.chmod(0o755)
        self.assertEqual(self.call(NPLUS1, "run", "-q", "-n", 2, "--", exits).returncode, 5)

    def test_demo_shows_the_planted_problems(self):
        result = self.call(NPLUS1, "demo")
        self.assertEqual(result.returncode, 0, result.stderr)
        summary = json.loads((self.folder / "nplus1-imbalance-16-1/summary.json").read_text())
        compute = summary["compute_s"]
        heavy = min(compute[3::4])
        light = max(c for rank, c in enumerate(compute) if rank % 4 != 3)
        self.assertGreater(heavy, 1.5 * light)
        self.assertGreater(sum(summary["point_to_point"]["messages"][0]), 300)
        self.assertIn("What to try next", result.stderr)

    def test_doctor_finds_this_machine_fit(self):
        result = self.call(NPLUS1, "doctor")
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("a run of two ranks: finished", result.stdout)


if __name__ == "__main__":
    unittest.main()
