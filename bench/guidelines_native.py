#!/usr/bin/env python3
"""How often `nplus1 guidelines` is wrong natively, and whether it finds what is planted: the figures of docs/guidelines.md.

  null     measures originals twice, in several campaigns; guidelines_study draws data without violations from them
  planted  MPI_Reduce above 16 KiB is slower by a given delay; every function is compared with itself by its PMPI name, so
           that this is the only violation there is

Usage: guidelines_native.py BINARIES [--ranks N] [--keep FOLDER] null [--campaigns K] [--checks M] | planted [--delays US,...]
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent
COLLECTIVES = ("Allgather", "Allreduce", "Alltoall", "Bcast", "Gather", "Reduce", "Reduce_scatter_block", "Scan", "Scatter")
PLANTED_ABOVE = 16384


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}\n{done.stderr}")
    return done.stdout


def shipped(binaries):
    return json.loads((binaries.parent / "share/nplus1/guidelines.json").read_text())


def null(binaries, ranks, campaigns, checks, folder):
    """The originals alone, each measured twice: no mock-up takes part."""
    originals = sorted({entry["orig"] for entry in shipped(binaries)})
    (folder / "originals.json").write_text(json.dumps([{"set": "originals", "orig": name} for name in originals]))
    folders = [folder / f"campaign-{i}" for i in range(campaigns)]
    for place in folders:
        run(binaries / "nplus1", "guidelines", "run", "-q", "-n", ranks, "--catalogue", folder / "originals.json", "--set",
            "originals", "--nrep", 20, "-o", place)
    print(run(binaries / "guidelines_study", binaries.parent / "share/nplus1/guidelines.json", checks, *folders))


def build_planted(folder, delay_us):
    """One library with the slow Reduce and the mock-ups that it does not touch."""
    library = folder / f"planted-{delay_us}.so"
    run("mpicxx.mpich", "-std=c++20", "-O2", "-shared", "-fPIC", f"-DPLANTED_US={delay_us}", "-o", folder / "planted.so",
        SOURCE / "tests/mpi/planted_reduce.cpp")
    run("mpicc.mpich", "-O2", "-shared", "-fPIC", "-o", folder / "mock_ups.so", SOURCE / "tests/mpi/pmpi_mock_ups.c")
    (folder / "planted.so").rename(library)
    return f"{library}:{folder / 'mock_ups.so'}"


def planted(binaries, ranks, delays, folder):
    catalogue = folder / "pmpi.json"
    catalogue.write_text(json.dumps([{"set": "pmpi", "orig": name, "mock": f"{name}_with_Pmpi"} for name in COLLECTIVES]))
    print("| planted | found at | of | ratios there | found elsewhere | of |\n|---|---|---|---|---|---|")
    for delay in delays:
        place = folder / f"measured-{delay}"
        run(binaries / "nplus1", "guidelines", "run", "-q", "-n", ranks, "--catalogue", catalogue, "--set", "pmpi", "--preload",
            build_planted(folder, delay), "--nrep", 30, "-o", place)
        run(binaries / "nplus1", "guidelines", "check", place, "--set", "pmpi")
        found = json.loads((place / "violations.json").read_text())
        right = [v for v in found["violations"] if v["function"] == "Reduce" and v["sizes"][0] > PLANTED_ABOVE]
        ratios = ", ".join(f"{v['ratio']:.2f}" for v in right)
        print(f"| {delay} us | {len(right)} | 3 | {ratios} | {len(found['violations']) - len(right)} | {found['family'] - 3} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binaries", type=pathlib.Path)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--keep", type=pathlib.Path, help="where the measurements stay; what is there is not measured again")
    what = parser.add_subparsers(dest="what", required=True)
    part = what.add_parser("null")
    part.add_argument("--campaigns", type=int, default=10)
    part.add_argument("--checks", type=int, default=20)
    part = what.add_parser("planted")
    part.add_argument("--delays", default="0,2,10,100")
    words = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder, binaries = (words.keep or pathlib.Path(scratch)).resolve(), words.binaries.resolve()
        folder.mkdir(exist_ok=True)
        if words.what == "null":
            null(binaries, words.ranks, words.campaigns, words.checks, folder)
        else:
            planted(binaries, words.ranks, [float(delay) for delay in words.delays.split(",")], folder)


if __name__ == "__main__":
    main()
