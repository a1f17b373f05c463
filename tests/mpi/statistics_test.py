"""`nplus1 run --patterns-only`, the preloaded library by itself, and `nplus1 where`: counts are those of an ordinary run of
the same program, times those that the program takes by itself, and hung jobs are told from outside."""
import collections
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest
from random import Random

from live import NPLUS1

PROGRAMS = pathlib.Path(os.environ["NPLUS1_TEST_PROGRAMS"])
EXAMPLES = PROGRAMS.parent / "examples"
LIBRARY = pathlib.Path(NPLUS1).parent.parent / "lib/libnplus1-statistics.so"
PRELOADED = ":".join(filter(None, (str(LIBRARY), os.environ.get("NPLUS1_PRELOAD_BEHIND"))))  # tools/sanitize.sh says what
MPIRUN = os.environ.get("NPLUS1_MPIRUN") or "mpirun.mpich"
SOURCE = pathlib.Path(__file__).parent / "programs/hangs.c"
PATIENCE_S = 60  # far above what any step takes on a busy machine


def line_of(word):
    """What `nplus1 where` calls the line of hangs.c with that mark."""
    lines = SOURCE.read_text().splitlines()
    return "hangs.c:%d" % next(n for n, text in enumerate(lines, 1) if f"LINE {word} */" in text)


def matrices(patterns):
    return {layer["name"]: (layer["rows"], layer["sizes"]) for layer in patterns["layers"] if layer["rows"]}


def calls(patterns):
    return {(c["name"], c["comm_size"], c["root"]): (c["calls_per_rank"], c["bytes"]) for c in patterns["collectives"]}


