"""Runs MPI programs bare and under nplus1, with real ranks and the real simulator. The summary is the oracle of
virtual times: its numbers are read as Decimal, so that comparisons are exact.

Environment (set by ctest): NPLUS1 the command, NPLUS1_TEST_PROGRAMS the folder of the programs in programs/."""
import collections
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from decimal import Decimal

NPLUS1 = pathlib.Path(os.environ["NPLUS1"])
PROGRAMS = pathlib.Path(os.environ["NPLUS1_TEST_PROGRAMS"])
EXAMPLES = NPLUS1.parent / "examples"
MPIRUN = os.environ.get("NPLUS1_MPIRUN") or shutil.which("mpirun.mpich") or "mpirun"
LIMIT = 60

Run = collections.namedtuple("Run", "stdout stderr code summary folder")


# What Hydra says of a job to which it gives the code of its own kill of the others, instead of that of the rank that it kills
# them for: of a hundred bare jobs one to three each, who is faster.
HYDRAS_KILLS = {signal.SIGKILL: "Killed (signal 9)", signal.SIGHUP: "Hangup (signal 1)",
                signal.SIGTERM: "Terminated (signal 15)"}


# Where Open MPI's mpirun ends by a fault of its own after an abort (4 of 1,000 bare jobs that a fatal error ends, on two cores):
# in a function of the process manager's, in which nothing of nplus1's is loaded. Bare it is the signal that the launcher ended
# by, from nplus1 the code that a shell gives it.
OPEN_MPIS_FAULT = "(PMIx_server_finalize+"
OPEN_MPIS_FAULTS_CODES = (-signal.SIGSEGV, 128 + signal.SIGSEGV)


def has_launchers_own_code(code, said):
    return HYDRAS_KILLS.get(code, "\0") in said or (code in OPEN_MPIS_FAULTS_CODES and OPEN_MPIS_FAULT in said)


def environment(more=None):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("NPLUS1", "UCX_", "LD_PRELOAD", "PMI_"))}
    return {**kept, **{k: str(v) for k, v in (more or {}).items()}}


def path_of(program):
    for folder in (PROGRAMS, EXAMPLES):
        if (folder / program).exists():
            return str(folder / program)
    return program


def descendants(pid):
    """All processes below `pid`, as {pid: comm}."""
    children, names = collections.defaultdict(list), {}
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            name, rest = (entry / "stat").read_text().split("(", 1)[1].rsplit(")", 1)
        except (OSError, IndexError):
            continue
        children[int(rest.split()[1])].append(int(entry.name))
        names[int(entry.name)] = name
    below, waiting = {}, [pid]
    while waiting:
        for child in children[waiting.pop()]:
            below[child] = names[child]
            waiting.append(child)
    return below


def states_below(pid):
    """What each thread of the processes below `pid` does: name, state, system call, seconds of CPU time."""
    lines = []
    for process, name in sorted(descendants(pid).items()):
        for thread in sorted(pathlib.Path(f"/proc/{process}/task").glob("*")):
            try:
                fields = (thread / "stat").read_text().rsplit(")", 1)[1].split()
                call = (thread / "syscall").read_text().split()[:3]
            except OSError:
                continue
            seconds = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
            lines.append(f"{name} {process}/{thread.name} {fields[0]} {' '.join(call)} {seconds:.1f} s")
    return "\n".join(lines)


def alive_below(pid):
    """Names of the processes below `pid` that have not ended."""
    names = set()
    for process, name in descendants(pid).items():
        with contextlib.suppress(OSError):
            if pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z":
                names.add(name)
    return names


def hangs_in_open_mpi(pid):
    """Whether all ranks have ended and mpirun waits for itself: where ranks are killed at once, Open MPI 4.1.4's stands still now
    and then in PMIx_server_finalize, at a lock that nobody has (docs/soundness.md; `nplus1 run` waits for it, as one would bare)."""
    alive = alive_below(pid)
    return "mpirun.openmpi" in alive and alive <= {"mpirun.openmpi", "nplus1-simnode", "nplus1-witness"}


def wait_until(condition, seconds=10.0):
    """The first true value of `condition`; its last value when time is up."""
    until = time.monotonic() + seconds
    while not (value := condition()) and time.monotonic() < until:
        time.sleep(0.01)
    return value


