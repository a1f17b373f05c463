#!/usr/bin/env python3
"""The table of Boehme et al. 2011, section 4.1: programs bare, recorded and performed again.

Usage: reenact.py BUILD [--runs K] [--csv FILE] -- RANKS PROGRAM [ARGS...] [-- RANKS PROGRAM ...]
BUILD is a build tree. Each program runs K times in the three ways, in turns, so that a machine that gets slower meets
all of them; the medians count. Bare: from the end of MPI_Init to the beginning of MPI_Finalize, by elapsed.c (built
beside BUILD's examples on the fly). Recorded: the same from its recording. Deviations are those of the medians. What
the machine can tell apart at all is "bare vs bare": each turn ends with a second bare run, and their medians are
compared with those of the first."""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

MPIRUN = os.environ.get("NPLUS1_MPIRUN") or shutil.which("mpirun.mpich") or "mpirun"
MPICC = shutil.which("mpicc.mpich") or "mpicc"
HERE = pathlib.Path(__file__).parent


def must(command, **named):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False, **named)
    if done.returncode:
        sys.exit(f"reenact.py: {' '.join(map(str, command))} failed ({done.returncode}):\n{done.stderr}")
    return done.stdout


class Bench:
    def __init__(self, build, folder):
        self.nplus1, self.folder = build / "bin" / "nplus1", folder
        self.library = folder / "libelapsed.so"
        must([MPICC, "-O2", "-shared", "-fPIC", "-o", self.library, HERE / "programs" / "elapsed.c", "-lmpichfort"])

    def bare(self, ranks, words):
        file = self.folder / "elapsed"
        must([MPIRUN, "-np", ranks, "-genv", "LD_PRELOAD", self.library, "-genv", "ELAPSED", file, *words])
        return float(file.read_text())

    def recorded(self, ranks, words, folder):
        must([self.nplus1, "run", "-q", "-n", ranks, "--native", "--record", "full", "--hash", "off", "-o", folder, "--",
              *words])

    def performed(self, folder):
        file = self.folder / "reenact.json"
        must([self.nplus1, "replay", folder, "--reenact", "-q", "--json", file])
        return json.loads(file.read_text())

    def measure(self, ranks, words, runs):
        bare, again, recorded, performed, share = [], [], [], [], []
        for run in range(runs + 1):
            folder = self.folder / f"run-{ranks}-{run}"
            bare.append(self.bare(ranks, words))
            self.recorded(ranks, words, folder)
            result = self.performed(folder)
            shutil.rmtree(folder)
            recorded.append(result["recorded_makespan_s"])
            performed.append(result["makespan_s"])
            share.append(result["communication_share"])
            again.append(self.bare(ranks, words))
        # The first of each warms up.
        b, a, r, p, s = (statistics.median(values[1:]) for values in (bare, again, recorded, performed, share))
        return {"ranks": ranks, "program": pathlib.Path(words[0]).name, "communication": s, "bare_s": b,
                "recorded_s": r, "reenacted_s": p, "recorded_deviation": r / b - 1, "reenacted_deviation": p / b - 1,
                "reenacted_vs_recorded": p / r - 1, "bare_vs_bare": a / b - 1}


def jobs(words):
    job = []
    for word in [*words, "--"]:
        if word != "--":
            job.append(word)
        elif job:
            yield int(job[0]), job[1:]
            job = []


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--csv", type=pathlib.Path)
    at = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    options = parser.parse_args(sys.argv[1:at])
    rows = []
    print("| ranks | program | communication | bare | recorded | re-enacted | recorded vs bare | re-enacted vs bare | "
          "re-enacted vs recorded | bare vs bare |\n|---|---|---|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory(prefix="nplus1-reenact-") as scratch:
        bench = Bench(options.build.resolve(), pathlib.Path(scratch))
        for ranks, words in jobs(sys.argv[at + 1:]):
            row = bench.measure(ranks, words, options.runs)
            rows.append(row)
            print(f"| {row['ranks']} | {row['program']} | {row['communication']:.1%} | {row['bare_s']:.4f} s | "
                  f"{row['recorded_s']:.4f} s | {row['reenacted_s']:.4f} s | {row['recorded_deviation']:+.2%} | "
                  f"{row['reenacted_deviation']:+.2%} | "
                  f"{row['reenacted_vs_recorded']:+.2%} | {row['bare_vs_bare']:+.2%} |", flush=True)
    if options.csv and rows:
        lines = [",".join(rows[0]), *(",".join(str(value) for value in row.values()) for row in rows)]
        options.csv.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
