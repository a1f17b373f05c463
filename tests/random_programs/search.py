#!/usr/bin/env python3
"""Runs random programs bare and under nplus1 in several ways, and compares everything there is to compare.

    search.py --first 1 --programs 20000 --jobs 2     goes on until done; prints what fails, shrunk, and a score for
                                                      each thousand

A job performs many programs one after the other, so that starting up costs little; the bare run and the observed ones
of a job run at the same time, as they mostly wait. All of a job follows from its first program's seed.

Environment: NPLUS1 the command, RANDOM_PROGRAM the program, NPLUS1_MPIRUN which mpirun, PATIENT a library to preload
into bare runs (patient.c). README.md says what must hold.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from decimal import Decimal

NPLUS1 = os.environ.get("NPLUS1", "nplus1")
PROGRAM = os.environ.get("RANDOM_PROGRAM", "random_program")
MPIRUN = os.environ.get("NPLUS1_MPIRUN") or shutil.which("mpirun.mpich") or "mpirun"
PATIENT = os.environ.get("PATIENT")
NETWORKS = ["", "lsb:latency=1e-6,bandwidth=1e9", "lsb:latency=1e-6,bandwidth=1e9,eager=1024",
            "loggops:L=2e-6,o=3e-7,g=1e-6,G=1e-9,O=1e-11", "loggops:L=2e-6,o=3e-7,g=1e-6,G=1e-9,O=1e-11,S=2048"]
# Of simulated collectives, besides what the seed gives them to work on.
ALGORITHMS = ["", "", "openmpi", "allreduce=ring,barrier=tree,alltoall=pairwise,reduce_rate=2GBps,copy_rate=1GBps",
              "simgrid:default,allgather=linear,allreduce=two_level,ranks_per_node=2"]
PLATFORMS = ["two_hosts.xml", "cluster64.xml", "torus.xml", "fat_tree.xml", "dragonfly.xml"]
RANKS = [2] * 10 + [3] * 12 + [4] * 12 + [5] * 6 + [6] * 4 + list(range(7, 18))
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# Calls that are passed through (docs/architecture.md).
UNMODELLED = ()
# The free of an inactive persistent request is no event; a call that stands for two events is two in the call sites.
UNCOUNTED = ("MPI_Request_free", "MPI_Intercomm_create", "MPI_Isendrecv", "MPI_Isendrecv_replace", "MPI_Sendrecv",
             "MPI_Sendrecv_replace", "MPI_Startall")
# Layers whose bytes are known to be others than what the program passed: of neighbourhoods the mean is drawn where the
# destinations get different amounts, of MPI_Reduce_scatter the own block.
OTHER_BYTES = ("neighbor_allgather", "neighbor_alltoall", "reduce_scatter")
# A program's options, and the share of the jobs that have them; the last excludes the others.
ONE_SIDED = "--one-sided"
FLAGS = {"--errors": 0.5, "--threads": 0.2, ONE_SIDED: 0.1, "--pairs": 0.3}
# What is run: name, options of nplus1, environment. Within a network all of them must agree in everything.
Way = collections.namedtuple("Way", "name options environment")
DELAYS = {"NPLUS1_TEST_DELAY": "random:{seed}:0.0005", "RANDOM_PROGRAM_DELAY": "{seed}"}
WAYS = [Way("as it is", [], {}), Way("direct off", ["--direct", "off"], {}), Way("tcp", ["--transport", "tcp"], {}),
        Way("delays", [], DELAYS), Way("delays, tcp, direct off", ["--transport", "tcp", "--direct", "off"], DELAYS)]
PLATFORM_WAYS = [Way("as it is", [], {}), Way("direct off", ["--direct", "off"], {}), Way("delays", [], DELAYS),
                 Way("tcp", ["--transport", "tcp"], {}), Way("delays, tcp, direct off", ["--transport", "tcp", "--direct", "off"], DELAYS)]

Job = collections.namedtuple("Job", "seed scripts steps ranks network ways code skipped kinds largest flags",
                             defaults=[()])
Result = collections.namedtuple("Result", "code output order numbers wrong")


class Forced(Exception):
    """A decision was made without proof: the machine was too busy, or it is a fault."""


class Failure(Exception):
    """What did not hold, and of which script if that is known."""

    def __init__(self, what, seed=None):
        super().__init__(what)
        self.seed = seed


def environment(more):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("NPLUS1_", "UCX_", "LD_PRELOAD", "PMI_"))}
    return {**kept, **more}


def execute(command, more, limit):
    job = subprocess.Popen(command, env=environment(more), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           stdin=subprocess.DEVNULL)
    try:
        out, err = job.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        job.send_signal(signal.SIGTERM)  # mpirun ends the ranks; a kill would leave them
        try:
            out, err = job.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            job.kill()
            out, err = job.communicate()
        return None, out, err
    return job.returncode, out, err


def program(job):
    words = [PROGRAM, job.seed, job.scripts, job.steps, "--code", job.code, "--largest", job.largest]
    if job.skipped:
        words += ["--skip", ",".join(map(str, sorted(job.skipped)))]
    if job.kinds:
        words += ["--kinds", ",".join(job.kinds)]
    words += job.flags
    return [str(w) for w in words]


def scripts(output):
    """{(seed, rank): digest}, and the other lines."""
    found, rest = {}, []
    for line in output.splitlines():
        words = line.split()
        if len(words) == 5 and words[0] == "script":
            found[int(words[1]), int(words[3].rstrip(":"))] = words[4]
        elif not any(below in line for below in ("UCX  WARN", "[WARNING] yaksa")):  # of what was left: who ended when
            rest.append(line)
    return found, rest


def last_lines(text, count=3):
    return " | ".join([line for line in text.splitlines() if line.strip()][-count:])


def run_bare(job, limit):
    preload = ["-genv", "LD_PRELOAD", PATIENT] if PATIENT else []
    code, out, err = execute([MPIRUN, *preload, "-np", str(job.ranks), *program(job)], {}, limit)
    if code is None:
        raise Failure(f"bare: hangs; {last_lines(err)}", hanging_seed(job, out))
    if code != job.code:
        wrong = [line for line in err.splitlines() if line.startswith("wrong")] or [last_lines(err, 8)[:300]]
        raise Failure(f"bare: exit code {code}; {wrong[0]}", hanging_seed(job, out))
    return Result(code, out, {}, {}, [])


def hanging_seed(job, out):
    """The first script that not all ranks have ended."""
    done, _ = scripts(out)
    for seed in range(job.seed, job.seed + job.scripts):
        if any((seed, rank) not in done for rank in range(job.ranks)):
            return seed
    return None


def first_difference(job, one, other):
    for seed in range(job.seed, job.seed + job.scripts):
        for rank in range(job.ranks):
            if one.get((seed, rank)) != other.get((seed, rank)):
                return seed, rank
    return None, None


class Books:
    """What the ranks say that they have done."""

    def __init__(self, folder):
        self.order, self.calls = {}, collections.Counter()
        self.messages, self.layers = {}, {}
        self.collectives, self.communicators = collections.Counter(), collections.Counter()
        self.unknown_layers = set()
        for file in folder.iterdir():
            for line in file.read_text().splitlines():
                self.add(*line.split())

    def add(self, what, *words):
        if what == "order":
            self.order[int(words[0]), int(words[1])] = words[2:]
        elif what == "call":
            self.calls[words[0]] += int(words[1])
        elif what == "message":
            self.messages[int(words[0]), int(words[1])] = (int(words[2]), int(words[3]))
        elif what in ("collective", "communicator"):
            which = self.collectives if what == "collective" else self.communicators
            which[words[0], int(words[1]), int(words[3])] += int(words[4])
        elif int(words[1]) < 0:
            self.unknown_layers.add(words[0])
        else:
            old = self.layers.get((words[0], int(words[1]), int(words[2])), (0, 0))
            self.layers[words[0], int(words[1]), int(words[2])] = (old[0] + int(words[3]), old[1] + int(words[4]))


def rows(matrix, other):
    return {(source, destination): (count, other[source][destination]) for source, row in enumerate(matrix)
            for destination, count in enumerate(row) if count}


def calls_by_rank(entries):
    found = collections.Counter()
    for entry in entries:
        for rank, calls in enumerate(entry["calls_per_rank"]):
            if calls:
                found[entry["name"], entry["comm_size"], rank] += calls
    return found


def compare(name, said, counted):
    if said == counted:
        return []
    keys = sorted(k for k in said.keys() | counted.keys() if said.get(k) != counted.get(k))
    shown = ", ".join(f"{k}: nplus1 {said.get(k)}, program {counted.get(k)}" for k in keys[:3])
    return [f"{name} ({len(keys)} differ): {shown}"]


def check_books(books, summary, patterns):
    traffic = summary["point_to_point"]
    wrong = compare("messages", rows(traffic["messages"], traffic["bytes"]), books.messages)
    wrong += compare("collectives", calls_by_rank(summary["collectives"]), books.collectives)
    wrong += compare("communicator calls",
                     {k: v for k, v in calls_by_rank(summary["communicator_calls"]).items()
                      if k[0] not in ("MPI_Comm_create_group", "MPI_Intercomm_create")}, books.communicators)
    layers = {}
    for layer in patterns["layers"]:
        if layer["name"] in (*OTHER_BYTES, *books.unknown_layers, "point_to_point"):
            continue
        for row in layer["rows"]:
            for to, count, size in zip(row["destinations"], row["messages"], row["bytes"]):
                if count:
                    layers[layer["name"], row["source"], to] = (count, size)
    wrong += compare("layers", layers, {k: v for k, v in books.layers.items() if k[0] not in (*OTHER_BYTES, *books.unknown_layers)})
    calls = collections.Counter()
    for site in patterns["call_sites"]:
        calls[site["call"]] += site["calls"]
    said = {k: v for k, v in calls.items() if k in books.calls and k not in UNCOUNTED}
    return wrong + compare("calls", said, {k: v for k, v in books.calls.items() if k in said})


def check_trust(summary, ranks):
    trust, wrong = summary["trust"], []
    if trust["forced_decisions"]:
        raise Forced(f"{trust['forced_decisions']} decisions were forced")
    for key, value in (("active_ranks", ranks), ("clock_mismatches", 0), ("order_inversions", 0)):
        if trust[key] != value:
            wrong.append(f"{key} is {trust[key]}")
    if not summary["complete"]:
        wrong.append("not complete")
    unknown = [u for u in summary["unmodelled"]["by_name"] if u["name"] not in UNMODELLED]
    if unknown:
        wrong.append(f"unmodelled calls: {unknown}")
    return wrong


def run_observed(job, way, folder, limit):
    result, books = folder / "result", folder / "books"
    books.mkdir(parents=True)
    network = ["--platform", str(ROOT / "platforms" / job.network)] if job.network.endswith(".xml") else \
        ["--network", job.network] if job.network else []
    algorithms = ALGORITHMS[job.seed % len(ALGORITHMS)]
    if algorithms:
        network += ["--collectives", algorithms]
    more = {k: v.format(seed=job.seed) for k, v in way.environment.items()}
    more["RANDOM_PROGRAM_BOOKS"] = str(books)
    code, out, err = execute([NPLUS1, "run", "-q", "-n", str(job.ranks), "-o", str(result), *network, "--compute",
                              "fixed:1e-7", *way.options, "--", *program(job)], more, limit)
    if code is None:
        raise Failure(f"{way.name}: hangs; {last_lines(err)}", hanging_seed(job, out))
    if code != job.code:
        wrong = [line for line in err.splitlines() if line.startswith("wrong")] or [last_lines(err, 8)[:400]]
        raise Failure(f"{way.name}: exit code {code}; {wrong[0]}", hanging_seed(job, out))
    began = time.monotonic()
    while not (result / "summary.json").exists() and "is not done yet" in err and time.monotonic() - began < limit:
        time.sleep(1)  # a busy machine
    if not (result / "summary.json").exists():
        raise Failure(f"{way.name}: no summary; {last_lines(err)}")
    summary = json.loads((result / "summary.json").read_text(), parse_float=Decimal)
    patterns = json.loads((result / "patterns.json").read_text(), parse_float=Decimal)
    told = Books(books)
    wrong = check_trust(summary, job.ranks)
    if ONE_SIDED not in job.flags:  # the program keeps no books of those steps
        wrong += check_books(told, summary, patterns)
    return Result(code, out, told.order, (summary["rank_end_s"], summary["point_to_point"]), wrong)


def replay(job, folder, limit):
    code, out, err = execute([NPLUS1, "replay", str(folder / "result"), "--json", str(folder / "replay.json")], {}, limit)
    if code is None:
        raise Failure("replay: hangs")
    if code != 0:
        raise Failure(f"replay: exit code {code}; {last_lines(err)}")
    if "every rank ends exactly when it did" not in out:
        raise Failure(f"replay: {last_lines(out, 6)}")


class Tally:
    """Of a whole search; any thread."""

    def __init__(self):
        self.lock = threading.Lock()
        self.repeated = 0  # jobs, because a decision was forced
        self.bare = 0  # programs that fail without nplus1 too
        self.ways = collections.Counter()  # programs that have been run so

    def add(self, ways=(), programs=0, repeated=0, bare=0):
        with self.lock:
            self.repeated += repeated
            self.bare += bare
            for way in ways:
                self.ways[way] += programs


tally = Tally()


def check(job, limit=120):
    """Raises a Failure if anything does not hold."""
    for _ in range(3):
        try:
            check_once(job, limit)
            return tally.add(["bare", *(way.name for way in job.ways), "replay"], job.scripts)
        except Forced as forced:
            said = str(forced)
            tally.add(repeated=1)
    raise Failure(f"as it is: {said}, three times")


def check_once(job, limit):
    with tempfile.TemporaryDirectory(prefix="nplus1-random-") as scratch, \
            concurrent.futures.ThreadPoolExecutor(1 + len(job.ways)) as pool:
        folders = [pathlib.Path(scratch) / str(number) for number in range(len(job.ways))]
        bare = pool.submit(run_bare, job, limit)
        observed = [pool.submit(run_observed, job, way, folder, limit) for way, folder in zip(job.ways, folders)]
        compare_runs(job, bare.result(), [run.result() for run in observed])
        if job.ways:
            replay(job, folders[0], limit)


def compare_runs(job, bare, observed):
    expected, rest = scripts(bare.output)
    if len(expected) != job.scripts * job.ranks:
        raise Failure("bare: not all has been printed")
    for way, result in zip(job.ways, observed):
        first = observed[0]
        found, other = scripts(result.output)
        if found != expected or other != rest:
            seed, rank = first_difference(job, expected, found)
            raise Failure(f"{way.name}: rank {rank} prints something else than bare", seed)
        if result.order != first.order:
            seed, rank = first_difference(job, first.order, result.order)
            raise Failure(f"{way.name}: rank {rank} sees another order or time: {result.order.get((seed, rank))}, "
                          f"as it is {first.order.get((seed, rank))}", seed)
        if result.numbers != first.numbers:
            raise Failure(f"{way.name}: other virtual times or messages")
        if result.wrong:
            raise Failure(f"{way.name}: " + "; ".join(result.wrong))


def fails_alike(job, what, limit):
    try:
        check(job, limit)
    except Failure as failure:
        return str(failure).split(":")[0] == what.split(":")[0]
    return False


def shrink(job, failure, limit, attempts):
    """A job of one script and few steps that still fails the same way."""
    what = str(failure)
    name = what.split(":")[0]
    ways = [w for w in job.ways if w.name == name]
    if ways and ways[0] is not job.ways[0]:
        job = job._replace(ways=[job.ways[0], ways[0]])
    elif name in ("bare", "replay") or ways:
        job = job._replace(ways=job.ways[:1] if name != "bare" else [])
    seeds = [failure.seed] if failure.seed is not None else []
    for seed in seeds + [s for s in range(job.seed, job.seed + job.scripts) if s not in seeds]:
        one = job._replace(seed=seed, scripts=1)
        if fails_alike(one, what, limit):
            break
    else:
        return job
    left, size = list(range(one.steps)), one.steps // 2
    while size >= 1 and attempts > 0:
        position, removed = 0, False
        while position < len(left) and attempts > 0:
            kept = left[:position] + left[position + size:]
            attempts -= 1
            candidate = one._replace(skipped=set(range(one.steps)) - set(kept))
            if fails_alike(candidate, what, limit):
                left, one, removed = kept, candidate, True
            else:
                position += size
        size = size if removed and size == 1 else size // 2
    return one


def made_from(seed, scripts_per_job, wanted):
    """A job; all of it follows from the seed."""
    choose = random.Random(seed)
    platform = choose.random() < wanted.platforms
    ranks = choose.choice(wanted.ranks)
    platforms = PLATFORMS if ranks == 2 else PLATFORMS[1:]  # two_hosts.xml has two cores
    ways = PLATFORM_WAYS if platform else WAYS
    ways = [ways[0], *choose.sample(ways[1:], wanted.ways - 1)]
    job = Job(seed, scripts_per_job, wanted.steps, ranks, choose.choice(platforms if platform else NETWORKS), ways,
              choose.choice([0, 0, 0, 3]), set(), wanted.kinds, choose.choice([3000, 70000, 1 << 20]))
    drawn = [flag for flag, share in FLAGS.items() if choose.random() < share]
    flags = drawn if wanted.flags is None else wanted.flags
    return job._replace(flags=(ONE_SIDED,) if ONE_SIDED in flags else tuple(flags))


def described(job):
    return (f"{job.ranks} ranks, {job.network}: {' '.join(program(job)[1:])}"
            f" [{'; '.join(w.name for w in job.ways)}]")


def failing(job, wanted, programs):
    """The failing parts of a job, each with its failure; `programs` gets the seeds of those that passed."""
    try:
        check(job, wanted.limit)
        programs.update(range(job.seed, job.seed + job.scripts))
        return []
    except Failure as failure:
        if job.scripts == 1:
            return [(job, failure)]
        known = failure.seed
        first = (known - job.seed) if known is not None else job.scripts // 2
    parts = [(job.seed, first)]
    if known is not None:
        parts.append((known, 1))
    parts.append((job.seed + sum(count for _, count in parts), job.scripts - sum(count for _, count in parts)))
    found = []
    for seed, count in parts:
        if count:
            found += failing(job._replace(seed=seed, scripts=count), wanted, programs)
    return found or [(job, failure_together(failure_of(job, wanted)))]


def failure_of(job, wanted):
    try:
        check(job, wanted.limit)
    except Failure as failure:
        return failure
    return None


def failure_together(failure):
    return Failure(f"{failure} (not one by one)" if failure else "once: passes when it is repeated")


def report(job, failure, wanted):
    text = f"FAILS {described(job)}\n  {failure}"
    if wanted.attempts and not str(failure).startswith("once"):
        small = shrink(job, failure, wanted.limit, wanted.attempts)
        text += f"\n  shrunk: {described(small)}\n    {failure_of(small, wanted) or 'does not fail again'}"
    print(text, flush=True)


def cause(failure):
    """Failures of one cause are said alike, but for numbers and names of ways."""
    said = str(failure)
    for known in ("bare: exit code", "bare: hangs", "hangs", "decisions were forced", "prints something else",
                  "another order or time", "other virtual times", "replay", "once", "differ", "exit code", "no summary",
                  "clock_mismatches", "order_inversions", "unmodelled"):
        if known in said:
            return known
    return said[:60]


def search(wanted):
    began, failures, passed, causes = time.monotonic(), 0, set(), collections.Counter()
    seeds = range(wanted.first, wanted.first + wanted.programs, wanted.batch)

    def one(seed):
        if wanted.seconds and time.monotonic() - began > wanted.seconds:
            return 0, []
        count = min(wanted.batch, wanted.first + wanted.programs - seed)
        failed = []
        for job, failure in failing(made_from(seed, count, wanted), wanted, passed):
            if str(failure).startswith("bare:"):  # also without nplus1: counted, and no failure of it
                print(f"FAILS BARE, left out: {described(job)}\n  {failure}", flush=True)
                tally.add(bare=job.scripts)
                continue
            report(job, failure, wanted)
            failed.append(failure)
        return count, failed

    done = shown = 0
    with concurrent.futures.ThreadPoolExecutor(wanted.jobs) as pool:
        for count, found in pool.map(one, seeds):
            done += count
            failures += len(found)
            causes.update(cause(failure) for failure in found)
            if done >= shown + wanted.show or seeds[-1] < wanted.first + done:
                shown = done
                print(f"{wanted.first}..{wanted.first + done - 1}: {done} programs, {len(passed)} passed, {failures} "
                      f"failures {dict(causes)}, {tally.bare} fail bare, {tally.repeated} jobs repeated for a forced decision, programs by way "
                      f"{dict(tally.ways)}, {time.monotonic() - began:.0f} s", flush=True)
    return 1 if failures else 0


def options(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=1, help="the first program's seed")
    parser.add_argument("--programs", type=int, default=100)
    parser.add_argument("--batch", type=int, default=50, help="programs in a job")
    parser.add_argument("--jobs", type=int, default=1, help="at a time")
    parser.add_argument("--ways", type=int, default=2, help="of running a program under nplus1; the first is recorded")
    parser.add_argument("--ranks", type=lambda text: [int(n) for n in text.split(",")], default=RANKS)
    parser.add_argument("--show", type=int, default=1000, help="programs between two scores")
    parser.add_argument("--steps", type=int, default=30, help="of each program")
    parser.add_argument("--kinds", type=lambda text: text.split(","), default=[], help="steps of these kinds only")
    parser.add_argument("--flags", type=lambda text: [f"--{flag}" for flag in text.split(",") if flag], default=None,
                        help="errors, threads, one-sided, pairs, or nothing; else each job draws its own")
    parser.add_argument("--platforms", type=float, default=0.25, help="share of the jobs that run on a platform")
    parser.add_argument("--seconds", type=float, default=0, help="ends after this time")
    parser.add_argument("--limit", type=float, default=120, help="seconds that one run may take")
    parser.add_argument("--attempts", type=int, default=60, help="runs to shrink a failure; 0: don't")
    return parser.parse_args(words)


def main():
    sys.exit(search(options(sys.argv[1:])))


if __name__ == "__main__":
    main()
