#!/usr/bin/env python3
"""Whether the work grows faster than what is outstanding: twice as much may cost twice as much, and no more.

    outstanding.py [--build DIR] [--runs 3] [--ranks 4] [CASE=N ...]

Cases (programs/outstanding.c): dup, a communicator copied and freed N times; anybody, N receives from anybody before the
first message; any-tag, N messages that wait for receives of MPI_ANY_TAG. Each with N and 2 N, CPU seconds: of the program
alone, as MPI waits and with waits that yield (a machine with fewer cores than ranks spends most of the former in
spinning), of all processes under nplus1, and of its simulator by itself; and the simulator's peak of memory. Medians of
the runs; the ratio of 2 N to N is taken after what N = 1 costs has gone. Prints rows of a table.
"""
import argparse
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import tempfile
import threading

CASES = {"dup": 10000, "anybody": 50000, "any-tag": 50000}
MPIRUN = os.environ.get("NPLUS1_MPIRUN") or shutil.which("mpirun.mpich") or "mpirun"
MARK = "NPLUS1_BENCH_OUTSTANDING"


class Peak(threading.Thread):
    """The simulator's peak of memory, in bytes, and its CPU seconds, by looking again and again at the process with our
    mark."""

    def __init__(self, mark):
        super().__init__(daemon=True)
        self.mark, self.bytes, self.seconds = f"{MARK}={mark}".encode(), 0, 0.0
        self.over = threading.Event()
        self.start()

    def simulator(self):
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if (process / "comm").read_text().startswith("nplus1-simnode") and \
                        self.mark in (process / "environ").read_bytes():
                    return process
            except OSError:
                continue
        return None

    def run(self):
        found = None
        while not self.over.wait(0.02):
            found = found or self.simulator()
            if found is None:
                continue
            try:
                for line in (found / "status").read_text().splitlines():
                    if line.startswith("VmHWM:"):
                        self.bytes = max(self.bytes, 1024 * int(line.split()[1]))
                times = (found / "stat").read_text().rpartition(")")[2].split()[11:13]
                self.seconds = max(self.seconds, sum(int(ticks) for ticks in times) / os.sysconf("SC_CLK_TCK"))
            except OSError:
                found = None

    def end(self):
        self.over.set()
        self.join()
        return self.bytes, self.seconds


def cpu_of(command, more):
    """CPU seconds of a command and all that it waits for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env={**os.environ, **more}, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def observed(options, case, n):
    """(CPU seconds, the simulator's peak bytes, the simulator's CPU seconds)"""
    with tempfile.TemporaryDirectory() as scratch:
        peak = Peak(scratch)
        seconds = cpu_of([options.build / "bin/nplus1", "run", "-q", "-n", str(options.ranks), "-o", f"{scratch}/result",
                          "--record", "off", "--", options.program, case, str(n)], {MARK: scratch})
        return seconds, *peak.end()


def alone(options, case, n, yields):
    stubs = options.build / "lib/libnplus1-stubs.so"
    preload = ["-genv", "LD_PRELOAD", stubs, "-genv", "NPLUS1_NATIVE", "1"] if yields else []
    return cpu_of([MPIRUN, *preload, "-np", str(options.ranks), options.program, case, str(n)], {})


def median(runs, measure):
    return statistics.median(measure() for _ in range(runs))


def row(options, case, n):
    runs = {size: [observed(options, case, size) for _ in range(options.runs)] for size in (1, n, 2 * n)}
    cpu, memory, simulator = ({size: statistics.median(run[part] for run in of) for size, of in runs.items()}
                              for part in range(3))
    bare, yielding = ([median(options.runs, lambda: alone(options, case, size, yields)) for size in (n, 2 * n)]
                      for yields in (False, True))
    grows = (cpu[2 * n] - cpu[1]) / (cpu[n] - cpu[1])
    cells = [*bare, *yielding, cpu[n], cpu[2 * n], grows, simulator[n], simulator[2 * n]]
    megabytes = [memory[size] / 1e6 for size in (1, n, 2 * n)]
    print(f"| {case} | {n:,} | " + " | ".join([*(f"{c:.2f}" for c in cells), *(f"{m:.1f}" for m in megabytes)]) + " |",
          flush=True)


def main():
    here = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", default=[f"{case}={n}" for case, n in CASES.items()])
    parser.add_argument("--build", type=pathlib.Path, default=here / "build")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--ranks", type=int, default=4)
    options = parser.parse_args()
    options.program = options.build / "bin/bench/outstanding"
    print("| case | N | bare, N | 2 N | yielding, N | 2 N | nplus1, N | 2 N | grows by | simulator, N | 2 N | MB, 1 | MB, N "
          "| MB, 2 N |\n|" + "---|" * 14)
    for case in options.cases:
        name, _, n = case.partition("=")
        row(options, name, int(n or CASES[name]))


if __name__ == "__main__":
    main()
