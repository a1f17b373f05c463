"""The testlists of MPICH's test suite, read as the suite's own `runtests` reads them.

A line is `program [ranks [key=value ...]]`. A program that is a directory is a list of its own. Words without '='
after the ranks are ignored, as runtests does.
"""

import dataclasses
import pathlib
import re
import sys

DEFAULT_RANKS = 2
SUPPORTED_VERSION = (4, 0)
RESULT_TESTS = ("", "TestStatus", "TestStatusNoErrors", "TestErrFatal")


@dataclasses.dataclass
class TestCase:
    """One line of a testlist."""

    directory: str  # within the suite, e.g. "f77/coll"
    program: str  # within the directory
    ranks: int = DEFAULT_RANKS
    arguments: list = dataclasses.field(default_factory=list)
    environment: dict = dataclasses.field(default_factory=dict)
    mpiexec_arguments: list = dataclasses.field(default_factory=list)
    result_test: str = ""
    time_limit: int = 0  # seconds; 0 = the default
    expected_to_fail: str = ""
    strict: str = ""
    memory: float = 0  # GB
    version: str = ""  # of the MPI standard, at least

    @property
    def name(self):
        """Unique within the suite unless a list repeats a line."""
        words = [f"{self.directory}/{self.program}", str(self.ranks), *self.arguments]
        words += [f"{key}={value}" for key, value in self.environment.items()]
        return " ".join(words)

    def needs_newer_mpi(self):
        numbers = tuple(int(n) for n in re.findall(r"\d+", self.version))
        return numbers > SUPPORTED_VERSION


def _apply(case, key, value):
    if key == "arg":
        case.arguments.append(value)
    elif key == "env":
        variable, _, content = value.partition("=")
        case.environment[variable] = content
    elif key == "mpiexecarg":
        case.mpiexec_arguments.append(value)
    elif key == "resultTest":
        if value not in RESULT_TESTS:
            raise ValueError(f"resultTest={value} is not known")
        case.result_test = value
    elif key == "timeLimit":
        case.time_limit = int(value) if value.isdigit() else 0
    elif key == "xfail":
        case.expected_to_fail = value
    elif key == "strict":
        case.strict = value.lower()
    elif key == "mem":
        case.memory = float(value)
    elif key == "mpiversion":
        case.version = value
    elif key not in ("init", "lock", "mpix"):  # of no meaning for a serial run of MPICH itself
        raise ValueError(f"key {key} is not known")


def parse_line(directory, line):
    """The test of one line, or None for an empty one; ValueError names what is not understood."""
    words = line.partition("#")[0].split()
    if not words or words[0].startswith("!"):
        return None
    case = TestCase(directory, words[0])
    if len(words) > 1:
        case.ranks = int(words[1])
    for word in words[2:]:
        key, equals, value = word.partition("=")
        if equals:
            _apply(case, key, value)
    return case


def read(suite, directory, list_name="testlist"):
    """All tests of a directory and of those that its list names, in order."""
    folder = pathlib.Path(suite) / directory
    try:
        lines = (folder / list_name).read_text().splitlines()
    except OSError:
        return []
    cases = []
    for number, line in enumerate(lines, 1):
        try:
            case = parse_line(directory, line)
        except ValueError as error:
            print(f"{folder / list_name}:{number}: {error}", file=sys.stderr)
            raise
        if case is None:
            continue
        if (folder / case.program).is_dir():
            cases += read(suite, f"{directory}/{case.program}", list_name)
        else:
            cases.append(case)
    return cases
