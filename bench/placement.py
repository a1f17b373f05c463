#!/usr/bin/env python3
"""Where ranks and simulator run, on a host with fewer cores than ranks: wall and virtual time of each way, as ratios.

    bench/placement.py BUILD [--ranks 16,64] [--rounds 5] [--pattern ring] [--steps 60] [--ways "bound;SCHED_BATCH"]

The ways take turns, so that a slow minute of the host meets all of them. Ratios are of each round, to `unbound` of the
same round; the table has their median, least and most. Idle machines only: what runs besides is placed, too.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

BOUND = ["--mpi-args", "-bind-to core"]


class Bench:
    def __init__(self, options):
        self.options = options
        build = pathlib.Path(options.build).resolve()
        self.nplus1, self.simnode = build / "bin" / "nplus1", build / "bin" / "nplus1-simnode"
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="nplus1-placement-"))
        self.program = self.folder / "known_work"
        here = pathlib.Path(__file__).resolve().parent
        subprocess.run(["mpicc.mpich", "-g", "-O2", f"-I{here.parent / 'include'}", here / "programs" / "known_work.c",
                        "-o", self.program, "-lm"], check=True)
        last = os.cpu_count() - 1
        alone = self.script("alone", f"exec taskset -c {last} {self.simnode} \"$@\"")
        free = self.script("free", f"exec taskset -c 0-{last} {self.simnode} \"$@\"")
        self.ways = {"unbound": ([], [], None), "bound": ([], BOUND, None), "bound, simulator free": ([], BOUND, free),
                     "unbound, simulator on the last core": ([], [], alone), "SCHED_BATCH": (["chrt", "-b", "0"], [], None),
                     "SCHED_BATCH, bound": (["chrt", "-b", "0"], BOUND, None)}
        if options.ways:
            self.ways = {way: self.ways[way] for way in ["unbound", *options.ways.split(";")]}
        self.number = 0

    def script(self, name, body):
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
        return path

    def run(self, way, ranks):
        """Wall seconds, virtual seconds."""
        before, words, simnode = self.ways[way]
        self.number += 1
        output = self.folder / str(self.number)
        environment = dict(os.environ, **({"NPLUS1_SIMNODE": str(simnode)} if simnode else {}))
        begin = time.monotonic()
        subprocess.run([*before, self.nplus1, "run", "-q", "-n", str(ranks), "--record", "off", "-o", output, *words, "--",
                        self.program, self.options.pattern, str(self.options.steps), "kernels", self.options.kernels],
                       check=True, stdout=subprocess.DEVNULL, env=environment)
        wall = time.monotonic() - begin
        return wall, json.loads((output / "summary.json").read_text())["virtual_time_s"]

    def table(self, ranks):
        times = {way: [] for way in self.ways}
        self.run("unbound", ranks)  # pages of the programs
        for _ in range(self.options.rounds):
            for way in self.ways:
                times[way].append(self.run(way, ranks))
        for way, of_way in times.items():
            cells = []
            for which in (0, 1):
                ratios = [mine[which] / base[which] for mine, base in zip(of_way, times["unbound"])]
                cells += [f"{statistics.median(t[which] for t in of_way):.3f}",
                          f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"]
            print(f"| {ranks} | {way} | {' | '.join(cells)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--ranks", default="16,64")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--pattern", default="ring")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--kernels", default="0134")
    parser.add_argument("--ways", help="some of them, with semicolons between")
    bench = Bench(parser.parse_args())
    print("| ranks | placement | wall s | ratio | virtual s | ratio |\n|---|---|---|---|---|---|")
    for ranks in bench.options.ranks.split(","):
        bench.table(int(ranks))


if __name__ == "__main__":
    main()
