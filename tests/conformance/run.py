#!/usr/bin/env python3
"""MPICH's own test suite, each test bare and under nplus1, back to back: what passes bare must pass under nplus1.

Where the bare run exceeds its time limit (MPICH's waits spin, which is slow when ranks share cores) the native run with
yielding waits (`nplus1 run --native`) is the baseline. A test of ours that fails is repeated with its baseline twice:
if it passes then, it is flaky, which is no pass: it is counted and named apart. The exit code is 1 if any test failed
that passes bare, if more than one in a hundred is flaky, if a directory ran no test, or if a test passed without the
stubs being active.

With --record-accesses the runs under nplus1 record the accesses to the memory of messages (docs/accesses.md), and a
test in which a race is reported fails, unless racing.txt says that it does race.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import dataclasses
import functools
import json
import math
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import judge  # noqa: E402
import testlist  # noqa: E402

DIRECTORIES = ("pt2pt", "coll", "comm", "datatype", "topo", "attr", "group", "init", "info", "f77", "f90", "f08")
SAMPLE = pathlib.Path(__file__).resolve().parent / "sample.txt"
INACTIVE = pathlib.Path(__file__).resolve().parent / "never_active.txt"
RACING = pathlib.Path(__file__).resolve().parent / "racing.txt"
DEFAULT_LIMIT = 60  # seconds
SECONDS_TO_END = 10  # for what has been told to
GRACE = 40  # seconds on top for mpirun and the simulator to end
REPEATS = 2
FLAKY_SHARE = 0.01  # of the tests that ran; a time limit on a busy machine is missed now and then


@dataclasses.dataclass
class Outcome:
    """What became of one test."""

    case: testlist.TestCase
    verdict: str  # passed, failed, flaky, skipped
    why: str = ""
    baseline: str = ""  # which one: bare or native
    baseline_passed: bool = False
    active: bool = False
    seconds: dict = dataclasses.field(default_factory=dict)
    output: str = ""


class Launcher:
    """Runs one test in one way; every run has a process group, a time limit and an end."""

    def __init__(self, options):
        self.options = options
        self.scratch = tempfile.mkdtemp(prefix="nplus1-conformance-")
        self.running = set()
        self.racing = set(words_of(RACING))

    def close(self):
        for process in list(self.running):
            os.killpg(process.pid, signal.SIGTERM)
        shutil.rmtree(self.scratch, ignore_errors=True)

    def limit(self, case):
        return int((case.time_limit or DEFAULT_LIMIT) * self.options.time_factor)

    def command(self, case, way, folder):
        program = [f"./{pathlib.Path(case.program).name}", *case.arguments]
        if way == "bare":
            return [*self.options.mpirun, "-np", str(case.ranks), *case.mpiexec_arguments, *program]
        passed_on = [word for argument in case.mpiexec_arguments for word in ("--mpi-args", argument)]
        mode = ["--native"] if way == "native" else ["-o", folder]
        if way == "nplus1" and self.options.record_accesses:
            mode.append("--record-accesses")
        return [self.options.nplus1, "run", "--quiet", "-n", str(case.ranks), *mode, *passed_on, "--", *program]

    def run(self, case, way):
        """One run, and why nplus1 was not active in it (None for the other ways)."""
        place = tempfile.mkdtemp(dir=self.scratch)
        folder, log = os.path.join(place, "results"), os.path.join(place, "simulator.log")
        limit = self.limit(case)
        environment = {**os.environ, **self.options.environment, **case.environment, "MPIEXEC_TIMEOUT": str(limit), "NPLUS1_SIMNODE_LOG": log}
        result = self._execute(self.command(case, way, folder), self._working_folder(case), environment, limit)
        inactive = None
        if way == "nplus1":
            inactive = judge.inactivity(case, folder)
            if inactive is None and self.options.record_accesses:
                result.races = judge.races(self.options.nplus1, folder)
            result.output += self._last_words(log)
        shutil.rmtree(place, ignore_errors=True)
        return result, inactive

    def _working_folder(self, case):
        return (pathlib.Path(self.options.suite) / case.directory / case.program).parent

    def _execute(self, command, folder, environment, limit):
        start = time.monotonic()
        process = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, text=True,
                                   errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   start_new_session=True)
        self.running.add(process)
        try:
            output = process.communicate(timeout=limit + GRACE)[0]
        except subprocess.TimeoutExpired:
            output = self._end(process)
        self.running.discard(process)
        seconds = time.monotonic() - start
        return judge.Run(process.returncode, output, seconds, seconds >= limit - 1)  # mpirun keeps time itself

    @staticmethod
    def _end(process):
        """The mpirun that is killed leaves its ranks' shared memory behind: it is told to end first."""
        os.killpg(process.pid, signal.SIGTERM)
        try:
            return process.communicate(timeout=SECONDS_TO_END)[0]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return process.communicate()[0]

    @staticmethod
    def _last_words(log):
        """The simulator's own messages, which are no output of the test; kept apart by a mark."""
        try:
            text = pathlib.Path(log).read_text(errors="replace")
        except OSError:
            return ""
        return f"\n{judge.SIMULATOR_MARK}\n{text[-2000:]}" if text.strip() else ""


