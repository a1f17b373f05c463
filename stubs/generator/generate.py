#!/usr/bin/env python3
"""Writes the C++ around every MPI function from the table and the prototypes of the MPI at hand.

    generate.py --table functions.txt --header mpi.h --header mpi_proto.h --header mpio.h --output DIR

DIR gets
    pmpi.hpp       nplus1::stubs::pmpi::X: calls the MPI library's PMPI_X
    handlers.hpp   nplus1::stubs::handlers::X: what the runtime implements
    wrappers_N.cpp the exported MPI_X and PMPI_X
    fallback.cpp   weak handlers that call pmpi::X (for building before the runtime is complete)
Exit code 1 with a message per finding if a function of the table has no prototype or the reverse.
"""
import argparse
import pathlib
import re
import sys
from dataclasses import dataclass

PARTS = 4  # of the wrappers: so that they compile in parallel


@dataclass
class Entry:
    """A line of functions.txt."""
    name: str
    kind: str
    argument: str = ""
    flags: frozenset = frozenset()


@dataclass
class Parameter:
    declaration: str  # "const int counts[]"
    name: str  # "counts"
    type: str  # canonical, for telling overloads apart: "const int*"


@dataclass
class Function:
    name: str
    result: str
    parameters: list
    variadic: bool
    entry: Entry = None
    cpp_name: str = ""  # in pmpi:: and handlers::

    def declarations(self):
        return ", ".join(p.declaration for p in self.parameters)

    def arguments(self):
        return ", ".join(p.name for p in self.parameters)

    def signature(self):
        return tuple(p.type for p in self.parameters)


def read_table(path):
    entries = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        words = line.split("#")[0].split()
        if not words:
            continue
        entry = parse_entry(words, f"{path}:{number}")
        if entry.name in entries:
            sys.exit(f"{path}:{number}: {entry.name} is listed twice; delete one line")
        entries[entry.name] = entry
    return entries


def parse_entry(words, place):
    name, kind, rest = words[0], words[1] if len(words) > 1 else "", words[2:]
    if kind not in ("modelled", "local", "unmodelled", "skip"):
        sys.exit(f"{place}: class `{kind}` of {name} is none of modelled, local, unmodelled, skip")
    argument = ""
    if kind != "local":
        if not rest:
            sys.exit(f"{place}: {name} {kind} needs an argument (handler, kind or reason)")
        argument, rest = rest[0], rest[1:]
    unknown = set(rest) - {"always", "nested", "absent"}
    if unknown:
        sys.exit(f"{place}: unknown flag {', '.join(sorted(unknown))}; there are: always nested absent")
    return Entry(name, kind, argument, frozenset(rest))


def read_headers(paths):
    """The text of the headers without comments and preprocessor lines."""
    text = "\n".join(p.read_text() for p in paths)
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"//[^\n]*", " ", text)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.M)


def parse_functions(text, typedefs):
    """Every prototype `RESULT MPI_X(...)`, by name; PMPI_X is the same function."""
    functions = {}
    for match in re.finditer(r"(?<![\w*])([A-Za-z_]\w*)\s+(MPIX?_\w+)\s*\(([^()]*)\)\s*(?:MPICH_|ROMIO_|;)", text):
        result, name, inside = match.groups()
        if result in ("typedef", "return") or name in functions:
            continue
        pieces = [" ".join(p.split()) for p in inside.split(",")]
        variadic = pieces[-1] == "..."
        parameters = [parse_parameter(p, typedefs, name) for p in pieces if p not in ("void", "", "...")]
        functions[name] = Function(name, result, parameters, variadic)
    return functions


def parse_parameter(declaration, typedefs, function):
    match = re.fullmatch(r"(.*?)(\w+)((?:\[\w*\])*)", declaration)
    if not match or not match.group(1).strip():
        sys.exit(f"{function}: cannot read the parameter `{declaration}`; teach parse_parameter about it")
    before, name, arrays = match.groups()
    type_name = before + ("*" + arrays[arrays.index("]") + 1:] if arrays else "")
    type_name = re.sub(r"\w+", lambda m: typedefs.get(m.group(0), m.group(0)), type_name)
    return Parameter(declaration, name, re.sub(r"\s*([*\[\]])\s*", r"\1", type_name).strip())


def integer_typedefs(text):
    """{"MPI_Count": "long", ...}: two functions that differ in these names only are no overloads."""
    return {name: " ".join(base.split())
            for base, name in re.findall(r"typedef\s+((?:unsigned\s+)?(?:int|long|long\s+long))\s+(MPI_\w+)\s*;", text)}


