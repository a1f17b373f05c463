#!/usr/bin/env python3
"""Programs of OpenMP whose members do what random numbers say (programs/teams.c, "random"): barriers, loops, critical sections, teams
within teams, messages. Each must end as it does bare, have with given compute times the same virtual times when it is run again
with random delays and when it is replayed, and with measured ones no decision by force and no time on which ranks and simulator
disagree.

    random_teams.py [--cases N] [--seed S]      with NPLUS1 and NPLUS1_TEST_PROGRAMS as in live.py
"""
import argparse
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

from live import NPLUS1, environment, path_of

LIMIT = 60
ROUNDS = 24


def run(folder, ranks, words, *options, more=None):
    """The summary, and what was wrong with how the program ended."""
    try:
        done = subprocess.run([NPLUS1, "run", "-q", "-n", str(ranks), "-o", folder, *options, "--", path_of("teams"), *words],
                              capture_output=True, text=True, timeout=LIMIT, env=environment(more))
    except subprocess.TimeoutExpired:
        return None, "does not end"
    if done.returncode != 0 or sorted(re.findall(r"rank \d done", done.stdout)) != [f"rank {i} done" for i in range(ranks)]:
        return None, f"ends with {done.returncode}: {done.stdout[-300:]}{done.stderr[-300:]}"
    return json.loads((folder / "summary.json").read_text()), ""


def faults_of(seed, scratch):
    chance = random.Random(seed)
    ranks, words = chance.choice([2, 3, 4]), ["random", str(chance.choice([2, 3, 4])), str(ROUNDS), str(seed)]
    given = ("--compute", "fixed:1e-6")
    first, wrong = run(scratch / "first", ranks, words, *given)
    if wrong:
        return [wrong]
    faults = []
    file = scratch / "replay.json"
    subprocess.run([NPLUS1, "replay", "-q", scratch / "first", "--json", file], check=True, stdout=subprocess.DEVNULL)
    if json.loads(file.read_text())["rank_end_s"] != first["rank_end_s"]:
        faults.append("the replay has other times")
    again, wrong = run(scratch / "again", ranks, words, *given, more={"NPLUS1_TEST_DELAY": f"random:{seed}:0.0005"})
    if wrong or again["rank_end_s"] != first["rank_end_s"]:
        faults.append(wrong or "other times under random delays")
    measured, wrong = run(scratch / "measured", ranks, words, "--clock", "cpu")
    trust = {} if wrong else measured["trust"]
    if wrong or any(trust[key] for key in ("forced_decisions", "order_inversions", "clock_mismatches")):
        faults.append(wrong or f"measured: {trust}")
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    failed = 0
    for seed in range(options.seed, options.seed + options.cases):
        with tempfile.TemporaryDirectory(prefix="nplus1-teams-") as scratch:
            faults = faults_of(seed, pathlib.Path(scratch))
        failed += bool(faults)
        for fault in faults:
            print(f"seed {seed}: {fault}", flush=True)
    print(f"{options.cases - failed} of {options.cases} right")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