def build(case, options):
    """Makes the program, as runtests does before each test; the compiler's last words if it can't be made."""
    program = pathlib.Path(options.suite) / case.directory / case.program
    if os.access(program, os.X_OK):
        return None
    made = subprocess.run(["make", "-C", program.parent, program.name], capture_output=True, text=True, errors="replace")
    if os.access(program, os.X_OK):
        return None
    errors = [line for line in made.stderr.splitlines() if "rror" in line] or ["make made nothing"]
    return errors[0].strip()[:160]


def reason_to_skip(case, options):
    """Why a test is not run at all; empty if it is."""
    if case.needs_newer_mpi():
        return f"needs MPI {case.version}"
    if case.memory > options.memory:
        return f"needs {case.memory} GB of memory"
    if options.mpi == "openmpi" and case.mpiexec_arguments:
        return "needs options of MPICH's mpiexec"
    trouble = build(case, options)
    return f"does not build: {trouble}" if trouble else ""


def baseline(case, launcher):
    """Runs without nplus1: which way it was, the run, and why it failed."""
    run, _ = launcher.run(case, "bare")
    why = judge.failure(case, run)
    if why and run.timed_out:
        yielding, _ = launcher.run(case, "native")
        if judge.failure(case, yielding) is None:
            return "native", yielding, None
    return "bare", run, why


def verdict_on(case, launcher, ours):
    """Why our run failed; None if it passed."""
    if ours.races and f"{case.directory}/{case.program}" not in launcher.racing:
        return f"reports a race: {ours.races[0]}"
    return judge.failure(case, ours)


def compare(case, launcher):
    """Baseline and nplus1, back to back: (way, baseline's run, its failure, our run, our failure, inactive)."""
    way, base, base_why = baseline(case, launcher)
    ours, inactive = launcher.run(case, "nplus1")
    why = verdict_on(case, launcher, ours)
    if why is None and ours.timed_out and not base.timed_out:  # a test that demands a bad end must not get it so
        why = "time limit"
    return way, base, base_why, ours, why, inactive


@functools.cache
def turn(directory):
    """Held by the test of this directory that runs."""
    return threading.Lock()


def examine_in_turn(case, launcher, exempt):
    """Tests of files use the same names: those of a directory are not run side by side."""
    with turn(case.directory) if pathlib.PurePath(case.directory).name == "io" else contextlib.nullcontext():
        return examine(case, launcher, exempt)


def examine(case, launcher, exempt):
    """The whole procedure for one test."""
    skip = reason_to_skip(case, launcher.options)
    if skip:
        return Outcome(case, "skipped", skip)
    if launcher.options.ours_first:
        ours, inactive = launcher.run(case, "nplus1")
        if verdict_on(case, launcher, ours) is None and inactive is None:
            return Outcome(case, "passed", active=True, seconds={"nplus1": round(ours.seconds, 2)})
    way, base, base_why, ours, why, inactive = compare(case, launcher)
    outcome = Outcome(case, "passed", why or "", way, base_why is None, inactive is None,
                      {way: round(base.seconds, 2), "nplus1": round(ours.seconds, 2)}, ours.output if why else "")
    may_be_inactive = f"{case.directory}/{case.program}" in exempt
    if base_why is not None:
        outcome.verdict = "skipped"
        outcome.why = f"fails bare: {base_why}; under nplus1: {why or 'passes'}"
        outcome.output = base.output
    elif why is not None:
        settle(outcome, case, launcher, may_be_inactive)
    elif inactive is not None and not may_be_inactive:
        outcome.verdict, outcome.why = "failed", f"passed without us: {inactive}"
    return outcome


