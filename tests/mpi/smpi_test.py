"""nplus1 on a platform equals SMPI, the MPI that SimGrid brings, on the same platform: each rank's end, for programs
that do not compute. Two independent implementations of MPI in virtual time over one network simulator."""
import json
import os
import pathlib
import shutil
import subprocess
import unittest
from decimal import Decimal

import live
import smpi_table

PLATFORM = pathlib.Path(__file__).resolve().parents[2] / "platforms" / "cluster64.xml"
SOURCE = pathlib.Path(__file__).resolve().parent / "programs" / "smpi_patterns.c"
MODELS = ("SMPI", "LV08", "CM02", "IB")
POINT_TO_POINT = ("ring", "relay", "halo", "incast", "wildcard", "nearest", "wavefront", "pairs", "transpose")
# Eager and unasked, detached, the largest detached, the smallest rendezvous, rendezvous.
SIZES = "1,1024,16384,65535,65536,262144"
VECTORS = "8,1024,65528,65536,262144"
# What SMPI and nplus1 both have. Other algorithms than those of similar names here: SMPI's redbcast and lr
# (Allreduce), mvapich2_scatter_dest (Alltoall), ompi_basic_linear (Gather and Scatter: blocking, one after the
# other, where MPICH and so nplus1 wait for all together), ompi_binomial (Scatter: the nearest child first),
# ompi_linear_sync (Gather: blocks cut in two, as Open MPI's no longer are).
COMMON = (
    ("bcast", "binomial_tree", "binomial", SIZES),
    ("bcast", "scatter_LR_allgather", "scatter_ring_allgather", SIZES),
    ("bcast", "scatter_rdb_allgather", "scatter_recursive_doubling_allgather", SIZES),
    ("allreduce", "rdb", "recursive_doubling", VECTORS),
    ("reduce", "binomial", "binomial", VECTORS),
    ("allgather", "ring", "ring", SIZES),
    ("allgather", "rdb", "recursive_doubling", SIZES),
    ("allgather", "bruck", "bruck", SIZES),
    ("alltoall", "basic_linear", "linear", SIZES),
    ("alltoall", "ring", "pairwise", SIZES),
    ("alltoall", "bruck", "bruck", SIZES),
    ("gather", "ompi_binomial", "binomial", SIZES),
    ("gather", "default", "linear", SIZES),
    ("scatter", "default", "linear", SIZES),
)
RANKS = 8
# SMPI charges for reading the clock after it has been read, nplus1 before: once per program, 20 ns.
READING = Decimal("20e-9")
DIGITS = Decimal("1e-6")


# One link for each pair: what SimGrid gives to ns-3. Larger messages make SimGrid 3.32 abort there, in SMPI too.
NS3_RANKS = 4
NS3_SIZES = "1,1024,16384,65535,65536,100000"
NS3_PAIRS = [(a, b) for a in range(NS3_RANKS) for b in range(a + 1, NS3_RANKS)]
NS3_PLATFORM = "\n".join((
    '<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">',
    '<platform version="4.1"><zone id="z" routing="Full">',
    *(f'<host id="node-{r}" speed="1Gf"/>' for r in range(NS3_RANKS)),
    *(f'<link id="{a}-{b}" bandwidth="125MBps" latency="50us"/>' for a, b in NS3_PAIRS),
    *(f'<route src="node-{a}" dst="node-{b}"><link_ctn id="{a}-{b}"/></route>' for a, b in NS3_PAIRS),
    "</zone></platform>"))


def ends(text):
    return {int(line.split()[0]): Decimal(line.split()[1]) for line in text.splitlines() if line.strip()}


