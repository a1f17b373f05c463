#!/usr/bin/env python3
"""Prints what docs/architecture.md's section "The house in numbers" has: sizes of functions, files and classes of the
product's C++, and circles of includes.

Usage: house_in_numbers.py [ROOT]. Reads what git lists; relies on .clang-format: a block ends at the first line that is a
closing brace with the indentation of the line that began it. Tests, `testing` folders and benchmarks don't count.
"""
import collections
import pathlib
import re
import subprocess
import sys

CONTROL = re.compile(r"^\s*(if|for|while|switch|do|else|try|catch|namespace|struct|class|enum|union|extern)\b")
CLASS = re.compile(r"^(\s*)(?:template.*> )?(?:class|struct) (?:alignas\(\w+\) )?(?:[A-Z0-9_]+ )?(\w+)(?: final)?(?: :.*)? \{$")
FIELD = re.compile(r"^[\w:<>,&*\s\[\]()]*?\b(\w+)(?:\{.*\}| = .*)?;(?:\s*//.*)?$")
INCLUDE = re.compile(r'^#include "([^"]+)"')


def product_files(root):
    listed = subprocess.run(["git", "ls-files", "*.cpp", "*.hpp"], cwd=root, capture_output=True, text=True, check=True)
    for name in listed.stdout.split():
        parts = name.split("/")
        if parts[0] not in ("tests", "bench", "examples") and "testing" not in parts and not name.endswith("_test.cpp"):
            yield name


def indent(line):
    return len(line) - len(line.lstrip())


def block_end(lines, begin, width):
    """The line of the brace that closes the block whose header begins at `width`."""
    for at in range(begin + 1, len(lines)):
        if lines[at].lstrip().startswith("}") and indent(lines[at]) == width:
            return at
    return len(lines) - 1


def functions(lines):
    """(name, lines) of each function with a body of its own."""
    at = 0
    while at < len(lines):
        line = lines[at]
        if not line.rstrip().endswith("{") or CONTROL.match(line) or "(" not in join_header(lines, at):
            at += 1
            continue
        begin = header_begin(lines, at)
        header = join_header(lines, at)
        name = re.search(r"([\w:~]+)\(", header)
        if CONTROL.match(header) or not name or header.rstrip(" {").endswith(("=", ",")):
            at += 1
            continue
        end = block_end(lines, at, indent(lines[begin]))
        yield name.group(1), end - begin + 1
        at = end + 1


def header_begin(lines, at):
    while at > 0 and indent(lines[at]) > 0 and not lines[at - 1].rstrip().endswith((";", "}", "{", ":")) \
            and lines[at - 1].strip() and not lines[at - 1].lstrip().startswith(("//", "#")):
        at -= 1
    return at


def join_header(lines, at):
    return " ".join(line.strip() for line in lines[header_begin(lines, at):at + 1])


def classes(lines):
    """(name, methods, fields) of each class."""
    for at, line in enumerate(lines):
        match = CLASS.match(line)
        if not match:
            continue
        inner, end = len(match.group(1)) + 2, block_end(lines, at, len(match.group(1)))
        methods = fields = 0
        statement, here = "", at + 1
        while here < end:
            body = lines[here].split("//")[0].rstrip()
            here += 1
            if indent(body) < inner or not body.strip() or body.lstrip().startswith("#"):
                continue
            statement += " " + body.strip()
            if body.endswith("{"):  # a body, or a class of its own
                here = block_end(lines, here - 1, inner) + 1
            elif not body.endswith((";", "}")):
                continue
            declared, statement = statement.strip(), ""
            if re.match(r"(using|friend|enum|static_assert|class|struct|static constexpr)\b", declared):
                continue
            if re.search(r"[\w=<>\]]\(", declared.split("{")[0].split(" = ")[0]) and "std::function<" not in declared:
                methods += 1
            elif FIELD.match(declared):
                fields += 1
        yield match.group(2), methods, fields


def circles(files, root):
    """Groups of headers that include each other, and sources' headers through them; a pimpl has none."""
    graph = {name: [t for line in (root / name).read_text().splitlines() if (m := INCLUDE.match(line))
                    and (t := m.group(1)) in files] for name in files if name.endswith(".hpp")}
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in graph.get(node, []):
            if other not in index:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == index[node]:
            group = stack[stack.index(node):]
            del stack[stack.index(node):]
            if len(group) > 1:
                found.append(group)

    sys.setrecursionlimit(10000)
    for node in graph:
        if node not in index:
            visit(node)
    return found


def folder_circles(files, root):
    """Pairs of folders whose files include each other, neither lying within the other."""
    arrows = collections.defaultdict(set)
    for name in files:
        for line in (root / name).read_text().splitlines():
            match = INCLUDE.match(line)
            if match and match.group(1) in files:
                arrows[name.rsplit("/", 1)[0]].add(match.group(1).rsplit("/", 1)[0])
    apart = lambda a, b: not (a + "/").startswith(b + "/") and not (b + "/").startswith(a + "/")
    return sorted({tuple(sorted((a, b))) for a in arrows for b in arrows[a] if a in arrows.get(b, ()) and apart(a, b)})


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()
    files = list(product_files(root))
    texts = {name: (root / name).read_text().splitlines() for name in files}
    lengths = sorted((length, name, file) for file in files for name, length in functions(texts[file]))
    largest = sorted(((m, f, c, file) for file in files for c, m, f in classes(texts[file])), reverse=True)[:4]
    folder_sizes = collections.Counter()
    for name, lines in texts.items():
        folder_sizes[name.rsplit("/", 1)[0]] += len(lines)
    at = lambda share: lengths[int(share * (len(lengths) - 1))][0]
    print(f"| files of the product, lines | {len(files)}, {sum(map(len, texts.values()))} |")
    print(f"| functions | {len(lengths)}: median {at(0.5)} lines, nine of ten at most {at(0.9)}, longest {lengths[-1][0]} "
          f"(`{lengths[-1][1]}`, `{lengths[-1][2]}`) |")
    longest_file = max(files, key=lambda name: len(texts[name]))
    print(f"| longest file | {len(texts[longest_file])} lines (`{longest_file}`) |")
    print("| largest folders | " + ", ".join(f"`{f}` {n}" for f, n in folder_sizes.most_common(5)) + " |")
    print("| largest classes, methods and fields | "
          + ", ".join(f"`{c}` {m} and {f}" for m, f, c, _ in largest) + " |")
    print(f"| circles of headers | {len(circles(set(files), root))} |")
    print("| folders that include each other | "
          + (", ".join(f"`{a}` and `{b}`" for a, b in folder_circles(set(files), root)) or "none") + " |")


if __name__ == "__main__":
    main()
