"""`nplus1 guidelines check` from outside: made-up measurements with a known answer, files of other programs, and a real
program's calls. And what advise, confirm and tune make of them, with a stand-in for mpirun that measures what it is told."""
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
import unittest

from command import CommandTest

VIOLATED, USAGE, NO_INPUT, UNAVAILABLE, CANT_CREATE = 1, 64, 66, 69, 73
COLUMNS = "mpirun,test,p,nrep_index,msize,runtime_sec,runtime_without_copies_sec\n"
PROGRAM = """#include <mpi.h>
int main(int argc, char **argv) {
  static char a[65536], b[65536];
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 100; ++i) MPI_Scan(a, b, 8, MPI_CHAR, MPI_BOR, MPI_COMM_WORLD);
  for (int i = 0; i < 30; ++i) MPI_Reduce(a, b, 60000, MPI_CHAR, MPI_BOR, 0, MPI_COMM_WORLD);
  MPI_Bcast(a, 7, MPI_CHAR, 0, MPI_COMM_SELF);
  return MPI_Finalize();
}
"""


MEASURES = """
import os, sys, time
words = sys.argv[1:]
if "--version" in words:
    sys.exit(print("HYDRA build details"))
settings = dict(word.split("=", 1) for word in words if "=" in word)
algorithm = settings.get("MPIR_CVAR_REDUCE_INTRA_ALGORITHM", "default")
tuned = "LD_PRELOAD" in settings
open("mpiruns", "a").write(("tuned" if tuned else algorithm) + "\\n")
how = os.environ.get("TUNED" if tuned else algorithm.upper(), "")
if how == "none":
    sys.exit(9)
print("@library MPICH Version: 4.0.2", flush=True)
cells = []
for line in open(words[-1]):
    key, *rest = line.split()
    if key == "cell":
        cells.append((rest, []))
    elif key == "test":
        cells[-1][1].append(rest[0])
for (original, size, repetitions), tests in cells:
    for test in tests:
        print("@verify", test, size, flush=True)
        if test == original and how == "crash at " + size:
            os.abort()
        if test == original and how == "hang":
            time.sleep(1000)
        if test == original and how == "wrong":
            print("@differs", test, size, "rank 0 has another result")
    for repetition in range(int(repetitions)):
        for test in tests:
            if test == original and how != "wrong":
                speed = 3 if tuned else {"default": 10, "binomial": 2, "reduce_scatter_gather": 4}.get(algorithm, 9)
                print("@time", test, size, repetition, f"{speed + repetition / 1000}e-6")
            if test != original:
                print("@time", test, size, repetition, f"{3 + repetition / 1000}e-6")
    print("@done", original, size, flush=True)
print("@end")
"""
HEAD = "#@nprocs=2\n#@mpiruns=10\n#@waits=spin\n#@mpi_library=MPICH Version: 4.0.2\n"


class MadeUp(CommandTest):
    def measure(self, microseconds, folder="measured", name="raw.csv", runs=10, processes=2, head=""):
        """A file of {test: {size: time}}; mpiruns differ by a thousandth."""
        (self.folder / folder).mkdir(exist_ok=True)
        rows = [f"{run},{test},{processes},0,{size},{time * (1000 + run)}e-9,\n" for run in range(runs)
                for test, times in microseconds.items() for size, time in times.items()]
        self.write(f"{folder}/{name}", head + COLUMNS + "".join(rows))
        return folder


