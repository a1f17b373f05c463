#!/usr/bin/env python3
"""Holds the walks in docs/architecture.md to the tree: each numbered step names files that exist, and what is named behind a
file (functions with parentheses, Class::member, other names in backquotes up to the next file) stands in that file.

Usage: check_walks.py [ROOT]. Exit code 1, with a line for each name that is not there.
"""
import pathlib
import re
import sys

STEP = re.compile(r"^\d+\. (.*)")
CODE = re.compile(r"`([^`]+)`")
FILE = re.compile(r"^[\w.-]+(/[\w.-]+)+\.\w+$")


def wrong_in(step, root):
    file = None
    for name in CODE.findall(step):
        if FILE.match(name):
            file = root / name
            if not file.is_file():
                yield f"there is no {name}"
                file = None
        elif file is not None:
            if name.removesuffix("()") not in file.read_text(errors="replace"):
                yield f"{file.relative_to(root)} has no {name}"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()
    steps = [m.group(1) for line in (root / "docs/architecture.md").read_text().splitlines() if (m := STEP.match(line))]
    wrong = [f"docs/architecture.md: {message}" for step in steps for message in wrong_in(step, root)]
    if len(steps) < 15:
        wrong.append(f"docs/architecture.md: {len(steps)} steps are not both walks")
    print("\n".join(wrong) if wrong else f"check_walks: {len(steps)} steps")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
