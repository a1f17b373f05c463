#!/usr/bin/env python3
"""What `nplus1 run --record-accesses` costs, by pattern and size of the accesses.

    access_cost.py [--build DIR] [--runs 3] [BYTES ...]

A buffer is received again and again, and touched: contiguous (each of its doubles), strided (one of each page), random
(an eighth as many touches as it has doubles), or beside (a hot array behind it on its last page, never the buffer);
early (at once) or late (after some 0.3 ms of computing). For each receive: faults, single steps and changes of
protection of both ranks, the CPU time that they took and that is taken out of the program's clock, and what is left in
the measured computing of the receiver, as the difference to a run without. Medians of the runs.
"""
import argparse
import json
import pathlib
import re
import statistics
import subprocess
import tempfile

PATTERNS = ("contiguous", "strided", "random", "beside")
COST = re.compile(r"(\d+) faults \(([\d.]+) s.*?\), (\d+) single steps \(([\d.]+) s\), (\d+) changes of protection "
                  r"\(([\d.]+) s\)")


def run(build, folder, words, accesses):
    """(computing of the receiver in s, the cost as `nplus1 overlap` tells it)."""
    options = ["--record-accesses"] if accesses else ["--record", "full"]
    subprocess.run([str(build / "bin/nplus1"), "run", "-q", "-n", "2", "-o", folder, *options, "--",
                    str(build / "bin/bench/access_cost"), *map(str, words)], check=True, capture_output=True)
    compute = json.loads(pathlib.Path(folder, "summary.json").read_text())["compute_s"][1]
    if not accesses:
        return compute, None
    told = subprocess.run([str(build / "bin/nplus1"), "overlap", folder], capture_output=True, text=True, check=True)
    return compute, [float(x) for x in COST.search(told.stdout).groups()]


def measure(build, pattern, size, when, runs):
    """Per receive: faults, steps, changes, us of CPU time taken out, us without, us left in the computing."""
    rounds = max(10, min(200, 50_000_000 // size))
    rows = []
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as scratch:
            words = (pattern, size, when, rounds)
            plain, _ = run(build, f"{scratch}/plain", words, False)
            watched, (faults, f_s, steps, s_s, changes, c_s) = run(build, f"{scratch}/watched", words, True)
        rows.append([x / rounds for x in (faults, steps, changes, 1e6 * (f_s + s_s + c_s), 1e6 * plain,
                                          1e6 * (watched - plain))])
    return [statistics.median(column) for column in zip(*rows)]


def main():
    here = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="*", type=int, default=[4096, 65536, 1 << 20, 1 << 24])
    parser.add_argument("--build", type=pathlib.Path, default=here / "build")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    print("| pattern | bytes | touched | faults | steps | changes | taken out, us | computing, us | left in it, us |")
    print("|---|---|---|---|---|---|---|---|---|")
    for pattern in PATTERNS:
        for size in options.sizes:
            for when in ("early", "late"):
                faults, steps, changes, cost, plain, rest = measure(options.build, pattern, size, when, options.runs)
                print(f"| {pattern} | {size} | {when} | {faults:.1f} | {steps:.1f} | {changes:.1f} | {cost:.0f} | "
                      f"{plain:.0f} | {rest:.0f} |", flush=True)


if __name__ == "__main__":
    main()
