"""Patchers that are broken on purpose: the true one's answer, each with one mistake, for the test that random programs notice it.
The mistakes are made in the diff, so that hunks keep their lengths and the diff applies.

BREAKAGES: name -> the broken line for an added line of a diff; the line itself where it has nothing to break."""
import re


def without_wait(line):
    """Nobody waits."""
    return re.sub(r"MPI_Waitall\(.*?\);", "(void)0;", line)


def status_of_the_neighbour(line):
    """A status is another request's: send and receive are taken for each other."""
    return re.sub(r"= (status_\w+)\[(\d+)\];", lambda m: f"= {m[1]}[{int(m[2]) ^ 1}];", line)


def short_wait(line):
    """The last request is not waited for."""
    return re.sub(r"MPI_Waitall\((\d+), ", lambda m: f"MPI_Waitall({int(m[1]) - 1}, ", line)


def short_message(line):
    """The last element is not sent."""
    return re.sub(r"(MPI_Isend\([^,]*,\s*)(\d+),", lambda m: f"{m[1]}{int(m[2]) - 1},", line)


BREAKAGES = {"without_wait": without_wait, "status_of_the_neighbour": status_of_the_neighbour, "short_wait": short_wait,
             "short_message": short_message}


def broken(diff, breakage):
    """The diff with that mistake, and whether there was a place for it."""
    lines = [BREAKAGES[breakage](line) if line.startswith("+") else line for line in diff.split("\n")]
    return "\n".join(lines), lines != diff.split("\n")
