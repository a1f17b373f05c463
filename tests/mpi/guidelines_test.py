"""nplus1 guidelines: every mock-up does what its original does; what is measured is kept whatever happens; simulated
times are those of the model; a slow function that was planted is found, and nothing else."""
import collections
import csv
import json
import os
import re
import signal
import subprocess
import time
import unittest

from live import LiveTest, MPIRUN, NPLUS1, descendants, environment, path_of, wait_until

VERIFY = NPLUS1.parent / "verify_mock_ups"
PLANTED = NPLUS1.parent / "planted-runner"
PRELOADED = NPLUS1.parent.parent / "lib/libplanted-reduce.so"
LATENCY, BANDWIDTH = 5e-6, 1e9
NETWORK = f"lsb:latency={LATENCY},bandwidth={BANDWIDTH}"
READ = 20e-9  # what one look at the virtual clock costs
DIFFERENT_ENOUGH = 1.05
TUNED = ("Allgather_with_Gather_Bcast", "Allreduce_with_Reduce_Bcast", "Alltoall_with_Alltoallv",
         "Bcast_with_Scatter_Allgather", "Gather_with_Allgather", "Reduce_with_Reduce_scatter_block_Gather",
         "Reduce_scatter_with_Allreduce", "Reduce_scatter_block_with_Reduce_Scatter", "Scan_with_Exscan_Reduce_local",
         "Scatter_with_Bcast")


def rows(path):
    with open(path) as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def times(path):
    """(test, size) -> its times, of all mpiruns."""
    found = collections.defaultdict(list)
    for row in rows(path):
        found[row["test"], int(row["msize"])].append(float(row["runtime_sec"]))
    return found


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
                self.assertRegex(done.stdout, r"25 mock-ups, \d{3,} comparisons, 0 differences")

    def test_give_them_without_nplus1_too(self):
        done = self.run_command([MPIRUN, "-np", "2", str(VERIFY)], timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_are_caught_when_they_forget_a_copy(self):
        done = self.verify(3, "--broken")
        self.assertEqual(done.returncode, 1)
        self.assertIn("broken, 1 x bytes, root 0: rank 0 has another result", done.stdout)


class Measuring(LiveTest):
    def guidelines(self, *words, more=None, code=0):
        done = self.run_command([str(NPLUS1), "guidelines", *map(str, words)], more, timeout=300)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

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
        words = self.run_words("--functions", "Reduce,Scan", "--runs", 2, "--nrep", 200)
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
        done = self.guidelines(*self.run_words("--functions", "Scan", "--sizes", 8, "--runs", 2, "--nrep", 1, "--timeout",
                                               2, "--no-again"), more=more)
        self.assertIn("Scan_with_Exscan_Reduce_local of 8 B took more than 2 s: censored", done.stderr)
        found = [(row["mpirun"], row["test"], row["runtime_sec"]) for row in rows(self.folder / "measured/measurements.csv")]
        self.assertEqual(found, [("0", "Scan_with_Exscan_Reduce_local", ">2"), ("0", "Scan", "1e-06"),
                                 ("1", "Scan", "1e-06")])

    def test_goes_on_without_what_crashes(self):
        more = self.fake("@verify Scan 8", "@verify Scan_with_Exscan_Reduce_local 8", after="exit 9")
        done = self.guidelines(*self.run_words("--functions", "Scan", "--sizes", 8, "--runs", 1, "--nrep", 1, "--no-again"),
                               more=more)
        self.assertIn("Scan_with_Exscan_Reduce_local of 8 B ended its mpirun with exit code 9", done.stderr)
        self.assertEqual([row["test"] for row in rows(self.folder / "measured/measurements.csv")], ["Scan"])

    def test_says_why_nothing_could_be_started(self):
        done = self.guidelines(*self.run_words("--functions", "Scan", "--mpi-args", "-nonsense"), code=69)
        self.assertIn("mpirun ended with exit code", done.stderr)


class FollowingUp(LiveTest):
    """With a library whose MPI_Reduce is slow above 16 KiB, natively."""

    def setUp(self):
        super().setUp()
        self.guidelines("run", "-n", 2, "--waits", "yield", "--preload", PRELOADED, "-o", "measured", "--functions",
                        "Reduce,Bcast", "--sizes", "1024,32768,65536", "--runs", 6, "--nrep", 20)

    def guidelines(self, *words):
        done = self.run_command([str(NPLUS1), "guidelines", *map(str, words)], timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def violations(self, rule="pattern"):
        self.guidelines("check", "measured")
        found = json.loads((self.folder / "measured/violations.json").read_text())["violations"]
        return [v for v in found if v["type"] == rule]

    def test_confirms_what_is_slow_and_replaces_it(self):
        slow = {32768, 65536}
        found = [v for v in self.violations() if v["guideline"].startswith("Reduce")]
        self.assertEqual({v["sizes"][0] for v in found if v["ratio"] > 2}, slow)
        self.assertIn("confirmed", self.guidelines("confirm", "measured", "-q"))
        for v in self.violations():
            if v["guideline"].startswith("Reduce") and v["sizes"][0] in slow and v["ratio"] > 2:
                self.assertTrue(v["confirmed"], v)
        text = self.guidelines("tune", "measured", "-q", "-o", "libtuned.so", "--budget", "60s")
        for size in slow:
            again = re.search(rf"MPI_Reduce +{size} .* ([0-9.]+) x  (violation gone|better)", text)
            self.assertTrue(again, text)
            self.assertGreater(float(again[1]), 2)
        profile = (self.folder / "libtuned.so").read_bytes()[-1000:].decode(errors="replace")  # as `tail` shows it
        self.assertRegex(profile, r"Reduce 2 32768 (32768|65536) Reduce_with_")
        self.assertRegex(profile, r"Reduce 2 (32768|65536) 65536 Reduce_with_")

    def test_advises_the_setting_that_helps_because_it_was_measured_to(self):
        text = self.guidelines("advise", "measured", "-q", "--budget", "60s")
        self.assertIn("MPI_Reduce: 4 settings", text)
        for size in (32768, 65536):
            best = re.search(rf"{size} B  binomial .* ([0-9.]+) x faster .Hockney: [0-9.]+ us.*(violation gone|still violated)", text)
            self.assertTrue(best, text)
            self.assertGreater(float(best[1]), 2)


class Tuned(LiveTest):
    """A library whose profile replaces every function at every size."""

    def run_with_all_replaced(self, ranks, program):
        profile = "".join(f"{m.split('_with_')[0]} {ranks} 0 1000000 {m}\n" for m in TUNED)
        template = (NPLUS1.parent.parent / "lib/libnplus1-tuned.so").read_bytes()
        library = self.folder / f"all-{ranks}.so"
        library.write_bytes(template + profile.encode() + b"%019d\n# nplus1 guidelines profile\n" % len(profile))
        stubs = NPLUS1.parent.parent / "lib/libnplus1-stubs.so"  # for waits that yield
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
