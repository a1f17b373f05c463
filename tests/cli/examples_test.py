"""Every example of every --help, of README.md, CONTRIBUTING.md and docs/ is run as it is printed.

An example stands on a line of its own (in a fenced or indented block, or in the help's list), or is a whole command in
a sentence. It runs in a folder that has what examples speak of: ./app, recordings, a measurement. What stands in a
sentence and is no whole command (`nplus1 replay --reenact`) is held to verbs and options that exist. Commands that are
not run, or only begun, are listed in NOT_RUN with their reasons, and nowhere else.
"""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

from command import NPLUS1

BIN = pathlib.Path(NPLUS1).parent
ROOT = pathlib.Path(__file__).parents[2]
BUILD = pathlib.Path(os.environ["NPLUS1_BUILD"])
LIMIT = 120
USAGE = 64

BEGUN, NOT_HERE = "begun", "not here"
# What is only begun (it must print its first line, and is then stopped), or not run at all: pattern, how, reason.
NOT_RUN = [
    (r"guidelines run -n 8 -o (measured|DIR)$", BEGUN, "measures for its budget of 5 minutes"),
    (r"guidelines run -n 8 --functions", BEGUN, "measures for its budget of 5 minutes"),
    (r"guidelines run -n 64 ", BEGUN, "measures for an hour"),
    (r"guidelines run -n 16 --simulate", BEGUN, "simulates the whole catalogue, minutes"),
    (r"guidelines advise ", BEGUN, "measures for its budget of 5 minutes"),
    (r"guidelines tune ", BEGUN, "measures for its budget of 2 minutes"),
    (r"guidelines confirm ", BEGUN, "measures for its budget of 2 minutes"),
    (r"guidelines run .* --preload ./mine.so", BEGUN, "measures for its budget of 5 minutes"),
    (r"calibrate -n 2 -o", BEGUN, "measures for a minute"),
    (r"calibrate -n 2 --mpi-args", NOT_HERE, "needs two machines, a and b"),
    (r"guidelines run .*--mpirun", NOT_HERE, "another MPI library: tests/mpi/guidelines_test.py measures under Open MPI"),
    (r"guidelines (check|advise|tune) (openmpi|other|mine)", NOT_HERE, "what the line before would have measured"),
    (r"^\./demo\.sh|^\./test\.sh|^cmake|^tools/(build|check_format|coverage|sanitize|same_results)", NOT_HERE, "builds; cli.live runs nplus1 demo"),
    (r"^cd share/nplus1|^mpicxx ", NOT_HERE, "cli.install builds the installed sources"),
    (r"LIB\.so|libtuned\.so", NOT_HERE, "made by guidelines tune, which is only begun; tests/mpi/guidelines_test.py uses one"),
    (r"--map mapped/map", NOT_HERE, "what the line before would have written; tests/cli/links_test.py uses one"),
    (r"^mpirun\.mpich -genv LD_PRELOAD \.\.\./", NOT_HERE, "has ... for a path; nplus1 run --print shows the line"),
    (r"^nplus1 where ", NOT_HERE, "needs a job that runs: tests/mpi/statistics_test.py has some"),
    (r"^mpirun -genv LD_PRELOAD PREFIX/", NOT_HERE, "an installed library: tests/mpi/statistics_test.py preloads the built one"),
    (r"nplus1-statistics-app-16-1\.n1stat", NOT_HERE, "what the line before would have written"),
    (r"-- srun ", NOT_HERE, "needs a Slurm: tests/mpi/slurm_test.py runs its own"),
    (r"nplus1-cg-16-1", NOT_HERE, "needs the NAS benchmarks"),
]
# Exit codes other than 0 that are an answer.
ANSWERS = [(r"^nplus1 diff", {0, 1}), (r"--fail-if", {0, 2}), (r"--fail-on-violation", {0, 1})]

# Options of launchers and compilers, which documents speak of as such.
OF_OTHERS = {"--ntasks", "--app", "--export", "--param"}

COMMAND = re.compile(r"(build/bin/)?nplus1 [a-z]|mpirun[. ]|tail |man |cmake |cd |mpicxx|\./\w|bench/|tools/")


