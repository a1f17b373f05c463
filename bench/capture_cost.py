#!/usr/bin/env python3
"""CPU nanoseconds of an MPI_Send in its rank, by message size and by what is recorded of it.

    capture_cost.py [--build DIR] [--runs 5] [BYTES ...]

off: no recording; frames: recording without hashes (call path, times, type); crc: all. Modes are interleaved; figures
are medians of the runs, each a median of its bursts. `crc GB/s` is what hashing alone amounts to.
"""
import argparse
import pathlib
import statistics
import subprocess
import tempfile

MODES = {"off": ("--record", "off"), "frames": ("--hash", "off"), "crc": ()}


def once(build, mode, size, bursts):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([str(build / "bin/nplus1"), "run", "-q", "-n", "2", "-o", f"{folder}/out", *MODES[mode],
                               "--", str(build / "bin/bench/sends"), str(bursts), str(size)],
                              capture_output=True, text=True, check=True)
    return float(done.stdout)


def main():
    here = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="*", type=int, default=[8, 64, 1024, 8192, 65536, 1048576])
    parser.add_argument("--build", type=pathlib.Path, default=here / "build")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    print("#   bytes      off   frames      crc  ns per send;  crc GB/s")
    for size in options.sizes:
        bursts = max(10, min(400, 40_000_000 // (50 * size)))
        figures = {mode: [] for mode in MODES}
        for _ in range(options.runs):
            for mode, values in figures.items():
                values.append(once(options.build, mode, size, bursts))
        off, frames, crc = (statistics.median(figures[m]) for m in MODES)
        rate = f"{size / (crc - frames):8.1f}" if crc > frames else "       -"
        print(f"{size:9d} {off:8.0f} {frames:8.0f} {crc:8.0f}               {rate}", flush=True)


if __name__ == "__main__":
    main()
