#!/usr/bin/env python3
"""Whether virtual times depend on the host: programs on one core, on two, bound to cores, and beside busy loops.

    bench/invariance.py BUILD [--runs 3] [--together 1] [--ranks 16] [--ways "two cores;one core;bound;busy"] [-o FILE.json]
        PROGRAM...

A PROGRAM is a command line in one word ("./cg.W.16"; none are in this repository). Each runs under `--compute warm` in each
way, in turns; the table has, for each way, the median virtual time with warm caches and as measured, and the range of its
runs as a share of it; at the end how far the medians of the ways are apart, the widest range of runs of one way, and in how
many runs the stated interval holds the median of all runs of the program, which stands for the truth that nobody knows. "busy"
has as many endless loops beside it as there are cores. With --together N a run is N runs, and its time what `nplus1 clock` says
of the first with the others beside it (`--with`); runs have no run in common. With -o the times of an earlier call of the same file are added to,
so that ways that need the machine for themselves can be measured at another time.
"""
import argparse
import json
import os
import pathlib
import shlex
import statistics
import subprocess
import tempfile

from endless_loops import endless_loops

WAYS = {
    "two cores": ([], []),
    "one core": (["taskset", "-c", "0"], []),
    "bound": ([], ["--mpi-args", "-bind-to core"]),
    "busy": ([], []),
}


def run_once(build, ranks, way, program, folder):
    before, words = WAYS[way]
    with endless_loops(os.cpu_count() if way == "busy" else 0):
        subprocess.run([*before, build / "bin" / "nplus1", "run", "-q", "-n", str(ranks), "--compute", "warm", "-o", folder,
                        *words, "--", *shlex.split(program)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def times_of(build, ranks, way, program, folders):
    """Virtual seconds: with warm caches, as measured, and the interval of the former."""
    for folder in folders:
        run_once(build, ranks, way, program, folder)
    first, *others = folders
    clock = first / "clock.json"
    if others or not clock.exists():  # of a long recording: the run did not wait for it
        subprocess.run([build / "bin" / "nplus1", "clock", first, *(["--with", *others] if others else []), "--json", clock],
                       check=True, stdout=subprocess.DEVNULL)
    measured = json.loads((first / "summary.json").read_text())["virtual_time_s"]
    clock = json.loads(clock.read_text())
    return clock["virtual_time_s"], measured, clock["from_s"], clock["to_s"]


def cell(times):
    middle = statistics.median(times)
    return f"{1e3 * middle:.4g} ms ({100 * (max(times) - min(times)) / middle:.1f} %)"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("programs", nargs="+", metavar="PROGRAM")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--together", type=int, default=1)
    parser.add_argument("--ranks", type=int, default=16)
    parser.add_argument("--ways", default=";".join(WAYS))
    parser.add_argument("-o", dest="file", type=pathlib.Path)
    options = parser.parse_args()
    known = json.loads(options.file.read_text()) if options.file and options.file.exists() else {}
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; {options.ranks} ranks; {options.runs} runs of {options.together}")
    print("| program | way | with warm caches (range) | as measured (range) |\n|---|---|---|---|")
    for program in options.programs:
        name = pathlib.Path(shlex.split(program)[0]).name
        for _ in range(options.runs):
            for way in options.ways.split(";"):
                with tempfile.TemporaryDirectory(prefix="nplus1-invariance-") as scratch:
                    folders = [pathlib.Path(scratch) / f"run-{i}" for i in range(options.together)]
                    times = times_of(options.build.resolve(), options.ranks, way, program, folders)
                known.setdefault(name, {}).setdefault(way, []).append(times)
        if options.file:
            options.file.write_text(json.dumps(known, indent=1))
        for way, times in known[name].items():
            print(f"| {name} | {way} | {cell([t[0] for t in times])} | {cell([t[1] for t in times])} |", flush=True)
        for which, what in ((0, "with warm caches"), (1, "as measured")):
            middles = [statistics.median(t[which] for t in times) for times in known[name].values()]
            widest = max((max(t[which] for t in times) - min(t[which] for t in times)) / statistics.median(t[which] for t in times)
                         for times in known[name].values())
            print(f"{name}, {what}: ways {100 * (max(middles) / min(middles) - 1):.1f} % apart, runs of one way "
                  f"{100 * widest:.1f} %", flush=True)
        runs = [t for times in known[name].values() for t in times]
        middle = statistics.median(t[0] for t in runs)
        held = sum(low <= middle <= high for _, _, low, high in runs)
        print(f"{name}: the interval holds the median of all runs in {held} of {len(runs)}", flush=True)


if __name__ == "__main__":
    main()