def settle(outcome, case, launcher, may_be_inactive):
    """Repeats a failed comparison: still failing, flaky, or no better bare."""
    outcome.verdict = "failed"
    for _ in range(REPEATS if launcher.options.repeat else 0):
        _, _, base_why, _, why, inactive = compare(case, launcher)
        if base_why is not None:
            outcome.verdict, outcome.why = "skipped", f"unstable bare: {base_why}; under nplus1: {outcome.why}"
            return
        if why is None and (inactive is None or may_be_inactive):
            outcome.verdict = "flaky"
            return


def words_of(path):
    """The first word of each line that says something."""
    lines = (line.partition("#")[0].split() for line in path.read_text().splitlines())
    return [words[0] for words in lines if words]


def selection(options):
    """The tests to run."""
    directories = options.dir or list(DIRECTORIES)
    cases = []
    for directory in directories:
        for list_name in options.list:
            cases += testlist.read(options.suite, directory, list_name)
    if options.test:
        cases = [c for c in cases if any(word in c.name for word in options.test)]
    if not options.sample:
        return directories, cases
    wanted = words_of(SAMPLE)
    first = {}
    for case in cases:
        first.setdefault(f"{case.directory}/{case.program}", case)
    missing = [name for name in wanted if name not in first]
    if missing:
        sys.exit(f"conformance: the suite has no {', '.join(missing)}\n  next: tests/conformance/build.sh")
    return sorted({first[name].directory for name in wanted}), [first[name] for name in wanted]


def run_all(cases, launcher, exempt):
    """All outcomes in order, each told as soon as it is known."""
    outcomes = []
    with concurrent.futures.ThreadPoolExecutor(launcher.options.jobs) as pool:
        for outcome in pool.map(lambda case: examine_in_turn(case, launcher, exempt), cases):
            times = " ".join(f"{way} {seconds:.1f} s" for way, seconds in outcome.seconds.items())
            why = f" ({outcome.why})" if outcome.why else ""
            print(f"{outcome.verdict:8} {outcome.case.name}  {times}{why}", flush=True)
            outcomes.append(outcome)
    return outcomes


def top(directory):
    """Directories are counted by their first part: f77/coll belongs to f77."""
    return directory.partition("/")[0]


def table(outcomes):
    """Counts per directory, and a sorted list of reasons for skipping."""
    rows = collections.defaultdict(collections.Counter)
    reasons = collections.Counter()
    for o in outcomes:
        row = rows[top(o.case.directory)]
        row[o.verdict] += 1
        row["run"] += bool(o.seconds)
        row["bare"] += o.baseline_passed and o.baseline == "bare"
        row["native"] += o.baseline_passed and o.baseline == "native"
        row["nplus1"] += o.verdict == "passed"
        row["active"] += o.active
        if o.verdict == "skipped":
            reasons[f"{o.case.name}: {o.why}"] += 1
    return rows, reasons


def print_report(outcomes):
    rows, reasons = table(outcomes)
    columns = ("run", "bare", "native", "nplus1", "active", "failed", "flaky", "skipped")
    print("\n" + "directory".ljust(10) + "".join(c.rjust(9) for c in columns))
    for directory, row in rows.items():
        print(directory.ljust(10) + "".join(str(row[c]).rjust(9) for c in columns))
    print("run = tests started; bare, native (yielding waits) = passed without nplus1; active = stubs on all ranks")
    for reason, count in reasons.items():
        print(f"skipped: {reason}" + (f" ({count} times)" if count > 1 else ""))
    for o in outcomes:
        if o.verdict in ("failed", "flaky"):
            print(f"{o.verdict}: {o.case.name}: {o.why}")


def too_many_flaky(outcomes):
    """Whether more tests are flaky than the machine can be blamed for."""
    ran = sum(bool(o.seconds) for o in outcomes)
    return sum(o.verdict == "flaky" for o in outcomes) > math.ceil(FLAKY_SHARE * ran)


