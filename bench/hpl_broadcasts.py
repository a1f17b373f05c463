#!/usr/bin/env python3
"""HPL's six broadcasts by hand against MPI_Bcast on a simulated network: what `nplus1 collectives --price` predicts from
the recording of the hand-written one, and what the same program with MPI_Bcast takes there. The panels of each rank stay
as large as they are while ranks are added: weak scaling, as in figure 7b of Calotoiu et al. (2012).

Usage: hpl_broadcasts.py BUILD [--ranks 4,8,16,32,64] [--variants 1ring,...] [--panels K] [--network SPEC]
BUILD is a build tree with its tests. Prints a table in Markdown; times are virtual, in ms, and exactly reproducible."""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

VARIANTS = "1ring,1ringM,2ring,2ringM,long,longM"


def must(*words):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"hpl_broadcasts.py: {' '.join(map(str, words))} failed ({done.returncode}):\n{done.stderr}")


class Runs:
    def __init__(self, build, folder, network, panels, compute, polls):
        self.nplus1, self.program = build / "bin" / "nplus1", build / "bin" / "mpi-tests" / "hpl_broadcasts"
        self.folder, self.network, self.panels, self.compute, self.polls = folder, network, panels, compute, polls

    def run(self, variant, ranks):
        """The result folder and the virtual time, in ms."""
        out = self.folder / f"{variant}-{ranks}"
        must(self.nplus1, "run", "-q", "-n", ranks, "-o", out, "--record", "full", "--network", self.network, "--compute",
             self.compute, "--poll-cost", self.polls, "--", self.program, variant, 1, ranks, self.panels)
        return out, 1e3 * json.loads((out / "summary.json").read_text())["virtual_time_s"]

    def priced(self, out):
        """What replacing the broadcast is predicted to save, in ms."""
        file = out / "collectives.json"
        must(self.nplus1, "collectives", out, "--price", "--json", file)
        found = [f for f in json.loads(file.read_text()) if f["kind"] == "bcast" and f["count"] == self.panels]
        if len(found) != 1 or found[0]["saving_s"] is None:
            sys.exit(f"hpl_broadcasts.py: not one broadcast with a price in {file}")
        return 1e3 * found[0]["saving_s"]


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("build", type=pathlib.Path)
    words.add_argument("--ranks", default="4,8,16,32,64")
    words.add_argument("--variants", default=VARIANTS)
    words.add_argument("--panels", type=int, default=8)
    words.add_argument("--network", default="loggops:L=2e-6,o=1e-6,g=1e-6,G=1e-9,O=0,S=65536")
    words.add_argument("--compute", default="fixed:0", help="of nplus1 run: computing between calls")
    words.add_argument("--poll-cost", default="200e-9,10e-6", help="of nplus1 run: a look for a message in vain")
    options = words.parse_args()
    print("| ranks | variant | by hand | predicted with MPI_Bcast | carried out | saves | predicted less carried out |\n"
          "|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="nplus1-hpl-") as scratch:
        runs = Runs(options.build.resolve(), pathlib.Path(scratch), options.network, options.panels, options.compute, options.poll_cost)
        for ranks in map(int, options.ranks.split(",")):
            _, library = runs.run("library", ranks)
            for variant in options.variants.split(","):
                out, before = runs.run(variant, ranks)
                predicted = before - runs.priced(out)
                print(f"| {ranks} | {variant} | {before:.4f} | {predicted:.4f} | {library:.4f} | "
                      f"{100 * (1 - library / before):.0f} % | {100 * (predicted / library - 1):+.1f} % |", flush=True)


if __name__ == "__main__":
    main()
