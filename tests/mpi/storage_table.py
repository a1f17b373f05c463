#!/usr/bin/env python3
"""The storage model, swept: what each rank's access took in virtual time, live, against its closed form
(docs/files.md), over sizes, clients and stripes. As a script it prints the table of docs/files.md; the suite files_test
holds a sample.

    storage_table.py [--clients 1,2,4,8,16] [--stripes 1,4,7] [--sizes 1,1000,...]

All p clients access s bytes each at one time, one's behind the other's. Until rank r has its bytes, server j has moved
what lies on it of the file's first (r + 1) s bytes, and so, with the symbols of docs/files.md,

    end - t = L + max(s / c, n / B  max_j S_j((r + 1) s))   over the servers j that have bytes of rank r, with
    S_j(x) = w floor(x / (n w)) + min(w, max(0, x mod (n w) - j w))

but for a picosecond by which each of the r + 1 requests is rounded at most, at a client or a server, and that of the
clock's digits.

Environment: NPLUS1 the command, NPLUS1_TEST_PROGRAMS the folder of the programs in programs/."""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
from fractions import Fraction

PICOSECOND = Fraction(1, 10**12)
LATENCY, CLIENT, TOTAL, STRIPE = Fraction(1, 10**4), 10**9, 10**10, 2**20  # the defaults
READING = 20000 * PICOSECOND  # what the second reading of the clock costs, before it is made
SIZES = (1, 1000, 65536, 2**20, 2**20 + 1, 3000001, 2**22)


def storage(stripes):
    return f"latency=100us,client=1GB/s,total=10GB/s,stripes={stripes},stripe=1MiB"


def on_server(server, stripes, first_bytes):
    """S_j: of a file's first bytes, those that lie on the server."""
    rounds, rest = divmod(first_bytes, stripes * STRIPE)
    return rounds * STRIPE + min(STRIPE, max(0, rest - server * STRIPE))


def closed_form(size, rank, stripes):
    """Seconds from the call to its end, exactly."""
    before, behind = rank * size, (rank + 1) * size
    busiest = max((on_server(j, stripes, behind) for j in range(stripes)
                   if on_server(j, stripes, behind) > on_server(j, stripes, before)), default=0)
    return LATENCY + max(Fraction(size, CLIENT), Fraction(stripes * busiest, TOTAL))


def bound(rank):
    return (rank + 3) * PICOSECOND


def accesses(text):
    """[(bytes, "write" or "read", rank, begin, end)] of what programs/storage.c printed."""
    return [(int(size), kind, int(rank), Fraction(begin), Fraction(end))
            for size, kind, rank, begin, end in map(str.split, text.splitlines())]


def differences(text, clients, stripes, sizes=SIZES):
    """{bytes: (the longest access, seconds; by how much one is off its closed form at most, picoseconds)}; an
    AssertionError where one is further off than rounding explains, or where they did not begin together."""
    found, begun = {}, {}
    read = accesses(text)
    assert len(read) == 2 * clients * len(sizes), f"{len(read)} accesses"
    for size, kind, rank, begin, end in read:
        name = f"{kind} of {size} bytes, rank {rank}"
        assert begun.setdefault((size, kind), begin) == begin, f"{name} begins at another time"
        off = abs(end - begin - READING - closed_form(size, rank, stripes))
        assert off <= bound(rank), f"{name}: {float(off / PICOSECOND)} ps off"
        longest, worst = found.get(size, (0, 0))
        found[size] = max(longest, end - begin - READING), max(worst, off / PICOSECOND)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    def numbers(text):
        return [int(word) for word in text.split(",")]
    parser.add_argument("--clients", type=numbers, default=[1, 2, 4, 8, 16])
    parser.add_argument("--stripes", type=numbers, default=[1, 4, 7])
    parser.add_argument("--sizes", type=numbers, default=list(SIZES))
    options = parser.parse_args()
    program = pathlib.Path(os.environ["NPLUS1_TEST_PROGRAMS"]) / "storage"
    print("| clients | stripes | " + " | ".join(f"{size} bytes, ms" for size in options.sizes) + " | off by at most |")
    print("|---|---|" + "---|" * (len(options.sizes) + 1))
    with tempfile.TemporaryDirectory(prefix="nplus1-storage-") as folder:
        for clients in options.clients:
            for stripes in options.stripes:
                command = [os.environ["NPLUS1"], "run", "-q", "-n", str(clients), "-o", f"out-{clients}-{stripes}",
                           "--compute", "fixed:0", "--network", "lsb:latency=1us,bandwidth=1GB/s",
                           "--storage", storage(stripes), "--", program, *map(str, options.sizes)]
                done = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)
                if done.returncode:
                    sys.exit(f"storage_table: {done.stderr}")
                found = differences(done.stdout, clients, stripes, options.sizes)
                times = " | ".join(f"{1e3 * float(found[size][0]):.6f}" for size in options.sizes)
                worst = float(max(off for _, off in found.values()))
                print(f"| {clients} | {stripes} | {times} | {worst:.1f} ps |", flush=True)


if __name__ == "__main__":
    main()
