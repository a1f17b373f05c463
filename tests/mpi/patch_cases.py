"""Random small halo exchanges for nplus1-patch: functions with blocking calls, harmless and harmful code between them,
odd formatting, macros, comments and declarations, in C89, C99 and C++. Each file has many functions and one request
for them. What the request says is what a recording of the run with mode 0 would say; with mode 1 the program takes
branches that the recording never saw. A patch has to leave the output of both as it is.

By hand, hundreds of them: overlap_patch_test.py --cases FILES [--seed N]."""
import random

HEAD = """#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define TAG 5
#define CHECK(call) do { if ((call) != MPI_SUCCESS) abort(); } while (0)
#define BOTH(s, d, r, f) MPI_Sendrecv(s, 8, MPI_DOUBLE, d, TAG, r, 8, MPI_DOUBLE, f, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
#define WHOLE(p) (p), COUNT
#define COUNT 8
static double *leaked;
static int verbose = 0;
static void work(double *p, int n) { int i; for (i = 0; i < n; i++) p[i] = 0.5 * p[i] + i; }
static void work_leaked(void) { if (leaked) leaked[0] += 100; }
static double total(const double *p, int n) { double s = 0; int i; for (i = 0; i < n; i++) s += p[i] * (i % 7 + 1); return s; }
"""