def reason_not_to_run(command):
    for pattern, how, reason in NOT_RUN:
        if re.search(pattern, command):
            return how, reason
    return None


def command_of(line):
    """The command of a line of examples: what follows it after two spaces, or after " #", explains it."""
    return re.split(r"\s{2,}|\s+# ", line.strip())[0]


def joined(lines):
    """Lines that end with a backslash, with those that they go on on."""
    whole = []
    for line in lines:
        if whole and whole[-1].endswith("\\"):
            whole[-1] = whole[-1][:-1] + line.strip()
        else:
            whole.append(line)
    return whole


def documents():
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks_and_spans(text):
    """Lines of fenced and indented blocks; inline code elsewhere."""
    lines, spans, fenced = [], [], False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif fenced or re.match(r"    \S", line):
            lines.append(line)
        else:
            spans += re.findall(r"`([^`]+)`", line)
    return lines, spans


def verbs_of(help_text):
    found = re.search(r"^Verbs:\n((?:  .*\n)+)", help_text + "\n", re.M) or re.search(r"^Subcommands:\n((?:  .*\n)+)", help_text + "\n", re.M)
    return re.findall(r"^  ([a-z]+)  ", found.group(1), re.M) if found else []


def helps():
    """{(): text, ("run",): text, ("guidelines", "check"): text ...}"""
    texts, left = {}, [()]
    while left:
        verb = left.pop()
        done = subprocess.run([NPLUS1, *verb, "--help"], capture_output=True, text=True, check=True)
        texts[verb] = done.stdout
        left += [(*verb, name) for name in verbs_of(done.stdout)]
    return texts


HELPS = helps()


def examples_of(help_text):
    found = re.search(r"^Examples:\n((?:.+\n)+)", help_text, re.M)
    return [command_of(line) for line in found.group(1).splitlines() if line.startswith("  ")] if found else []


def whole_command(span):
    """Whether a span in a sentence is a command that can be run, and no synopsis, and no mention of a verb or option."""
    if not span.startswith("nplus1 ") or re.search(r"[\[\]|]|\.\.\.", span):
        return False
    words = span.split()
    verb = verb_of(words)
    if verb == ("run",) or verb == ("demo",):
        return " -- " in span
    names = {"DIR", "IN", "RECORDING", "A", "B", "FILE", "measured", "DIR/recording"}
    placeholders = {w for w in words if re.fullmatch(r"[A-Z]+", w)}
    if placeholders - names or (verb == ("whatif",) and " --" not in span):
        return False
    return any(w in names or w.startswith("nplus1-app") for w, before in zip(words[1:], words)
               if before not in ("-o", "--json", "--html", "--platform"))


def verb_of(words):
    """("guidelines", "run") of the words of a command that begins with nplus1."""
    verb = ()
    for word in words[1:]:
        if (*verb, word) not in HELPS:
            break
        verb = (*verb, word)
    return verb


def documented():
    """{command: where it stands}, and the mentions."""
    commands, mentions = {}, {}
    for verb, text in HELPS.items():
        for command in examples_of(text):
            commands.setdefault(command, "nplus1 " + " ".join((*verb, "--help")))
    for document in documents():
        lines, spans = blocks_and_spans(document.read_text())
        where = str(document.relative_to(ROOT))
        for line in joined(lines):
            if COMMAND.match(line.strip()):
                commands.setdefault(command_of(line).removeprefix("build/bin/"), where)
        for span in spans:
            if whole_command(span):
                commands.setdefault(span, where)
            elif re.match(r"nplus1 [a-z]|bench/\w|--[a-z]", span):
                mentions.setdefault(span, where)
    return commands, mentions


COMMANDS, MENTIONS = documented()