def read(path):
    """A file of /proc; nothing where it is gone or somebody else's."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


def shared_files():
    return set(os.listdir("/dev/shm"))


def left_in_shared_memory(before, called="nplus1", patience=10):
    """Files with that in their name that are new in /dev/shm since `before`, and that no process has mapped: those of other jobs,
    which run beside, are mapped by them, a moment after they were made."""
    def orphans():
        new = {f for f in shared_files() - before if called in f}
        mapped = b"".join(read(p) for p in pathlib.Path("/proc").glob("[0-9]*/maps")) if new else b""
        return sorted(f for f in new if f"/dev/shm/{f}".encode() not in mapped and os.path.exists(f"/dev/shm/{f}"))
    wait_until(lambda: not orphans(), patience)
    return orphans()


class LiveTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="nplus1-mpi-test-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.runs = 0

    def command(self, ranks, *words, options=(), output=None):
        output = ("-o", output) if output else ()
        return [str(w) for w in (NPLUS1, "run", "-q", "-n", ranks, *output, *options, "--", path_of(words[0]),
                                 *words[1:])]

    def run_command(self, command, more=None, input=None, timeout=LIMIT):
        job = subprocess.Popen(command, cwd=self.folder, env=environment(more), text=True, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, stdin=subprocess.DEVNULL if input is None else subprocess.PIPE)
        try:
            out, err = job.communicate(input, timeout)
        except subprocess.TimeoutExpired:
            job.terminate()  # passed on to mpirun, which ends the ranks; a kill would leave them
            out, err = job.communicate(timeout=LIMIT)
            self.fail(f"hangs: {' '.join(command)}\n{out}{err}")
        return subprocess.CompletedProcess(command, job.returncode, out, err)

    def of(self, program):
        """The program as the compiler of this suite's MPI made it."""
        return program

    def observe(self, ranks, *words, options=(), more=None, code=0, **named):
        """Runs a program under nplus1; `code` is what it must return (None: anything)."""
        if code is not None:
            done = self.without_launchers_own_code(
                lambda: self.observe(ranks, *words, options=options, more=more, code=None, **named), code)
            self.assertEqual(done.code, code, done.stderr)
            return done
        self.runs += 1
        folder = self.folder / f"result-{self.runs}"
        done = self.run_command(self.command(ranks, *words, options=options, output=folder), more, **named)
        summary = None
        if (folder / "summary.json").exists():
            summary = json.loads((folder / "summary.json").read_text(), parse_float=Decimal)
        return Run(done.stdout, done.stderr, done.returncode, summary, folder)

    def without_launchers_own_code(self, run, code=None):
        """`run()`, a Run; repeated, at most twice, when its code is the launcher's own, and not `code`."""
        for _ in range(2):
            done = run()
            if done.code == code or not has_launchers_own_code(done.code, done.stdout + done.stderr):
                return done
        return run()

    def until_heard(self, saying, run):
        """`run()`, a Run, until its output has `saying`; the exit code is the same each time. Hydra may end before it has passed
        on what a rank said last that ends the job, bare as well."""
        codes = set()
        for _ in range(20):
            done = self.without_launchers_own_code(run)
            codes.add(done.code)
            self.assertEqual(len(codes), 1, codes)
            if saying in done.stdout + done.stderr:
                return done
        self.fail(f"never said: {saying}")

    def exact(self, *words, ranks=None, network="lsb:latency=1e-3,bandwidth=1e6", compute="fixed:0", options=(), more=None,
              **named):
        """A complete run with given compute costs. Without `ranks`: a script with one argument per rank."""
        if ranks is None:
            ranks, words = len(words), ("script", *words)
        run = self.observe(ranks, *words, options=("--network", network, "--compute", compute, *options), more=more,
                           **named)
        self.assertIsNotNone(run.summary, run.stderr)
        self.assertTrue(run.summary["complete"])
        self.assertEqual(run.summary["trust"]["active_ranks"], ranks)
        self.assertEqual(run.summary["trust"]["clock_mismatches"], 0)
        return run

    def ends(self, *words, **named):
        """The virtual times at which the ranks ended."""
        return self.exact(*words, **named).summary["rank_end_s"]

    def bare_command(self, ranks, *words):
        return [MPIRUN, "-np", str(ranks), path_of(words[0]), *map(str, words[1:])]

    def bare(self, ranks, *words, **named):
        def run():
            done = self.run_command(self.bare_command(ranks, *words), **named)
            return Run(done.stdout, done.stderr, done.returncode, None, None)
        return self.without_launchers_own_code(run)


def seconds(text):
    return Decimal(str(text))
