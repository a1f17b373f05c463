#!/usr/bin/env python3
"""Makes every write, rename, ftruncate, mmap ... of ours fail in turn, as on a full disk or without memory: the n-th of the
command, of the simulator, of a rank's library (failing_calls.c), n from 1 until there is none. (A keeper makes none.) Jobs of
several kinds: what a rank does depends on it.

Each time the program's output and exit code are its own; each file under its final name is whole; what is missing is said, with
cause, consequence and what to do; no process, no shared memory and no temporary file is left.

    failing_calls.py [--sample N] [--seed S] [--only WORD ...] [--mpi openmpi]      with NPLUS1 and NPLUS1_TEST_PROGRAMS as in live.py;
of Open MPI with NPLUS1_OPENMPI_TEST_PROGRAMS, the folder of the programs built by its compilers.
"""
import argparse
import collections
import csv
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

from live import NPLUS1, environment, left_in_shared_memory, path_of, shared_files, wait_until
from random_kills import marked
from recorded import Recording

HERE = pathlib.Path(__file__).parent
LIMIT_S = 60
SCRIPTS = ["repeat 300 { send 1 100; recv -1 100; allreduce 8 }", "repeat 300 { recv 0 100; send 0 100; allreduce 8 }"]
DISK = [(call, how) for call in ("write", "rename", "open", "mkdir") for how in ("once", "full")] + [("write", "short")]
MEMORY = [(call, "once") for call in ("ftruncate", "memfd_create", "mmap")]
WHO = {"command": DISK + MEMORY, "simulator": DISK + MEMORY, "rank": [("write", "full"), ("open", "once"), *MEMORY]}
WAYS = {"simulated": (), "statistics": ("--patterns-only",), "tcp": ("--transport", "tcp"),
        "native": ("--native", "--record", "full"), "warm": ("--compute", "warm"), "accesses": ("--record-accesses",)}
WANTED = {"statistics": {"patterns.json", "statistics.n1stat"}}
SAYS_WHAT_IS_MISSING = re.compile(r"not complete|no result|lacks|has stopped|cannot|could not|Nothing was recorded")


class Jobs:
    """Jobs of one kind in a folder, each with one call that fails."""

    def __init__(self, scratch, program):
        self.scratch, self.number, self.program = pathlib.Path(scratch), 0, program
        self.library = self.scratch / "libfailing.so"
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", self.library, HERE / "failing_calls.c", "-ldl"], check=True)
        (self.scratch / "tmp").mkdir()
        self.simulator = self.scratch / "simulator"  # what our library preloads into it, a rank does not hand on
        self.simulator.write_text(f'#!/bin/sh\nLD_PRELOAD={self.library} exec {NPLUS1.parent}/nplus1-simnode "$@"\n')
        self.simulator.chmod(0o755)

    def run(self, way, fault=None):
        """(what was wrong, None if no call failed, and the message)."""
        self.number += 1
        out, mark = self.scratch / f"out-{self.number}", self.scratch / f"mark-{self.number}"
        more = {"LD_PRELOAD": self.library, "FAILING_CALLS": fault, "FAILING_CALLS_MARK": mark,
                "NPLUS1_SIMNODE": self.simulator, "UCX_MEM_MMAP_HOOK_MODE": "none"} if fault else {}  # UCX replaces mmap, too
        files, name = shared_files(), f"failing-{os.getpid()}-{self.number}"
        job = subprocess.Popen([str(NPLUS1), "run", "-n", "2", "-o", str(out), *WAYS[way], "--", self.program, *SCRIPTS],
                               cwd=self.scratch, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, env=environment({"JOB_NAME": name, "TMPDIR": self.scratch / "tmp", **more}))
        try:
            output, said = job.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            job.terminate()
            output, said = job.communicate()
            return ["hangs"], said
        problems = self.left_behind(name.encode(), files)
        if fault and not mark.exists():
            return None, said
        never_began = job.returncode == 73 and not output  # the folder could not be made: said before anything runs
        if not never_began:
            problems += [] if job.returncode == 0 else [f"exit code {job.returncode}"]
            problems += [] if output == "from 1, tag 0, 100 bytes\n" * 300 else ["the program's output"]
            problems += problems_of(out, said, way, fault is not None)
        return problems, said

    def left_behind(self, name, files):
        left = wait_until(lambda: not marked(name), 10) or marked(name)
        problems = [] if left is True else [f"processes {left}"]
        return problems + [f"left {f}" for f in [*left_in_shared_memory(files), *os.listdir(self.scratch / "tmp")]]