class Check(MadeUp):
    def check(self, *words, code=0):
        result = self.nplus1("guidelines", "check", *words)
        self.assertEqual(result.returncode, code, result.stderr)
        return result.stdout

    def violations(self, folder="measured"):
        return json.loads((self.folder / folder / "violations.json").read_text())["violations"]

    def test_a_slow_reduce_is_found_where_it_is_and_fails_a_ci_job_that_asks_for_it(self):
        folder = self.measure({"Reduce": {8: 10, 65536: 60}, "Reduce_with_Allreduce": {8: 12, 65536: 30}})
        self.assertIn("Reduce(64K) on 2: 60.3 us, but Allreduce(n) takes 30.1 us", self.check(folder))
        self.check(folder, "--fail-on-violation", code=VIOLATED)
        [found] = self.violations()
        self.assertEqual((found["guideline"], found["sizes"], found["stars"]), ("Reduce(n) <= Allreduce(n)", [65536], "***"))
        self.assertAlmostEqual(found["ratio"], 2, places=2)
        self.assertAlmostEqual(found["p"], 1 / 184756)  # ten above ten: 1 / C(20, 10)
        self.assertTrue((self.folder / folder / "guidelines.html").exists())

    def test_a_library_that_keeps_its_promises_passes(self):
        folder = self.measure({"Reduce": {8: 10, 65536: 60}, "Reduce_with_Allreduce": {8: 12, 65536: 70}})
        self.assertIn("No guideline was found violated", self.check(folder, "--fail-on-violation"))

    def test_a_split_violation_fails_a_ci_job_only_when_it_was_confirmed(self):
        folder = self.measure({"Bcast": {1024: 10, 2000: 30}})
        self.check(folder, "--fail-on-violation")
        self.assertEqual([v["type"] for v in self.violations()], ["split"])
        self.assertIn("No guideline", self.check(folder, "--legacy-split"))
        self.measure({"Bcast": {2000: 30}, "Bcast_split_2x1024": {2000: 21}}, name="confirm.csv", head="#@purpose=confirm\n")
        self.check(folder, "--fail-on-violation", code=VIOLATED)
        self.assertEqual([v["confirmed"] for v in self.violations()], [True])

    def test_no_violation_in_an_unfinished_measurement_is_no_finding(self):
        sound = {"Reduce": {8: 10}, "Reduce_with_Allreduce": {8: 12}}
        head = "#@nprocs=2\n#@mpiruns=10\n"
        for verb, more in (("advise", ()), ("confirm", ()), ("tune", ("-o", "lib.so"))):
            self.measure(sound, folder="begun", runs=3, head=head)
            done = self.nplus1("guidelines", verb, "begun", *more)
            self.assertEqual(done.returncode, NO_INPUT, done.stdout)
            self.assertIn("is not finished: it is in mpirun 3 of 10", done.stderr)
            self.measure(sound, folder="killed", runs=10, head=head)
            self.write("killed/measurements.plan", "")
            self.assertEqual(self.nplus1("guidelines", verb, "killed", *more).returncode, NO_INPUT)
            self.measure(sound, folder="whole", runs=10, head=head)
            done = self.nplus1("guidelines", verb, "whole", *more)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("violated: there is nothing to", done.stdout)
        self.measure(sound, folder="few", runs=2, head="#@nprocs=2\n#@mpiruns=2\n")
        self.assertIn("comparisons are undecided, with 2 mpiruns", self.nplus1("guidelines", "advise", "few").stdout)

    def test_what_simulated_times_rely_on_is_printed_with_them(self):
        head = "#@clock=virtual\n#@simulated_doubt_simulated-1_1=3 forced decisions: made without proof (simulated-1)\n"
        folder = self.measure({"Reduce": {8: 10}, "Reduce_with_Allreduce": {8: 12}}, name="simulated.csv", runs=1, head=head)
        self.assertIn("simulated times rely on 3 forced decisions: made without proof", self.check(folder))

    def test_files_of_reprompi_are_mpiruns(self):
        (self.folder / "theirs").mkdir()
        for run in range(10):
            lines = "".join(f"  {test}  0  8  {time * (1000 + run)}e-9\n" for test, time in
                            (("MPI_Allgather", 30), ("GL_Allgather_as_GatherBcast", 10)))
            self.write(f"theirs/run{run}.dat", "#@nnp=4\n  test nrep count runtime_sec\n" + lines)
        self.assertIn("run0.dat, line 3: nothing says how many processes", self.nplus1("guidelines", "check", "theirs").stderr)
        self.check("theirs", "--processes", 8)
        self.assertEqual([(v["right"]["test"], v["processes"]) for v in self.violations("theirs")], [("Allgather_with_Gather_Bcast", 8)])

    def test_simulated_times_stand_beside_the_measured(self):
        folder = self.measure({"Scan": {8: 30}, "Scan_with_Exscan_Reduce_local": {8: 10}})
        self.measure({"Scan": {8: 3}, "Scan_with_Exscan_Reduce_local": {8: 4}}, name="simulated.csv", runs=1, head="#@clock=virtual\n")
        self.assertIn("Simulated and measured agree on 0 of 1 guidelines", self.check(folder))
        self.assertEqual([v["simulated"] for v in self.violations()], ["holds"])
        agreement = json.loads((self.folder / folder / "violations.json").read_text())["simulated_agreement"]
        self.assertEqual(agreement["only_measured"], ["Scan(n) <= Exscan(n) + Reduce_local(n)"])
        self.assertEqual(agreement["only_simulated"], [])

    def test_own_guidelines_and_choices(self):
        self.write("own.json", '[{"orig": "Halo", "mock": "Halo_with_Alltoallv", "bound": "Alltoallv"}]')
        folder = self.measure({"Halo": {8: 30}, "Halo_with_Alltoallv": {8: 10}, "Scan": {8: 30}, "Scan_with_Exscan_Reduce_local": {8: 10}})
        self.check(folder, "--catalogue", "own.json", "--functions", "Halo,MPI_Bcast")
        self.assertEqual([v["function"] for v in self.violations()], ["Halo"])

    def test_profiles_for_pgmpitunelib(self):
        folder = self.measure({"Bcast": {8: 30}, "Bcast_with_Scatter_Allgather": {8: 10}})
        self.check(folder, "--profiles", "profiles")
        self.assertEqual((self.folder / "profiles/p_bcast_2.prf").read_text().splitlines()[1:],
                         ["MPI_Bcast", "2", "1", "1 bcast_as_scatter_allgather", "1", "8 8 1"])

    def test_bad_input_is_refused(self):
        folder = self.measure({"Scan": {8: 30}})
        self.assert_refused(NO_INPUT, "absent", "guidelines", "check", "absent")
        self.assert_refused(USAGE, "--functions", "guidelines", "check", folder, "--functions", "Gahter")
        self.assert_refused(USAGE, "--test", "guidelines", "check", folder, "--test", "t")
        self.assert_refused(NO_INPUT, "not-there", "guidelines", "check", folder, "--application", "not-there")
        self.write("own.json", '[\n{"orig": "Halo", "mock": "Bcast_with_Halo"}]')
        self.assert_refused(NO_INPUT, "own.json, line 2", "guidelines", "check", folder, "--catalogue", "own.json")
        self.write(f"{folder}/raw.csv", COLUMNS + "0,Scan,2,0,8,soon,\n")
        self.assert_refused(NO_INPUT, "raw.csv, line 2: 'runtime_sec'", "guidelines", "check", folder)

    def test_a_recorded_programs_own_calls_say_what_a_violation_costs(self):
        self.write("app.c", PROGRAM)
        subprocess.run([shutil.which("mpicc.mpich") or "mpicc", "-o", "app", "app.c"], cwd=self.folder, check=True)
        for variable in ("NPLUS1_STUBS", "NPLUS1_SIMNODE", "NPLUS1_MPIRUN"):
            del self.environment[variable]
        run = self.nplus1("run", "-q", "-n", 2, "-o", "run", "--", "./app")
        self.assertEqual(run.returncode, 0, run.stderr)
        folder = self.measure({"Scan": {8: 3}, "Scan_with_Exscan_Reduce_local": {8: 1}, "Reduce": {65536: 60}, "Reduce_with_Allreduce": {65536: 50}})
        text = self.check(folder, "--application", "run")
        self.assertIn("100 calls of Scan(8) on 2", text)
        self.assertIn("30 calls of Reduce(64K) on 2", text)  # 60000 bytes are nearest to 64K
        self.assertIn("2 of its 132 collective calls have no measurement", text)  # each rank's Bcast with itself
        gains = json.loads((self.folder / folder / "violations.json").read_text())["application"]
        self.assertAlmostEqual(gains["gain_s"], 100 * 2e-6 + 30 * 10e-6, delta=1e-5)


