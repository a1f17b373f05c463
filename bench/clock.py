#!/usr/bin/env python3
"""Virtual time with warm caches against the truth, on known work (bench/programs/known_work.c).

    bench/clock.py BUILD [--ranks 2,4,16,64] [--patterns ring,halo,...] [--steps N] [--imbalance rank,50]

For each pattern and number of ranks: the program runs under `--compute warm`, `nplus1 clock` corrects its clock, and
the same program with the kernels' costs given instead of computed is the truth. The costs are measured alone, before
and after each run; where the two differ by more than 5 % the host's speed has changed, and the row says so.
Prints a table in Markdown: truth, and how far the virtual time is off as measured, at least, and as estimated.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile


class Bench:
    def __init__(self, options):
        self.options = options
        build = pathlib.Path(options.build).resolve()
        self.nplus1 = build / "bin" / "nplus1"
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="nplus1-clock-"))
        self.program = self.folder / "known_work"
        here = pathlib.Path(__file__).resolve().parent
        subprocess.run(["mpicc.mpich", "-g", "-O2", f"-I{here.parent / 'include'}", here / "programs" / "known_work.c",
                        "-o", self.program, "-lm"], check=True)

    def costs(self):
        lines = subprocess.run([self.program, "costs"], check=True, text=True, capture_output=True).stdout.splitlines()
        return [float(line.split()[0]) for line in lines]

    def run(self, name, ranks, settings, words):
        output = self.folder / name
        subprocess.run([self.nplus1, "run", "-q", "-n", str(ranks), "-o", output, *settings, "--", self.program, *words],
                       check=True, stdout=subprocess.DEVNULL)
        return output

    def truth(self, name, ranks, words, costs):
        folder = self.run(name, ranks, ["--compute", "fixed:0"], [*words, "given", *map(str, costs)])
        return json.loads((folder / "summary.json").read_text())["virtual_time_s"]

    def row(self, pattern, ranks):
        o = self.options
        words = [pattern, str(o.steps), "kernels", o.kernels]
        if o.imbalance:
            words += ["imbalance", *o.imbalance.split(",")]
        before = self.costs()
        name = f"{pattern}-{ranks}"
        folder = self.run(name, ranks, ["--compute", "warm"], words)
        after = self.costs()
        subprocess.run([self.nplus1, "clock", folder, "--json", self.folder / f"{name}.json"], check=True,
                       stdout=subprocess.DEVNULL)
        clock = json.loads((self.folder / f"{name}.json").read_text())
        truth = self.truth(f"{name}-truth", ranks, words, [min(pair) for pair in zip(before, after)])
        steady = all(abs(a - b) <= 0.05 * b for a, b in zip(after, before))
        off = lambda key: 100 * (clock[key] / truth - 1)
        print(f"| {pattern} | {ranks} | {1e3 * truth:.2f} | {off('measured_s'):+.1f} | {off('lowest_s'):+.1f} "
              f"| {off('virtual_time_s'):+.1f} | {clock['samples']} |{'' if steady else ' host changed its speed |'}",
              flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--ranks", default="2,4,16,64")
    parser.add_argument("--patterns", default="ring,halo,wavefront,allreduce,workers")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--kernels", default="01234")
    parser.add_argument("--imbalance", default="", help="rank|step|random,PERCENT")
    bench = Bench(parser.parse_args())
    print("| pattern | ranks | truth, ms | as measured, % | at least, % | with warm caches, % | twins |")
    print("|---|---|---|---|---|---|---|")
    for pattern in bench.options.patterns.split(","):
        for ranks in map(int, bench.options.ranks.split(",")):
            bench.row(pattern, ranks)
    return 0


if __name__ == "__main__":
    sys.exit(main())
