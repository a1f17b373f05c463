"""nplus1 guidelines: a slow function that was planted is found natively, and nothing else; what is advised and tuned
helps, in every language and with Open MPI too."""
import json
import math
import os
import re
import subprocess
import unittest

from guidelines_support import ALLOW_ROOT, CATALOGUE, HERE, LIBRARIES, OPEN_MPI, PRELOADED, VERIFY, GuidelinesTest, all_replaced
from live import LiveTest, MPIRUN, NPLUS1, path_of


class Planted(GuidelinesTest):
    """Natively: every collective against itself by its PMPI name, which a library in front of MPI_Reduce makes slower above
    16 KiB. That is the only difference that there is, so each finding is right or wrong for certain."""

    def test_is_found_and_nothing_else(self):
        functions = ("Allreduce", "Bcast", "Gather", "Reduce", "Scan", "Scatter")
        sizes = (8, 1024, 16384, 32768, 65536)
        (self.folder / "pmpi.json").write_text(json.dumps(
            [{"set": "pmpi", "orig": name, "mock": f"{name}_with_Pmpi", "msizes": sizes} for name in functions]))
        library = self.compiled(HERE / "pmpi_mock_ups.c", "-shared", "-fPIC")
        self.guidelines("run", "-q", "-n", 2, "--waits", "yield", "-o", "measured", "--catalogue", "pmpi.json", "--set", "pmpi",
                        "--preload", f"{PRELOADED}:{library}", "--nrep", 20)
        self.guidelines("check", "measured", "--set", "pmpi")
        violations = json.loads((self.folder / "measured/violations.json").read_text())
        self.assertEqual(violations["family"], len(functions) * len(sizes))
        found = {(v["function"], v["sizes"][0]) for v in violations["violations"]}
        right = {("Reduce", 32768), ("Reduce", 65536)}
        self.assertLessEqual(right, found)
        # Benjamini and Hochberg at .05: of three findings 0.15 are false on average.
        self.assertLessEqual(len(found - right), 1, found)


def most_by_chance(trials, chance, level):
    """The exact binomial bound: the least k for which more than k of the trials succeed with a probability of at most
    `level`, if each does so with `chance`. Of 400 at 0.05 and 0.001: 35, which is 8.8 %."""
    more = 1.0
    for k in range(trials + 1):
        more -= math.comb(trials, k) * chance**k * (1 - chance)**(trials - k)
        if more <= level:
            return k
    return trials


