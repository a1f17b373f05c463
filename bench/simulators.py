#!/usr/bin/env python3
"""Simulators on the same workloads, in one run: nplus1's engine and replay, and SMPI's replay of the exported trace.

    simulators.py [--build DIR] [--runs 3] [WORKLOAD ...]        e.g. halo/64 ring/1024

Figures are thousands of messages (an isend and an irecv with their share of computing and waiting) per second of CPU,
user and system, of one process; medians, all systems taking turns. 8 KiB messages, 10 to 11 us of compute a step.
    loop             the events one by one, without network or MPI: the limit
    lsb, LogGOPS     the engine from memory; "replay": `nplus1 replay`, reading the recording included
    platform         `nplus1 replay --platform`, a flat cluster under SimGrid's SMPI model, reading included
    SimGrid          the same with SimGrid's solver (--simgrid solver:simgrid)
    SMPI             `smpirun -replay` of the time-independent trace that `nplus1 convert` writes, the same platform
    read, changed    per message, on the platform: flows whose rates are read, and whose rates change, when it begins to flow
                     and when it ends
    under way        flows on the way at such an event, on average
    memory           of the platform's replay, at most, MiB
    platform / SMPI  the ratio of the two
    at most          the ratio of a driver that takes no time but what SimGrid's network itself takes in our replay
                     (linear solver and actions, by perf, functions with names only, so this is never too small)
What a program of one step takes, starting up and reading the platform, is subtracted from the last two and the replays.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import tempfile

WORKLOADS = ["halo/16", "halo/64", "halo/256", "halo/1024", "halo/4096", "ring/64", "ring/1024", "alltoall/16",
             "alltoall/64", "random/1024"]
LSB = "lsb:latency=1e-6,bandwidth=1e10"
LOGGOPS = "loggops:L=2e-6,o=3e-7,g=1e-6,G=1e-10"
IN_MEMORY, MANY, FEW = 4_000_000, 1_000_000, 20_000  # messages: from memory, from recordings, on SimGrid
MOST_RANKS_OF_SIMGRID = 1024
SOLVER = ("--simgrid", "solver:simgrid")
RATIOS = ["platform / SMPI", "at most", "read", "changed"]  # in thousandths
NETWORK_OF_SIMGRID = re.compile(r"simgrid::kernel::(lmm|resource)::")
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><cluster id="c" prefix="n" suffix="" radical="0-{last}" speed="1Gf" bw="1.25GBps" lat="24us"
loopback_bw="5GBps" loopback_lat="0.5us"/></platform>
"""