class Function:
    """One exchange; `chain` is what is asked about it."""

    def __init__(self, number, rng, language, first_line):
        self.rng, self.language, self.number = rng, language, number
        self.lines, self.first, self.calls, self.wait = [], first_line, [], None
        self.size = rng.choice([8, 8, 64, 3000, 40000])
        self.storage = rng.choice(["heap", "static", "local"])
        if self.storage == "local":
            self.size = min(self.size, 3000)  # they are all inlined into one frame
        self.write()

    def emit(self, text):
        """Adds lines; returns the number of the first."""
        number = self.first + len(self.lines)
        self.lines += text.split("\n")
        return number

    def buffer(self, name):
        n, own = self.size, f"{name}_{self.number}"
        if self.storage == "heap":
            return f"  double *{name} = (double *)calloc({n}, sizeof(double));"
        if self.storage == "static":
            return f"  static double {own}[{n}];\n#define {name}_{self.number}_ {own}\n  double *{name} = {own};" \
                if self.rng.random() < 0.3 else f"  static double {name}[{n}];"
        return f"  double {name}[{n}];"

    def spaced(self, function, arguments):
        """The call's text in one of many layouts."""
        rng = self.rng
        layout = rng.choice(["plain", "plain", "lines", "comments", "tight", "halves"])
        if layout == "tight":
            return function + "(" + ",".join(arguments) + ");"
        if layout == "lines":
            return function + " (" + ",\n          ".join(arguments) + "\n      );"
        if layout == "comments":
            marks = [f"/* {i} , ( */ {a}" if rng.random() < 0.3 else a for i, a in enumerate(arguments)]
            if self.language != "c89" and rng.random() < 0.7:
                k = rng.randrange(len(marks) - 1)
                head, rest = marks[:k + 1], marks[k + 1:]
                return f"{function}({', '.join(head)}, // up to {k} )\n        {', '.join(rest)});"
            return function + "(" + ", ".join(marks) + " /* end */);"
        if layout == "halves" and len(arguments) == 12:
            return f"{function}({', '.join(arguments[:5])},\n\t\t{', '.join(arguments[5:10])},\n\t\t{', '.join(arguments[10:])});"
        return function + "(" + ", ".join(arguments) + ");"

    def status(self):
        return self.rng.choice(["MPI_STATUS_IGNORE", "&st", "&many[1]", "&st", "many + 2", "pst"])

    def call(self, kind, index, peer_to, peer_from, indent="    ", condition=None):
        """One blocking call, in one of the ways in which programs write it."""
        rng, n = self.rng, self.size
        send = [rng.choice([f"s{index}", f"&s{index}[0]", f"s{index} + 0"]), str(n), "MPI_DOUBLE", peer_to, rng.choice(["TAG", "5"])]
        receive = [rng.choice([f"r{index}", f"& r{index}[0]"]), str(n), "MPI_DOUBLE", peer_from, "TAG"]
        function, arguments = {
            "sendrecv": ("MPI_Sendrecv", send + receive + ["MPI_COMM_WORLD", self.status()]),
            "send": ("MPI_Send", send + ["MPI_COMM_WORLD"]),
            "receive": ("MPI_Recv", receive + ["MPI_COMM_WORLD", self.status()])}[kind]
        text = self.spaced(function, arguments)
        odd = rng.random()
        if odd < 0.04:
            text = f"CHECK({text[:-1]});"
        elif odd < 0.08:
            text = "ierr = " + text
        elif odd < 0.10:
            text = f"if ({text[:-1]} != MPI_SUCCESS) abort();"
        elif odd < 0.16:
            text = "(void)" + text
        elif odd < 0.19 and kind == "sendrecv" and n == 8:
            text = f"BOTH(s{index}, {peer_to}, r{index}, {peer_from});"
        if condition and rng.random() < 0.5:
            at = self.emit(f"{indent}if ({condition})") + 1
            self.emit(f"{indent}  {text}")
        elif condition:
            at = self.emit(f"{indent}if ({condition}) {{") + 1
            self.emit(f"{indent}  {text}" + rng.choice(["", " sum += 1;", " /* there */"]))
            self.emit(indent + "}")
        else:
            before = rng.choice(["", "", "", "sum += 2; ", "/* before */ "])
            at = self.emit(indent + before + text + rng.choice(["", "  /* after */", " sum += 3;"]))
        self.calls.append({"line": at, "function": function, "kind": kind, "watched": True})

    def harmless(self):
        rng, k = self.rng, self.rng.randrange(1000)
        text = rng.choice([
            "    sum += it;", "    /* a comment; with ( in it */", "    other[it] = sum;", "    if (rank == 0) sum += 1;",
            "    { int q = it; sum += q; }", "    for (i = 0; i < 3; i++) other[i] += i;", "    work(other, 4);",
            "    if (verbose) printf(\"%d\\n\", it);", "    ;", "", "#pragma GCC ivdep\n    for (i = 0; i < 8; i++)\n      other[i] *= 1.5;",
            "#ifdef NEVER\n    sum += 17;\n#endif", "#define LOCAL_%d 3\n    sum += LOCAL_%d;" % (k, k),
            "    for (i = 0; i < 4; i++) { if (i == 2) break; sum += i; }", "    sum += MPI_Wtime() > 0;"])
        self.emit(text)
        if self.language != "c89" and rng.random() < 0.2:
            self.emit(f"    int fresh_{len(self.lines)} = it; (void)fresh_{len(self.lines)};")

    def harm(self, received, sent, may_leave=True):
        """Code that conflicts with an open chain, in mode 1 only."""
        rng = self.rng
        r = rng.choice(received) if received else "r0"
        s = rng.choice(sent) if sent else "s0"
        text = rng.choice([
            f"    if (mode) sum += {r}[0];", f"    if (mode && it == 1) {s}[0] = -7;", f"    if (mode) work({r}, 8);",
            f"    sum += mode ? {r}[1] : 0;", "    if (mode && it == 2) continue;", "    if (mode) alias[0] += 1;",
            "    if (mode) work_leaked();", "    if (mode && it == 2) break;", f"    if (mode && it == 3) goto done_{self.number};",
            f"    switch (mode) {{ case 1: sum += {r}[2]; break; default: break; }}", f"    if (mode && (sum += {r}[0]) > 0) sum += 1;",
            f"    while (mode && spin++ % 2 == 0) sum += {r}[3];", "    if (mode) sum += st.MPI_TAG + many[1].MPI_SOURCE;",
            f"    if (mode) {{ double *also = {r}; sum += also[0]; }}", f"    if (mode) memset({s}, 0, 8);", "    if (mode) pst = &many[0];"])
        if not may_leave and any(word in text for word in ("continue", "break;", "goto")):
            return  # messages would be left over, or waited for in vain
        self.emit(text)

    def write(self):
        rng, number = self.rng, self.number
        shape = rng.choice(["ring", "ring", "pair", "edges", "line"])
        if shape == "pair":
            self.size = min(self.size, 64)  # eager
        n = self.size
        self.emit(f"static double case_{number}(int rank, int size, int mode)\n{{")
        directives = []
        for name in ("s0", "r0", "s1", "r1", "other"):
            text = self.buffer(name).split("\n")
            directives += [line for line in text if not line.startswith("#")]
        self.emit("\n".join(directives))
        self.emit("  MPI_Status st, many[3]; MPI_Status *pst = &many[0]; double *alias = r0;\n  double sum = 0;\n"
                  "  int it, i, ierr = 0, spin = 0, count = 0;")
        null = shape == "line"
        self.emit(f"  int prev = rank > 0 ? rank - 1 : {'MPI_PROC_NULL' if null else 'size - 1'};\n"
                  f"  int next = rank < size - 1 ? rank + 1 : {'MPI_PROC_NULL' if null else '0'};")
        self.emit(f"  memset(&st, 0, sizeof st); memset(many, 0, sizeof many);\n"
                  f"  for (i = 0; i < {n}; i++) s0[i] = s1[i] = r0[i] = r1[i] = other[i] = i % 11;\n"
                  "  leaked = r0; (void)alias; (void)ierr; (void)spin; (void)count; (void)pst;")
        self.emit("  for (it = 0; it < 4; it++) {")
        self.emit("    if ((rank + it) % 2 == 0) usleep(1500);")
        self.emit(f"    for (i = 0; i < {n}; i++) {{ s0[i] += rank + it; s1[i] += rank * 3 - it; }}")
        if rng.random() < 0.2:
            self.emit("    {")
        harm_between, harm_after = rng.random() < 0.35, rng.random() < 0.7
        steps = self.exchanges(shape)
        received, sent = [], []
        for index, step in enumerate(steps):
            if index:
                for _ in range(rng.choice([0, 0, 1, 2])):
                    self.harmless()
                if harm_between and rng.random() < 0.6:
                    self.harm(received, sent, shape in ("ring", "line"))
            self.call(*step)
            received += [f"r{step[1]}"] if step[0] != "send" else []
            sent += [f"s{step[1]}"] if step[0] != "receive" else []
        for _ in range(rng.choice([0, 1, 2, 3])):
            self.harmless()
            if harm_after and rng.random() < 0.6:
                self.harm(received, sent)
        touch = rng.choice([f"    sum += total(r0, {n}) + total(r1, {n});", f"    for (i = 0; i < {n}; i++) sum += r0[i] + 2 * r1[i];",
                            f"    work(r0, {n}); sum += r0[0] + r1[{n - 1}];", f"    s0[0] = 3; s1[0] = 4; r0[0] = total(r1, {n}); sum += r0[0];"])
        line = self.emit(touch)
        self.wait = rng.choice([{"where": "before_line", "line": line}] * 3 + [{"where": "after_calls"}, {"where": "end_of_block"}])
        if self.wait["where"] == "end_of_block":
            self.wait = {"where": "after_calls"}  # the touch is in the same block
        self.emit("    sum += st.MPI_SOURCE + 2 * st.MPI_TAG + many[1].MPI_SOURCE + many[2].MPI_TAG + many[0].MPI_SOURCE;")
        self.emit("    if (st.MPI_TAG == TAG) { MPI_Get_count(&st, MPI_DOUBLE, &count); sum += count; }")
        if "    {" in self.lines:
            self.emit("    }")
        self.emit("  }")
        self.emit(f"  goto done_{number};\ndone_{number}:")
        if self.storage == "heap":
            self.emit("  free(s0); free(r0); free(s1); free(r1); free(other);")
        self.emit("  leaked = 0;\n  return sum;\n}")

    def exchanges(self, shape):
        if shape == "pair":
            return [("send", 0, "next", "prev"), ("receive", 0, "next", "prev")] + \
                ([("send", 1, "prev", "next"), ("receive", 1, "prev", "next")] if self.rng.random() < 0.6 else [])
        if shape == "edges":
            return [("sendrecv", 0, "prev", "prev", "    ", "rank > 0"), ("sendrecv", 1, "next", "next", "    ", "rank < size - 1")]
        return [("sendrecv", 0, "next", "prev"), ("sendrecv", 1, "prev", "next")]

    def chain(self, file):
        wait = dict(self.wait)
        if wait["where"] == "before_line":
            wait["file"] = str(file)
        return {"id": str(self.number), "wait": wait, "calls": [dict(call, file=str(file)) for call in self.calls]}


