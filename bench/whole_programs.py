#!/usr/bin/env python3
"""Whole programs under nplus1, against the bare program and the bare program with yielding waits.

    whole_programs.py [--build DIR] [--ranks 4,16,64] [--runs 5] [--npb DIR] [--bare] [PATTERN ...]

Modes are interleaved (A B C A B C ...), so that a drifting machine hits all alike; figures are medians.
    wall      seconds of the whole program, and net of an empty program's in the same mode
    ratio     net wall time under nplus1 / net wall time of the yielding native run, pair by pair
    us/event  CPU time of all processes, simulator included, net of the empty program's, per event
--npb names a folder with NAS binaries such as cg.S.16 (built by the user; none are in this repository).
--bare adds the bare, spinning run: on an oversubscribed machine it can take minutes.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

# pattern: steps by ranks, microseconds of compute per step
PATTERNS = {
    "pingpong": ({2: 20000}, 0),
    "halo": ({4: 8000, 16: 2000, 64: 400}, 20),
    "allreduce": ({4: 5000, 16: 1000, 64: 200}, 20),
    "wavefront": ({4: 8000, 16: 3000, 64: 600}, 20),
    "anysource": ({2: 20000, 8: 2000}, 0),
    "get": ({2: 20000, 8: 2000}, 0),
}
NPB = ["cg.S", "lu.S", "is.W"]


def run(command, limit):
    """Wall seconds, CPU seconds of all descendants, exit code."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    deadline = begin + limit
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            return time.monotonic() - begin, usage.ru_utime + usage.ru_stime, os.waitstatus_to_exitcode(status)
        if time.monotonic() > deadline:
            process.terminate()
            os.wait4(process.pid, 0)
            return limit, float("nan"), None
        time.sleep(0.002)


class Bench:
    def __init__(self, arguments):
        self.nplus1 = str(arguments.build / "bin" / "nplus1")
        self.program = str(arguments.build / "bin" / "bench" / "communicate")
        self.arguments = arguments
        self.scratch = pathlib.Path(tempfile.mkdtemp())
        self.modes = ["nplus1", "native"] + (["bare"] if arguments.bare else [])

    def command(self, mode, ranks, program):
        if mode == "bare":
            return [self.arguments.mpirun, "-np", str(ranks)] + program
        if mode == "native":
            return [self.nplus1, "run", "--native", "--quiet", "-n", str(ranks), "--"] + program
        return [self.nplus1, "run", "--quiet", "-n", str(ranks), "-o", str(self.scratch / "out"), "--"] + program

    def once(self, mode, ranks, program):
        shutil.rmtree(self.scratch / "out", ignore_errors=True)
        wall, cpu, code = run(self.command(mode, ranks, program), self.arguments.limit)
        if code not in (0, None):
            sys.exit(f"{' '.join(program)} on {ranks} ranks, {mode}: exit code {code}")
        return wall, cpu

    def measure(self, ranks, program):
        """By mode: lists of (wall, cpu), interleaved."""
        figures = {mode: [] for mode in self.modes}
        for _ in range(self.arguments.runs):
            for mode in self.modes:
                figures[mode].append(self.once(mode, ranks, program))
                if mode == "nplus1":
                    self.summary = json.loads((self.scratch / "out" / "summary.json").read_text())
        return figures

    def row(self, name, ranks, program):
        empty = self.measure(ranks, [self.program, "empty"])
        full = self.measure(ranks, program)
        base = {m: [statistics.median(v[i] for v in empty[m]) for i in (0, 1)] for m in self.modes}
        net = {m: [max(v[0] - base[m][0], 1e-6) for v in full[m]] for m in self.modes}
        cpu = statistics.median(v[1] for v in full["nplus1"]) - base["nplus1"][1]
        events = self.summary["trust"]["events"]
        ratios = sorted(a / b for a, b in zip(net["nplus1"], net["native"]))
        bare = f"{statistics.median(net['bare']):8.3f}" if "bare" in net else "       -"
        messages = sum(map(sum, self.summary["point_to_point"]["messages"]))
        per_message = f"{1e6 * cpu / messages:7.1f}" if messages else "      -"
        print(f"{name:10s} {ranks:5d} {events:9d} {statistics.median(net['nplus1']):8.3f} "
              f"{statistics.median(net['native']):8.3f} {bare} {statistics.median(ratios):6.2f} "
              f"({ratios[0]:.2f}-{ratios[-1]:.2f}) {1e6 * cpu / events:8.2f} {per_message}", flush=True)


def main():
    here = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("patterns", nargs="*", default=list(PATTERNS) + NPB, metavar="PATTERN")
    parser.add_argument("--build", type=pathlib.Path, default=here / "build")
    parser.add_argument("--ranks", default="2,4,8,16,64")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--limit", type=float, default=120, help="seconds per run")
    parser.add_argument("--npb", type=pathlib.Path)
    parser.add_argument("--bare", action="store_true")
    parser.add_argument("--mpirun", default="mpirun.mpich")
    arguments = parser.parse_args()
    bench = Bench(arguments)
    print(f"# {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; net wall seconds, medians of {arguments.runs}")
    print("# program    ranks    events   nplus1   native     bare  ratio (min-max) us/event us/message")
    for ranks in map(int, arguments.ranks.split(",")):
        for name in arguments.patterns:
            steps, compute = PATTERNS.get(name, ({}, 0))
            if ranks in steps:
                bench.row(name, ranks, [bench.program, name, str(steps[ranks]), str(compute)])
            elif arguments.npb and (arguments.npb / f"{name}.{ranks}").exists():
                bench.row(name, ranks, [str(arguments.npb / f"{name}.{ranks}")])
    shutil.rmtree(bench.scratch, ignore_errors=True)


if __name__ == "__main__":
    main()
