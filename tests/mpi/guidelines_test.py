"""nplus1 guidelines: every mock-up does what its original does; what is measured is kept whatever happens; simulated
times are those of the model."""
import collections
import json
import os
import signal
import statistics
import subprocess
import time
import unittest

from guidelines_support import CATALOGUE, HERE, PLANTED, VERIFY, GuidelinesTest, rows, times
from live import LiveTest, MPIRUN, NPLUS1, descendants, environment, wait_until

LATENCY, BANDWIDTH = 5e-6, 1e9
NETWORK = f"lsb:latency={LATENCY},bandwidth={BANDWIDTH}"
READ = 20e-9  # what one look at the virtual clock costs
DIFFERENT_ENOUGH = 1.05
OWN_CATALOGUE = """[
  {"orig": "Allreduce", "mock": "Allreduce_with_Slow_allreduce", "bound": "Slow(n)", "msizes": [4096]},
  {"orig": "Allreduce", "mock": "Allreduce_with_Wrong", "msizes": [4096]},
  {"orig": "Allreduce", "mock": "Allreduce_with_Absent", "msizes": [4096]},
  {"orig": "Allreduce", "mock": "Allreduce_with_Iallreduce_Wait", "msizes": [4096]}
]
"""
OWN_MOCK_UPS = """#include <mpi.h>
#include <unistd.h>
int Allreduce_with_Slow_allreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, int root,
                                  MPI_Comm comm) {
  usleep(2000);
  return MPI_Allreduce(send, receive, count, type, op, comm);
}
int Allreduce_with_Wrong(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  return MPI_Reduce(send, receive, count, type, op, 1, comm);
}
"""


class MockUps(LiveTest):
    def verify(self, ranks, *arguments):
        # Under nplus1's library, because oversubscribed ranks of bare MPICH spin.
        return self.run_command([str(NPLUS1), "run", "-q", "--native", "-n", str(ranks), "--", str(VERIFY), *arguments],
                                timeout=120)

    def test_give_the_results_of_their_originals(self):
        for ranks in range(1, 10):
            with self.subTest(ranks=ranks):
                done = self.verify(ranks)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertRegex(done.stdout, r"46 mock-ups, \d{3,} comparisons, 0 differences in 0 mock-ups")

    def test_give_them_without_nplus1_too(self):
        done = self.run_command([MPIRUN, "-np", "2", str(VERIFY)], timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_are_each_caught_when_they_forget_a_byte(self):
        done = self.verify(3, "--broken")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"differences in 46 mock-ups")

    def test_are_those_of_the_catalogue(self):
        listed = self.run_command([MPIRUN, "-np", "1", str(VERIFY), "--list"], timeout=60).stdout.split()
        catalogue = json.loads(CATALOGUE.read_text())
        self.assertEqual(sorted(listed), sorted(entry["mock"] for entry in catalogue if "mock" in entry))