def program(seed, functions):
    """(suffix, flags, source, functions) of one random program."""
    rng = random.Random(seed)
    language = rng.choice(["c89", "c99", "c99", "c++"])
    flags = {"c89": "-std=gnu89 -Wdeclaration-after-statement -Werror=declaration-after-statement", "c99": "-std=gnu99", "c++": "-std=c++17"}[language]
    text, made = HEAD, []
    for number in range(functions):
        made.append(Function(number, rng, language, text.count("\n") + 1))
        text += "\n".join(made[-1].lines) + "\n"
    calls = "\n".join(f"  show({i}, case_{i}(rank, size, mode), rank, size);" for i in range(functions))
    text += f"""static void show(int number, double value, int rank, int size)
{{
  double all[16]; int i;
  MPI_Gather(&value, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  for (i = 0; rank == 0 && i < size; i++) printf("%d: %d %.17g\\n", number, i, all[i]);
}}
int main(int argc, char **argv)
{{
  int rank, size, mode = argc > 1 ? atoi(argv[1]) : 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank); MPI_Comm_size(MPI_COMM_WORLD, &size);
{calls}
  MPI_Finalize();
  return 0;
}}
"""
    if rng.random() < 0.2:
        text = text.replace("\n", "\r\n")
    return (".cpp" if language == "c++" else ".c"), flags, text, made
