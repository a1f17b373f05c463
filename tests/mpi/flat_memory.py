#!/usr/bin/env python3
"""Whether the memory of a job stays flat: a long run of programs/long_lived.c (halo, collectives, wildcards, probes, cancelled
receives, persistent requests, communicators, datatypes and windows that come and go), with the resident memory of each of its
processes looked at a hundred times.

    flat_memory.py [--seconds S] [--pause US] [--ranks N] [--slack MIB] [--bare] [OPTION OF RUN...]
                                                           with NPLUS1 and NPLUS1_TEST_PROGRAMS as in live.py

Prints the largest memory of each kind of process in each quarter of the run, and exits with 1 if one has in the last quarter
`slack` MiB more than in the second, or if a kind was not seen in both. --bare: the program alone, for comparison.
"""
import argparse
import collections
import pathlib
import subprocess
import sys
import tempfile

from live import MPIRUN, NPLUS1, descendants, environment, path_of
from recorded import Recording

LOOKS = 100
# By the names of processes. mpirun and its proxy are not ours, but what hangs on them is.
KINDS = {"nplus1-simnode": "simulator", "nplus1-keeper": "keepers", "long_lived": "ranks", "nplus1": "command",
         "mpirun.mpich": "launcher", "hydra_pmi_proxy": "launcher"}


def resident(process):
    """Resident bytes of a process, its shared ones included; 0 if it has ended."""
    try:
        pages = int(pathlib.Path(f"/proc/{process}/statm").read_text().split()[1])
    except OSError:
        return 0
    return 4096 * pages


def watch(job, seconds):
    """[{kind: bytes of the largest process}], one entry a look."""
    looks = []
    while job.poll() is None:
        found = collections.Counter()
        for process, name in {job.pid: "nplus1", **descendants(job.pid)}.items():
            if name in KINDS:
                found[KINDS[name]] = max(found[KINDS[name]], resident(process))
        if found["ranks"]:  # not what comes before and after the program
            looks.append(found)
        try:
            job.wait(seconds / LOOKS)
        except subprocess.TimeoutExpired:
            pass
    return looks


def quarters(looks, kind):
    size = len(looks) // 4
    return [max((look[kind] for look in looks[q * size:(q + 1) * size]), default=0) for q in range(4)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--pause", type=int, default=500)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--slack", type=float, default=1.0)
    parser.add_argument("--bare", action="store_true")
    options, more = parser.parse_known_args()
    program = [path_of("long_lived"), str(options.seconds), str(options.pause)]
    with tempfile.TemporaryDirectory() as scratch:
        result = pathlib.Path(scratch) / "result"
        start = ([MPIRUN, "-n", str(options.ranks)] if options.bare else
                 [str(NPLUS1), "run", "-q", "-n", str(options.ranks), "-o", str(result), *more, "--"])
        with subprocess.Popen([*start, *program], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                              env=environment()) as job:
            looks = watch(job, options.seconds)
            said = job.stdout.read().strip()
        if job.returncode != 0:
            sys.exit(f"flat_memory: the job ended with {job.returncode}")
        print(f"{options.ranks} ranks, {options.seconds} s: {said}", end="")
        if (result / "recording.nplus1").exists():
            events = Recording(result / "recording.nplus1").description["events"]
            print(f", {events} events in {(result / 'recording.nplus1').stat().st_size / 1e6:.1f} MB", end="")
    print("\n| largest, MiB | first quarter | second | third | last |\n|---|---|---|---|---|")
    grown = []
    for kind in sorted({kind for look in looks for kind in look}):
        by_quarter = quarters(looks, kind)
        print(f"| {kind} | " + " | ".join(f"{b / 2**20:.1f}" for b in by_quarter) + " |")
        if by_quarter[1] == 0 or by_quarter[3] == 0 or by_quarter[3] - by_quarter[1] > options.slack * 2**20:
            grown.append(kind)
    expected = {"ranks"} if options.bare else {"ranks", "simulator", "keepers", "command"}
    missing = expected.difference(*looks)
    if grown or missing:
        sys.exit(f"not flat: {', '.join(grown) or '-'}; never seen: {', '.join(missing) or '-'}")


if __name__ == "__main__":
    main()
