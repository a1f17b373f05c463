#!/usr/bin/env python3
"""Writes the C++ around every MPI function from the table and the prototypes of the MPI at hand.

    generate.py --table functions.txt --header mpi.h --header mpi_proto.h --header mpio.h --output DIR
    generate.py --table functions.txt --header OPENMPI/mpi.h --beyond MPICH/mpi_proto.h --output DIR

DIR gets
    pmpi.hpp       nplus1::stubs::pmpi::X: calls the MPI library's PMPI_X. What the table models and only `--beyond`
                   declares (the large counts and other calls of MPI 4) is there too, so that the runtime is one for all
                   libraries: with counts narrowed to int, or as a function that says MPI_ERR_UNSUPPORTED_OPERATION. No
                   wrapper leads to the latter.
    handlers.hpp   nplus1::stubs::handlers::X: what the runtime implements
    wrappers_N.cpp the exported PMPI_X, and MPI_X, which is the same unless a profiling library has an MPI_X of its own
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

    def written_type(self):
        """As the header has it: "const int []"."""
        return " ".join(re.sub(rf"\b{self.name}\b", " ", self.declaration).split())


@dataclass
class Function:
    name: str
    result: str
    parameters: list
    variadic: bool
    entry: Entry = None
    cpp_name: str = ""  # in pmpi:: and handlers::
    is_beyond: bool = False  # the library at hand does not have it
    null_status: bool = False  # MPI_STATUS_IGNORE is a null pointer

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
    for match in re.finditer(r"(?<![\w*])([A-Za-z_]\w*)\s+(MPIX?_\w+)\s*\(([^()]*)\)\s*(?:MPICH_|ROMIO_|__mpi_|;)", text):
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


def ignores_null(paths):
    """Whether the headers define MPI_STATUS_IGNORE as a null pointer."""
    definition = re.compile(r"#[ \t]*define[ \t]+MPI_STATUS_IGNORE[ \t]+(.*)")
    values = [m.group(1) for p in paths for m in definition.finditer(p.read_text())]
    return any(re.search(r"\b0\b", v) for v in values)


def integer_typedefs(text):
    """{"MPI_Count": "long", ...}: two functions that differ in these names only are no overloads."""
    return {name: " ".join(base.split())
            for base, name in re.findall(r"typedef\s+((?:unsigned\s+)?(?:int|long|long\s+long))\s+(MPI_\w+)\s*;", text)}


def select(table, functions, beyond):
    """The functions to wrap, and those that are modelled and only in `beyond`, in order of the table, with their C++
    names. Without `beyond`, the library must have all that the table does not flag `absent`."""
    problems = [f"{n}: in the headers, but not in the table" for n in functions_without_entry(table, functions)]
    chosen = []
    for name, entry in table.items():
        if entry.kind == "skip":
            continue
        if name in functions:
            functions[name].entry = entry
            chosen.append(functions[name])
        elif name in beyond:
            if entry.kind == "modelled" or is_narrowable(beyond[name], functions):
                beyond[name].entry, beyond[name].is_beyond = entry, True
                chosen.append(beyond[name])
        elif "absent" not in entry.flags and not beyond:
            problems.append(f"{name}: in the table, but the headers declare it nowhere (flag it `absent`?)")
    if problems:
        sys.exit("\n".join(problems))
    name_functions(chosen)
    return chosen


# Declared by MPICH's headers and exported by no library of the package; or conversions of handles, which are macros of
# MPICH's and functions of Open MPI's that nobody takes part in but the caller.
DECLARED_ONLY = re.compile(r"MPI_DUP_FN|MPI_Status_(c2f08|f082c|f082f|f2f08)|MPI_\w+_(c2f|f2c)|MPI_(Conversion|CONVERSION)\w*")


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


def pmpi_function(f, all_functions):
    if f.is_beyond:
        return made_of_others(f, all_functions)
    variadic = ", ..." if f.variadic else ""
    return (f"inline {f.result} {f.cpp_name}({f.declarations()}) {{\n"
            f"  using Function = {f.result}({f.declarations()}{variadic});\n"
            f"  detail::InMpi inside;\n"
            f"  const {f.result} outcome = detail::next<Function>(events::MpiCall::{f.name})({f.arguments()});\n"
            f"  inside.has_returned = true;\n  return outcome;\n}}\n")


def with_small_counts(f, all_functions):
    """The form of `f` with counts of type int, and what is to be done for each parameter to call that."""
    small = all_functions.get(f.name[:-2]) if f.name.endswith("_c") else None
    if small is None or len(small.parameters) != len(f.parameters):
        return None, [None]
    return small, [narrowed(large, own) for large, own in zip(f.parameters, small.parameters)]


def is_narrowable(f, all_functions):
    return None not in with_small_counts(f, all_functions)[1]


def made_of_others(f, all_functions):
    """A function that the library lacks: the form with counts of type int, where they fit."""
    small, steps = with_small_counts(f, all_functions)
    head = f"inline {f.result} {f.cpp_name}({f.declarations()}) {{\n"
    if None in steps:
        unused = "".join(f"  static_cast<void>({p.name});\n" for p in f.parameters)
        return f"{head}{unused}  return MPI_ERR_UNSUPPORTED_OPERATION;\n}}\n"
    before, arguments, after = zip(*steps)
    return (f"{head}{''.join(before)}  const {f.result} outcome = {small.cpp_name}({', '.join(arguments)});\n"
            f"{''.join(after)}  return outcome;\n}}\n")


def narrowed(large, own):
    """(what is to be done before, the argument, what is to be done after) for a parameter; None for arrays of counts."""
    given, wanted = large.written_type(), own.written_type()
    if given == wanted:
        return "", large.name, ""
    if (given, wanted) == ("MPI_Count", "int"):
        check = f"  if (!detail::fits({large.name})) [[unlikely]] return MPI_ERR_COUNT;\n"
        return check, f"static_cast<int>({large.name})", ""
    if (given, wanted) == ("MPI_Count *", "int *"):
        mine = f"narrow_{large.name}"
        return f"  int {mine} = static_cast<int>(*{large.name});\n", f"&{mine}", f"  *{large.name} = {mine};\n"
    return None


def write_pmpi(functions):
    by_name = {f.name: f for f in functions if not f.is_beyond}
    return (BANNER + "// The MPI library's own functions, without MPI_: pmpi::Send(...) calls the next PMPI_Send in lookup\n"
            "// order, never a wrapper. Callable from any thread, at any time after the library was loaded. What a callback of\n"
            "// the program's throws (an error handler of C++) passes through, marked as the program's own.\n"
            "#pragma once\n\n#include <mpi.h>\n\n#include \"stubs/table/next.hpp\"\n\nnamespace nplus1::stubs::pmpi {\n\n"
            + "".join(pmpi_function(f, by_name) for f in sorted(functions, key=lambda f: f.is_beyond)) + "\n}  // namespace nplus1::stubs::pmpi\n")


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
    results = [p.name for p in f.parameters if is_result(p, f.null_status)] if "always" not in f.entry.flags else []
    check = (f"  if ({' || '.join(f'{name} == nullptr' for name in results)}) [[unlikely]] return {shown_to_mpi(f)};\n"
             if results else "")
    done = "0" if f.result == "double" else "MPI_SUCCESS"
    return (check + f"  try {{\n{handled}  }} catch (...) {{\n"
            f"    if (!is_to_be_made_plainly()) return {done};\n  }}\n  return made_plainly({real});\n")


def shown_to_mpi(f):
    """The real call, of which MPI is to find what is wrong: not that it does not know the runtime's handles."""
    if not f.name.startswith(("MPI_Wait", "MPI_Test", "MPI_Request_get_status")) or "Request" not in f.declarations():
        return f"pmpi::{f.cpp_name}({f.arguments()})"
    several = f.parameters[0].name if "count" in f.parameters[0].name else "1"
    shown = {"array_of_requests": f"ShownRequests{{{several}, array_of_requests}}.all()",
             "request": "ShownRequests{1, request}.all()" if "*" in f.parameters[0].declaration else "ShownRequests{1, &request}.one()"}
    return f"pmpi::{f.cpp_name}({', '.join(shown.get(p.name, p.name) for p in f.parameters)})"