class Statistics(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def run_job(self, name, ranks, *words, options=(), program_folder=None, more=None):
        out = self.folder / name
        program = (program_folder or PROGRAMS) / words[0]
        done = subprocess.run([NPLUS1, "run", "-q", "-n", str(ranks), "-o", out, *options, "--", program, *words[1:]],
                              cwd=self.folder, capture_output=True, text=True, timeout=300, env={**os.environ, **(more or {})})
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads((out / "patterns.json").read_text())

    def test_the_counts_are_those_of_an_ordinary_run(self):
        jobs = [(4, EXAMPLES, "cg_traffic"), (4, EXAMPLES, "halo", "5", "1000"), (3, EXAMPLES, "wavefront", "5"),
                (2, EXAMPLES, "ping_pong", "20", "100"), (4, PROGRAMS, "all_collectives", "all", "4,20000", "alone"), (3, EXAMPLES, "hello_mpifh"),
                (3, EXAMPLES, "hello_mpi"), (3, EXAMPLES, "hello_f08")]
        for number, (ranks, folder, *words) in enumerate(jobs):
            with self.subTest(words):
                counted = self.run_job(f"{number}-counted", ranks, *words, options=["--patterns-only"], program_folder=folder)
                simulated = self.run_job(f"{number}-simulated", ranks, *words, options=["--record", "patterns"],
                                         program_folder=folder)
                self.assertTrue(matrices(simulated))
                self.assertEqual(matrices(counted), matrices(simulated))
                if words[0] != "all_collectives":  # of persistent ones the simulator knows the operation only
                    self.assertEqual(calls(counted), calls(simulated))
                self.assertEqual(counted["unplaced_messages"], 0)
                self.assertTrue(counted["complete"])

    def test_what_is_read_and_written_is_that_of_an_ordinary_run(self):
        """Scenario `all` reads beyond the end together, where ROMIO says that it has read what was asked for, and that counts."""
        asked = {"all": {"bytes_read": [4000, 4000]}}
        for scenario in ("alone", "together", "all", "ordered", "requests", "split", "views", "errors"):
            with self.subTest(scenario):
                counted, simulated = (self.run_job(f"{scenario}-{how[-1]}", 2, "files", scenario, options=how)["io"]
                                      for how in (["--patterns-only"], ["--record", "patterns"]))
                for key in ("opens", "reads", "writes", "bytes_read", "bytes_written", "collective"):
                    self.assertEqual(counted["rank"][key], asked.get(scenario, {}).get(key, simulated["rank"][key]), key)
                for key in ("write_sizes",) if scenario in asked else ("read_sizes", "write_sizes"):
                    self.assertEqual(counted[key], simulated[key])
                self.assertGreater(counted["totals"]["opens"], 0)
                self.assertGreater(counted["totals"]["time_s"], 0)

    def test_call_sites_have_the_bytes_of_their_accesses(self):
        counted = self.run_job("sites", 2, "files", "together", options=["--patterns-only"])
        sites = [c for c in counted["call_sites"] if c["call"].startswith(("MPI_File_read", "MPI_File_write"))]
        totals = counted["io"]["totals"]
        self.assertEqual(sum(c["bytes"] for c in sites), totals["bytes_read"] + totals["bytes_written"])
        self.assertEqual({c["messages"] for c in sites}, {0})
        self.assertTrue(all(c["frames"] for c in sites))
        self.assertLessEqual(totals["time_s"], counted["totals"]["mpi_s"])

    def test_jobs_of_sessions_are_counted_as_in_an_ordinary_run(self):
        for scenario in ("alone", "two"):
            with self.subTest(scenario):
                counted, simulated = (self.run_job(f"{scenario}-{how[-1]}", 3, "sessions_only", scenario, options=how)
                                      for how in (["--patterns-only"], ["--record", "patterns"]))
                self.assertEqual(matrices(counted), matrices(simulated))
                self.assertEqual(calls(counted), calls(simulated))
                self.assertTrue(counted["complete"])

    def test_persistent_requests_may_outlive_their_communicators_and_be_several_threads(self):
        """What is freed has other contents at once."""
        for scenario, threads in (("freed", 1), ("threads", 4)):
            with self.subTest(scenario):
                counted = self.run_job(scenario, 2, "started_later", scenario, "200", options=["--patterns-only"],
                                       more={"MALLOC_PERTURB_": "90"})
                rows = counted["layers"][0]["rows"]
                self.assertEqual([(r["source"], r["destinations"], r["messages"]) for r in rows],
                                 [(0, [1], [200 * threads]), (1, [0], [200 * threads])])
                self.assertTrue(counted["complete"])

    def test_counts_of_several_threads_are_those_of_an_ordinary_run(self):
        counted, simulated = (self.run_job(f"threads-{how[-1]}", 2, "named_threads", "4", "50", options=how)
                              for how in (["--patterns-only"], ["--record", "patterns"]))
        self.assertTrue(matrices(simulated))
        self.assertEqual(matrices(counted), matrices(simulated))

    def test_times_and_sub_communicators_and_refused_calls(self):
        counted = self.run_job("late", 3, "hangs", "late", "3000", options=["--patterns-only"])
        p2p = counted["layers"][0]
        self.assertEqual([(r["source"], r["destinations"], r["messages"]) for r in p2p["rows"]], [(0, [2], [1])])
        reduction = next(c for c in counted["call_sites"] if c["call"] == "MPI_Allreduce")
        self.assertEqual(reduction["calls"], 3)
        # Two ranks wait for the third, which sleeps 0.2 s; they may leave the barrier before it a little later than it does.
        self.assertGreaterEqual(reduction["time_s"], 2 * 0.1)
        self.assertGreaterEqual(reduction["longest_s"], 0.15)
        self.assertLessEqual(reduction["time_s"], counted["totals"]["mpi_s"])
        dup = next(c for c in counted["communicator_calls"] if c["name"] == "MPI_Comm_dup")
        self.assertEqual(dup["calls_per_rank"], [3000] * 3)
        self.assertLess((self.folder / "late/statistics.n1stat").stat().st_size, 30000)

    def preloaded(self, *words, ranks=3, environment=()):
        """A job without nplus1 run; its folder of pages."""
        job = self.folder / "job"
        command = [MPIRUN, "-genv", "LD_PRELOAD", PRELOADED, "-genv", "NPLUS1_STATISTICS", job]
        for name, value in environment:
            command += ["-genv", name, value]
        process = subprocess.Popen([*command, "-np", str(ranks), PROGRAMS / "hangs", *words], stderr=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True, start_new_session=True)
        def end():
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
        self.addCleanup(end)
        return process, job

    def where(self, job, wanted):
        """What `nplus1 where` says once it matches; and how long that last call took."""
        text = ""
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            begin = time.monotonic()
            done = subprocess.run([NPLUS1, "where", job], capture_output=True, text=True, timeout=PATIENCE_S)
            text = done.stdout
            if done.returncode == 0 and re.search(wanted, text):
                return text, time.monotonic() - begin
            time.sleep(0.1)
        self.fail(f"never said {wanted!r}: {text}")

    def test_a_circle_of_receives_is_named(self):
        _, job = self.preloaded("cycle")
        text, _ = self.where(job, "in a circle: 0 -> 1 -> 2 -> 0")
        self.assertIn("3 ranks wait in MPI_Recv", text)
        self.assertIn(line_of("cycle"), text)

    def test_collectives_that_do_not_fit_are_named(self):
        _, job = self.preloaded("mismatch")
        text, _ = self.where(job, "do not fit together")
        self.assertIn(line_of("allreduce"), text)
        self.assertIn(line_of("barrier"), text)

    def test_a_rank_that_computes_for_ever_and_a_stopped_one_are_the_odd_ones_out(self):
        process, job = self.preloaded("computing")
        text, _ = self.where(job, r"2 ranks wait in MPI_Barrier.*rank 1 is in no MPI call, and has made none since")
        self.assertIn(line_of("waiting"), text)
        self.assertIn("waits for rank 1 to enter it", text)
        pages = {int(f.name) for f in job.iterdir() if f.name.isdigit()}
        self.assertEqual(pages, {0, 1, 2})
        # A killed job leaves what it has counted.
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(PATIENCE_S)
        done = subprocess.run([NPLUS1, "patterns", job, "--json", self.folder / "left.json"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertFalse(json.loads((self.folder / "left.json").read_text())["complete"])

    def test_a_stopped_process_is_told_although_mpi_hangs(self):
        _, job = self.preloaded("computing")
        self.where(job, "rank 1 is in no MPI call")
        page = (job / "0").read_bytes()
        pid = int.from_bytes(page[32:40], "little")
        os.kill(pid, signal.SIGSTOP)
        self.addCleanup(lambda: os.kill(pid, signal.SIGCONT))
        text, took = self.where(job, r"\(the process is stopped\)")
        self.assertLess(took, 5)

    def test_the_job_says_it_itself_on_a_signal_and_after_a_time(self):
        process, job = self.preloaded("cycle", environment=[("NPLUS1_COMMAND", NPLUS1), ("NPLUS1_HANG_AFTER", "1")])
        said = ""
        while "in a circle" not in said:
            said = process.stderr.readline()
            self.assertNotEqual(said, "")
        self.assertIsNone(process.poll())
        time.sleep(2.5)  # one rank speaks for all for two seconds
        os.kill(int.from_bytes((job / "1").read_bytes()[32:40], "little"), signal.SIGUSR2)
        said = ""
        while "in a circle" not in said:
            said = process.stderr.readline()
            self.assertNotEqual(said, "")
        self.assertIsNone(process.poll())

    def test_damaged_files_are_read_or_refused_in_three_lines(self):
        self.run_job("whole", 3, "halo", "3", "100", options=["--patterns-only"], program_folder=EXAMPLES)
        whole = (self.folder / "whole" / "statistics.n1stat").read_bytes()
        random, codes = Random(7), collections.Counter()
        for number in range(60):
            damaged, place = bytearray(whole), random.randrange(len(whole) - 64)
            if number % 3 == 0:
                damaged[place // 8 * 8:place // 8 * 8 + 8] = random.choice([b"\xff" * 8, b"\0" * 8, b"\xff\xff\xff\x7f\0\0\0\0"])
            elif number % 3 == 1:
                damaged[place:place + 64] = damaged[random.randrange(len(whole) - 64):][:64]
            else:
                damaged = damaged[:place]
            file = self.folder / "damaged.n1stat"
            file.write_bytes(damaged)
            for verb in ("where", "patterns"):
                done = subprocess.run([NPLUS1, verb, file], capture_output=True, text=True, errors="replace", timeout=PATIENCE_S)
                codes[done.returncode] += 1
                self.assertIn(done.returncode, (0, 66), f"{number}: {verb}: {done.stderr}")
                if done.returncode == 66:
                    self.assertRegex(done.stderr, r"^nplus1: .*\n  so: .*\n  next: .*\n$")
        self.assertGreater(min(codes[0], codes[66]), 10)

    def test_a_place_that_cannot_be_written_is_said_once_and_the_program_goes_on(self):
        blocked = self.folder / "file"
        blocked.write_text("")
        done = subprocess.run([MPIRUN, "-genv", "LD_PRELOAD", PRELOADED, "-genv", "NPLUS1_STATISTICS", blocked / "job", "-np", "3",
                               EXAMPLES / "hello_c"], capture_output=True, text=True, timeout=PATIENCE_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("statistics cannot be kept"), 1, done.stderr)


if __name__ == "__main__":
    unittest.main()
