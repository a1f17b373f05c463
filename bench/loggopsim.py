#!/usr/bin/env python3
"""GOAL programs on LogGOPSim, the simulator of the authors of LogGOPS, and on `nplus1 replay FILE.goal`: to how many digits
the ends agree. LogGOPSim (github.com/spcl/LogGOPSim) is built by whoever wants the comparison; --loggopsim names its program,
beside which its txt2bin lies. Programs: GOAL files, recordings (exported by nplus1 convert), and --random so many with a
seed. Recordings are replayed by the engine on the same network, too (interfaces=both), as MPI programs.

    bench/loggopsim.py --loggopsim ~/LogGOPSim/LogGOPSim --nplus1 build/bin/nplus1 --random 1000 ring.n1r tree.goal
"""
import argparse
import json
import math
import pathlib
import random
import re
import subprocess
import tempfile
from decimal import Decimal


def words():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loggopsim", required=True, type=pathlib.Path)
    parser.add_argument("--nplus1", required=True, type=pathlib.Path)
    parser.add_argument("--random", type=int, default=0, help="so many random GOAL programs")
    parser.add_argument("--seed", type=int, default=1)
    for name, value in (("L", 2000), ("o", 1000), ("g", 1500), ("G", 1), ("O", 0), ("S", 1 << 30)):
        parser.add_argument("-" + name, type=int, default=value, help=f"nanoseconds (S: bytes) [{value}]")
    parser.add_argument("programs", nargs="*", type=pathlib.Path)
    return parser.parse_args()


def network(p):
    """The same words for nplus1."""
    return f"loggops:L={p.L}ns,o={p.o}ns,g={p.g}ns,G={p.G}ns,O={p.O}ns,S={p.S},interfaces=both"


def loggopsim(p, goal, folder):
    """Nanoseconds by rank; of more than 16 ranks it tells the last end only."""
    binary = folder / "program.bin"
    binary.unlink(missing_ok=True)
    subprocess.run([p.loggopsim.parent / "txt2bin", "-i", goal, "-o", binary], check=True, stdout=subprocess.DEVNULL)
    options = [word for name in "LogGOS" for word in (f"-{name}", str(getattr(p, name)))]
    text = subprocess.run([p.loggopsim, "-f", binary, *options], check=True, capture_output=True, text=True).stdout
    ends = re.findall(r"^Host \d+: (\d+)", text, re.M) or re.findall(r"Maximum finishing time at host \d+: (\d+)", text)
    return [int(end) for end in ends] or None  # none: it did not come to its end


def ours(p, source, folder):
    """The same of `nplus1 replay`, and its messages."""
    file = folder / "replay.json"
    subprocess.run([p.nplus1, "replay", source, "--network", network(p), "--json", file], check=True,
                   stdout=subprocess.DEVNULL)
    replay = json.loads(file.read_text(), parse_float=Decimal, parse_int=Decimal)
    return [end * 10**9 for end in replay["rank_end_s"]], replay


def digits(theirs, ends):
    """-log10 of the largest relative difference; 15 where there is none."""
    if len(theirs) == 1:
        ends = [max(ends)]
    worst = max((abs(float(a) - b) / max(b, 1) for a, b in zip(ends, theirs)), default=0)
    return 15.0 if worst == 0 else -math.log10(worst)


def random_program(number):
    """Rounds of messages between random ranks; in each rank a random graph over its operations. Operations wait for earlier
    rounds only, so that most programs end. Messages of one pair and tag have one size, since LogGOPSim asks the receive whether
    a message that came before it waits; and a rank has 16 operations at most, since LogGOPSim sorts what becomes free at once by
    its kind with std::sort, which keeps the order of no more."""
    r = random.Random(number)
    ranks = r.randint(2, 12)
    operations = [[] for _ in range(ranks)]
    for round_ in range(r.randint(1, 8)):
        for _ in range(r.randint(1, 3 * ranks)):
            source, to, tag = r.randrange(ranks), r.randrange(ranks), r.randint(0, 2)
            if len(operations[source]) > 13 or len(operations[to]) > 13:
                continue
            size = 1 + (source * 977 + to * 499 + tag * 1201 + number) % 3000
            operations[source].append((round_, f"send {size}b to {to} tag {tag}"))
            operations[to].append((round_, f"recv {size}b from {source} tag {tag}"))
        for rank in range(ranks):
            if r.random() < 0.5 and len(operations[rank]) < 16:
                operations[rank].append((round_, f"calc {r.randint(0, 8000)}"))
    text = f"num_ranks {ranks}\n"
    for rank, mine in enumerate(operations):
        text += f"\nrank {rank} {{\n"
        for i, (round_, operation) in enumerate(mine):
            text += f"l{i}: {operation}\n"
            earlier = [j for j in range(i) if mine[j][0] < round_]
            for j in r.sample(earlier, min(len(earlier), r.randint(0, 3))):
                text += f"l{i} {r.choice(('requires', 'irequires'))} l{j}\n"
        text += "}\n"
    return text


def random_programs(p, folder):
    worst, compared, endless = 15.0, 0, 0
    for number in range(p.seed, p.seed + p.random):
        goal = folder / "random.goal"
        goal.write_text(random_program(number))
        theirs = loggopsim(p, goal, folder)
        ends, replay = ours(p, goal, folder)
        assert (theirs is None) == (replay["unfinished"] + replay["unreceived"] > 0), f"seed {number}"
        if theirs is None:
            endless += 1
            continue
        compared += 1
        agreement = digits(theirs, ends)
        if agreement < 9:
            print(f"seed {number}: {agreement:.1f} digits: LogGOPSim {theirs}, nplus1 {[str(e) for e in ends]}")
        worst = min(worst, agreement)
    print(f"{compared} random programs: at least {worst:.1f} digits ({endless} others end in neither)")


def main():
    p = words()
    print(network(p))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if p.random:
            random_programs(p, folder)
        print(f"{'program':24} {'ranks':>5} {'messages':>9} {'LogGOPSim, us':>14} {'GOAL, us':>14} {'digits':>6} "
              f"{'MPI, us':>14} {'apart':>8}")
        for source in p.programs:
            goal = source
            if source.suffix != ".goal":
                goal = folder / "program.goal"
                goal.unlink(missing_ok=True)
                subprocess.run([p.nplus1, "convert", source, "-o", goal], check=True, capture_output=True)
            theirs = loggopsim(p, goal, folder)
            ends, replay = ours(p, goal, folder)
            row = f"{source.stem:24} {len(ends):5} {replay['messages']:9} "
            row += f"{max(theirs) / 1e3:14.3f} {max(ends) / 1000:14.3f} {digits(theirs, ends):6.1f} "
            if source.suffix != ".goal":
                engine = max(ours(p, source, folder)[0])
                row += f"{engine / 1000:14.3f} {100 * (float(engine) / max(theirs) - 1):7.2f} %"
            print(row)


if __name__ == "__main__":
    main()
