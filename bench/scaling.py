#!/usr/bin/env python3
"""How programs scale: virtual time with warm caches and as measured, and SMPI's of the same program.

    bench/scaling.py BUILD --npb NPB3.3-MPI [--programs cg,mg,lu] [--class W] [--ranks 1,2,4,16,64] [--runs 3]
        [--work FOLDER] [--only-build]

--npb: the source of the NAS parallel benchmarks, version 3.3 for MPI (none of it is in this repository). They are copied
to a folder for this run (--work: to this one, where a later run finds what is built), and built there with MPICH's mpifort and with SMPI's smpiff (Debian: simgrid, libsimgrid-dev;
without them that column stays empty). Both simulate the same network: 1 us and 10 GB/s between any two ranks, without
contention, and the computing of this host, 1:1. A column of times has the median and the range of --runs runs; all
times are those of whole programs, from MPI_Init to MPI_Finalize.
"""
import argparse
import json
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

FLAGS = "-O2 -g -fallow-argument-mismatch -fallow-invalid-boz -std=legacy -w"
MAKE_DEF = """MPIF77 = {fortran}
FLINK = {fortran}
FFLAGS = {flags}
FLINKFLAGS = -O2
MPICC = {c}
CLINK = {c}
CFLAGS = -O2 -g -w
CLINKFLAGS = -O2
CMPI_LIB = -lm
CC = cc
BINDIR = ../bin
RAND = randi8
"""


def platform(hosts):
    """Any two of them are joined by a link of their own; a message to oneself takes no time."""
    names = [f"h{i}" for i in range(hosts)]
    text = ['<?xml version="1.0"?>', '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">',
            '<platform version="4.1"><zone id="all" routing="Full">']
    text += [f'<host id="{n}" speed="1Gf"/>' for n in names]
    text.append('<link id="l" bandwidth="10GBps" latency="1us" sharing_policy="FATPIPE"/>')
    text += [f'<route src="{a}" dst="{b}"><link_ctn id="l"/></route>' for i, a in enumerate(names) for b in names[i + 1:]]
    return "\n".join([*text, "</zone></platform>"]), "\n".join(names) + "\n"


class Bench:
    def __init__(self, options):
        self.options = options
        self.nplus1 = pathlib.Path(options.build).resolve() / "bin" / "nplus1"
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="nplus1-scaling-"))
        self.work = pathlib.Path(options.work or self.folder).resolve()
        self.number = 0
        self.sources = {"mpich": self.source("mpich", "mpifort.mpich", "mpicc.mpich")}
        if shutil.which("smpiff"):
            self.sources["smpi"] = self.source("smpi", "smpiff", "smpicc")

    def source(self, name, fortran, c):
        copy = self.work / name
        if copy.exists():
            return copy
        shutil.copytree(self.options.npb, copy, ignore=shutil.ignore_patterns("*.o", "bin"))
        (copy / "bin").mkdir()
        (copy / "config" / "make.def").write_text(MAKE_DEF.format(fortran=fortran, c=c, flags=FLAGS))
        return copy

    def built(self, mpi, program, ranks):
        source = self.sources[mpi]
        name = f"{program}.{self.options.size}.{ranks}"
        if (source / "bin" / name).exists():
            return source / "bin" / name
        done = subprocess.run(["make", program.upper(), f"CLASS={self.options.size}", f"NPROCS={ranks}"], cwd=source,
                              text=True, capture_output=True)
        if not (source / "bin" / name).exists():
            sys.exit(f"{name} with {mpi}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
        return source / "bin" / name

    def clocked(self, program, ranks):
        self.number += 1
        output = self.folder / f"run{self.number}"
        done = subprocess.run([self.nplus1, "run", "-q", "-n", str(ranks), "-o", output, "--compute", "warm", "--", program],
                              text=True, capture_output=True)
        verified(done.stdout, program)
        summary = json.loads((output / "summary.json").read_text())
        found = {"measured": summary["virtual_time_s"]}
        if (output / "clock.json").exists():
            clock = json.loads((output / "clock.json").read_text())
            found |= {"warm": clock["virtual_time_s"], "from": clock["from_s"], "to": clock["to_s"],
                      "computing": clock["computing_s"], "computing measured": clock["computing_measured_s"]}
        if not self.options.keep:
            shutil.rmtree(output)
        return found

    def in_smpi(self, program, ranks):
        xml, hosts = platform(ranks)
        (self.folder / "platform.xml").write_text(xml)
        (self.folder / "hosts").write_text(hosts)
        done = subprocess.run(
            ["smpirun", "-np", str(ranks), "-platform", self.folder / "platform.xml", "-hostfile", self.folder / "hosts",
             "--cfg=network/model:CM02", "--cfg=network/crosstraffic:0", "--cfg=smpi/host-speed:1Gf",
             "--cfg=smpi/display-timing:yes", "--log=root.thres:critical", "--log=smpi_utils.thres:info", program],
            text=True, capture_output=True)
        found = re.search(r"Simulated time: ([0-9.e+-]+)", done.stdout + done.stderr)
        if found is None:
            sys.exit(f"smpirun {program}: {done.stdout[-1000:]}{done.stderr[-1000:]}")
        return {"smpi": float(found.group(1))}

    def row(self, program, ranks):
        ours = self.built("mpich", program, ranks)
        theirs = self.built("smpi", program, ranks) if "smpi" in self.sources else None
        if self.options.only_build:
            return f"{program} | {ranks} | built"
        runs = []
        for _ in range(self.options.runs):  # in turns, so that a slow minute of the host meets both
            runs.append(self.clocked(ours, ranks) | (self.in_smpi(theirs, ranks) if theirs else {}))
        columns = ["measured", "warm", "smpi", "computing measured", "computing"]
        held = [f"{1e3 * r['from']:.1f} to {1e3 * r['to']:.1f}" for r in runs if "from" in r]
        return " | ".join([f"{program}.{self.options.size}", str(ranks), *(spread(runs, c) for c in columns), *held[:1]])


def spread(runs, column):
    times = sorted(1e3 * r[column] for r in runs if column in r)
    if not times:
        return "-"
    digits = 1 if times[-1] < 1000 else 0
    return f"{statistics.median(times):.{digits}f} ({times[0]:.{digits}f} to {times[-1]:.{digits}f})"


def verified(output, program):
    if "VERIFICATION SUCCESSFUL" not in output.upper().replace("  ", " ") and "SUCCESSFUL" not in output.upper():
        sys.exit(f"{program} does not verify itself: {output[-1000:]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--npb", required=True)
    parser.add_argument("--programs", default="cg,mg,lu")
    parser.add_argument("--class", dest="size", default="W")
    parser.add_argument("--ranks", default="1,2,4,16,64")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--work", help="a folder for the copied sources and what is built of them")
    parser.add_argument("--only-build", action="store_true")
    parser.add_argument("--keep", action="store_true", help="the runs' folders")
    bench = Bench(parser.parse_args())
    head = ("program | ranks | as measured, ms | with warm caches, ms | SMPI, ms | computing of all ranks as measured, ms | "
            "warm, ms | nine of ten, first run, ms")
    print(f"| {head} |")
    print("|---" * (head.count("|") + 1) + "|")
    for program in bench.options.programs.split(","):
        for ranks in map(int, bench.options.ranks.split(",")):
            print(f"| {bench.row(program, ranks)} |", flush=True)
    if not bench.options.keep:
        shutil.rmtree(bench.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