def is_result(parameter, null_status):
    """A handle, status or number that MPI writes to: null is an error, which MPI reports. But for a status whose null is
    MPI_STATUS_IGNORE."""
    if null_status and parameter.type == "MPI_Status*":
        return False
    return re.fullmatch(r"(MPI_\w+|int) ?\*\w+", parameter.declaration) is not None


# Arguments after `...` that a profiling library's function gets: as many as there are registers behind the first one.
FORWARDED = 5


def passed_to_profiler(f):
    """MPI_X where a profiling library stands between: it calls PMPI_X."""
    variadic = ", ..." if f.variadic else ""
    find = (f"  using Function = {f.result}({f.declarations()}{variadic});\n"
            f"  if (Function* profiler = pmpi::profiler<Function>(MpiCall::{f.name})) [[unlikely]] ")
    if not f.variadic:
        return f"{find}return profiler({f.arguments()});\n"
    taken = "".join(f"    void* const more_{i} = va_arg(more, void*);\n" for i in range(FORWARDED))
    passed = "".join(f", more_{i}" for i in range(FORWARDED))
    return (f"{find}{{\n    va_list more;\n    va_start(more, {f.parameters[-1].name});\n{taken}    va_end(more);\n"
            f"    return profiler({f.arguments()}{passed});\n  }}\n")