def select(table, functions):
    """The functions to wrap, in order of the table, with their C++ names."""
    problems = [f"{n}: in the headers, but not in the table" for n in functions_without_entry(table, functions)]
    chosen = []
    for name, entry in table.items():
        if entry.kind == "skip":
            continue
        if name in functions:
            functions[name].entry = entry
            chosen.append(functions[name])
        elif "absent" not in entry.flags:
            problems.append(f"{name}: in the table, but the headers declare it nowhere (flag it `absent`?)")
    if problems:
        sys.exit("\n".join(problems))
    name_functions(chosen)
    return chosen


# Declared by MPICH's headers, exported by no library of the package.
DECLARED_ONLY = re.compile(r"MPI_DUP_FN|MPI_Status_(c2f08|f082c|f082f|f2f08)|MPI_Info_(c2f|f2c)|MPI_(Conversion|CONVERSION)\w*")


def functions_without_entry(table, functions):
    return [n for n in functions if n not in table and not DECLARED_ONLY.fullmatch(n)]


def name_functions(functions):
    """MPI_Send and MPI_Send_c are both Send; where the compiler could not tell them apart, the latter is Send_c."""
    taken = set()
    for f in functions:
        base = f.name[4:] if f.name.startswith("MPI_") else f.name
        large = base[:-2] if base.endswith("_c") else None
        f.cpp_name = large if large and (large, f.signature()) not in taken else base
        if f.entry.kind == "modelled" and f.cpp_name != f.entry.argument:
            sys.exit(f"{f.name}: the handler would be {f.cpp_name}, the table says {f.entry.argument}")
        taken.add((f.cpp_name, f.signature()))


BANNER = "// Generated by stubs/generator/generate.py from stubs/table/functions.txt: do not edit.\n"


def pmpi_function(f):
    variadic = ", ..." if f.variadic else ""
    return (f"inline {f.result} {f.cpp_name}({f.declarations()}) {{\n"
            f"  using Function = {f.result}({f.declarations()}{variadic});\n"
            f"  detail::InMpi inside;\n"
            f"  const {f.result} outcome = detail::next<Function>(events::MpiCall::{f.name})({f.arguments()});\n"
            f"  inside.has_returned = true;\n  return outcome;\n}}\n")


def write_pmpi(functions):
    return (BANNER + "// The MPI library's own functions, without MPI_: pmpi::Send(...) calls the next PMPI_Send in lookup\n"
            "// order, never a wrapper. Callable from any thread, at any time after the library was loaded. What a callback of\n"
            "// the program's throws (an error handler of C++) passes through, marked as the program's own.\n"
            "#pragma once\n\n#include <mpi.h>\n\n#include \"stubs/table/next.hpp\"\n\nnamespace nplus1::stubs::pmpi {\n\n"
            + "".join(pmpi_function(f) for f in functions) + "\n}  // namespace nplus1::stubs::pmpi\n")


def handler(f):
    more = ", [[maybe_unused]] va_list more" if f.variadic else ""
    return f"{f.result} {f.cpp_name}({f.declarations()}{more})"


def write_handlers(functions):
    return (BANNER + "// What the runtime implements: one function per modelled MPI function, with its signature. Called at\n"
            "// depth 0 of an active runtime (Init and Init_thread: before that), from any thread; guard.hpp has the\n"
            "// call and its site.\n"
            "#pragma once\n\n#include <mpi.h>\n\n#include <cstdarg>\n\nnamespace nplus1::stubs::handlers {\n\n"
            + "".join(handler(f) + ";\n" for f in functions if f.entry.kind == "modelled")
            + "\n}  // namespace nplus1::stubs::handlers\n")


def wrapper_body(f):
    call, arguments = f"MpiCall::{f.name}", f.arguments()
    real = f"pmpi::{f.cpp_name}({arguments})"
    if f.variadic and f.entry.kind == "modelled":
        return variadic_body(f, call, real)
    guard = f"  const DepthGuard guard{{{call}, __builtin_return_address(0), __builtin_frame_address(0)}};\n"
    if "always" in f.entry.flags:
        guard += f"  if (!guard.outermost()) return {real};\n"
    elif "nested" in f.entry.flags:
        guard += f"  if (!active()) [[unlikely]] return {real};\n"
    else:
        guard += f"  if (!guard.observed()) [[unlikely]] return {real};\n"
    if f.entry.kind == "modelled":
        return guard + guarded_call(f, real, f"    return handlers::{f.cpp_name}({arguments});\n")
    if f.entry.kind == "local":
        note = "  note_callbacks();\n" if any("_function" in p.type for p in f.parameters) else ""
        return guard + f"{note}  count_call({call});\n  return {real};\n"
    return guard + f"  const UnmodelledScope scope{{{call}}};\n  return {real};\n"