def write_json(path, outcomes, directories):
    rows, _ = table(outcomes)
    content = {
        "schema": "nplus1-conformance/1",
        "directories": {name: dict(rows[top(name)]) for name in directories},
        "tests": [dataclasses.asdict(o) | {"name": o.case.name} for o in outcomes],
    }
    pathlib.Path(path).write_text(json.dumps(content, indent=1) + "\n")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    parser.add_argument("--suite", default=f"{cache}/nplus1-conformance/suite/test/mpi", help="the built suite")
    parser.add_argument("--nplus1", default="nplus1", help="the command nplus1")
    parser.add_argument("--mpi", choices=("mpich", "openmpi"), default="mpich", help="what the suite was built with")
    parser.add_argument("--mpirun", help="that library's mpirun")
    parser.add_argument("--sample", action="store_true", help="only the quick tests of sample.txt")
    parser.add_argument("--dir", action="append", help="only this directory; may be repeated")
    parser.add_argument("--test", action="append", help="only tests whose name contains this; may be repeated")
    parser.add_argument("--list", action="append", help="names of the lists (default: testlist)")
    parser.add_argument("--jobs", type=int, default=1, help="tests at a time")
    parser.add_argument("--time-factor", type=float, default=1, help="multiplies all time limits")
    parser.add_argument("--memory", type=float, default=12, help="GB that a test may need")
    parser.add_argument("--no-repeat", dest="repeat", action="store_false", help="do not repeat failed tests")
    parser.add_argument("--ours-first", action="store_true",
                        help="run bare only what fails under nplus1: fast, but without the bare counts")
    parser.add_argument("--record-accesses", action="store_true",
                        help="record the accesses to the memory of messages, and judge the races reported")
    parser.add_argument("--json", default="", help="where the results go")
    options = parser.parse_args()
    options.list = options.list or ["testlist"]
    options.mpirun = options.mpirun or f"mpirun.{options.mpi}"
    for name in ("nplus1", "mpirun"):
        found = shutil.which(getattr(options, name))
        if found is None:
            parser.error(f"--{name}: {getattr(options, name)} is not an executable program")
        setattr(options, name, os.path.abspath(found))
    options.mpirun, options.environment = launching(options.mpi, options.mpirun)
    return options


def launching(mpi, mpirun):
    """How a bare job is started, and what is set for every job: as many ranks as a test wants, who wait with patience."""
    if mpi == "mpich":
        return [mpirun], {}
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    return [mpirun, *root, "--oversubscribe"], {"OMPI_MCA_mpi_yield_when_idle": "1"}


def main():
    options = arguments()
    if not os.path.isfile(os.path.join(options.suite, "config.status")):
        sys.exit("conformance: MPICH's test suite is not built\n  so:   nothing was tested\n"
                 "  next: tests/conformance/build.sh (needs the network once)")
    directories, cases = selection(options)
    launcher = Launcher(options)

    def stop(number, _frame):
        launcher.close()
        os._exit(128 + number)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    try:
        outcomes = run_all(cases, launcher, set(words_of(INACTIVE)))
    finally:
        launcher.close()
    print_report(outcomes)
    if options.json:
        write_json(options.json, outcomes, directories)
    ran = {top(o.case.directory) for o in outcomes if o.seconds}
    empty = [] if options.test else sorted({top(d) for d in directories} - ran)
    for directory in empty:
        print(f"failed: no test of directory {directory} ran")
    counts = collections.Counter(o.verdict for o in outcomes)
    failed = counts["failed"] + len(empty)
    print(f"{counts['passed']} passed, {failed} failed, {counts['flaky']} flaky, {counts['skipped']} skipped")
    flaky = too_many_flaky(outcomes)
    if flaky:
        print(f"failed: more than {FLAKY_SHARE:.0%} of the tests are flaky: {', '.join(sorted(names_of(outcomes, 'flaky')))}")
    return 1 if failed or flaky else 0


def names_of(outcomes, verdict):
    return [o.case.name for o in outcomes if o.verdict == verdict]


if __name__ == "__main__":
    sys.exit(main())