def problems_of(out, said, way, faulty):
    """What is wrong with a result folder, and with what was said of it."""
    wanted = WANTED.get(way, {"summary.json", "report.html", "patterns.json"})
    problems, missing = [], [name for name in wanted if not (out / name).exists()]
    for file in out.rglob("*"):
        if ".part" in file.name:
            problems.append(f"{file.name} is left")
        elif file.is_file() and not is_whole(file):
            problems.append(f"{file.name} is not whole")
    whole = recording_is_whole(out, problems) if way != "statistics" else True
    told = [line for line in said.splitlines() if SAYS_WHAT_IS_MISSING.search(line)]
    if (missing or not whole) and not told:
        problems.append(f"nothing is said of {missing or 'the recording'}")
    if not missing and whole and told and not faulty:
        problems.append(f"says {told}")
    return problems


def is_whole(file):
    try:
        if file.suffix == ".json":
            json.loads(file.read_text())
        elif file.suffix == ".html":
            return file.read_text().rstrip().endswith("</html>")
        elif file.suffix == ".csv":
            return len({len(row) for row in csv.reader(file.read_text().splitlines())}) == 1 and file.read_text().endswith("\n")
    except ValueError:
        return False
    return file.suffix == ".n1r" or file.name == "error.txt" or file.stat().st_size > 0  # there may be no room for the reason


def recording_is_whole(out, problems):
    """Whether it is; an empty one, and one that says where it ends and why, are no problem."""
    file = out / "recording/events.n1r"
    if not file.exists() or file.stat().st_size < 64:
        return False
    try:
        coverage = Recording(out).coverage
    except AssertionError as error:
        problems.append(f"recording: {error}")
        return False
    return coverage["complete"]


def faults():
    """(way, who, call, how, n) in order; how many there are shows only when they are tried."""
    for way in WAYS:
        for who, calls in WHO.items():
            if way == "statistics" and who == "simulator" or way not in ("simulated", "statistics") and who != "rank":
                continue  # has none; does what it does in a simulated job
            for call, how in calls:
                yield way, who, call, how


def try_all(jobs, kinds):
    counts, findings = collections.Counter(), 0
    for way, who, call, how in kinds:
        for n in range(1, 10000):
            problems, said = jobs.run(way, f"{who} {call} {n} {how}")
            if problems is None:
                break
            counts[way, who, call, how] += 1
            findings += tell(way, who, call, how, n, problems, said)
        print(f"{way:10} {who:9} {call:12} {how:5}: {counts[way, who, call, how]} calls", flush=True)
    return sum(counts.values()), findings


def tell(way, who, call, how, n, problems, said):
    if not problems:
        return 0
    print(f"{way} {who} {call} {n} {how}: {'; '.join(problems)}\n    " + said[-1500:].replace("\n", "\n    "), flush=True)
    return 1


def try_some(jobs, kinds, number):
    """That many that did fail, drawn from these kinds; most have few calls."""
    tried, findings = 0, 0
    for _ in range(10 * number):
        way, who, call, how = random.choice(kinds)
        n = min(random.choice((1, 2, 3, 5, 8, 13, 21)), 21 if call == "write" else 5)
        problems, said = jobs.run(way, f"{who} {call} {n} {how}")
        if problems is None:
            continue
        tried += 1
        findings += tell(way, who, call, how, n, problems, said)
        if tried == number:
            break
    return tried, findings


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=[], help="kinds that have all of these words")
    parser.add_argument("--mpi", choices=("mpich", "openmpi"), default="mpich")
    options = parser.parse_args()
    if options.mpi == "openmpi":
        for refused in ("statistics", "warm", "accesses"):
            del WAYS[refused]
    random.seed(options.seed)
    with tempfile.TemporaryDirectory(prefix="nplus1-failing-") as folder:
        jobs = Jobs(folder, path_of("script") if options.mpi == "mpich" else
                    str(pathlib.Path(os.environ["NPLUS1_OPENMPI_TEST_PROGRAMS"]) / "script"))
        kinds = [kind for kind in faults() if set(options.only) <= set(kind)]
        for way in {way for way, *_ in kinds}:
            problems, said = jobs.run(way)
            if problems:
                sys.exit(f"without a fault: {problems}\n{said}")
        tried, findings = try_some(jobs, kinds, options.sample) if options.sample else try_all(jobs, kinds)
    print(f"{tried} calls failed, {findings} findings")
    return 1 if findings or not tried else 0


if __name__ == "__main__":
    sys.exit(main())