def cpu_of(command, folder):
    """Seconds of CPU of a command and its children."""
    process = subprocess.Popen([str(w) for w in command], cwd=folder, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = process.stderr.read().decode(errors="replace")
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        raise SystemExit(f"{' '.join(map(str, command))} failed:\n{said}")
    return usage.ru_utime + usage.ru_stime


class Workload:
    """One pattern at one size: its recordings of several lengths, made on demand."""

    def __init__(self, name, bin_folder, folder):
        self.name, self.bin, self.folder = name, bin_folder, folder
        self.pattern, self.ranks = name.split("/")[0], int(name.split("/")[1])
        self.per_step = int(self.tool("messages"))
        (folder / "p.xml").write_text(PLATFORM.format(last=self.ranks - 1))
        (folder / "hosts").write_text("".join(f"n{r}\n" for r in range(self.ranks)))

    def tool(self, what, *more):
        words = [self.bin / "simulators", what, self.pattern, self.ranks, *more]
        return subprocess.run([str(w) for w in words], check=True, capture_output=True, text=True).stdout

    def steps(self, messages):
        return max(3, messages // self.per_step)

    def recording(self, steps):
        folder = self.folder / f"recording-{steps}"
        if not folder.exists():
            self.tool("record", steps, folder)
        return folder

    def trace(self, steps):
        folder = self.folder / f"trace-{steps}"
        if not folder.exists():
            subprocess.run([str(self.bin / "nplus1"), "convert", "-q", str(self.recording(steps)), "-o", str(folder),
                            "--to", "ti"], check=True)
        return folder

    def in_memory(self, what, *network):
        steps = self.steps(IN_MEMORY)
        return steps * self.per_step / float(self.tool(what, steps, *network))

    def rate(self, messages, command, input_of):
        """Messages per second of `command` in or on what `input_of` makes for a number of steps, start-up subtracted."""
        steps = self.steps(messages)
        seconds = cpu_of(*command(input_of(steps))) - cpu_of(*command(input_of(1)))
        return (steps - 1) * self.per_step / seconds

    def replay(self, messages, *network):
        return self.rate(messages, lambda recording: ([self.bin / "nplus1", "replay", "-q", recording, *network],
                                                      self.folder), self.recording)

    def smpi(self):
        return self.rate(FEW, lambda trace: ([
            "smpirun", "-np", self.ranks, "-platform", "../p.xml", "-hostfile", "../hosts", "-replay", "replay.txt",
            "--log=root.thres:critical", "--cfg=network/model:SMPI", "--cfg=surf/precision:1e-9"], trace), self.trace)

    def touched(self):
        """Flows read and changed per message, and those under way."""
        return map(float, self.tool("touched", max(3, min(20, self.steps(MANY)))).split())

    def memory(self):
        """MiB that a replay on the platform takes at most."""
        steps = self.steps(MANY)
        command = [self.bin / "nplus1", "replay", "-q", self.recording(steps), "--platform", "p.xml"]
        process = subprocess.Popen([str(w) for w in command], cwd=self.folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL)
        return os.wait4(process.pid, 0)[2].ru_maxrss / 1024

    def sharing(self):
        """Seconds of CPU per message in SimGrid's network: sharing links, and the actions that carry messages."""
        steps = self.steps(FEW)
        command = [self.bin / "nplus1", "replay", "-q", self.recording(steps), "--platform", "p.xml", *SOLVER]
        cpu_of(["perf", "record", "-q", "-o", "perf.data", *command], self.folder)
        report = subprocess.run(["perf", "report", "-i", "perf.data", "--stdio", "-F", "overhead,sym"], cwd=self.folder,
                                check=True, capture_output=True, text=True).stdout
        shares = [float(line.split("%")[0]) for line in report.splitlines() if NETWORK_OF_SIMGRID.search(line)]
        return sum(shares) / 100 * cpu_of(command, self.folder) / (steps * self.per_step)

    def figures(self):
        found = {"loop": self.in_memory("loop"), "lsb": self.in_memory("engine", LSB),
                 "LogGOPS": self.in_memory("engine", LOGGOPS), "lsb replay": self.replay(MANY, "--network", LSB),
                 "LogGOPS replay": self.replay(MANY, "--network", LOGGOPS)}
        found["platform"] = self.replay(MANY, "--platform", "p.xml")
        read, changed, found["under way"] = self.touched()
        found["read"], found["changed"] = 1000 * read, 1000 * changed
        found["memory"] = self.memory()
        if self.ranks <= MOST_RANKS_OF_SIMGRID:
            found["SimGrid"] = self.replay(FEW, "--platform", "p.xml", *SOLVER)
            if shutil.which("smpirun"):
                found["SMPI"] = self.smpi()
                found["platform / SMPI"] = 1000 * found["platform"] / found["SMPI"]
                if shutil.which("perf"):
                    found["at most"] = 1000 / (self.sharing() * found["SMPI"])
        return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("workloads", nargs="*", default=WORKLOADS)
    arguments = parser.parse_args()
    columns = ["loop", "lsb", "LogGOPS", "lsb replay", "LogGOPS replay", "platform", "SimGrid", "SMPI", *RATIOS, "under way",
               "memory"]
    print("| workload | " + " | ".join(columns) + " |\n|---" * 1 + "|---" * len(columns) + "|", flush=True)
    everything = {}
    for name in arguments.workloads:
        with tempfile.TemporaryDirectory(prefix="nplus1-simulators-") as folder:
            workload = Workload(name, (arguments.build / "bin").resolve(), pathlib.Path(folder))
            runs = [workload.figures() for _ in range(arguments.runs)]
        medians = {c: statistics.median(r[c] for r in runs) for c in columns if c in runs[0]}
        everything[name] = runs
        whole = ("under way", "memory")
        cells = ["" if c not in medians else f"{medians[c]:,.0f}" if c in whole else f"{medians[c] / 1000:.2f}" if c in RATIOS
                 else f"{medians[c] / 1000:,.0f}" for c in columns]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(everything, indent=1))


if __name__ == "__main__":
    main()