class FollowingUp(MadeUp):
    """Reduce is slower than Allreduce at two sizes."""

    def setUp(self):
        super().setUp()
        self.write("measures.py", MEASURES)
        self.set("NPLUS1_MPIRUN", self.script("mpirun", f'exec {sys.executable} -SE {self.folder}/measures.py "$@"'))
        self.measure_slow()

    def measure_slow(self, head=HEAD, **more):
        return self.measure({"Reduce": {8: 10, 65536: 60}, "Reduce_with_Allreduce": {8: 5, 65536: 30}}, head=head, **more)

    def guidelines(self, *words, code=0):
        done = self.nplus1("guidelines", *words)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def advised(self):
        return json.loads((self.folder / "measured/advice.json").read_text())["advice"]

    def test_a_setting_that_fails_is_told_and_not_advised_and_the_others_are_tried(self):
        for how, failure in (("none", "mpirun ended with exit code 9"), ("crash at 65536", "Reduce of 65536 B ended its mpirun with exit code 134"),
                             ("wrong", "Reduce of 8 B gave a wrong result")):
            with self.subTest(how):
                shutil.rmtree(self.folder / "measured/advice", ignore_errors=True)
                self.set("BINOMIAL", how)
                done = self.guidelines("advise", "measured", "-q", "--budget", "5s")
                self.assertIn(f"Reduce-binomial: {failure}: not tried further", done.stderr)
                self.assertIn(f"not advised: {failure}", done.stdout)
                for one in self.advised():
                    self.assertEqual((one["best"], one["tried"][0]["failure"]), ("reduce_scatter_gather", failure))
                self.assertEqual((self.folder / "mpiruns").read_text().split().count("binomial"), 1)  # once, at both sizes
                (self.folder / "mpiruns").unlink()

    def test_a_setting_that_hangs_takes_little_of_the_time_once(self):
        self.set("SMP", "hang")
        begin = time.monotonic()
        done = self.guidelines("advise", "measured", "-q", "--budget", "5s")
        self.assertLess(time.monotonic() - begin, 40)  # one wait of 5 s, or ten times what an mpirun takes here
        self.assertEqual(done.stderr.count("took more than"), 1)
        self.assertEqual({one["best"] for one in self.advised()}, {"binomial"})

    def test_the_default_is_what_it_was_whatever_becomes_of_the_last_setting(self):
        self.set("REDUCE_SCATTER_GATHER", "none")
        self.assertNotIn("inf", self.guidelines("advise", "measured", "-q", "--budget", "5s").stdout)
        self.assertTrue(all(9e-6 < one["default_s"] < 11e-6 for one in self.advised()))

    def test_what_cannot_be_measured_by_default_is_told(self):
        self.set("DEFAULT", "crash at 8")
        text = self.guidelines("advise", "measured", "-q", "--budget", "5s").stdout
        self.assertIn("8 B  could not be measured by default", text)
        self.assertEqual([one["best"] for one in self.advised()], [None, "binomial"])

    def test_a_library_under_which_the_function_fails_is_not_to_be_preloaded(self):
        for how, failure in (("wrong", "Reduce of 8 B gave a wrong result"), ("none", "mpirun ended with exit code 9")):
            self.set("TUNED", how)
            done = self.guidelines("tune", "measured", "-q", "-o", "lib.so", "--budget", "5s", code=UNAVAILABLE)
            self.assertIn(f"lib.so, {failure}\n  so:   the library is of no use here: do not preload it\n", done.stderr)

    def test_a_library_that_cannot_be_named_in_a_preload_is_refused(self):
        for name in ("a b.so", "a:b.so", "a\tb.so"):
            self.assert_refused(USAGE, "can't be preloaded", "guidelines", "tune", "measured", "-o", name)

    def test_too_few_fresh_measurements_refute_nothing(self):
        self.measure_slow(name="confirmation.csv", runs=2, head=HEAD + "#@purpose=confirm\n")
        self.assertIn("Reduce(64K) on 2", self.guidelines("check", "measured").stdout)
        self.assertEqual({v["confirmed"] for v in json.loads((self.folder / "measured/violations.json").read_text())["violations"]}, {None})
        self.assertIn("MPI_Reduce: 4 settings", self.guidelines("advise", "measured", "-q", "--budget", "5s").stdout)

    def test_another_budget_goes_on(self):
        for budget in ("5s", "1min"):
            self.assertIn("confirm 2 of 2", self.guidelines("confirm", "measured", "-q", "--budget", budget).stdout)
            self.guidelines("advise", "measured", "-q", "--budget", budget)

    def test_budgets_that_are_no_time_are_refused(self):
        for budget in ("0", "0s", "-5", "nan", "inf", "1e400", "1e308h", "5min x", "5m"):
            for verb, more in (("advise", ()), ("confirm", ()), ("tune", ("-o", "lib.so"))):
                self.assert_refused(USAGE, "is no time", "guidelines", verb, "measured", *more, f"--budget={budget}")

    def test_settings_that_nobody_can_have_measured_with_are_refused(self):
        for setting in ("mpiruns=2000000000", "mpiruns=0", "mpiruns=-5", "mpiruns=x", "nprocs=0", "nprocs=-1", "nprocs=1000000000",
                        "nprocs=4", "window_s=nan", "window_s=-1", "window_s=1e308"):
            key = setting.split("=")[0]
            self.measure_slow(head="".join(line + "\n" for line in HEAD.splitlines() if key not in line) + f"#@{setting}\n")
            for verb, more in (("advise", ()), ("confirm", ()), ("tune", ("-o", "lib.so"))):
                self.assert_refused(NO_INPUT, setting, "guidelines", verb, "measured", *more)

    def test_a_full_disk_is_no_bug(self):
        for verb in ("confirm", "advise"):
            done = subprocess.run([os.environ["NPLUS1"], "guidelines", verb, "measured", "-q"], cwd=self.folder, env=self.environment,
                                  text=True, capture_output=True, restore_signals=False, preexec_fn=file_size_limit, check=False)
            self.assertEqual(done.returncode, CANT_CREATE, done.stderr)
            self.assertIn("  next: free some space", done.stderr)

    def test_damaged_files_are_an_error_or_none(self):
        """Whatever is done to a file, the answer is one message or a result, in time."""
        self.guidelines("confirm", "measured", "-q", "--budget", "2s")
        self.guidelines("advise", "measured", "-q", "--budget", "2s")
        whole = self.folder / "whole"
        shutil.copytree(self.folder / "measured", whole)
        draw = random.Random(int(os.environ.get("NPLUS1_DAMAGE_SEED", "5")))
        for _ in range(int(os.environ.get("NPLUS1_DAMAGE", "24"))):
            shutil.rmtree(self.folder / "measured")
            shutil.copytree(whole, self.folder / "measured")
            path = draw.choice(sorted(path for path in (self.folder / "measured").rglob("*") if path.is_file()))
            what = damage(path, draw)
            verb, more = draw.choice((("check", ()), ("confirm", ("-q",)), ("advise", ("-q",)), ("tune", ("-q", "-o", "lib.so"))))
            done = self.nplus1("guidelines", verb, "measured", *more, *(() if verb == "check" else ("--budget", "1s")))
            with self.subTest(verb=verb, file=path.name, what=what):
                self.assertIn(done.returncode, (0, USAGE, NO_INPUT, UNAVAILABLE, CANT_CREATE), done.stderr)
                if done.returncode != 0:
                    self.assertEqual(done.stderr.count("  so: "), 1, done.stderr)
                    self.assertEqual(done.stderr.count("  next: "), 1, done.stderr)


