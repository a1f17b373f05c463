#!/usr/bin/env python3
"""What a network with contention costs a running program: wall time on each platform over that on `--network lsb`.

    live_platforms.py --npb DIR [--build build] [--ranks 16] [--runs 5] [--model SMPI] [--record off] PROGRAM...    e.g. cg.S lu.W

DIR holds NAS binaries such as cg.S.16 (built by the user; none are in this repository). All networks take turns, so that a
drifting machine hits all alike. Ratios of medians, wall and CPU time of all processes; the smallest and largest ratio of
one turn behind them.
"""
import argparse
import os
import pathlib
import shutil
import statistics
import sys
import tempfile

from whole_programs import run

PLATFORMS = ("two_hosts", "cluster64", "torus", "fat_tree", "dragonfly")


def main():
    here = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="+", metavar="PROGRAM")
    parser.add_argument("--build", type=pathlib.Path, default=here / "build")
    parser.add_argument("--npb", type=pathlib.Path, required=True)
    parser.add_argument("--ranks", type=int, default=16)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--model", default="SMPI")
    parser.add_argument("--platforms", default=",".join(PLATFORMS))
    parser.add_argument("--record", default="full", help="off: the run alone, without its recording and what to fix")
    parser.add_argument("--limit", type=float, default=120, help="seconds per run")
    words = parser.parse_args()
    networks = {"lsb": ["--network", "lsb"]}
    with tempfile.TemporaryDirectory(prefix="nplus1-live-") as scratch:
        folder = pathlib.Path(scratch)
        (folder / "halves").write_text(f"host-0*{words.ranks // 2}\nhost-1*{words.ranks - words.ranks // 2}\n")
        for name in words.platforms.split(","):
            networks[name] = ["--platform", here / "platforms" / f"{name}.xml", "--model", words.model,
                              *(["--map", folder / "halves"] if name == "two_hosts" else [])]
        print(f"# {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; {words.runs} turns; seconds of wall time on lsb, then "
              "each platform over it: wall (smallest-largest), CPU")
        for program in words.programs:
            taken = {name: [] for name in networks}
            for _ in range(words.runs):
                for name, flags in networks.items():
                    shutil.rmtree(folder / "out", ignore_errors=True)
                    line = [words.build / "bin" / "nplus1", "run", "-q", "-n", words.ranks, "-o", folder / "out", *flags, "--record", words.record,
                            "--",
                            words.npb / f"{program}.{words.ranks}"]
                    wall, cpu, code = run([str(w) for w in line], words.limit)
                    if code != 0:
                        sys.exit(f"{' '.join(map(str, line))}: exit code {code}")
                    taken[name].append((wall, cpu))
            base = taken["lsb"]
            cells = []
            for name in list(networks)[1:]:
                ratios = sorted(a[0] / b[0] for a, b in zip(taken[name], base))
                wall, cpu = (statistics.median(t[i] for t in taken[name]) / statistics.median(t[i] for t in base)
                             for i in (0, 1))
                cells.append(f"{name} {wall:.2f} ({ratios[0]:.2f}-{ratios[-1]:.2f}), {cpu:.2f}")
            print(f"{program}: {statistics.median(t[0] for t in base):.2f} s; " + "; ".join(cells), flush=True)


if __name__ == "__main__":
    main()
