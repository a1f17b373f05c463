#!/usr/bin/env python3
"""Runs the time-independent trace of a run in SimGrid's SMPI, and compares the messages that SMPI saw with the run's.

Usage: replay_in_smpi.py SAMPLE_RUN NPLUS1. SMPI traces its own replay as a time-independent trace again, which is the
independent count.
"""
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

RANKS = 4
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><cluster id="c" prefix="n" suffix="" radical="0-3" speed="1Gf" bw="1GBps" lat="1us"/></platform>
"""


def messages_of_run(path):
    """(source, destination) -> (messages, bytes), point-to-point of the application."""
    matrix = collections.Counter()
    size = collections.Counter()
    for line in path.read_text().splitlines():
        event = json.loads(line)
        if event.get("kind") in ("send", "isend") and event.get("peer", 0) >= 0:
            matrix[event["rank"], event.get("peer", 0)] += 1
            size[event["rank"], event.get("peer", 0)] += event.get("size", 0)
    return matrix, size


def messages_of_smpi(folder, list_file):
    matrix = collections.Counter()
    size = collections.Counter()
    collectives = collections.Counter()
    for name in list_file.read_text().split():
        for line in (folder / name).read_text().splitlines():
            words = line.split()
            if words[1] in ("send", "isend"):
                matrix[int(words[0]), int(words[2])] += 1
                size[int(words[0]), int(words[2])] += int(words[4])
            elif words[1] not in ("init", "finalize", "compute", "recv", "irecv", "wait", "waitall", "test"):
                collectives[words[1]] += 1
    return matrix, size, collectives


def main():
    sample_run, nplus1 = (pathlib.Path(p).resolve() for p in sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        subprocess.run([sample_run, folder / "run.jsonl"], check=True)
        subprocess.run([nplus1, "convert", "-q", folder / "run.jsonl", "-o", folder / "run.ti"], check=True)
        (folder / "run.ti/p.xml").write_text(PLATFORM)
        (folder / "run.ti/hosts").write_text("".join(f"n{i}\n" for i in range(RANKS)))
        replay = subprocess.run(["smpirun", "-np", str(RANKS), "-platform", "p.xml", "-hostfile", "hosts", "-trace-ti",
                                 "-replay", "replay.txt"], cwd=folder / "run.ti", capture_output=True, text=True,
                                timeout=100)
        said = replay.stdout + replay.stderr
        assert replay.returncode == 0 and "Simulation time" in said, said[-3000:]
        matrix, size = messages_of_run(folder / "run.jsonl")
        seen, seen_size, collectives = messages_of_smpi(folder / "run.ti", folder / "run.ti/smpi_simgrid.txt")
        # The broadcast on the communicator of ranks 3 and 1 is one message of 512 bytes.
        matrix[1, 3] += 1
        size[1, 3] += 512
        assert seen == matrix, (seen, matrix)
        assert seen_size == size, (seen_size, size)
        assert collectives["barrier"] == RANKS and collectives["bcast"] == RANKS, collectives
        print(said.strip().splitlines()[-1])


if __name__ == "__main__":
    main()
