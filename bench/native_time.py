#!/usr/bin/env python3
"""With as many ranks as cores: what programs take natively, and in virtual time on this machine's own network.

    bench/native_time.py BUILD [--ranks 2] [--runs 5] PROGRAM...

A PROGRAM is a command line in one word that prints "Time in seconds = ..." of its own timer, as the NAS parallel benchmarks do
(none are in this repository). The network, and what a rank does with a collective's data, are what `nplus1 calibrate` finds here before the first program;
bare runs and observed ones take turns. The table has medians and ranges of the program's own time: bare, in virtual time as
measured, and with warm caches (the same program on the clock that twins found in a run before).
"""
import argparse
import os
import pathlib
import re
import shlex
import statistics
import subprocess
import tempfile


def own_time(command):
    done = subprocess.run(list(map(str, command)), check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return float(re.search(r"Time in seconds\s*=\s*([0-9.Ee+-]+)", done.stdout).group(1))


def cell(times):
    return f"{1e3 * statistics.median(times):.1f} ({1e3 * min(times):.1f} to {1e3 * max(times):.1f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("programs", nargs="+", metavar="PROGRAM")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    nplus1 = options.build.resolve() / "bin" / "nplus1"
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; {options.ranks} ranks; {options.runs} runs, ms\n")
    print("| program | bare | as measured | off | with warm caches | off |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="nplus1-native-") as scratch:
        folder = pathlib.Path(scratch)
        found = subprocess.run([nplus1, "calibrate", "-n", "2", "-o", folder / "here.xml"], check=True, stdout=subprocess.PIPE, text=True)
        words = [line.split() for line in found.stdout.splitlines() if line.startswith(("--platform ", "--collectives "))]
        observe = [nplus1, "run", "-q", "-n", options.ranks, *sum(words, [])]
        for program in options.programs:
            words = shlex.split(program)
            bare, measured, warm = [], [], []
            for _ in range(options.runs):
                run = folder / f"{len(bare)}-{pathlib.Path(words[0]).name}"
                bare.append(own_time(["mpirun.mpich", "-n", options.ranks, *words]))
                measured.append(own_time([*observe, "-o", f"{run}-measured", "--", *words]))
                own_time([*observe, "--compute", "warm", "-o", run, "--", *words])
                if (run / "warm").is_dir():
                    warm.append(own_time([*observe, "--compute", f"recorded:{run / 'warm'}", "-o", f"{run}-again", "--", *words]))
            off = [f"{100 * (statistics.median(times) / statistics.median(bare) - 1):+.1f} %" if times else "-"
                   for times in (measured, warm)]
            print(f"| {pathlib.Path(words[0]).name} | {cell(bare)} | {cell(measured)} | {off[0]} "
                  f"| {cell(warm) if warm else '-'} | {off[1]} |", flush=True)


if __name__ == "__main__":
    main()