class Measuring(GuidelinesTest):

    def run_words(self, *words):
        return ("run", "-n", 2, "--waits", "yield", "-o", "measured", *words)

    def test_takes_what_each_repetition_needs_from_its_predictions(self):
        self.guidelines(*self.run_words("--functions", "Scan", "--sizes", "8,1000", "--runs", 2, "--budget", "20s",
                                        "--predict", "rse=0.5,least=10,most=50"))
        looks = rows(self.folder / "measured/nrep.csv")
        self.assertEqual({row["prediction"] for row in looks}, {"0", "1", "2"})
        for size in (8, 1000):
            most = max(int(row["repetitions"]) for row in looks if int(row["msize"]) == size)
            measured = times(self.folder / "measured/measurements.csv")
            for test in ("Scan", "Scan_again", "Scan_with_Exscan_Reduce_local"):
                self.assertEqual(len(measured[test, size]), 2 * most)
                self.assertTrue(all(t > 0 for t in measured[test, size]))

    def test_goes_on_after_a_kill_at_any_moment(self):
        words = self.run_words("--functions", "Reduce,Scan", "--set", "pgmpi,tunelib", "--runs", 2, "--nrep", 200)
        before = b""
        for k in range(4):
            job = subprocess.Popen([str(NPLUS1), "guidelines", *map(str, words)], cwd=self.folder, env=environment(),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(0.3 + 0.25 * k)
            children = set(descendants(job.pid))
            job.send_signal(signal.SIGKILL)
            job.wait()
            self.assertTrue(wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in children), 20),
                            "ranks were left behind")
            file = self.folder / "measured/measurements.csv"
            now = file.read_bytes() if file.exists() else b""
            done = now.rfind(b"# done ")
            self.assertTrue(now.startswith(before), "finished measurements were lost")
            before = now[:now.rfind(b"\n", 0, done) + 1] if done >= 0 else b""
        self.guidelines(*words)
        self.assertTrue((self.folder / "measured/measurements.csv").read_bytes().startswith(before))
        counts = collections.Counter((row["mpirun"], row["test"], row["msize"]) for row in
                                     rows(self.folder / "measured/measurements.csv"))
        self.assertEqual(set(counts.values()), {200})
        self.assertEqual(len(counts), 2 * 12 * (1 + 4 + 1 + 1 + 1 + 1))  # mpiruns, sizes, tests of Reduce and of Scan

    def test_refuses_to_go_on_with_other_settings(self):
        self.guidelines(*self.run_words("--functions", "Scan", "--sizes", 8, "--runs", 1, "--nrep", 5))
        done = self.guidelines(*self.run_words("--functions", "Scan", "--sizes", 8, "--runs", 2, "--nrep", 5), code=73)
        self.assertIn("was measured with other settings", done.stderr)

    def test_starts_all_ranks_at_a_time_if_asked(self):
        for sync in ("window", "round-time"):
            self.guidelines("run", "-n", 2, "--waits", "yield", "-o", sync, "--sync", sync, "--functions", "Scan",
                            "--sizes", 8, "--runs", 1, "--nrep", 20)
            with self.subTest(sync=sync):
                for test, measured in times(self.folder / sync / "measurements.csv").items():
                    self.assertTrue(0 < len(measured) <= 80)
                    self.assertTrue(all(0 < t < 1 for t in measured), test)

    def test_clocks_that_differ_and_drift_are_made_one(self):
        library = self.compiled(HERE / "skewed_clock.c", "-shared", "-fPIC")
        for sync in ("window", "round-time"):
            self.guidelines("run", "-n", 2, "--waits", "yield", "-o", sync, "--sync", sync, "--window", "0.005", "--preload", library,
                            "--functions", "Scan", "--sizes", 8, "--runs", 2, "--nrep", 60)
            # Five seconds apart, and a drift of 20 us a second: uncorrected, no repetition would take below a second. How
            # exact the correction is, is clock_model_test's to say; a busy machine delays ranks by milliseconds.
            shared = times(self.folder / sync / "measurements.csv")["Scan", 8]
            with self.subTest(sync=sync):
                self.assertGreater(len(shared), 20)
                self.assertGreater(statistics.median(shared), 0)
                self.assertLess(statistics.median(shared), 0.02)

    def test_a_budget_is_kept(self):
        begin = time.monotonic()
        self.guidelines(*self.run_words("--functions", "Scan,Bcast", "--runs", 4, "--budget", "12s", "--predict",
                                        "rse=1e-9,least=10,most=100000"))
        self.assertLess(time.monotonic() - begin, 1.25 * 12)
        measured = times(self.folder / "measured/measurements.csv")
        self.assertEqual({size for test, size in measured if test == "Scan"},
                         {1, 8, 64, 512, 1024, 2000, 4096, 10000, 16384, 32768, 65536, 102400})
        self.assertGreaterEqual(min(len(found) for found in measured.values()), 4 * 10)

    def test_files_beside_the_measurements_that_cannot_be_written_are_no_success(self):
        (self.folder / "measured" / "nrep.html").mkdir(parents=True)
        done = self.guidelines(*self.run_words("--functions", "Scan", "--sizes", "8", "--runs", 1, "--budget", "1s"), code=73)
        self.assertIn("nrep.html", done.stderr)

    def test_a_budget_that_cannot_be_kept_is_known_at_the_beginning(self):
        done = self.guidelines(*self.run_words("--functions", "Scan,Bcast", "--runs", 20, "--budget", "1s", "--predict",
                                               "rse=1e-9,least=200,most=200"))
        said = done.stderr.find("are the least: they take about")
        self.assertTrue(0 <= said < done.stderr.find("it took "), done.stderr)
        self.assertIn("2 of 20 mpiruns: one takes", done.stderr)
        measured = times(self.folder / "measured/measurements.csv")
        self.assertEqual({len(found) for found in measured.values()}, {2 * 10}, "two whole mpiruns of the least repetitions")

    def test_a_users_own_guidelines_and_mock_ups_are_measured_judged_and_confirmed(self):
        """What docs/formats/guidelines.md says under "Own mock-ups", from the file to the verdict."""
        (self.folder / "own.json").write_text(OWN_CATALOGUE)
        (self.folder / "own.c").write_text(OWN_MOCK_UPS)
        library = self.compiled(self.folder / "own.c", "-shared", "-fPIC")
        done = self.guidelines(*self.run_words("--catalogue", "own.json", "--set", "own", "--preload", library, "--runs", 6,
                                               "--nrep", 20))
        self.assertIn("Allreduce_with_Wrong of 4096 B gave a wrong result and was not measured: rank 0 has another", done.stderr)
        self.assertIn("Allreduce_with_Absent of 4096 B was not measured: neither the measuring program nor a preloaded library",
                      done.stderr)
        measured = times(self.folder / "measured/measurements.csv")
        self.assertEqual({test for test, size in measured}, {"Allreduce", "Allreduce_again", "Allreduce_with_Slow_allreduce",
                                                             "Allreduce_with_Iallreduce_Wait"})
        self.assertEqual({size for test, size in measured}, {4096})
        slow = statistics.median(measured["Allreduce_with_Slow_allreduce", 4096])
        self.assertGreater(slow, 2e-3)
        text = self.guidelines("check", "measured", "--all").stdout  # without naming the catalogue again
        self.assertRegex(text, r"Allreduce <= Slow_allreduce +\.")
        self.guidelines("confirm", "measured", "-q")

    def fake(self, *lines, after):
        """A measuring program that prints `lines` and then does `after`, on rank 0."""
        program = self.folder / "fake"
        text = "\n".join(f"echo '{line}'" for line in ("@library fake", *lines))
        program.write_text(f"#!/bin/sh\n[ \"$PMI_RANK\" = 0 ] || exit 0\ngrep -q 'test Scan_with' \"$1\" || again=1\n"
                           f"if [ \"$again\" ]; then echo '@library fake'; grep -q '^cell Scan 8 ' \"$1\" && "
                           f"echo '@time Scan 8 0 1e-6' && echo '@done Scan 8'; echo @end; exit 0; fi\n"
                           f"{text}\n{after}\n")
        program.chmod(0o755)
        return {"NPLUS1_GUIDELINES_RUNNER": program}

    def test_censors_what_hangs_and_does_not_try_it_again(self):
        more = self.fake("@verify Scan 8", "@verify Scan_with_Exscan_Reduce_local 8", after="sleep 60")
        done = self.guidelines(*self.run_words("--functions", "Scan", "--set", "pgmpi", "--sizes", 8, "--runs", 2, "--nrep", 1, "--timeout",
                                               2, "--no-again"), more=more)
        self.assertIn("Scan_with_Exscan_Reduce_local of 8 B took more than 2 s: censored", done.stderr)
        found = [(row["mpirun"], row["test"], row["runtime_sec"]) for row in rows(self.folder / "measured/measurements.csv")]
        self.assertEqual(found, [("0", "Scan_with_Exscan_Reduce_local", ">2"), ("0", "Scan", "1e-06"),
                                 ("1", "Scan", "1e-06")])

    def test_goes_on_without_what_crashes(self):
        more = self.fake("@verify Scan 8", "@verify Scan_with_Exscan_Reduce_local 8", after="exit 9")
        done = self.guidelines(*self.run_words("--functions", "Scan", "--set", "pgmpi", "--sizes", 8, "--runs", 1, "--nrep", 1, "--no-again"),
                               more=more)
        self.assertIn("Scan_with_Exscan_Reduce_local of 8 B ended its mpirun with exit code 9", done.stderr)
        self.assertEqual([row["test"] for row in rows(self.folder / "measured/measurements.csv")], ["Scan"])

    def test_ends_whatever_the_measuring_program_does(self):
        more = self.fake("@verify Scan 8", "@verify Scan_with_Exscan_Reduce_local 8", after="exit 9")
        done = self.guidelines(*self.run_words("--functions", "Scan", "--set", "pgmpi,nonblocking", "--sizes", 8, "--runs", 1, "--nrep",
                                               1, "--no-again"), more=more)  # it names the same test once more
        self.assertIn("Scan_with_Iscan_Wait of 8 B ended its mpirun with exit code 9", done.stderr)

    def test_says_why_nothing_could_be_started(self):
        done = self.guidelines(*self.run_words("--functions", "Scan", "--mpi-args", "-nonsense"), code=69)
        self.assertIn("mpirun ended with exit code", done.stderr)


