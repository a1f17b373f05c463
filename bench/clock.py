#!/usr/bin/env python3
"""Virtual time with warm caches against the truth, on known work (bench/programs/known_work.c).

    bench/clock.py BUILD [--ranks 2,4,16,64] [--patterns ring,halo,...] [--steps N] [--imbalance rank,50] [--together N]
    bench/clock.py BUILD --differences [--percents 5,20,100,300] [--kinds rank,step,random,tasks] [--ranks 16,64] [--patterns ring]
    bench/clock.py BUILD --equal-work [--ranks 4,16,64] [--busy]
    bench/clock.py BUILD --at-random ROWS [--seed 1] [--ranks 2,4,16]

For each pattern and number of ranks: the program runs under `--compute warm`, `nplus1 clock` corrects its clock, and
the same program with the kernels' costs given instead of computed is the truth. The costs are measured alone, before
and after each run; where the two differ by more than 5 % the host's speed has changed, and the row says so.
Prints a table in Markdown: truth, and how far the virtual time is off as measured, at least, and as estimated, and
whether the stated interval holds the truth; at the end, of how many rows it does. With --differences: work that differs
by rank, by step, at random, and from task to task; the slope of the stretches' warm times against their true ones, and whether the sweep's
first fix is the one that the sweep of the truth has, and what either saves when it is carried out in the truth. With --together N each row is
what N runs tell together (`--repeat`). With --busy as many endless loops as there are cores run beside the program (not
beside the truth, nor while costs are measured). With --equal-work: what the sweep offers for balancing, per cent. With --at-random:
pattern, ranks, kernels, and how work differs (or does not) at random, and at the end the errors of all rows whose host kept
its speed.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import shlex
import statistics
import subprocess
import sys
import tempfile

from endless_loops import endless_loops


class Bench:
    def __init__(self, options):
        self.options = options
        self.steps = options.steps
        build = pathlib.Path(options.build).resolve()
        self.cases = self.held = 0
        self.errors, self.slopes = [], []  # per cent, of rows whose host kept its speed
        self.nplus1 = build / "bin" / "nplus1"
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="nplus1-clock-"))
        self.program = self.folder / "known_work"
        here = pathlib.Path(__file__).resolve().parent
        subprocess.run([options.mpicc, "-g", "-O2", f"-I{here.parent / 'include'}", here / "programs" / "known_work.c",
                        "-o", self.program, "-lm"], check=True)

    def costs(self):
        lines = subprocess.run([self.program, "costs"], check=True, text=True, capture_output=True).stdout.splitlines()
        return [float(line.split()[0]) for line in lines]

    def run(self, name, ranks, settings, words):
        output = self.folder / name
        subprocess.run([self.nplus1, "run", "-q", "-n", str(ranks), "-o", output, *settings, "--", self.program, *words],
                       check=True, stdout=subprocess.DEVNULL)
        return output

    def measure(self, pattern, ranks, imbalance):
        """The folders of run and truth, and whether the host kept its speed."""
        self.cases += 1
        words = [pattern, str(self.options.steps), "kernels", self.options.kernels]
        if imbalance:
            words += ["imbalance", *imbalance.split(",")]
        before = self.costs()
        together = self.options.together
        repeated = ["--repeat", str(together)] if together > 1 else []
        with endless_loops(os.cpu_count() if self.options.busy else 0):
            folder = self.run(f"{self.cases}", ranks, ["--compute", "warm", "--clock", "cpu", *repeated], words)
        if repeated:
            folder /= "together"
        after = self.costs()
        costs = [min(pair) for pair in zip(before, after)]
        truth = self.run(f"{self.cases}-truth", ranks, ["--compute", "fixed:0", "--record", "full"],
                         [*words, "given", *map(str, costs)])
        return folder, truth, all(abs(a - b) <= 0.05 * b for a, b in zip(after, before))

    def row(self, pattern, ranks, imbalance=None):
        folder, truth_folder, steady = self.measure(pattern, ranks, imbalance or self.options.imbalance)
        clock = self.clock(folder)
        truth = json.loads((truth_folder / "summary.json").read_text())["virtual_time_s"]
        held = clock["from_s"] <= truth <= clock["to_s"]
        self.held += held
        if steady:
            self.errors.append(100 * (clock["virtual_time_s"] / truth - 1))
        off = lambda key: 100 * (clock[key] / truth - 1)
        text = (f"{1e3 * truth:.2f} | {off('measured_s'):+.1f} | {off('lowest_s'):+.1f} | {off('virtual_time_s'):+.1f} "
                f"| {off('from_s'):+.1f} to {off('to_s'):+.1f}{'' if held else ' (no)'} | {clock['samples']} ")
        return text, folder, truth_folder, "|" if steady else "| host changed its speed |"

    def clock(self, folder):
        """Where no twin came back the clock is as measured, and nothing is said of how far it can be trusted."""
        if (folder / "clock.json").exists():
            return json.loads((folder / "clock.json").read_text())
        measured = json.loads((folder / "summary.json").read_text())["virtual_time_s"]
        times = ("virtual_time_s", "from_s", "to_s", "lowest_s", "measured_s")
        return dict.fromkeys(times, measured) | {"samples": 0}

    def plain(self, pattern, ranks):
        text, _, _, end = self.row(pattern, ranks)
        print(f"| {pattern} | {ranks} | {text}{end}", flush=True)

    def computing(self, folder, file):
        """Of each rank's events in turn, picoseconds."""
        subprocess.run([self.nplus1, "convert", "-q", folder, "-o", self.folder / file], check=True)
        of = collections.defaultdict(list)
        for line in (self.folder / file).read_text().splitlines():
            event = json.loads(line)
            if event["record"] == "event":
                of[event["rank"]].append(event.get("compute_ps", 0))
        return of

    def slope(self, folder, truth_folder):
        warm = self.computing(folder / "warm" if (folder / "warm").exists() else folder, f"{self.cases}.jsonl")
        truth = self.computing(truth_folder, f"{self.cases}-truth.jsonl")
        pairs = [p for rank in truth for p in zip(truth[rank], warm[rank]) if p[0] > 0]
        mean_x, mean_y = (sum(p[i] for p in pairs) / len(pairs) for i in (0, 1))
        return (sum((x - mean_x) * (y - mean_y) for x, y in pairs) / sum((x - mean_x) ** 2 for x, _ in pairs))

    def sweep(self, folder):
        file = self.folder / "sweep.json"
        subprocess.run([self.nplus1, "whatif", folder, "--sweep", "-q", "--json", file], check=True,
                       stdout=subprocess.DEVNULL)
        return json.loads(file.read_text())

    def fixes(self, folder):
        """Flags of the sweep's candidates by what they say, that with which it leads first; call sites have other numbers in each run."""
        candidates = sorted(self.sweep(folder)["candidates"], key=lambda c: not c["leads"])
        return {c["what"]: c["flags"] for c in candidates}

    def saved_in(self, folder, flags):
        """What the fix saves when it is carried out in the run of this folder, seconds; nothing if it is none there."""
        if flags is None:
            return 0.0
        file = self.folder / "carried_out.json"
        subprocess.run([self.nplus1, "whatif", folder, *shlex.split(flags), "-q", "--json", file], check=True,
                       stdout=subprocess.DEVNULL)
        return json.loads(file.read_text())["saved_s"]

    def judge_fix(self, folder, truth_folder):
        """Whether the first fix is the truth's, and what it saves in the truth beside what the truth's own saves, per cent."""
        truth = json.loads((truth_folder / "summary.json").read_text())["virtual_time_s"]
        in_truth = self.fixes(truth_folder)
        proposed, right = next(iter(self.fixes(folder)), None), next(iter(in_truth), None)
        saved = [100 * self.saved_in(truth_folder, in_truth.get(what)) / truth for what in (proposed, right)]
        return f"{'the same' if proposed == right else 'another' if proposed else 'none'} | {saved[0]:.1f} of {saved[1]:.1f}"

    def differences(self, pattern, ranks):
        for percent in self.options.percents.split(","):
            for kind in self.options.kinds.split(","):
                text, folder, truth_folder, end = self.row(pattern, ranks, f"{kind},{percent}")
                print(f"| {pattern} | {ranks} | {kind} | {percent} | {text}| {self.slope(folder, truth_folder):.3f} "
                      f"| {self.judge_fix(folder, truth_folder)} {end}", flush=True)

    def listed(self):
        return [(p, int(r)) for p in self.options.patterns.split(",") for r in self.options.ranks.split(",")]

    def drawn(self):
        self.chance = random.Random(self.options.seed)
        return self.chance.choices(self.listed(), k=self.options.at_random)

    def at_random(self, pattern, ranks):
        self.options.kernels = self.chance.choice(("01234", "0134", "01"))
        kind = self.chance.choice(("", "rank", "step", "random", "tasks"))
        percent = self.chance.choice((5, 20, 50, 100, 300)) if kind else 0
        # Of what would take a millisecond, a tenth is the program's beginning, which the truth has not.
        self.options.steps = self.steps * (10 if self.options.kernels == "01" and not kind else 1)
        text, folder, truth_folder, end = self.row(pattern, ranks, f"{kind},{percent}" if kind else None)
        slope = "-"
        if kind and end == "|":
            self.slopes.append(self.slope(folder, truth_folder))
            slope = f"{self.slopes[-1]:.3f}"
        print(f"| {pattern} | {ranks} | {self.options.kernels} | {kind or 'equal'} | {percent} | {text}| {slope} {end}",
              flush=True)

    def sum_up(self):
        errors = [abs(e) for e in self.errors] or [float("nan")]
        right = sum(0.97 <= s <= 1.03 for s in self.slopes)
        print(f"\nErrors: mean {statistics.mean(errors):.1f} %, largest {max(errors):.1f} %; slopes within 0.97 and 1.03: "
              f"{right} of {len(self.slopes)}")

    def equal_work(self, pattern, ranks):
        text, folder, _, end = self.row(pattern, ranks)
        sweep = self.sweep(folder)
        offered = max([c["saved_s"] for c in sweep["candidates"] if c["kind"] == "balance"] + [0])
        share = 100 * offered / self.clock(folder)["virtual_time_s"]
        print(f"| {pattern} | {ranks} | {text}| {share:.1f} {end}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--ranks", default="2,4,16,64")
    parser.add_argument("--patterns", default="ring,halo,wavefront,allreduce,workers")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--together", type=int, default=1)
    parser.add_argument("--kernels", default="01234")
    parser.add_argument("--imbalance", default="", help="rank|step|random|tasks,PERCENT")
    parser.add_argument("--differences", action="store_true")
    parser.add_argument("--mpicc", default="mpicc.mpich", help="mpicc.openmpi: programs of Open MPI's")
    parser.add_argument("--percents", default="5,20,100,300")
    parser.add_argument("--kinds", default="rank,step,random,tasks", help="of --differences")
    parser.add_argument("--equal-work", action="store_true")
    parser.add_argument("--busy", action="store_true")
    parser.add_argument("--at-random", type=int, metavar="ROWS", default=0)
    parser.add_argument("--seed", type=int, default=1, help="of --at-random")
    bench = Bench(parser.parse_args())
    times = "truth, ms | as measured, % | at least, % | with warm caches, % | nine of ten, % | twins"
    if bench.options.at_random:
        head, show = f"pattern | ranks | kernels | by | per cent | {times} | slope", bench.at_random
    elif bench.options.differences:
        head, show = f"pattern | ranks | by | per cent | {times} | slope | first fix | saves in truth, %", bench.differences
    elif bench.options.equal_work:
        head, show = f"pattern | ranks | {times} | balancing, %", bench.equal_work
    else:
        head, show = f"pattern | ranks | {times}", bench.plain
    print(f"| {head} |")
    print("|---" * (head.count("|") + 1) + "|")
    for pattern, ranks in bench.drawn() if bench.options.at_random else bench.listed():
        show(pattern, ranks)
    if bench.options.at_random:
        bench.sum_up()
    print(f"\nThe interval holds the truth in {bench.held} of {bench.cases} rows.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