@unittest.skipUnless(shutil.which("smpicc") and shutil.which("smpirun"), "SMPI is not installed")
class EqualsSmpi(live.LiveTest):
    @classmethod
    def setUpClass(cls):
        cls.program = pathlib.Path(os.environ["NPLUS1_TEST_PROGRAMS"]) / "smpi_patterns.smpi"
        if not cls.program.exists() or cls.program.stat().st_mtime < SOURCE.stat().st_mtime:
            subprocess.run(["smpicc", "-O1", "-w", "-o", cls.program, SOURCE], check=True)

    def smpi(self, model, pattern, sizes, settings, platform=PLATFORM, ranks=RANKS):
        hosts = self.folder / "hosts"
        hosts.write_text("".join(f"node-{r}\n" for r in range(ranks)))
        line = ["smpirun", "-np", str(ranks), "-platform", platform, "-hostfile", hosts,
                "--log=root.thres:critical", f"--cfg=network/model:{model}",
                "--cfg=smpi/simulate-computation:no", "--cfg=smpi/wtime:0", *smpi_table.sharing(model),
                *(f"--cfg={s}" for s in settings),
                self.program, pattern, sizes]
        run = subprocess.run(line, capture_output=True, text=True, timeout=live.LIMIT, cwd=self.folder, check=True)
        return ends(run.stdout)

    def nplus1(self, model, pattern, sizes, options):
        output = self.folder / f"out{self.runs}"
        line = self.command(RANKS, "smpi_patterns", pattern, sizes, output=output,
                            options=("--platform", PLATFORM, "--model", model, "--compute", "fixed:0", *options))
        self.runs += 1
        run = subprocess.run(line, capture_output=True, text=True, timeout=live.LIMIT, check=True,
                             env=live.environment())
        trust = json.loads((output / "summary.json").read_text())["trust"]
        self.assertEqual((trust["order_inversions"], trust["clock_mismatches"]), (0, 0))
        return {rank: end - READING for rank, end in ends(run.stdout).items()}

    def compare(self, model, pattern, sizes, settings=(), options=()):
        theirs = self.smpi(model, pattern, sizes, settings)
        ours = self.nplus1(model, pattern, sizes, options)
        self.assertEqual(sorted(theirs), list(range(RANKS)))
        self.assertEqual(sorted(ours), sorted(theirs))
        self.assertGreater(max(theirs.values()), 0)
        for rank, end in theirs.items():
            self.assertLessEqual(abs(ours[rank] - end), max(end, max(theirs.values()) / 100) * DIGITS,
                                 f"{model} {pattern} rank {rank}: SMPI {end}, nplus1 {ours[rank]}")

    def test_every_point_to_point_program_under_every_model(self):
        for model in MODELS:
            for pattern in POINT_TO_POINT:
                with self.subTest(model=model, pattern=pattern):
                    self.compare(model, pattern, SIZES)

    def test_collectives_with_a_common_algorithm(self):
        for pattern, theirs, ours, sizes in COMMON:
            with self.subTest(pattern=pattern, algorithm=ours):
                self.compare("SMPI", pattern, sizes, (f"smpi/{pattern}:{theirs}",),
                             ("--collectives", f"{pattern}={ours}"))

    def test_the_options_of_the_protocol(self):
        settings = ("smpi/async-small-thresh:4096", "smpi/send-is-detached-thresh:20000",
                    "smpi/os:0:1e-6:1e-10;1000:2e-6:0", "smpi/ois:0:2e-6:1e-10", "smpi/or:0:3e-6:2e-10",
                    "network/crosstraffic:0")
        options = [word for s in settings for word in ("--simgrid", s)]
        # SMPI keeps unasked messages in a mailbox of their own, so any-source receives see another order there.
        for pattern in set(POINT_TO_POINT) - {"wildcard"}:
            with self.subTest(pattern=pattern):
                self.compare("SMPI", pattern, SIZES, settings, options)

    def test_collectives_under_the_other_models(self):  # by replays, which end as live runs do
        ours = smpi_table.Ours(live.NPLUS1, self.folder)
        programs = self.program.parent
        for model in MODELS[1:]:
            for pattern, theirs, algorithm, sizes in COMMON:
                with self.subTest(model=model, pattern=pattern, algorithm=algorithm):
                    expected = smpi_table.ends_in_smpi((self.program, pattern, sizes), PLATFORM, RANKS, model,
                                                       self.folder, (f"smpi/{pattern}:{theirs}",))
                    got = ours.ends((programs / "smpi_patterns", pattern, sizes), PLATFORM, RANKS, model,
                                    collectives=f"{pattern}={algorithm}")
                    self.assertGreaterEqual(smpi_table.digits(got, expected), 6)

    def test_what_smpi_takes_by_itself(self):
        """All collectives, on a platform without shared links and on one where every message shares some."""
        ours = smpi_table.Ours(live.NPLUS1, self.folder)
        for platform in ("cluster64", "torus"):
            for call in smpi_table.COLLECTIVES:
                with self.subTest(platform=platform, call=call):
                    found = smpi_table.agreement(ours, call, "8,2048,65536", smpi_table.PLATFORMS / f"{platform}.xml", 16,
                                                 "SMPI", self.program.parent, ())
                    self.assertGreaterEqual(found, 6)

    def test_ns3_replays_as_smpi_runs_on_it(self):  # and is refused for running programs: platform_test.py
        platform, result = self.folder / "pairs.xml", self.folder / "replay.json"
        platform.write_text(NS3_PLATFORM)
        for pattern in POINT_TO_POINT:
            run = self.observe(NS3_RANKS, "smpi_patterns", pattern, NS3_SIZES, options=("--compute", "fixed:0"))
            done = self.run_command([str(word) for word in (live.NPLUS1, "replay", run.folder, "--platform", platform,
                                                            "--model", "ns-3", "--json", result)])
            with self.subTest(pattern=pattern):
                self.assertEqual(done.returncode, 0, done.stderr)
                ours = json.loads(result.read_text(), parse_float=Decimal)["rank_end_s"]
                theirs = self.smpi("ns-3", pattern, NS3_SIZES, (), platform, NS3_RANKS)
                for rank, end in theirs.items():
                    self.assertLessEqual(abs(ours[rank] - READING - end), end * DIGITS, f"rank {rank}")


if __name__ == "__main__":
    unittest.main()