class Simulated(LiveTest):
    def simulate(self, ranks, *words, folder="simulated"):
        done = self.run_command([str(NPLUS1), "guidelines", "run", "-q", "-n", str(ranks), "--simulate", NETWORK, "-o",
                                 folder, *map(str, words)], timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return times(self.folder / folder / "simulated.csv")

    def test_times_are_those_of_the_model(self):
        found = self.simulate(4, "--functions", "Reduce,Gather,Allreduce", "--sizes", "8,1000")

        def message(size):
            return LATENCY + size / BANDWIDTH

        for size in (8, 1000):
            expected = {"Reduce": 2 * message(size),                    # binomial tree
                        "Gather": message(size) + message(2 * size),    # binomial, growing
                        "Allreduce_with_Reduce_Bcast": 4 * message(size)}
            if size == 8:
                expected["Allreduce"] = 2 * message(size)               # recursive doubling
            for test, seconds in expected.items():
                for measured in found[test, size]:
                    with self.subTest(test=test, size=size):
                        self.assertAlmostEqual(measured, seconds, delta=4 * READ)

    def test_without_a_simulator_there_are_no_times(self):
        done = self.run_command([str(NPLUS1), "guidelines", "run", "-q", "-n", "2", "--simulate", NETWORK, "-o", "none", "--functions",
                                 "Scan", "--sizes", "8"], {"NPLUS1_SIMNODE": "/bin/false"}, timeout=120)
        self.assertEqual(done.returncode, 69, done.stderr)
        self.assertIn("the simulator did not start", done.stderr)
        self.assertEqual(times(self.folder / "none/simulated.csv"), {})

    def test_the_whole_catalogue_can_be_simulated(self):
        for ranks in (2, 3):  # of one byte, some ranks have none
            done = self.run_command([str(NPLUS1), "guidelines", "run", "-n", str(ranks), "--simulate", NETWORK, "-o", f"all-{ranks}",
                                     "--sizes", "1,1000"], timeout=120)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("not measured", done.stderr)
            self.assertNotIn("not tried again", done.stderr)
            found = times(self.folder / f"all-{ranks}/simulated.csv")
            self.assertEqual(len({test for test, size in found}), 17 + 46)

    def test_a_slow_function_that_was_planted_is_found_and_nothing_else(self):
        functions = ("--functions", "Reduce,Allreduce,Bcast,Scan,Gather,Reduce_scatter_block")
        clean, planted = self.simulate(4, *functions), self.simulate(4, *functions, "--runner", PLANTED, folder="planted")

        def violated(found):
            return {(test, size) for test, size in found if "_with_" in test and
                    max(found[test.split("_with_")[0], size]) > DIFFERENT_ENOUGH * max(found[test, size])}

        new = violated(planted) - violated(clean)
        self.assertTrue(new)
        self.assertEqual({test.split("_with_")[0] for test, size in new}, {"Reduce"})
        self.assertEqual({size for test, size in new}, {32768, 65536, 102400})
        # A mock-up that calls the slow function is slower itself, which violates nothing.
        self.assertLessEqual(violated(planted) - new, violated(clean))


if __name__ == "__main__":
    unittest.main()