def file_size_limit():
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))


HOSTILE = ("nan", "inf", "-1", "0", "1e308", "1e-320", ">5", "99999999999999999999", "2147483647", "18446744073709551615", "", "x" * 300, "'", "0x10")


def damage(path, draw):
    text = path.read_bytes()
    how = draw.choice(("cut", "bits", "empty", "noise", "twice", "field", "field", "setting", "setting"))
    if how == "cut":
        text = text[:draw.randrange(len(text) + 1)]
    if how == "bits":
        for _ in range(draw.choice((1, 3, 20))):
            at = draw.randrange(len(text))
            text = text[:at] + bytes([draw.randrange(256)]) + text[at + 1:]
    if how == "empty":
        text = b""
    if how == "noise":
        text = draw.randbytes(1000)
    if how == "twice":
        text += text
    if how in ("field", "setting"):
        lines = text.decode().split("\n")
        at = draw.choice([i for i, line in enumerate(lines) if line.startswith("#@") == (how == "setting") and line] or [0])
        parts = lines[at].split("=" if how == "setting" else ",")
        parts[1 if how == "setting" else draw.randrange(len(parts))] = draw.choice(HOSTILE) if len(parts) > 1 else "x"
        lines[at] = ("=" if how == "setting" else ",").join(parts)
        text = "\n".join(lines).encode()
    path.write_bytes(text)
    return how


if __name__ == "__main__":
    unittest.main()
