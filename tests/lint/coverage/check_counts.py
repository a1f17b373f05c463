#!/usr/bin/env python3
"""Runs a program on 2 ranks with the probe preloaded; its counts must be exactly those given.

    check_counts.py MPIRUN PROBE PROGRAM NAME=COUNT...
"""
import subprocess
import sys


def main():
    mpirun, probe, program, *expected = sys.argv[1:]
    run = subprocess.run([mpirun, "-np", "2", "-genv", "LD_PRELOAD", probe, "-genv", "NPLUS1_NATIVE", "1", program],
                         capture_output=True, text=True, timeout=100, check=False)
    counted = sorted(line.split()[1] + "=" + line.split()[2] for line in run.stderr.splitlines()
                     if line.startswith("probe "))
    if run.returncode != 0 or counted != sorted(expected):
        sys.exit(f"exit code {run.returncode}\ncounted:  {counted}\nexpected: {sorted(expected)}\n{run.stderr[-2000:]}")


if __name__ == "__main__":
    main()