class FalseFindings(GuidelinesTest):
    """Data without a violation, drawn from measurements made here and now (guidelines/testing/null_data.hpp)."""

    def test_are_as_rare_as_stated(self):
        self.guidelines("run", "-q", "-n", 2, "--waits", "yield", "-o", "measured", "--functions", "Reduce,Bcast,Scan,Gather",
                        "--set", "pgmpi", "--sizes", "8,1024,32768", "--nrep", 20)
        checks = 400
        study = NPLUS1.parent / "guidelines_study"
        catalogue = CATALOGUE
        done = self.run_command([str(study), str(catalogue), str(checks), "measured"], timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        table = {tuple(cells[:2]): cells[2:] for cells in ([cell.strip() for cell in line.split("|")[1:-1]]
                                                           for line in done.stdout.splitlines())}
        for against in ("itself, measured again; which is which by chance", "its own repetitions in two halves by chance"):
            row = table[against, "rank-sum, Benjamini-Hochberg, 1.05"]
            with self.subTest(against=against):
                self.assertEqual(int(row[0]), checks)
                # What is stated: at most 5 % of the checks find anything. Each check is drawn by itself, so their number
                # is at most binomial, and this test is wrong about a sound program once in 1000 times.
                found = round(checks * float(row[2].split()[0]) / 100)
                self.assertLessEqual(found, most_by_chance(checks, 0.05, 1e-3))
            with self.subTest(against=against, uncorrected=True):
                self.assertLessEqual(float(table[against, "rank-sum, uncorrected"][1].split()[0]), 7)


class FollowingUp(GuidelinesTest):
    """With a library whose MPI_Reduce is slow above 16 KiB, natively."""

    def setUp(self):
        super().setUp()
        self.guidelines("run", "-n", 2, "--waits", "yield", "--preload", PRELOADED, "-o", "measured", "--functions",
                        "Reduce,Bcast", "--sizes", "1024,32768,65536", "--runs", 6, "--nrep", 20)

    def violations(self, rule="pattern"):
        self.guidelines("check", "measured")
        found = json.loads((self.folder / "measured/violations.json").read_text())["violations"]
        return [v for v in found if v["type"] == rule]

    def test_confirms_what_is_slow_and_replaces_it(self):
        slow = {32768, 65536}
        found = [v for v in self.violations() if v["guideline"].startswith("Reduce")]
        self.assertEqual({v["sizes"][0] for v in found if v["ratio"] > 2}, slow)
        self.assertIn("confirmed", self.guidelines("confirm", "measured", "-q").stdout)
        for v in self.violations():
            if v["guideline"].startswith("Reduce") and v["sizes"][0] in slow and v["ratio"] > 2:
                self.assertTrue(v["confirmed"], v)
        text = self.guidelines("tune", "measured", "-q", "-o", "libtuned.so", "--budget", "60s").stdout
        for size in slow:
            again = re.search(rf"MPI_Reduce +{size} .* ([0-9.]+) x  (violation gone|better)", text)
            self.assertTrue(again, text)
            self.assertGreater(float(again[1]), 2)
        profile = (self.folder / "libtuned.so").read_bytes()[-1000:].decode(errors="replace")  # as `tail` shows it
        self.assertRegex(profile, r"Reduce 2 32768 (32768|65536) Reduce_with_")
        self.assertRegex(profile, r"Reduce 2 (32768|65536) 65536 Reduce_with_")

    def test_advises_the_setting_that_helps_because_it_was_measured_to(self):
        text = self.guidelines("advise", "measured", "-q", "--budget", "60s").stdout
        self.assertIn("MPI_Reduce: 4 settings", text)
        for size in (32768, 65536):
            best = re.search(rf"{size} B  binomial .* ([0-9.]+) x faster .Hockney: [0-9.]+ us.*(violation gone|still violated)", text)
            self.assertTrue(best, text)
            self.assertGreater(float(best[1]), 2)
        advice = json.loads((self.folder / "measured/advice.json").read_text())
        for one in advice["advice"]:
            if one["function"] == "Reduce" and one["size"] > 16384:
                self.assertEqual(one["best"], "binomial")
                [best] = [tried for tried in one["tried"] if tried["algorithm"] == "binomial"]
                self.assertEqual(best["environment"]["MPIR_CVAR_REDUCE_INTRA_ALGORITHM"], "binomial")
                self.assertGreater(one["default_s"] / best["time_s"], 2)
                self.assertTrue(best["helps"])


class SettingsThatFail(GuidelinesTest):
    """With a library whose MPI_Reduce is slow, and of whose settings one is wrong, one crashes, one hangs and one is fast."""

    def test_are_told_are_not_advised_and_cost_little(self):
        library = self.compiled(HERE / "planted_settings.c", "-shared", "-fPIC")
        self.guidelines("run", "-q", "-n", 2, "--waits", "yield", "--preload", library, "-o", "measured", "--functions", "Reduce",
                        "--sizes", "1024,4096", "--runs", 6, "--nrep", 10)
        done = self.guidelines("advise", "measured", "-q", "--budget", "20s")
        for algorithm, failure in (("binomial", "gave a wrong result"), ("nb", "ended its mpirun with exit code"), ("smp", "took more than")):
            self.assertRegex(done.stderr, rf"Reduce-{algorithm}: Reduce of 1024 B {failure}.*: not tried further")
        self.assertEqual(done.stderr.count("took more than"), 1)  # it hung once, and no more
        for one in json.loads((self.folder / "measured/advice.json").read_text())["advice"]:
            self.assertEqual(one["best"], "reduce_scatter_gather", one)
            self.assertIsNotNone(one["default_s"])
            self.assertEqual({tried["algorithm"] for tried in one["tried"] if tried["failure"]}, {"binomial", "nb", "smp"})
            self.assertFalse(any(tried["helps"] for tried in one["tried"] if tried["failure"]))
        again = self.guidelines("advise", "measured", "-q", "--budget", "20s")  # goes on where all is done
        self.assertIn("not advised: Reduce of 1024 B gave a wrong result", again.stdout)


class Tuned(LiveTest):
    def run_with_all_replaced(self, ranks, program):
        library = all_replaced(self.folder, ranks)
        stubs = LIBRARIES / "libnplus1-stubs.so"  # for waits that yield
        done = self.run_command([MPIRUN, "-np", str(ranks), "/usr/bin/env", f"LD_PRELOAD={library}:{stubs}",
                                 "NPLUS1_NATIVE=1", str(program)], timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_gives_the_same_results(self):
        for ranks in (2, 3):
            self.assertIn(" 0 differences", self.run_with_all_replaced(ranks, VERIFY))

    def test_takes_types_with_gaps_on_some_ranks(self):
        for ranks in (1, 2, 4):
            self.assertEqual(self.run_with_all_replaced(ranks, path_of("strided_collectives")), "ok\n")


class TunedFortran(GuidelinesTest):
    """A library whose profile replaces Allreduce and Scan, under a Fortran program with all three bindings."""

    def run_tuned(self, mpi, template, *link):
        program = self.compiled(HERE / "tuned_fortran.f90", "-w", "-fallow-argument-mismatch", *link, compiler=f"mpifort.{mpi}")
        counting = self.compiled(HERE / "counting.c", "-shared", "-fPIC", *link, compiler=f"mpicc.{mpi}")
        profile = b"Allreduce 2 0 1000 Allreduce_with_Reduce_Bcast\nScan 2 0 1000 Scan_with_Exscan_Reduce_local\n"
        library = self.folder / "tuned.so"
        library.write_bytes((LIBRARIES / template).read_bytes() + profile + b"%019d\n" % len(profile) +
                            b"# nplus1 guidelines profile\n")
        done = self.run_command([f"mpirun.{mpi}", "-np", "2", "/usr/bin/env", f"LD_PRELOAD={library}:{counting}", str(program)],
                                ALLOW_ROOT, timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(sorted(done.stdout.splitlines()), ["Allreduce 0 Reduce 6 Bcast 6 Scan 0 Exscan 3"] * 2 + ["ok"])

    def test_runs_the_mock_ups_in_every_binding_and_in_place(self):
        self.run_tuned("mpich", "libnplus1-tuned.so")

    @unittest.skipUnless(OPEN_MPI, "no Open MPI here")
    def test_runs_them_with_open_mpi_too(self):
        link = subprocess.run(["mpicc.openmpi", "--showme:libdirs"], capture_output=True, text=True, check=True).stdout.split()
        self.run_tuned("openmpi", "libnplus1-tuned-openmpi.so", *(f"-L{folder}" for folder in link))


@unittest.skipUnless(OPEN_MPI, "no Open MPI here")
class OpenMpi(GuidelinesTest):
    def test_is_measured_judged_and_given_advice_with_its_own_runner(self):
        words = ("-n", 2, "--mpirun", "mpirun.openmpi", "-o", "measured")
        if (os.cpu_count() or 1) < 2:
            words += ("--mpi-args", "--oversubscribe")
        self.guidelines("run", *words, "--preload", self.planted(), "--functions", "Reduce", "--sizes", "1024,32768", "--runs", 6,
                        "--nrep", 20, more=ALLOW_ROOT)
        text = self.guidelines("check", "measured").stdout
        self.assertIn("Open MPI v", text)
        found = json.loads((self.folder / "measured/violations.json").read_text())["violations"]
        self.assertIn(("pattern", 32768), {(v["type"], v["sizes"][0]) for v in found if v["ratio"] > 2})
        text = self.guidelines("advise", "measured", "-q", "--budget", "60s", more=ALLOW_ROOT).stdout
        self.assertIn("MPI_Reduce: 7 settings of the library's", text)
        self.assertRegex(text, r"rabenseifner +OMPI_MCA_coll_tuned_use_dynamic_rules=1 OMPI_MCA_coll_tuned_reduce_algorithm=7")
        text = self.guidelines("tune", "measured", "-q", "-o", "libtuned.so", "--budget", "60s", more=ALLOW_ROOT).stdout
        again = re.search(r"MPI_Reduce +32768 .* ([0-9.]+) x  (violation gone|better)", text)
        self.assertTrue(again, text)
        self.assertGreater(float(again[1]), 2)

    def planted(self):
        """The slow Reduce, which only Open MPI's own headers fit."""
        return self.compiled(HERE / "planted_reduce.cpp", "-shared", "-fPIC", "-std=c++20", compiler="mpicxx.openmpi")


if __name__ == "__main__":
    unittest.main()
