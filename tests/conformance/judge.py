"""Whether a run of a test passed: the rules of the suite's own `runtests`, and whether nplus1 was really there."""

import dataclasses
import json
import pathlib
import re
import subprocess

# Fortran's STOP, what the suite's checkpoint tests say, and what `nplus1 run` says of a job without MPI_Init, which
# never_active.txt lists; what a rank says when MPI takes arguments that look wrong, which the suite's tests of errors give.
_IGNORED = re.compile(r"FORTRAN STOP|^\s*Test Passed\s*$|requesting checkpoint\s*$|checkpoint completed\s*$"
                      r"|^nplus1: there is no result:$|^nothing was observed: no process of the job called MPI_Init"
                      r"|^run an MPI program; one that begins with MPI_Session_init alone is observed with MPICH 4.0, if the program can call no MPI_Init$"
                      r"|^nplus1: rank \d+: arguments that look wrong: ")
# What follows this line in an output was said by the simulator and not by the test.
SIMULATOR_MARK = "--- the simulator's log ---"
_NO_ERRORS = re.compile(r"^\s*No [Ee]rrors\s*$")


@dataclasses.dataclass
class Run:
    """What one run of a test left."""

    code: int
    output: str  # stdout and stderr
    seconds: float
    timed_out: bool = False
    races: list = dataclasses.field(default_factory=list)  # as nplus1 overlap tells them, in words


def _unexpected(output):
    """The first line that the suite does not allow, or that repeats "No Errors"; and whether that was said at all."""
    found = False
    for line in output.partition(f"\n{SIMULATOR_MARK}\n")[0].splitlines():
        if _IGNORED.search(line):
            continue
        if _NO_ERRORS.match(line) and not found:
            found = True
            continue
        return line, found
    return None, found


def failure(case, run):
    """Why the run failed, in one line; None if it passed."""
    if case.result_test in ("TestStatus", "TestErrFatal"):
        return None if run.code != 0 else "exit code 0 where the test demands another"
    if run.timed_out:
        return "time limit"
    line, found = _unexpected(run.output)
    if line is not None:
        return f"unexpected output: {line.strip()[:160]}"
    if not found:
        return "ended without No Errors"
    wants_failure = case.result_test == "TestStatusNoErrors"
    if wants_failure == (run.code == 0):
        return f"exit code {run.code}"
    return None


def finished(folder):
    """Whether all ranks came to MPI_Finalize; others do not say that they recorded accesses."""
    try:
        return bool(json.loads((pathlib.Path(folder) / "summary.json").read_text()).get("complete"))
    except (OSError, ValueError):
        return False


def races(nplus1, folder):
    """What `nplus1 overlap` reports as races of a run with --record-accesses."""
    told = pathlib.Path(folder) / "overlap.json"
    if not finished(folder):
        return []
    done = subprocess.run([nplus1, "overlap", folder, "--json", told], capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        return [f"nplus1 overlap: exit code {done.returncode}: {done.stderr.strip()[:160]}"]
    return [f"{r['file']}:{r['line']}, {r['offset']} bytes into the buffer of line {r['request_line']}"
            for r in json.loads(told.read_text())["races"]]


def inactivity(case, folder):
    """Why the stubs were not active on all ranks, judged by the result folder of the run; None if they were."""
    path = pathlib.Path(folder) / "summary.json"
    try:
        summary = json.loads(path.read_text())
    except (OSError, ValueError):
        return "no summary.json"
    trust = summary.get("trust", {})
    if summary.get("ranks") != case.ranks:
        return f"the world had {summary.get('ranks')} ranks instead of {case.ranks}"
    if trust.get("active_ranks") != case.ranks:
        return f"{trust.get('active_ranks')} of {case.ranks} ranks were active"
    if not trust.get("events"):
        return "no events"
    return None
