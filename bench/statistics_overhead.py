#!/usr/bin/env python3
"""What statistics only cost natively, beside mpiP: the same program bare, with nplus1's library, with mpiP's, and bare
again.

    statistics_overhead.py BUILD [--mpip LIBMPIP] [--ranks 2] [--turns 15] [--real-time] [--agree] [PROGRAM...]

A PROGRAM is a command line in one word; by default patterns of programs/communicate.c, built here. LIBMPIP is a
libmpiP.so, built by the user with its own defaults; without it, its columns are left out. All are preloaded by
mpirun's -genv, and take turns, the order within a turn changing each time. The time is the program's own, from the end
of MPI_Init to the beginning of MPI_Finalize, of the rank that takes longest (programs/elapsed.c). Printed are the
median over the turns of what a turn took by what it took bare in the same turn, the least and the most of those, and
in brackets the same of the shortest runs; "bare again" is what the machine does by itself. "A call" is what the
shortest runs are apart by, for each of a rank's calls.
--agree instead runs each program once with each, and prints counts, bytes sent and times of all ranks by call site.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import shlex
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PATTERNS = ["rate 3000", "pingpong 50000", "halo 30000", "allreduce 50000", "halo 10000 20"]
LIMIT_S = 600


def must(command, **more):
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=False, timeout=LIMIT_S, **more)
    if done.returncode:
        words = " ".join(map(str, command))
        sys.exit(f"statistics_overhead: {words} failed ({done.returncode}):\n{done.stdout}{done.stderr}")
    return done.stdout


class Bench:
    def __init__(self, options, scratch):
        self.scratch, self.ranks = scratch, options.ranks
        self.before = ["chrt", "--rr", "1"] if options.real_time else []
        self.nplus1 = options.build.resolve() / "bin" / "nplus1"
        self.modes = {"bare": None, "nplus1": options.build.resolve() / "lib" / "libnplus1-statistics.so"}
        if options.mpip:
            self.modes["mpiP"] = options.mpip.resolve()
        self.modes["bare again"] = None
        self.elapsed = scratch / "libelapsed.so"
        sources = HERE / "programs"
        must(["mpicc.mpich", "-O2", "-shared", "-fPIC", "-o", self.elapsed, sources / "elapsed.c", "-lmpichfort"])
        must(["mpicc.mpich", "-O2", "-g", "-o", scratch / "communicate", sources / "communicate.c"])
        self.patterns, self.result = scratch / "statistics.n1stat", scratch / "elapsed"

    def command(self, words):
        own = words[0].partition(" ")[0] in {pattern.partition(" ")[0] for pattern in PATTERNS}
        return [self.scratch / "communicate", *words] if own else words

    def run(self, libraries, words):
        self.patterns.unlink(missing_ok=True)
        settings = {"LD_PRELOAD": " ".join(map(str, libraries)), "ELAPSED": self.result,
                    "NPLUS1_STATISTICS": self.patterns.with_suffix("")}
        must([*self.before, "mpirun.mpich", "-bind-to", "core", "-n", self.ranks,
              *(word for name, value in settings.items() for word in ("-genv", name, value)), *words], cwd=self.scratch)

    def once(self, mode, words):
        library = self.modes[mode]
        self.run([self.elapsed, library] if library else [self.elapsed], self.command(words))
        return float(self.result.read_text())

    def counts(self):
        """What nplus1 has counted in its last run."""
        file = self.scratch / "patterns.json"
        must([self.nplus1, "patterns", self.patterns, "--json", file])
        return json.loads(file.read_text())

    def measure(self, words, turns):
        """Seconds by mode, turn by turn, and the calls of a rank."""
        seconds, calls, modes = collections.defaultdict(list), 0, list(self.modes)
        for mode in modes:  # warms up
            self.once(mode, words)
            if mode == "nplus1":
                calls = sum(site["calls"] for site in self.counts()["call_sites"]) / self.ranks
        for turn in range(turns):
            at = turn % len(modes)
            for mode in [*modes[at:], *modes[:at]]:
                seconds[mode].append(self.once(mode, words))
        return seconds, calls

    # ---- agreement -----------------------------------------------------------------------------------------------

    def agreement(self, words):
        """[(call site, (calls, bytes, seconds) of nplus1's, of mpiP's)], by function and line of the source."""
        self.run([self.modes["nplus1"]], self.command(words))
        ours = collections.defaultdict(lambda: [0, 0, 0.0])
        for site in self.counts()["call_sites"]:
            frame = site["frames"][0]
            key = site["call"].removeprefix("MPI_"), pathlib.Path(frame["file"]).name, frame["line"]
            for i, name in enumerate(("calls", "bytes", "time_s")):
                ours[key][i] += site[name]
        for old in self.scratch.glob("*.mpiP"):
            old.unlink()
        self.run([self.modes["mpiP"]], ["setarch", "-R", *self.command(words)])  # it knows the first rank's addresses
        (report,) = self.scratch.glob("*.mpiP")
        theirs = mpip_sites(report.read_text())
        return [(key, ours.get(key, [0, 0, 0.0]), theirs.get(key, [0, 0, 0.0])) for key in sorted({*ours, *theirs})]


def mpip_sites(report):
    """Calls, bytes sent and seconds of all ranks by (function, file, line) of mpiP's report."""
    places, found = {}, collections.defaultdict(lambda: [0, 0, 0.0])
    for number, file, line, call in re.findall(r"^ *(\d+) +0 (\S+) +(\d+) \S+ +(\w+)$", report, re.M):
        places[call, number] = call, pathlib.Path(file).name, int(line)
    times, _, sizes = report.partition("Callsite Message Sent statistics")
    for call, number, count, mean in re.findall(r"^(\w+) +(\d+) +\d+ +(\d+) +\S+ +(\S+) +\S+ +\S+ +\S+$", times, re.M):
        found[places[call, number]][0] += int(count)
        found[places[call, number]][2] += 1e-3 * int(count) * float(mean)
    for call, number, total in re.findall(r"^(\w+) +(\d+) +\d+ +\d+ +\S+ +\S+ +\S+ +(\S+)$", sizes, re.M):
        found[places[call, number]][1] += float(total)
    return found