def variadic_body(f, call, real):
    """The handler gets the further arguments as a va_list; whether there are any only the application knows."""
    return (f"  const DepthGuard guard{{{call}, __builtin_return_address(0), __builtin_frame_address(0)}};\n"
            f"  if (!guard.observed()) [[unlikely]] return {real};\n"
            + guarded_call(f, real, f"    va_list more;\n    va_start(more, {f.parameters[-1].name});\n"
                           f"    const {f.result} result = handlers::{f.cpp_name}({f.arguments()}, more);\n"
                           f"    va_end(more);\n    return result;\n"))


def guarded_call(f, real, handled):
    """Nothing that the handler throws comes out; and it gets no null pointer where the result is to go."""
    results = [p.name for p in f.parameters if is_result(p)] if "always" not in f.entry.flags else []
    check = f"  if ({' || '.join(f'{name} == nullptr' for name in results)}) [[unlikely]] return {real};\n" if results else ""
    done = "0" if f.result == "double" else "MPI_SUCCESS"
    return (check + f"  try {{\n{handled}  }} catch (...) {{\n"
            f"    if (!is_to_be_made_plainly()) return {done};\n  }}\n  return made_plainly({real});\n")


def is_result(parameter):
    """A handle, status or number that MPI writes to: null is an error, which MPI reports."""
    return re.fullmatch(r"(MPI_\w+|int) ?\*\w+", parameter.declaration) is not None


def wrapper(f):
    variadic = ", ..." if f.variadic else ""
    return (f"NPLUS1_EXPORT {f.result} {f.name}({f.declarations()}{variadic}) {{\n{wrapper_body(f)}}}\n"
            f"extern \"C\" NPLUS1_ALIAS({f.name}) {f.result} P{f.name}({f.declarations()}{variadic});\n\n")


def write_wrappers(functions):
    return (BANNER + "#include \"stubs/handlers.hpp\"\n#include \"stubs/pmpi.hpp\"\n#include \"stubs/runtime/guard.hpp\"\n"
            "#include \"stubs/runtime/unmodelled.hpp\"\n\nusing namespace nplus1::stubs;\n"
            "using nplus1::events::MpiCall;\n\n"
            "#define NPLUS1_EXPORT extern \"C\" __attribute__((visibility(\"default\")))\n"
            "#define NPLUS1_ALIAS(target) __attribute__((alias(#target), visibility(\"default\")))\n\n"
            + "".join(wrapper(f) for f in functions))


def write_fallback(functions):
    definitions = "".join(f"__attribute__((weak)) {handler(f)} {{ return pmpi::{f.cpp_name}({f.arguments()}); }}\n"
                          for f in functions if f.entry.kind == "modelled")
    return (BANNER + "#include \"stubs/handlers.hpp\"\n#include \"stubs/pmpi.hpp\"\n#include \"stubs/runtime/unmodelled.hpp\"\n\n"
            "namespace nplus1::stubs {\n\n"
            "__attribute__((weak)) UnmodelledScope::UnmodelledScope(events::MpiCall call) noexcept : call_{call} {}\n"
            "__attribute__((weak)) UnmodelledScope::~UnmodelledScope() { static_cast<void>(call_); }\n\n"
            "namespace handlers {\n\n" + definitions + "\n}  // namespace handlers\n}  // namespace nplus1::stubs\n")


def write(path, text):
    """Leaves an unchanged file alone, so that nothing is compiled again."""
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", type=pathlib.Path, required=True)
    parser.add_argument("--header", type=pathlib.Path, action="append", required=True)
    parser.add_argument("--output", type=pathlib.Path, required=True)
    options = parser.parse_args()
    text = read_headers(options.header)
    functions = select(read_table(options.table), parse_functions(text, integer_typedefs(text)))
    write(options.output / "pmpi.hpp", write_pmpi(functions))
    write(options.output / "handlers.hpp", write_handlers(functions))
    write(options.output / "fallback.cpp", write_fallback(functions))
    for part in range(PARTS):
        write(options.output / f"wrappers_{part}.cpp", write_wrappers(functions[part::PARTS]))


if __name__ == "__main__":
    main()
