#!/usr/bin/env python3
"""One-sided communication beside SMPI's, on the same platforms. SMPI carries its calls out by rules of its own: so each pattern
of programs/smpi_one_sided.c is there as calls, as messages that do what docs/one_sided.md says of the calls, and as messages that
do what SMPI's calls do. nplus1's calls must end when SMPI ends the first kind of messages; that SMPI's calls end with the second
says what its rules are. As a script it prints the tables of docs/one_sided.md; the suite one_sided_smpi_test holds a sample.

    one_sided_table.py [--ranks 8] [--model SMPI] [--sizes 8,65536,1048576] [--patterns put,fence] [PLATFORM...]

Environment: NPLUS1 the command, NPLUS1_TEST_PROGRAMS the folder of the programs in programs/."""
import argparse
import math
import os
import pathlib
import subprocess
import sys
import tempfile
from decimal import Decimal

import smpi_table

SOURCE = smpi_table.SOURCE.parent / "smpi_one_sided.c"
PATTERNS = ("put", "get", "accumulate", "get_accumulate", "read_atomically", "fetch_and_op", "compare_and_swap", "rput", "rget",
            "to_all", "from_all", "ring", "fence", "fences", "groups", "groups_ring", "lock", "turns", "lock_all")
# Who acts: in messages the others answer for their network interfaces.
EVERYBODY, OTHERS, PAIR = ("ring", "fence", "fences", "groups_ring"), ("from_all", "turns"), ("groups",)
# Where messages cannot do the same: fences and groups whose members are still answering others, locks whose order of arrival is
# no order of messages. On paths that are equally long that makes no difference.
EQUALLY_LONG = ("cluster64",)
WHERE_EQUALLY_LONG = ("fences", "groups_ring", "turns")
# Whose rule in SMPI messages cannot show: what these calls wait for depends on what others have begun by then, and a window's
# flushes wait for each other.
WITHOUT_RULE, WITHOUT_RULE_ELSEWHERE = ("groups_ring", "turns"), ("from_all", "ring")


def built_for_smpi(folder):
    program = pathlib.Path(folder) / "smpi_one_sided.smpi"
    if not program.exists() or program.stat().st_mtime < SOURCE.stat().st_mtime:
        subprocess.run(["smpicc", "-O1", "-w", "-o", program, SOURCE], check=True)
    return program


def acts(pattern, rank):
    return pattern in EVERYBODY or rank == 0 and pattern not in OTHERS or rank > 0 and pattern in OTHERS or rank == 1 and pattern in PAIR


def since_the_start(pattern, text, reading=Decimal(0)):
    """Of each rank that acts: from rank 0's start to its end. Whose turn is whose, where all come together, is no matter."""
    lines = sorted((int(rank), Decimal(start), Decimal(end)) for rank, start, end in map(str.split, text.splitlines()))
    ends = [end - lines[0][1] - reading for rank, _, end in lines if acts(pattern, rank)]
    return sorted(ends) if pattern == "turns" else ends


def digits(ours, theirs):
    """That agree, of the worst rank, on the scale of the longest."""
    worst, largest = max(abs(a - b) for a, b in zip(ours, theirs, strict=True)), max(map(abs, theirs))
    return smpi_table.MOST_DIGITS if worst == 0 else min(smpi_table.MOST_DIGITS, -math.log10(worst / (largest or worst)))


def in_smpi(form, pattern, size, platform, ranks, model, programs, scratch):
    words = (built_for_smpi(programs), form, pattern, size)
    return since_the_start(pattern, smpi_table.run_in_smpi(words, platform, ranks, model, scratch)[0])


def in_nplus1(pattern, size, platform, ranks, model, programs, scratch):
    """Both readings of the clock are paid for before they are made: the second counts."""
    pauses = pathlib.Path(scratch) / "pauses"
    pauses.write_text("* MPI_Ssend 20ms\n")
    line = [os.environ["NPLUS1"], "run", "-q", "-n", ranks, "--record", "off", "--compute", f"file:{pauses}", "--platform", platform, "--model",
            model, "--collectives", "simgrid:default", "-o", pathlib.Path(scratch) / "nplus1-%t-%j", "--", programs / "smpi_one_sided",
            "calls", pattern, size]
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("NPLUS1_", "LD_PRELOAD", "PMI_"))}
    run = subprocess.run([str(w) for w in line], check=True, capture_output=True, text=True, timeout=600, env=kept)
    return since_the_start(pattern, run.stdout, smpi_table.READING)


def agreement(pattern, size, platform, *how):
    """In digits: of nplus1's calls with our equations as SMPI's messages, and of SMPI's calls with its rules as messages; None
    where messages cannot show it. When nplus1's and SMPI's calls end."""
    case, elsewhere = (pattern, size, platform, *how), pathlib.Path(platform).stem not in EQUALLY_LONG
    ours, calls = in_nplus1(*case), in_smpi("calls", *case)
    equations = rules = None
    if not (elsewhere and pattern in WHERE_EQUALLY_LONG):
        equations = digits(ours, in_smpi("equations", *case))
    if pattern not in WITHOUT_RULE and not (elsewhere and pattern in WITHOUT_RULE_ELSEWHERE):
        rules = digits(calls, in_smpi("smpis", *case))
    return equations, rules, ours, calls


def least(values):
    known = [v for v in values if v is not None]
    return f"{min(known):.1f}" if known else "-"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("platforms", nargs="*", type=pathlib.Path, default=sorted(smpi_table.PLATFORMS.glob("*.xml")))
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument("--model", default="SMPI")
    parser.add_argument("--patterns", default=",".join(PATTERNS))
    parser.add_argument("--sizes", default="8,65536,1048576")
    words = parser.parse_args()
    platforms = [p.resolve() for p in words.platforms if len(smpi_table.hosts(p)) >= words.ranks]
    programs, sizes = pathlib.Path(os.environ["NPLUS1_TEST_PROGRAMS"]).resolve(), [int(s) for s in words.sizes.split(",")]
    print("| pattern | " + " | ".join(f"{p.stem}: equations, rules" for p in platforms) +
          f" | {platforms[0].stem}, {sizes[-1]} bytes: nplus1 | SMPI |\n|" + "---|" * (len(platforms) + 3))
    with tempfile.TemporaryDirectory(prefix="nplus1-smpi-") as scratch:
        for pattern in words.patterns.split(","):
            cells = []
            for platform in platforms:
                found = [agreement(pattern, size, platform, words.ranks, words.model, programs, scratch) for size in sizes]
                cells.append(f"{least(f[0] for f in found)}, {least(f[1] for f in found)}")
                ends = [f"{max(side) * 1000000:.3f} us" for side in found[-1][2:]] if platform == platforms[0] else ends
            print(f"| {pattern} | " + " | ".join((*cells, *ends)) + " |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
