#!/usr/bin/env python3
"""To how many digits nplus1 agrees with SMPI, the MPI that SimGrid brings: each rank's end, for point-to-point programs
and for every collective by SMPI's own choice of algorithms, on each platform. As a script it prints the table; the
suite smpi_test holds a sample of it.

    smpi_table.py [--ranks 16] [--model SMPI] [--calls bcast,reduce] [--sizes 8,2048] [--program OURS=SMPIS]... [PLATFORM...]

`--program` adds a row for a program of your own, built once for MPICH and once by smpicc or smpiff (the NAS benchmarks,
say); compared is the end of its last rank. Programs are recorded once and replayed on each platform.
Environment: NPLUS1 the command, NPLUS1_TEST_PROGRAMS the folder of the programs in programs/."""
import argparse
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from decimal import Decimal

PLATFORMS = pathlib.Path(__file__).resolve().parents[2] / "platforms"
SOURCE = pathlib.Path(__file__).resolve().parent / "programs" / "smpi_patterns.c"
POINT_TO_POINT = ("ring", "relay", "halo", "incast", "nearest", "wavefront", "pairs", "transpose")
COLLECTIVES = ("barrier", "bcast", "gather", "gatherv", "scatter", "scatterv", "allgather", "allgatherv", "alltoall",
               "alltoallv", "reduce", "allreduce", "reduce_scatter", "reduce_scatter_block", "scan", "exscan")
SIZES = "8,1024,2048,16384,65528,65536,262144"
# What reading the clock costs in nplus1. The programs here print what they read, once; SMPI charges after it has been read,
# nplus1 before.
READING = Decimal("20e-9")
MOST_DIGITS = 12


def hosts(platform):
    """In the order in which nplus1 deals them out: that of their numbers."""
    text = pathlib.Path(platform).read_text()
    if cluster := re.search(r'<cluster[^>]*prefix="([^"]*)"[^>]*radical="(\d+)-(\d+)"', text, re.S):
        return [f"{cluster[1]}{i}" for i in range(int(cluster[2]), int(cluster[3]) + 1)]
    return sorted(re.findall(r'<host id="([^"]*)"', text), key=lambda n: [int(w) for w in re.findall(r"\d+", n)])


def built_for_smpi(folder):
    program = pathlib.Path(folder) / "smpi_patterns.smpi"
    if not program.exists() or program.stat().st_mtime < SOURCE.stat().st_mtime:
        subprocess.run(["smpicc", "-O1", "-w", "-o", program, SOURCE], check=True)
    return program


def sharing(model):
    """What makes SimGrid exact where nplus1 simulates flows by itself (docs/networks.md, "Which SimGrid"): its default misses
    links that change at the same time, and lets happen at once what is due within its precision."""
    exact = ["--cfg=network/optim:Full", "--cfg=surf/precision:1e-12"]
    return exact if model in ("SMPI", "LV08", "CM02") else ["--cfg=surf/precision:1e-9"]


def run_in_smpi(words, platform, ranks, model, scratch, settings=(), limit=600):
    """What the program printed, and when its last rank ended."""
    hostfile = pathlib.Path(scratch) / "hosts"
    hostfile.write_text("".join(f"{host}\n" for host in hosts(platform)[:ranks]))
    line = ["smpirun", "-np", ranks, "-platform", platform, "-hostfile", hostfile, "--log=root.thres:critical",
            "--log=smpi_utils.thres:info", "--log=smpi_utils.fmt:END_%.15r%n", f"--cfg=network/model:{model}",
            "--cfg=smpi/simulate-computation:no", "--cfg=smpi/wtime:0", "--cfg=smpi/display-timing:yes", *sharing(model),
            *(f"--cfg={s}" for s in settings), *words]
    run = subprocess.run([str(w) for w in line], capture_output=True, text=True, timeout=limit, cwd=scratch, check=True)
    ended = re.search(r"END_([0-9.]+)", run.stdout + run.stderr)
    return run.stdout, Decimal(ended[1]) if ended else None


def ends_in_smpi(*arguments, **named):
    text = run_in_smpi(*arguments, **named)[0]
    return [Decimal(end) for _, end in sorted((int(r), e) for r, e in re.findall(r"^(\d+) (\d+\.\d+)$", text, re.M))]


