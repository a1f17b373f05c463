#!/usr/bin/env python3
"""One build against another: has anything become slower?

    two_builds.py BEFORE AFTER [--pairs 5] [--only REGEX]

BEFORE and AFTER are build directories. Every case runs in pairs, the order within a pair turning each time, so that a
drifting machine hits both alike. A case's figure is the median over pairs of CPU(after) / CPU(before), with the
lowest and the highest: CPU time of the benchmark's loop, or of all processes of a live run. Prints rows of a table.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

LOOPS = {
    "engine_bench": "(halo_exchange|ring_shift|random_pairing)/1024$|(halo_exchange|ring_shift)_simgrid/64/",
    "replay_bench": "ring/256/",
    "recording_bench": "(halo|mixed)/(blocks|live)/full/1024$",
    "whatif_bench": "analyse_ring/16/",
    "waitstates_bench": "/64/",
    "patterns_bench": "/1024/",
    "payload_bench": "^(crc32|poly61 of words|poly61 of int64)/65536$",
    "timeline_bench": "BM_Timeline",
}
SEARCH = ["detector_bench", "1000000", "883"]
LIVE = [("halo", 4, 2000), ("allreduce", 4, 2000), ("wavefront", 4, 3000), ("halo", 16, 600), ("allreduce", 16, 400),
        ("wavefront", 16, 800)]


def loops(build, name, pattern):
    """CPU nanoseconds of each case."""
    done = subprocess.run([build / "bin" / name, f"--benchmark_filter={pattern}", "--benchmark_format=json"],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    return {f"{name} {b['name'].removesuffix('/iterations:1')}": b["cpu_time"]
            for b in json.loads(done.stdout)["benchmarks"]}


def seconds(command):
    """CPU seconds of the command and of all that it waited for."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"two_builds: {command} failed:\n{said.decode()}")
    return usage.ru_utime + usage.ru_stime


def live(build, pattern, ranks, steps, scratch):
    program = [str(build / "bin" / "bench" / "communicate"), pattern, str(steps), "20"]
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        return seconds([str(build / "bin" / "nplus1"), "run", "-n", str(ranks), "-o", f"{folder}/out", "-q", "--",
                        *program])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=pathlib.Path)
    parser.add_argument("after", type=pathlib.Path)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    cases = [(name, lambda build, n=name, p=pattern: loops(build, n, p)) for name, pattern in LOOPS.items()]
    cases.append(("detector_bench", lambda build: {" ".join(SEARCH): seconds([str(build / "bin" / SEARCH[0]), *SEARCH[1:]])}))
    with tempfile.TemporaryDirectory() as scratch:
        for pattern, ranks, steps in LIVE:
            name = f"live {pattern} on {ranks} ranks"
            cases.append((name, lambda build, n=name, p=pattern, r=ranks, s=steps: {n: live(build, p, r, s, scratch)}))
        print("| case | after / before | lowest | highest |\n|---|---|---|---|")
        for name, measure in cases:
            if not re.search(arguments.only, name):
                continue
            ratios = {}
            for pair in range(arguments.pairs):
                order = [arguments.before, arguments.after][::1 if pair % 2 == 0 else -1]
                found = {build: measure(build.resolve()) for build in order}
                for case, cost in found[arguments.after].items():
                    if case in found[arguments.before]:
                        ratios.setdefault(case, []).append(cost / found[arguments.before][case])
            for case, values in ratios.items():
                print(f"| {case} | {statistics.median(values):.2f} | {min(values):.2f} | {max(values):.2f} |", flush=True)


if __name__ == "__main__":
    main()
