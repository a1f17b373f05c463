#!/usr/bin/env python3
"""Holds every #include to the tables in docs/architecture.md.

Usage: check_layers.py [ROOT]. Prints file:line for each include that the tables don't allow, each folder and header
that a row allows and nobody includes, and each circle of folders; exit code 1 if there is one, 2 if the tables can't be
read. Knows C, C++ and headers; system headers matter only where the second table names them.

A circle is folders of the product each of which includes the next, a folder and one within it not excepted: tests may
include what they like.

What tests are made of (`*_test.cpp`, and folders called `testing`) may include whatever some part of its top folder may;
nobody else may include what lies in a folder called `testing`.
"""
import pathlib
import re
import sys

SUFFIXES = {".c", ".h", ".cpp", ".hpp", ".inc"}
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
CODE = re.compile(r"`([^`]+)`")


def read_tables(text):
    """Two dicts from the document: folder -> folders it may include, header -> folders that may include it."""
    tables, header = {"folder": {}, "header": {}}, None
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            header = None
        elif header is None:
            header = cells[0] if cells[0] in tables else ""
        elif header and CODE.search(cells[0]):
            tables[header][CODE.search(cells[0]).group(1)] = set(CODE.findall(cells[-1]))
    return tables["folder"], tables["header"]


def is_within(path, folder):
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def most_specific(path, folders):
    """The longest of `folders` that holds `path`, or None."""
    return max((f for f in folders if is_within(path, f)), key=len, default=None)


def is_of_tests(path):
    """Whether the file is a test, or a part of tests."""
    return "testing" in path.split("/")[:-1] or path.endswith("_test.cpp") or path.split("/")[0] in ("tests", "bench")


def allowed_to(path, folders):
    """The folders that a file may include, besides its own."""
    home = most_specific(path, folders)
    if not is_of_tests(path):
        return folders[home]
    top = path.split("/")[0]
    return set().union(*(allowed | {row} for row, allowed in folders.items() if is_within(row, top)))


class Arrows:
    """Which entries of the tables some include has needed."""

    def __init__(self, folders, headers):
        self.unused = {(row, allowed, "include") for row, all_allowed in folders.items() for allowed in all_allowed}
        self.unused |= {(folder, header, "include <...> of") for header, homes in headers.items() for folder in homes}

    def used(self, path, target):
        self.unused = {(row, what, how) for row, what, how in self.unused
                       if not (is_within(path, row) and (is_within(target, what) or target == what
                                                         or what.endswith("/") and target.startswith(what)))}


class Circles:
    """Which folder of the product includes which, by the include that shows it."""

    def __init__(self):
        self.arrows = {}

    def add(self, root, path, number, target):
        home, goal = path.rpartition("/")[0], target.rpartition("/")[0]
        if home != goal and not is_of_tests(path) and (root / target).is_file():
            self.arrows.setdefault(home, {}).setdefault(goal, f"{path}:{number}")

    def way(self, begin, goal):
        """The folders on a shortest way from `begin` to `goal`, both included, or None."""
        ways = [[begin]]
        seen = {begin}
        for way in ways:
            if way[-1] == goal:
                return way
            for following in sorted(set(self.arrows.get(way[-1], ())) - seen):
                seen.add(following)
                ways.append(way + [following])
        return None

    def found(self):
        """A sentence for each arrow that lies on a circle, once for the folders of a circle."""
        told = set()
        for home, goals in sorted(self.arrows.items()):
            for goal, place in sorted(goals.items()):
                back = self.way(goal, home)
                if back and frozenset(back) not in told:
                    told.add(frozenset(back))
                    places = [place] + [self.arrows[a][b] for a, b in zip(back, back[1:])]
                    yield f"{place}: a circle of folders: {' -> '.join([home] + back)} ({', '.join(places)})"


def judge(path, quote, target, folders, headers, root):
    """What is wrong with one include, or None."""
    for header, allowed in headers.items():
        if target == header or (header.endswith("/") and target.startswith(header)):
            if not any(is_within(path, folder) for folder in allowed):
                return f"{target} belongs to {', '.join(sorted(allowed))} only"
    if quote == "<":
        return None
    home, goal = most_specific(path, folders), most_specific(target, folders)
    if goal is None and (root / "include" / target).exists():
        goal = "include"
    if goal is None and target in headers:
        return None
    if goal is None:
        return f'"{target}" is in no folder of the table: include from the root of the tree'
    if "testing" in target.split("/")[:-1] and not is_of_tests(path):
        return f"{target} is for tests only"
    if goal == home or (goal.split("/")[0] == home.split("/")[0] and is_within(home, goal)):
        return None
    if any(is_within(goal, allowed) for allowed in allowed_to(path, folders)):
        return None
    # A part of a folder may be used by the rest of that folder.
    return None if is_within(goal, home) else f"{home} may not include {goal} ({target})"


def check_file(root, file, folders, headers, arrows, circles):
    path = file.relative_to(root).as_posix()
    for number, line in enumerate(file.read_text(errors="replace").splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        target = match.group(2)
        wrong = judge(path, match.group(1), target, folders, headers, root)
        circles.add(root, path, number, target)
        arrows.used(path, f"include/{target}" if (root / "include" / target).exists() else target)
        if wrong:
            yield f"{path}:{number}: {wrong}"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()
    folders, headers = read_tables((root / "docs/architecture.md").read_text())
    if not folders or not headers:
        print("check_layers: docs/architecture.md has no tables '| folder |' and '| header |'", file=sys.stderr)
        return 2
    files = [f for top in sorted({f.split("/")[0] for f in folders}) for f in sorted((root / top).rglob("*"))
             if f.suffix in SUFFIXES and f.is_file()]
    arrows, circles = Arrows(folders, headers), Circles()
    wrong = [message for file in files for message in check_file(root, file, folders, headers, arrows, circles)]
    wrong += circles.found()
    wrong += [f"docs/architecture.md: `{row}` may {how} `{what}`, and never does" for row, what, how in sorted(arrows.unused)]
    print("\n".join(wrong) if wrong else f"check_layers: {len(files)} files, all within their layers")
    return 1 if wrong or not files else 0


if __name__ == "__main__":
    sys.exit(main())
