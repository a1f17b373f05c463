#!/usr/bin/env python3
"""Holds the documentation to the tree.

- The walks in docs/architecture.md: each numbered step names files that exist, and what is named behind a file (functions
  with parentheses, Class::member, other names in backquotes up to the next file) stands in that file.
- All of README.md, docs/ and tests/: paths in backquotes that begin with one of the tree's folders exist (with `*` and
  `{a,b}`), and so do the files and headings that links lead to.

Usage: check_docs.py [ROOT]. Exit code 1, with a line for each name that is not there.
"""
import pathlib
import re
import sys

STEP = re.compile(r"^\d+\. (.*)")
CODE = re.compile(r"`([^`]+)`")
FILE = re.compile(r"^[\w.-]+(/[\w.-]+)+\.\w+$")
PATH = re.compile(r"^[\w.-]+(/[\w.*{},-]+)+/?$")
CHOICE = re.compile(r"\{([^{}]*)\}")
LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def wrong_in_walk(step, root):
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


def each_of(path):
    """`a/b.{hpp,cpp}` is two paths."""
    choice = CHOICE.search(path)
    if not choice:
        return [path]
    return [each for part in choice.group(1).split(",") for each in each_of(path[: choice.start()] + part + path[choice.end() :])]


def missing_paths(text, root, folders):
    for name in CODE.findall(text):
        if PATH.match(name) and name.split("/")[0] in folders:
            for each in each_of(name.rstrip("/")):
                if not any(root.glob(each)):
                    yield f"there is no {each}"


def anchors(text):
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in HEADING.findall(text)}


def dead_links(document, text):
    for target, anchor in LINK.findall(text):
        if ":" in target:
            continue
        file = document.parent / target if target else document
        if not file.exists():
            yield f"a link leads to {target}, which is not there"
        elif anchor and file.suffix == ".md" and anchor not in anchors(file.read_text()):
            yield f"{target or 'it'} has no heading #{anchor}"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()
    steps = [m.group(1) for line in (root / "docs/architecture.md").read_text().splitlines() if (m := STEP.match(line))]
    wrong = [f"docs/architecture.md: {message}" for step in steps for message in wrong_in_walk(step, root)]
    if len(steps) < 15:
        wrong.append(f"docs/architecture.md: {len(steps)} steps are not both walks")
    folders = {path.name for path in root.iterdir() if path.is_dir()} - {"build"}
    documents = [root / "README.md", *sorted(root.glob("docs/**/*.md")), *sorted(root.glob("tests/**/*.md"))]
    for document in documents:
        text = document.read_text()
        wrong += [f"{document.relative_to(root)}: {message}"
                  for message in [*missing_paths(text, root, folders), *dead_links(document, text)]]
    print("\n".join(wrong) if wrong else f"check_docs: {len(steps)} steps of walks, {len(documents)} documents")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
