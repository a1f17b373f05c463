#!/usr/bin/env python3
"""Holds the table of MPI functions against the installed MPI and against the built library.

    check_stubs.py table     --table functions.txt --calls mpi_calls.def --mpi libmpich.so
    check_stubs.py exports   --table functions.txt --exports exports.txt --library libnplus1-stubs.so [--mpi libmpi.so]
                             with --mpi: wrappers only of what that library has, but for extensions
    check_stubs.py objects   OBJECT...     no object calls a wrapper of ours, or looks up thread-local memory
    check_stubs.py fallbacks OBJECT...     no weak fallback is left without a real definition
One line per finding; exit code 1 if there is any.
"""
import argparse
import collections
import fnmatch
import pathlib
import re
import subprocess
import sys

Symbol = collections.namedtuple("Symbol", "kind name")  # kind as in nm(1): T, W, D, B, U


def symbols(path, *options):
    output = subprocess.run(["nm", *options, str(path)], check=True, capture_output=True, text=True).stdout
    found = []
    for line in output.splitlines():
        words = line.split()
        if len(words) >= 2 and len(words[-2]) == 1:
            found.append(Symbol(words[-2], words[-1].split("@")[0]))
    return found


def is_mpi(name):
    return re.match(r"P?MPIX?_", name) is not None


def read_lines(path):
    lines = (line.split("#")[0].split() for line in path.read_text().splitlines())
    return [words for words in lines if words]


def read_table(path):
    """{name: [class, argument, flags...]}"""
    return {words[0]: words[1:] for words in read_lines(path)}


def check_table(options):
    table = read_table(options.table)
    exported = {s.name: s.kind for s in symbols(options.mpi, "-D", "--defined-only") if is_mpi(s.name)}
    functions = {n for n, kind in exported.items() if kind in "TW"}
    calls = re.findall(r"^NPLUS1_MPI_CALL\((\w+)\)$", options.calls.read_text(), flags=re.M)
    for name in sorted(n for n in exported if not n.startswith("P")):
        if name not in table:
            yield f"{options.table}: {name} is exported by {options.mpi.name}, but not listed"
        elif name not in functions and table[name][0] != "skip":
            yield f"{options.table}: {name} is data and must be `skip data`"
    for name, words in table.items():
        yield from check_entry(options, name, words, functions, calls)
    for name in sorted(n for n, times in collections.Counter(calls).items() if times > 1):
        yield f"{options.calls}: {name} is listed twice"


def check_entry(options, name, words, functions, calls):
    if words[0] == "skip":
        return
    for symbol in (name, "P" + name):
        if symbol not in functions and "absent" not in words:
            yield f"{options.table}: {symbol} is not exported by {options.mpi.name}; flag {name} `absent` or delete it"
    if name not in calls:
        yield f"{options.calls}: {name} has no number; append it at the end"


def check_exports(options):
    table = read_table(options.table)
    wrapped = {prefix + n for n, words in table.items() if words[0] != "skip" and "absent" not in words
               for prefix in ("", "P")}
    if options.mpi:
        wrapped &= {s.name for s in symbols(options.mpi, "-D", "--defined-only") if "MPIX_" not in s.name}
    may_be = wrapped | {"P" + n for n in table} | set(table)
    patterns = read_lines(options.exports)
    exported = {s.name for s in symbols(options.library, "-D", "--defined-only")}
    for name in sorted(wrapped - exported):
        yield f"{options.library.name}: {name} is in the table, but not exported"
    for name in sorted(exported - may_be):
        if not any(fnmatch.fnmatchcase(name, words[0]) for words in patterns):
            yield f"{options.library.name}: exports {name}, which neither the table nor {options.exports} names"
    for words in patterns:
        if "required" in words and words[0] not in exported:
            yield f"{options.library.name}: does not export {words[0]}"


def check_objects(options):
    for path in options.objects:
        for symbol in symbols(path):
            if symbol.kind in "Uu" and is_mpi(symbol.name):
                yield f"{path}: refers to {symbol.name}: our own wrapper, or data that is not linked; use pmpi::"
            if symbol.name == "__tls_get_addr":
                yield f"{path}: looks up thread-local memory in the program's heap (stubs/CMakeLists.txt says why not)"


def check_fallbacks(options):
    """Only fallback.cpp, if it was linked at all, defines handlers weakly."""
    weak, strong = set(), set()
    for path in options.objects:
        found = symbols(path)
        strong |= {s.name for s in found if s.kind == "T"}
        if path.name.startswith("fallback"):
            weak |= {s.name for s in found if s.kind == "W" and re.match(r"_ZN6nplus15stubs(8handlers|15Unmod)", s.name)}
    for name in sorted(weak - strong):
        readable = subprocess.run(["c++filt", name], capture_output=True, text=True, check=False).stdout.strip()
        yield f"no handler {readable}: write it, or class the function `local` or `unmodelled`"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("check", choices=["table", "exports", "objects", "fallbacks"])
    parser.add_argument("objects", nargs="*", type=pathlib.Path)
    for name in ("table", "calls", "mpi", "exports", "library"):
        parser.add_argument(f"--{name}", type=pathlib.Path)
    options = parser.parse_args()
    checks = {"table": check_table, "exports": check_exports, "objects": check_objects, "fallbacks": check_fallbacks}
    if options.check in ("objects", "fallbacks") and not options.objects:
        sys.exit("no objects given: nothing would be checked")
    findings = list(checks[options.check](options))
    print("\n".join(findings) if findings else f"{options.check}: nothing to report")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