def wrapper(f):
    variadic = ", ..." if f.variadic else ""
    body = wrapper_body(f)
    return (f"NPLUS1_EXPORT {f.result} {f.name}({f.declarations()}{variadic}) {{\n{passed_to_profiler(f)}{body}}}\n"
            f"NPLUS1_EXPORT {f.result} P{f.name}({f.declarations()}{variadic}) {{\n{body}}}\n\n")


def write_wrappers(functions):
    return (BANNER + "#include \"stubs/handlers.hpp\"\n#include \"stubs/pmpi.hpp\"\n#include \"stubs/guard/guard.hpp\"\n"
            "#include \"stubs/library/shown_requests.hpp\"\n"
            "#include \"stubs/table/unmodelled.hpp\"\n\nusing namespace nplus1::stubs;\n"
            "using nplus1::events::MpiCall;\n\n"
            "#define NPLUS1_EXPORT extern \"C\" __attribute__((visibility(\"default\")))\n\n"
            + "".join(wrapper(f) for f in functions))


def write_fallback(functions):
    definitions = "".join(f"__attribute__((weak)) {handler(f)} {{ return pmpi::{f.cpp_name}({f.arguments()}); }}\n"
                          for f in functions if f.entry.kind == "modelled")
    return (BANNER + "#include \"stubs/handlers.hpp\"\n#include \"stubs/pmpi.hpp\"\n#include \"stubs/table/unmodelled.hpp\"\n\n"
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
    parser.add_argument("--beyond", type=pathlib.Path, action="append", default=[])
    parser.add_argument("--output", type=pathlib.Path, required=True)
    options = parser.parse_args()
    text, more = read_headers(options.header), read_headers(options.beyond)
    typedefs = integer_typedefs(text + more)  # those that tell overloads apart, the same for all libraries
    everything = select(read_table(options.table), parse_functions(text, typedefs), parse_functions(more, typedefs))
    functions = [f for f in everything if not f.is_beyond]
    for f in functions:
        f.null_status = ignores_null(options.header)
    write(options.output / "pmpi.hpp", write_pmpi(everything))
    write(options.output / "handlers.hpp", write_handlers(everything))
    write(options.output / "fallback.cpp", write_fallback(functions))
    for part in range(PARTS):
        write(options.output / f"wrappers_{part}.cpp", write_wrappers(functions[part::PARTS]))


if __name__ == "__main__":
    main()
