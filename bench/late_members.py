#!/usr/bin/env python3
"""Collectives of which one member comes 40 ms late: real time from then on until it is through, with two builds.

    bench/late_members.py BEFORE AFTER [--ranks 12] [--bytes 800,65536,4000000] [--rounds 3] [--mpicc mpicc.openmpi] [--options "--transport tcp"]

The builds take turns. The table has medians, milliseconds, and their ratio (bench/programs/late_members.c).
"""
import argparse
import pathlib
import shlex
import statistics
import subprocess
import tempfile


def times(build, program, ranks, size, folder, words):
    text = subprocess.run([build / "bin" / "nplus1", "run", "-q", "-n", str(ranks), *words, "-o", folder, "--", program, size],
                          check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    return {name: float(time) for name, time in (line.split() for line in text.splitlines())}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("builds", nargs=2, type=pathlib.Path, metavar="BUILD")
    parser.add_argument("--ranks", type=int, default=12)
    parser.add_argument("--bytes", default="800,65536,4000000")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--mpicc", default="mpicc.mpich")
    parser.add_argument("--options", default="", help="of nplus1 run")
    options = parser.parse_args()
    source = pathlib.Path(__file__).resolve().parent / "programs" / "late_members.c"
    with tempfile.TemporaryDirectory(prefix="nplus1-late-") as scratch:
        folder = pathlib.Path(scratch)
        program = folder / "late_members"
        subprocess.run([options.mpicc, "-O2", source, "-o", program], check=True)
        print("| collective | bytes | before | after | ratio |\n|---|---|---|---|---|")
        for size in options.bytes.split(","):
            rounds = [[times(build.resolve(), program, options.ranks, size, folder / f"{size}-{r}-{i}", shlex.split(options.options))
                       for i, build in enumerate(options.builds)] for r in range(options.rounds)]
            for name in rounds[0][0]:
                before, after = (statistics.median(pair[i][name] for pair in rounds) for i in (0, 1))
                print(f"| {name} | {size} | {before:.1f} | {after:.1f} | {after / before:.2f} |", flush=True)


if __name__ == "__main__":
    main()
