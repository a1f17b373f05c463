#!/usr/bin/env python3
"""An EZTrace archive of an MPICH program gives the same message matrix as our own run of it. Not in ctest: EZTrace is no
dependency (apt-get install eztrace).

Usage: eztrace_matrix.py NPLUS1 RANKS PROGRAM [ARGUMENTS]. Programs that use MPI_Sendrecv differ: EZTrace leaves it out.
"""
import collections
import json
import pathlib
import subprocess
import sys
import tempfile


def matrix_of(path):
    messages, size = collections.Counter(), collections.Counter()
    for line in path.read_text().splitlines():
        event = json.loads(line)
        if event.get("kind") in ("send", "isend") and event.get("peer", 0) >= 0:
            messages[event["rank"], event.get("peer", 0)] += 1
            size[event["rank"], event.get("peer", 0)] += event.get("size", 0)
    return messages, size


def matrix_of_csv(path):
    rows = [line.split(",") for line in path.read_text().splitlines()]
    return collections.Counter({(i, j): int(n) for i, row in enumerate(rows) for j, n in enumerate(row) if int(n)})


def main():
    nplus1, ranks, *program = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        subprocess.run(["mpirun.mpich", "-np", ranks, "eztrace", "-t", "mpich", "-o", folder / "ez", *program], check=True,
                       stdout=subprocess.DEVNULL, timeout=300)
        archive = next((folder / "ez").rglob("*.otf2"))
        subprocess.run([nplus1, "convert", archive, "-o", folder / "ez.jsonl"], check=True)
        subprocess.run([nplus1, "run", "-n", ranks, "-o", folder / "own", "--", *program], check=True,
                       stdout=subprocess.DEVNULL, timeout=300)
        messages, size = matrix_of(folder / "ez.jsonl")
        summary = json.loads((folder / "own/summary.json").read_text())
        print("EZTrace:", sum(messages.values()), "messages,", sum(size.values()), "bytes")
        files = sorted(p.name for p in (folder / "own").iterdir())
        own = matrix_of_csv(folder / "own/messages.csv")
        own_size = matrix_of_csv(folder / "own/bytes.csv")
        assert messages == own, (messages, own, files, list(summary))
        assert size == own_size, (size, own_size)
        print("equal to our own run")


if __name__ == "__main__":
    main()