class Ours:
    """nplus1's side: recordings made once, and their replays."""

    def __init__(self, nplus1, scratch):
        self.nplus1, self.scratch, self.recorded = pathlib.Path(nplus1), pathlib.Path(scratch), {}

    def record(self, words, ranks):
        key = (tuple(map(str, words)), ranks)
        if key not in self.recorded:
            folder = self.scratch / f"recorded-{len(self.recorded)}"
            line = [self.nplus1, "run", "-q", "-n", ranks, "-o", folder, "--compute", "fixed:0", "--", *words]
            subprocess.run([str(w) for w in line], check=True, capture_output=True, timeout=600)
            self.recorded[key] = folder
        return self.recorded[key]

    def ends(self, words, platform, ranks, model, settings=(), collectives="simgrid:default"):
        result = self.scratch / "replay.json"
        line = [self.nplus1, "replay", "-q", self.record(words, ranks), "--platform", platform, "--model", model,
                "--collectives", collectives, "--json", result, *(w for s in settings for w in ("--simgrid", s))]
        subprocess.run([str(w) for w in line], check=True, capture_output=True, timeout=600)
        return [end - READING for end in json.loads(result.read_text(), parse_float=Decimal)["rank_end_s"]]


def digits(ours, theirs):
    """That agree, of the worst rank; ends near zero are compared on the scale of the others."""
    largest = max(theirs)
    worst = max(abs(a - b) / max(b, largest / 100) for a, b in zip(ours, theirs, strict=True))
    return MOST_DIGITS if worst == 0 else min(MOST_DIGITS, -math.log10(worst))


def agreement(ours, call, sizes, platform, ranks, model, programs, settings=()):
    """In digits, where both take what SMPI takes."""
    return digits(ours.ends((programs / "smpi_patterns", call, sizes), platform, ranks, model, settings),
                  ends_in_smpi((built_for_smpi(programs), call, sizes), platform, ranks, model, ours.scratch, settings))


def program_row(ours, pair, platforms, ranks, model, settings=()):
    """Such a program may read the clock any number of times on its way; in SMPI it pays for each what it pays in nplus1."""
    native, smpi = pair.split("=")
    return [digits([max(ours.ends(native.split(), p, ranks, model, settings)) + READING],
                   [run_in_smpi(smpi.split(), p, ranks, model, ours.scratch, (*settings, f"smpi/wtime:{READING}"))[1]])
            for p in platforms]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("platforms", nargs="*", type=pathlib.Path, default=sorted(PLATFORMS.glob("*.xml")))
    parser.add_argument("--ranks", type=int, default=16)
    parser.add_argument("--model", default="SMPI")
    parser.add_argument("--calls", default=",".join(POINT_TO_POINT + COLLECTIVES))
    parser.add_argument("--sizes", default=SIZES)
    parser.add_argument("--simgrid", action="append", default=[], help="a setting of SimGrid's, for both sides")
    parser.add_argument("--program", action="append", default=[], metavar="OURS=SMPIS")
    words = parser.parse_args()
    platforms = [p.resolve() for p in words.platforms if len(hosts(p)) >= words.ranks]  # a host for each rank
    programs = pathlib.Path(os.environ["NPLUS1_TEST_PROGRAMS"]).resolve()
    with tempfile.TemporaryDirectory(prefix="nplus1-smpi-") as scratch:
        ours = Ours(os.environ["NPLUS1"], scratch)
        print(f"{'':22}" + "".join(f"{p.stem:>12}" for p in platforms))
        rows = [(call, lambda call=call: [agreement(ours, call, words.sizes, p, words.ranks, words.model, programs,
                                                    words.simgrid) for p in platforms])
                for call in words.calls.split(",") if call]
        rows += [(pathlib.Path(pair.split("=")[0].split()[0]).name,
                  lambda pair=pair: program_row(ours, pair, platforms, words.ranks, words.model, words.simgrid))
                 for pair in words.program]
        for name, measure in rows:
            print(f"{name:22}" + "".join(f"{d:12.1f}" for d in measure()), flush=True)


if __name__ == "__main__":
    sys.exit(main())
