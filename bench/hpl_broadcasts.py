#!/usr/bin/env python3
"""HPL's six broadcasts by hand against MPI_Bcast on a simulated network: what nplus1 predicts from the recording of the
hand-written one, and what the same program with MPI_Bcast takes there. The memory of each rank stays the same while
ranks are added: weak scaling, as in figure 7b of Calotoiu et al. (2012).

Usage: hpl_broadcasts.py BUILD [--ranks 4,8,16,32,64] [--variants 1ring,...] [--panels K] [--network SPEC]
       hpl_broadcasts.py BUILD --hpl XHPL --hpl-bcast XHPL [--grids 2x2,...] [--numbers-per-rank K] [--block NB]
BUILD is a build tree with its tests. Without --hpl: our own program with HPL's broadcasts. With it, HPL itself, built by
you: as it is, and with the body of HPL_bcast_1ring (HPL_1ring.c) replaced by MPI_Bcast(_M_BUFF, _M_COUNT, _M_TYPE, root,
comm). Prints a table in Markdown; times are virtual, in ms, and exactly reproducible; with HPL it also says how many of
the broadcasts were found: one certain finding for each process row, of all its ranks, with a broadcast for each panel."""
import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile

VARIANTS = "1ring,1ringM,2ring,2ringM,long,longM"
SOURCES = ("HPL_1r", "HPL_2r", "HPL_bl")

# What HPL reads, as HPL.dat or, in HPCC, hpccinf.txt: the values in order, the names are for people.
INPUT = """HPLinpack benchmark input file

HPL.out output file name
8 device out (6: screen, 7: errors, 8: file)
1 # of problem sizes
{n} Ns
1 # of NBs
{block} NBs
0 PMAP
1 # of process grids
{rows} Ps
{columns} Qs
16.0 threshold
1 # of panel fact
1 PFACTs
1 # of recursive stopping criteria
4 NBMINs
1 # of panels in recursion
2 NDIVs
1 # of recursive panel fact.
1 RFACTs
1 # of broadcasts
{broadcast} BCASTs
1 # of lookahead depths
1 DEPTHs
2 SWAP
64 swapping threshold
0 L1
0 U
1 equilibration
8 memory alignment
"""


def must(*words, folder=None):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False, cwd=folder)
    if done.returncode:
        sys.exit(f"hpl_broadcasts.py: {' '.join(map(str, words))} failed ({done.returncode}):\n{done.stderr}")


class Simulator:
    """Runs programs on the simulated network, and asks what their recordings say."""

    def __init__(self, options, folder):
        self.nplus1, self.folder = options.build.resolve() / "bin" / "nplus1", folder
        self.words = ("--record", "full", "--network", options.network, "--compute", options.compute,
                      "--poll-cost", options.poll_cost)

    def run(self, name, ranks, *program, folder=None):
        """The result folder and the virtual time, in ms."""
        out = self.folder / name
        must(self.nplus1, "run", "-q", "-n", ranks, "-o", out, *self.words, "--", *program, folder=folder)
        return out, 1e3 * json.loads((out / "summary.json").read_text())["virtual_time_s"]

    def broadcasts(self, out):
        """Those that are more than possible, each with its number."""
        file = out / "collectives.json"
        must(self.nplus1, "collectives", out, "--json", file)
        return [(number, f) for number, f in enumerate(json.loads(file.read_text()), 1)
                if f["kind"] == "bcast" and f["certainty"] != "possible"]

    def predicted(self, out, numbers):
        """The virtual time with these findings done by the library, in ms; nothing without any."""
        if not numbers:
            return None
        file = out / "whatif.json"
        must(self.nplus1, "whatif", "-q", out, "--json", file, *[f"--finding={n}" for n in numbers])
        return 1e3 * json.loads(file.read_text())["after"]["virtual_time_s"]


def difference(predicted, library):
    half_a_picosecond = 5e-10
    return "none" if abs(predicted - library) < half_a_picosecond else f"{100 * (predicted / library - 1):+.2f} %"


def row(place, variant, found, before, predicted, library):
    prediction = ("-", "-") if predicted is None else (f"{predicted:.4f}", difference(predicted, library))
    print(f"| {place} | {variant} | {found} | {before:.4f} | {prediction[0]} | {library:.4f} | "
          f"{100 * (1 - library / before):+.1f} % | {prediction[1]} |", flush=True)