def ratio(ours, bare):
    ratios = [a / b for a, b in zip(ours, bare)]
    return (f"{statistics.median(ratios):.3f} ({min(ratios):.2f} to {max(ratios):.2f}) [{min(ours) / min(bare):.3f}]")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", default=PATTERNS)
    parser.add_argument("--mpip", type=pathlib.Path, metavar="LIBMPIP")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--turns", type=int, default=15)
    parser.add_argument("--agree", action="store_true")
    parser.add_argument("--real-time", action="store_true",
                        help="on a busy machine: nobody else has these cores meanwhile (as root)")
    options = parser.parse_intermixed_args()
    if options.agree and not options.mpip:
        parser.error("--agree needs --mpip")
    with tempfile.TemporaryDirectory(prefix="nplus1-statistics-") as scratch:
        bench = Bench(options, pathlib.Path(scratch))
        (tell_agreement if options.agree else tell_costs)(bench, options)


def tell_costs(bench, options):
    tools = [mode for mode in bench.modes if mode != "bare"]
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; {options.ranks} ranks, {options.turns} turns\n")
    print(f"| program | bare, ms | calls a second of a rank | {' | '.join(tools)} | a call, ns |")
    print(f"|---|---|---|{'---|' * (len(tools) + 1)}")
    for program in options.programs:
        words = shlex.split(program)
        seconds, calls = bench.measure(words, options.turns)
        bare, each = seconds["bare"], ", ".join(f"{1e9 * (min(seconds[mode]) - min(seconds['bare'])) / calls:.0f}"
                                                for mode in tools if mode != "bare again")
        name = " ".join([pathlib.Path(words[0]).name, *words[1:]])
        print(f"| {name} | {1e3 * statistics.median(bare):.1f} | {calls / min(bare):,.0f} | "
              f"{' | '.join(ratio(seconds[mode], bare) for mode in tools)} | {each} |", flush=True)


def tell_agreement(bench, options):
    print("| program | call | line | calls: nplus1, mpiP | bytes | seconds |\n|---|---|---|---|---|---|")
    for program in options.programs:
        words = shlex.split(program)
        for (call, file, line), ours, theirs in bench.agreement(words):
            print(f"| {pathlib.Path(words[0]).name} | {call} | {file}:{line} | {ours[0]}, {theirs[0]} "
                  f"| {ours[1]}, {theirs[1]:.0f} | {ours[2]:.4f}, {theirs[2]:.4f} |", flush=True)


if __name__ == "__main__":
    main()
