#!/usr/bin/env python3
"""Random platforms: nplus1's flows and SimGrid's (network/optim:Full), message by message (docs/networks.md).

    bench/random_platforms.py [--build build] [--first 1] [--platforms 1000] [--jobs 2]

Each platform (seed) is taken under SMPI, LV08 and CM02 with some 1200 messages in 20 sets. Messages that differ by more than
1e-8 of their time are counted. Of sets in which one differs by more than 1e-6, bench/exact_shares.py says who is right; the
exit code is 1 where that is not nplus1, or where SimGrid's difference is not explained.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import exact_shares

STEP = 25


def compare(binary, folder, first, last):
    """Of the platforms from `first` to `last`: messages, those beyond 1e-8, the largest difference, those beyond where
    latencies are 0, and the lines of what failed. Sets that differ are left in `folder`."""
    run = subprocess.run([binary, "--gtest_filter=Simgrid.*RandomPlatforms"], capture_output=True, text=True,
                         env={**os.environ, "NPLUS1_RANDOM_PLATFORMS": f"{first}:{last}",
                              "NPLUS1_KEEP_DIFFERENCES": folder})
    said = re.search(r"(\d+) messages on \d+ platforms: (\d+) more than 1e-8 apart, at most ([^;]+); (\d+) where",
                     run.stdout)
    failed = re.findall(r"^platform .*", run.stdout, re.M)
    if not said:
        failed.append(f"platforms {first} to {last}: the test did not end (exit code {run.returncode})")
    return (int(said[1]), int(said[2]), float(said[3]), int(said[4]), failed) if said else (0, 0, 0.0, 0, failed)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--platforms", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=2)
    words = parser.parse_args()
    end = words.first + words.platforms
    parts = [(first, min(end, first + STEP) - 1) for first in range(words.first, end, STEP)]
    with tempfile.TemporaryDirectory(prefix="nplus1-platforms-") as folder:
        with concurrent.futures.ThreadPoolExecutor(words.jobs) as pool:
            done = list(pool.map(lambda part: compare(words.build / "bin" / "netmodel_simgrid_test", folder, *part), parts))
        failed = [line for part in done for line in part[4]]
        messages, beyond, without = (sum(part[i] for part in done) for i in (0, 1, 3))
        print(f"{messages} messages on {words.platforms} platforms under three models: {beyond} more than 1e-8 apart, at most "
              f"{max(part[2] for part in done):.2g}; {without} on platforms where some latencies are 0; {len(failed)} sets failed")
        print("\n".join(failed))
        explained = exact_shares.judge_all(sorted(pathlib.Path(folder).glob("*.csv")))
    return 0 if explained else 1


if __name__ == "__main__":
    sys.exit(main())
