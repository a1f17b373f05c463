#!/usr/bin/env python3
"""Time and memory of `nplus1 overlap`, or of `nplus1 whatif --sweep`, over the length of a recording (docs/benchmarks.md).

For each shape of overlap_recordings.cpp and each number of events a recording is written and analysed. CPU seconds are
those of all processes; memory is the largest of one process, and a child shares most of it with its parent.
"""

import argparse
import os
import pathlib
import resource
import shutil
import subprocess
import tempfile

SHAPES = ("halo", "untouched", "window", "lines", "polling", "elsewhere")


def analysed(build, folder, sweep, options):
    """CPU seconds and MB of one analysis."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    verb = ["whatif", folder, "--sweep"] if sweep else ["overlap", folder]
    command = [build / "bin" / "nplus1", *verb, "--quiet", "--json", folder / "overlap.json", *options]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"overlap_curve: {folder}: exit {os.waitstatus_to_exitcode(status)}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help="a build folder")
    parser.add_argument("--shapes", nargs="+", default=SHAPES, choices=SHAPES)
    parser.add_argument("--events", nargs="+", type=int, default=[100_000, 1_000_000, 10_000_000])
    parser.add_argument("--sweep", action="store_true", help="nplus1 whatif --sweep instead")
    parser.add_argument("--options", default="", help="more options of the verb")
    words = parser.parse_args()
    print("| shape | events | CPU seconds | microseconds per event | MB |\n|---|---|---|---|---|")
    for shape in words.shapes:
        for events in words.events:
            folder = pathlib.Path(tempfile.mkdtemp())
            try:
                subprocess.run([words.build / "bin" / "overlap_recordings", shape, str(events), folder / "recording"],
                               check=True)
                cpu, memory = analysed(words.build, folder, words.sweep, words.options.split())
                print(f"| {shape} | {events:,} | {cpu:.1f} | {1e6 * cpu / events:.1f} | {memory:.0f} |", flush=True)
            finally:
                shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