def own_program(options, simulator):
    program = options.build.resolve() / "bin" / "mpi-tests" / "hpl_broadcasts"
    for ranks in map(int, options.ranks.split(",")):
        _, library = simulator.run(f"library-{ranks}", ranks, program, "library", 1, ranks, options.panels)
        for variant in options.variants.split(","):
            out, before = simulator.run(f"{variant}-{ranks}", ranks, program, variant, 1, ranks, options.panels)
            found = [n for n, f in simulator.broadcasts(out) if f["count"] == options.panels]
            if len(found) != 1:
                sys.exit(f"hpl_broadcasts.py: {variant} on {ranks} ranks is not one finding")
            row(ranks, variant, "1 of 1", before, simulator.predicted(out, found), library)


class Hpl:
    def __init__(self, options, simulator, rows, columns):
        self.options, self.simulator, self.rows, self.columns = options, simulator, rows, columns
        self.name = f"{rows} x {columns}"
        blocks = math.sqrt(options.numbers_per_rank * rows * columns) / options.block
        self.panels = max(columns, round(blocks))
        self.n = self.panels * options.block

    def run(self, program, broadcast):
        folder = self.simulator.folder / f"in-{program.name}-{self.rows}x{self.columns}-{broadcast}"
        folder.mkdir()
        text = INPUT.format(n=self.n, block=self.options.block, rows=self.rows, columns=self.columns, broadcast=broadcast)
        for name in ("HPL.dat", "hpccinf.txt"):
            (folder / name).write_text(text)
        result = self.simulator.run("of-" + folder.name, self.rows * self.columns, program, folder=folder)
        said = "".join(f.read_text() for f in folder.glob("*out*"))
        if "PASSED" not in said:
            sys.exit(f"hpl_broadcasts.py: {program} did not pass its own test on {self.name}:\n{said}")
        return result

    def is_right(self, finding, members):
        """All its lines are of HPL's panel broadcasts, one for each panel, from each column in turn; and it is sure."""
        return (finding["certainty"] == "certain" and finding["ranks"] == members and finding["roots"] == members and finding["count"] == self.panels and
                all(any(source in line for source in SOURCES) for line in finding["lines"]))

    def compare(self):
        _, library = self.run(self.options.hpl_bcast.resolve(), 0)
        for variant in self.options.variants.split(","):
            out, before = self.run(self.options.hpl.resolve(), VARIANTS.split(",").index(variant))
            broadcasts = self.simulator.broadcasts(out)
            found = [n for r in range(self.rows) for n, f in broadcasts
                     if self.is_right(f, list(range(r * self.columns, (r + 1) * self.columns)))]
            place = f"{self.name}, N {self.n}"
            row(place, variant, f"{len(found)} of {self.rows}", before, self.simulator.predicted(out, found), library)


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("build", type=pathlib.Path)
    words.add_argument("--ranks", default="4,8,16,32,64")
    words.add_argument("--variants", default=VARIANTS)
    words.add_argument("--panels", type=int, default=8)
    words.add_argument("--network", default="loggops:L=2e-6,o=1e-6,g=1e-6,G=1e-9,O=0,S=65536")
    words.add_argument("--compute", default="fixed:0", help="of nplus1 run: computing between calls")
    words.add_argument("--poll-cost", default="200e-9,10e-6", help="of nplus1 run: a look for a message in vain")
    words.add_argument("--hpl", type=pathlib.Path, help="HPL's program, as it is")
    words.add_argument("--hpl-bcast", type=pathlib.Path, help="the same with MPI_Bcast as its broadcast 0")
    words.add_argument("--grids", default="2x3,1x6,4x4,1x16", help="with --hpl: process rows x columns")
    words.add_argument("--numbers-per-rank", type=int, default=4096, help="with --hpl: of the matrix")
    words.add_argument("--block", type=int, default=16, help="with --hpl: columns of a panel")
    options = words.parse_args()
    if (options.hpl is None) != (options.hpl_bcast is None):
        sys.exit("hpl_broadcasts.py: --hpl and --hpl-bcast belong together: one is by hand, the other is what it is compared with")
    print("| ranks | variant | found | by hand | predicted with MPI_Bcast | carried out | saves | predicted less carried out |\n"
          "|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="nplus1-hpl-") as scratch:
        simulator = Simulator(options, pathlib.Path(scratch))
        if options.hpl is None:
            own_program(options, simulator)
            return
        for grid in options.grids.split(","):
            Hpl(options, simulator, *map(int, grid.split("x"))).compare()


if __name__ == "__main__":
    main()
