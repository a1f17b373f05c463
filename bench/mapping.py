#!/usr/bin/env python3
"""Placements of programs on platforms: as they start, by the fewest hops, by Scotch, by nplus1 map (docs/benchmarks.md).

    bench/mapping.py --build build --recordings DIR [--replays 100] NAME...

DIR/NAME is the result folder of `nplus1 run -n 16 --compute fixed:1us -o DIR/NAME -- ./NAME`. Times are of replays, in
microseconds, and what each placement saves of the start's. Scotch (Debian: scotch) is left out where scotch_gmap is not
there; it is told of each platform's shape, and of the bytes that pairs of ranks exchange, collectives included.
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import tempfile

PLATFORMS = pathlib.Path(__file__).resolve().parents[1] / "platforms"
RANKS = 16
# Of the hosts that 16 ranks get: Scotch's words for how far apart they are.
SHAPES = {
    "two_hosts": "tleaf 2 2 20 8 1",
    "cluster64": "cmplt 16",
    "torus": "torus2D 4 4",
    "fat_tree": "tleaf 2 2 4 8 2",
    "dragonfly": "tleaf 3 2 4 4 3 2 2",
}


def run(*words):
    return subprocess.run([str(w) for w in words], check=True, capture_output=True, text=True).stdout


def start_of(platform, folder):
    """The placement to begin with: a rank on each host, or half of the ranks on each of two."""
    if platform != "two_hosts":
        return "round-robin", [f"node-{r}" for r in range(RANKS)]
    hosts = [f"host-{r % 2}" for r in range(RANKS)]
    (folder / "start").write_text("\n".join(hosts))
    return folder / "start", hosts


def exchanged(nplus1, recording, platform, start, folder):
    """Bytes between each pair of ranks, both ways, as they travel."""
    run(nplus1, "replay", recording, "--platform", PLATFORMS / f"{platform}.xml", "--map", start, "-o", folder / "replayed", "--quiet")
    patterns = json.loads((folder / "replayed" / "patterns.json").read_text())
    both = {}
    for row in patterns["wire"]["rows"]:
        for destination, size in zip(row["destinations"], row["bytes"]):
            pair = tuple(sorted((row["source"], destination)))
            if pair[0] != pair[1]:
                both[pair] = both.get(pair, 0) + size
    return both


def by_scotch(both, shape, hosts, folder):
    """A host for each rank; where Scotch puts two ranks on one place, the later one takes the next that is free."""
    most = max(both.values(), default=1)
    near = [[] for _ in range(RANKS)]
    for (a, b), size in both.items():
        weight = max(1, round(1e5 * size / most))
        near[a] += [weight, b]
        near[b] += [weight, a]
    lines = ["0", f"{RANKS} {sum(len(n) // 2 for n in near)}", "0 010"]
    lines += [" ".join(map(str, [len(n) // 2, *n])) for n in near]
    (folder / "graph.grf").write_text("\n".join(lines) + "\n")
    (folder / "shape.tgt").write_text(shape + "\n")
    run("scotch_gmap", folder / "graph.grf", folder / "shape.tgt", folder / "found.map", "-b0")
    places = [0] * RANKS
    for line in (folder / "found.map").read_text().splitlines()[1:]:
        rank, place = map(int, line.split())
        places[rank] = place
    slots = sorted(range(RANKS), key=lambda r: hosts[r]) if len(set(hosts)) < RANKS else list(range(RANKS))
    free, placed = set(range(RANKS)), [None] * RANKS
    for rank, place in enumerate(places):
        if place in free:
            placed[rank] = place
            free.remove(place)
    for rank in range(RANKS):
        if placed[rank] is None:
            placed[rank] = min(free)
            free.remove(placed[rank])
    (folder / "scotch").write_text("\n".join(hosts[slots[p]] for p in placed))
    return folder / "scotch"


def row(words, name, platform):
    nplus1 = words.build / "bin" / "nplus1"
    recording = words.recordings / name
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        start, hosts = start_of(platform, folder)
        also = []
        if shutil.which("scotch_gmap"):
            also = ["--also", by_scotch(exchanged(nplus1, recording, platform, start, folder), SHAPES[platform], hosts, folder)]
        run(nplus1, "map", recording, "--platform", PLATFORMS / f"{platform}.xml", "--start", start, "--replays", words.replays,
            "--json", folder / "map.json", *also)
        found = json.loads((folder / "map.json").read_text())
    times = {p["name"]: p["time_s"] for p in found["placements"]}
    best = found["placements"][found["best"]]["time_s"]
    scotch = next((t for n, t in times.items() if n.endswith("/scotch")), None)
    cells = [f"{times['start'] * 1e6:.1f}"]
    for time in (times["fewest hops"], times["even links"], scotch, best):
        cells.append("-" if time is None else f"{time * 1e6:.1f} ({100 * (1 - time / times['start']):+.1f} %)")
    print(f"| {name} | {platform} | " + " | ".join(cells) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"))
    parser.add_argument("--recordings", type=pathlib.Path, required=True)
    parser.add_argument("--replays", type=int, default=100)
    words = parser.parse_args()
    print("| program | platform | start | fewest hops | even links | Scotch | nplus1 map |\n|---|---|---|---|---|---|---|")
    for name in words.names:
        for platform in SHAPES:
            row(words, name, platform)


if __name__ == "__main__":
    main()
