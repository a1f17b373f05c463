#!/usr/bin/env python3
"""Sums up gcov's counters: lines and functions that ran, for each folder of the product, as a table in Markdown.

Usage: table.py BUILD_FOLDER [FOLDER...]    for each FOLDER also the lines and functions that nothing ran

A line counts as run if any process ran it in any object that contains it; templates and inline functions are counted
once, by where they are written. Tests, benchmarks, examples and generated sources are left out.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LEFT_OUT = re.compile(r"^(tests|bench|examples|build[^/]*|tools)/|_test\.cpp$|_test\.hpp$|/test_[a-z_]*\.hpp$")


def counted(path):
    """The path in the tree of a source that counts, or None."""
    try:
        name = os.path.relpath(path, ROOT)
    except ValueError:
        return None
    return None if name.startswith("..") or LEFT_OUT.search(name) else name


def counts_of(note):
    """({(file, line): count}, {(file, line): (name, count)}) of one object; zeros where it never ran."""
    out = subprocess.run(["gcov", "--json-format", "--stdout", str(note)], cwd=note.parent, capture_output=True,
                         text=True, check=False).stdout
    lines, functions = {}, {}
    for document in out.splitlines():
        for source in json.loads(document)["files"]:
            name = counted(source["file"])
            if name is None:
                continue
            for line in source["lines"]:
                key = name, line["line_number"]
                lines[key] = max(lines.get(key, 0), line["count"])
            for function in source["functions"]:
                key = name, function["start_line"]
                count = max(functions.get(key, ("", 0))[1], function["execution_count"])
                functions[key] = function["demangled_name"], count
    return lines, functions


def is_wanted(note):
    """Objects of tests only hold product code that other objects hold too, or that only they run."""
    return "/bench" not in str(note)


def collect(build):
    notes = [note for note in sorted(build.rglob("*.gcno")) if is_wanted(note)]
    lines, functions = {}, {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for some_lines, some_functions in pool.map(counts_of, notes):
            for key, count in some_lines.items():
                lines[key] = max(lines.get(key, 0), count)
            for key, (name, count) in some_functions.items():
                functions[key] = name, max(functions.get(key, ("", 0))[1], count)
    return lines, functions


def folder_of(name):
    """The folders of docs/architecture.md that are worth a row."""
    parts = name.split("/")[:-1]
    return "/".join(parts[:2]) or "."


def percent(part, whole):
    return f"{part} of {whole} ({100 * part / whole:.1f} %)" if whole else "-"


def table(lines, functions):
    rows = {}
    for kind, items in enumerate((lines.items(), ((key, count) for key, (_, count) in functions.items()))):
        for (name, _), count in items:
            for folder in (folder_of(name), "all"):
                row = rows.setdefault(folder, [[0, 0], [0, 0]])
                row[kind][0] += count > 0
                row[kind][1] += 1
    yield "| folder | lines | functions |"
    yield "|---|---|---|"
    for folder in sorted(rows, key=lambda f: (f == "all", f)):
        yield f"| {folder} | {percent(*rows[folder][0])} | {percent(*rows[folder][1])} |"


def spans(numbers):
    """[1, 2, 3, 7] -> "1-3, 7"; numbers: the lines that never ran, of those that have code."""
    groups = []
    for number in numbers:
        if groups and number - groups[-1][1] <= 1:
            groups[-1][1] = number
        else:
            groups.append([number, number])
    return [(first, last) for first, last in groups]


def show(folder, lines, functions):
    by_file = {}
    for (name, number), count in lines.items():
        if name.startswith(folder.rstrip("/") + "/") and count == 0:
            by_file.setdefault(name, []).append(number)
    for name in sorted(by_file):
        print(f"\n{name}")
        source = (ROOT / name).read_text().splitlines()
        for (where, at), (function, count) in sorted(functions.items(), key=lambda f: f[0]):
            if where == name and count == 0:
                print(f"  never called: {function} (line {at})")
        for first, last in spans(sorted(by_file[name])):
            for number in range(first, last + 1):
                print(f"  {number:5}  {source[number - 1] if number <= len(source) else ''}")


def main(build, *folders):
    lines, functions = collect(pathlib.Path(build).resolve())
    print("\n".join(table(lines, functions)))
    for folder in folders:
        show(folder, lines, functions)


if __name__ == "__main__":
    main(*sys.argv[1:])