class Workspace:
    """A folder as the examples assume it; each example gets a copy."""

    def __init__(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="nplus1-examples-")
        top = pathlib.Path(self.scratch.name)
        self.folder = top / "work"
        self.folder.mkdir()
        (top / "bin").mkdir()
        for name in ("mpirun", "mpicc"):  # MPICH's, whatever Debian's alternatives say; Hydra's helpers are beside mpirun
            command = top / "bin" / name
            command.write_text(f'#!/bin/sh\nexec {shutil.which(name + ".mpich") or shutil.which(name)} "$@"\n')
            command.chmod(0o755)
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("NPLUS1_", "LD_PRELOAD"))}
        self.environment["PATH"] = f"{top}/bin:{BIN}:{os.environ['PATH']}"
        self.fill()

    def close(self):
        self.scratch.cleanup()

    def run(self, command, folder=None, limit=LIMIT):
        """When time is up all of its processes are told to end, as mpirun has to be for its ranks to do so."""
        done = subprocess.run(["timeout", "-k", "20", str(limit), "bash", "-c", command], cwd=folder or self.folder,
                              env=self.environment, text=True, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        if done.returncode in (124, 137):
            raise AssertionError(f"{command}: not ended after {limit} s\n{done.stdout}{done.stderr}")
        return done

    def need(self, command):
        done = self.run(command)
        if done.returncode != 0:
            raise AssertionError(f"{command}: exit code {done.returncode}\n{done.stdout}{done.stderr}")

    def fill(self):
        source = pathlib.Path(__file__).parent / "examples" / "halo.c"
        self.need(f"mpicc -g -I{ROOT}/include -o app {source} -ldl && cp app a && cp app b")
        (self.folder / "platforms").symlink_to(ROOT / "platforms")
        (self.folder / "build").symlink_to(BUILD)
        for name in ("platform.xml", "P.xml", "here.xml", "FILE"):
            shutil.copy(ROOT / "platforms" / "torus.xml", self.folder / name)
        for name, flops in (("here.json", 1e9), ("there.json", 2e9)):
            (self.folder / name).write_text(
                f'{{"schema": "nplus1-host/1", "scalar_flops": {flops}, "vector_flops": {flops}, "levels": '
                '[{"name": "L1", "bandwidth": 1e10, "latency_s": 1e-9}]}')
        (self.folder / "hosts").write_text("localhost:64\n")
        (self.folder / "plan.toml").write_text('[[scale]]\nregion = "solve"\nfactor = 0.5\n')
        run = "nplus1 run -q --compute fixed:1e-6"
        self.need(f"{run} -n 16 -o nplus1-app-16-1 -- ./app args")
        for name in ("nplus1-app-16-2", "nplus1-app-16-3", "before", "after", "DIR", "A", "B", "IN", "plain", "warm"):
            shutil.copytree(self.folder / "nplus1-app-16-1", self.folder / name)
        shutil.copytree(self.folder / "DIR" / "recording", self.folder / "RECORDING")
        self.need("nplus1 whatif DIR --scale region=solve,factor=0.5 -o faster")
        self.need("nplus1 run -q -n 2 --native --record full -o nplus1-app-2-1 -- ./app")
        shutil.copytree(self.folder / "nplus1-app-2-1", self.folder / "native")
        self.need(f"{run} -n 4 --record-accesses -o accessed -- ./app args")
        # So short a program has two or three twins, and on a busy host now and then none.
        self.need("for i in 1 2 3 4 5 6; do rm -rf warmed; nplus1 run -q -n 16 --compute warm -o warmed -- ./app args"
                  " && nplus1 clock warmed && exit 0; done; exit 1")
        self.need("nplus1 convert DIR -o eztrace_log --to otf2")
        self.need("nplus1 convert DIR -o APP.goal")
        self.need("nplus1 guidelines run -q -n 2 --functions Bcast --sizes 8 --runs 2 --nrep 2 -o measured")
        (self.folder / "reprompi").mkdir()
        for run in range(10):
            rows = "".join(f"  {test}  0  8  {time * (1000 + run)}e-9\n" for test, time in
                           (("MPI_Allgather", 30), ("GL_Allgather_as_GatherBcast", 10)))
            (self.folder / "reprompi" / f"run{run}.dat").write_text("#@nnp=4\n  test nrep count runtime_sec\n" + rows)

    def copy_for(self, command):
        """What an example writes must not be there yet; of guidelines DIR is a measurement, of --reenact a native run."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.scratch.name)) / "work"
        shutil.copytree(self.folder, folder, symlinks=True)
        if command.startswith("nplus1 guidelines"):
            shutil.rmtree(folder / "DIR")
            shutil.copytree(folder / "measured", folder / "DIR")
            shutil.copytree(folder / "nplus1-app-16-1", folder / "R")
        if command.startswith("nplus1 overlap"):
            for name in ("DIR", "A", "B"):
                shutil.rmtree(folder / name)
                shutil.copytree(folder / "accessed", folder / name)
        if command.startswith("nplus1 clock") or "DIR/warm" in command:
            for name in ("DIR", "A", "B"):
                shutil.rmtree(folder / name)
                shutil.copytree(folder / "warmed", folder / name)
        if "--reenact" in command:
            for name in ("DIR", "nplus1-app-2-1"):
                shutil.rmtree(folder / name)
                shutil.copytree(folder / "native", folder / name)
        for word, before in zip(command.split()[1:], command.split()):
            written = folder / word
            if before in ("-o", "--output", "--csv") and word != "measured" and written.is_dir():
                shutil.rmtree(written)
        return folder


class Examples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.workspace = Workspace()
        cls.addClassCleanup(cls.workspace.close)

    def allowed(self, command):
        for pattern, codes in ANSWERS:
            if re.search(pattern, command):
                return codes
        return {0}

    def begin(self, command, folder):
        """Starts it, and stops it at its first line."""
        process = subprocess.Popen(["bash", "-c", "exec " + command], cwd=folder, env=self.workspace.environment, text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   start_new_session=True)
        line = process.stdout.readline()
        os.killpg(process.pid, signal.SIGTERM)
        rest, _ = process.communicate(timeout=LIMIT)
        self.assertNotEqual(process.returncode, USAGE, line + rest)
        self.assertNotIn("\n  next: ", "\n" + line + rest.split("\n  so: ")[0] if "  so:   " in rest else "", line + rest)

    def test_each_is_run_as_it_is_printed(self):
        self.assertGreater(len(COMMANDS), 80, "the documents have more examples: they are no longer found")
        for command, where in COMMANDS.items():
            exception = reason_not_to_run(command)
            if exception and exception[0] == NOT_HERE:
                continue
            with self.subTest(command=command, where=where):
                folder = self.workspace.copy_for(command)
                if exception:
                    self.begin(command, folder)
                else:
                    done = self.workspace.run(command, folder)
                    self.assertIn(done.returncode, self.allowed(command), done.stdout[-2000:] + done.stderr[-2000:])
                    self.assertNotIn("there is no result", done.stderr)
                shutil.rmtree(folder.parent)

    def test_every_exception_is_still_needed(self):
        for pattern, _, reason in NOT_RUN:
            with self.subTest(pattern=pattern, reason=reason):
                self.assertTrue(any(re.search(pattern, command) for command in COMMANDS), "no example matches: remove the line")

    def test_verbs_and_options_that_are_mentioned_exist(self):
        everywhere = " ".join(HELPS.values())
        benchmarks = " ".join(script.read_text() for script in (ROOT / "bench").glob("*.py"))
        for mention, where in MENTIONS.items():
            with self.subTest(mention=mention, where=where):
                if mention.startswith("bench/"):
                    script = ROOT / mention.split()[0]
                    self.assertTrue(script.exists())
                    text = script.read_text()
                elif mention.startswith("nplus1 "):
                    verb = verb_of(mention.split())
                    self.assertTrue(verb, f"there is no verb {mention.split()[1]}")
                    text = HELPS[verb]
                else:
                    text = everywhere + (benchmarks if where == "docs/benchmarks.md" else "")
                for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", re.sub('"[^"]*"', "", mention).split(" -- ")[0]):
                    if option in OF_OTHERS:
                        continue
                    self.assertTrue(re.search(rf"{option}\b", text), f"{mention} in {where}: {option} is in no --help")

    def test_man_pages_have_the_same_examples(self):
        for verb, text in HELPS.items():
            with self.subTest(verb=verb):
                page = (BUILD / "man" / ("-".join(("nplus1", *verb)) + ".1")).read_text()
                shown = page.replace("\\-", "-").replace("\\e", "\\").replace("\\&", "")
                for command in examples_of(text):
                    self.assertIn(command, shown)


if __name__ == "__main__":
    unittest.main()
