"""A deadlock ends with a report of who waits for whom and where; what only looks like one goes on."""
import concurrent.futures
import itertools
import pathlib
import subprocess
import time
import unittest

from live import LiveTest, Run, environment, seconds, wait_until
from openmpi_test import OPEN_MPI, OpenMpiTest

SOURCE = pathlib.Path(__file__).parent / "programs" / "deadlocks.c"
DEADLOCK = 86


def line_of(name):
    lines = SOURCE.read_text().splitlines()
    return next(i for i, line in enumerate(lines, 1) if f"{name}: waits here" in line)


class Deadlocks(LiveTest):
    def report(self, ranks, name, *options):
        run = self.observe(ranks, "deadlocks", name, code=DEADLOCK, options=options)
        self.assertEqual(sorted(run.stdout.splitlines()), [f"rank {r} begins" for r in range(ranks)])
        self.assertIn("nplus1: deadlock:", run.stderr)
        self.assertFalse(run.summary["complete"])
        self.assertTrue(any("deadlock" in note for note in run.summary["notes"]))
        return run.stderr

    def assert_waits(self, report, rank, function, place, name, whom):
        line = next((x for x in report.splitlines() if x.startswith(f"  rank {rank} in ")), "")
        self.assertIn(f"rank {rank} in {function}", line)
        self.assertIn(f"{place} (deadlocks.c:{line_of(name)})", line)
        self.assertTrue(line.endswith(f"waits for {whom}"), line)

    def test_two_blocking_receives(self):
        for options in ((), ("--direct", "off"), ("--transport", "tcp")):
            with self.subTest(options=options):
                report = self.report(2, "receives", *options)
                self.assert_waits(report, 0, "MPI_Recv, tag 7", "both_receive", "receives", "rank 1")
                self.assert_waits(report, 1, "MPI_Recv, tag 7", "both_receive", "receives", "rank 0")

    def test_a_cycle_of_synchronous_sends(self):
        report = self.report(3, "ssends")
        for rank in range(3):
            self.assert_waits(report, rank, "MPI_Ssend", "ring_of_synchronous_sends", "ssends", f"rank {(rank + 1) % 3}")

    def test_a_receive_from_a_rank_that_has_finalized(self):
        report = self.report(2, "finalized")
        self.assert_waits(report, 0, "MPI_Recv", "receive_from_one_that_has_finalized", "finalized", "rank 1")
        self.assertNotIn("  rank 1 in", report)

    def test_a_barrier_against_a_receive(self):
        report = self.report(2, "barrier")
        self.assert_waits(report, 0, "MPI_Barrier", "barrier_against_receive", "barrier", "rank 1")
        self.assert_waits(report, 1, "MPI_Wait", "barrier_against_receive", "wait", "rank 0")

    def test_all_wait_for_anybody(self):
        report = self.report(3, "anybody")
        for rank in range(3):
            self.assert_waits(report, rank, "MPI_Recv", "anybody", "anybody", "a message from any source")

    def test_the_job_is_left_as_it_is_when_asked(self):
        command = self.command(2, "deadlocks", "receives", options=("--on-deadlock", "continue"))
        job = subprocess.Popen(command, cwd=self.folder, env=environment(), text=True, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            said = [job.stderr.readline() for _ in range(5)]
            self.assertIn("nplus1: deadlock:", "".join(said))
            self.assertIn("--on-deadlock continue", said[-1])
            with self.assertRaises(subprocess.TimeoutExpired):
                job.wait(2)
        finally:
            job.terminate()
            job.wait(20)
            job.stderr.close()

    def test_it_is_reported_once_with_many_ranks(self):
        run = self.observe(16, "deadlocks", "anybody", code=DEADLOCK)
        self.assertEqual(run.stderr.count("nplus1: deadlock:"), 1)


WINDOW_FENCE = r"MPI_Win_fence on communicator \d+"


class InsideMpi(LiveTest):
    """Waits of windows, and those that only the MPI library knows of: it takes seconds to tell the latter from slow progress.
    All at once."""
    WAITS = {  # by program: rank, function, what the test looks for in the source, how the line ends
        "fences": [(0, WINDOW_FENCE, "fences", "rank 1"), (1, WINDOW_FENCE, "fences", "rank 0")],
        "fence": [(0, "MPI_Recv, tag 7 on MPI_COMM_WORLD", "receive", "rank 1"), (1, WINDOW_FENCE, "fence", "rank 0")],
        "collectives": [(0, "MPI_Allreduce on MPI_COMM_WORLD", "allreduce", "rank 1"), (1, "MPI_Bcast", "bcast", None)],
        "window": [(0, "MPI_Win_create on MPI_COMM_WORLD", "window", "rank 1")],
    }
    SLOW = ("late", "operation")

    def run_all(self, options):
        def run(program, name):
            runs = itertools.count()

            def once():
                output = self.folder / f"{name}{''.join(options)}{next(runs)}"
                done = self.run_command(self.command(2, self.of(program), name, options=options, output=output), timeout=120)
                return Run(done.stdout, done.stderr, done.returncode, None, output)

            return self.without_launchers_own_code(once)

        jobs = {name: "deadlocks" for name in self.WAITS}
        jobs.update({name: "not_deadlocks" for name in self.SLOW})
        goes_on = self.command(2, self.of("deadlocks"), "fences", options=("--on-deadlock", "continue", *options),
                               output=self.folder / f"continue{''.join(options)}")
        with concurrent.futures.ThreadPoolExecutor(len(jobs) + 1) as pool:
            running = {name: pool.submit(run, program, name) for name, program in jobs.items()}
            running["continue"] = pool.submit(self.run_until_told, goes_on)
            return {name: job.result() for name, job in running.items()}

    def run_until_told(self, command):
        """Of a deadlock, after which the job goes on; a moment later it is ended."""
        file = self.folder / "told.txt"
        with file.open("w") as told:
            job = subprocess.Popen(command, cwd=self.folder, env=environment(), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=told)
            wait_until(lambda: "nplus1: deadlock:" in file.read_text() or job.poll() is not None, 60)
            time.sleep(2)
            job.terminate()
            job.wait(60)
        return Run("", file.read_text(), job.returncode, None, None)

    def test_they_are_told_with_rank_call_and_line_and_slow_programs_go_on(self):
        self.check_all(())

    def test_over_tcp_too(self):
        """Nothing is shared with the simulator: the ranks tell it that they look in vain."""
        self.check_all(("--transport", "tcp"))

    def check_all(self, options):
        done = self.run_all(options)
        for name, waits in self.WAITS.items():
            with self.subTest(name):
                self.assertEqual(done[name].code, DEADLOCK, done[name].stderr)
                self.assertEqual(done[name].stderr.count("nplus1: deadlock:"), 1)
                self.assertNotIn("has computed", done[name].stderr)
                for rank, function, place, whom in waits:
                    end = f"waits for {whom}" if whom else "waits inside the MPI library"
                    line = next((x for x in done[name].stderr.splitlines() if x.startswith(f"  rank {rank} in ")), "")
                    self.assertRegex(line, rf"rank {rank} in {function}, called from .*\(deadlocks.c:{line_of(place)}\), {end}$")
        self.assertIn("nplus1: deadlock:", done["continue"].stderr)
        self.assertNotEqual(done["continue"].code, DEADLOCK)
        for name in self.SLOW:
            with self.subTest(name):
                self.assertEqual((done[name].code, done[name].stdout), (0, f"{name}: done\n"), done[name].stderr)
                self.assertNotIn("deadlock", done[name].stderr)


class NoDeadlocks(LiveTest):
    def check(self, name, *words, ranks=3):
        for options in ((), ("--compute", "fixed:1e-6"), ("--transport", "tcp")):
            with self.subTest(options=options):
                run = self.observe(ranks, self.of("not_deadlocks"), name, *words, options=options)
                self.assertEqual(run.stdout, f"{name}: done\n")
                self.assertNotIn("deadlock", run.stderr)
                self.assertTrue(run.summary["complete"])

    def test_fences(self):
        self.check("fence")

    def test_locks_and_flushes(self):
        self.check("lock")

    def test_flags_in_a_shared_window(self):
        self.check("flag")

    def test_files(self):
        self.check("file", self.folder / "shared")

    def test_a_helper_thread_that_sends_while_all_wait(self):
        self.check("thread")

    def test_a_rank_that_does_nothing_for_3_seconds(self):
        self.check("pause")

    def test_one_sided_communication_is_modelled(self):
        summary = self.observe(2, self.of("not_deadlocks"), "fence").summary
        self.assertEqual(summary["unmodelled"]["calls"], 0)


@unittest.skipUnless((OPEN_MPI / "deadlocks").exists(), "built without Open MPI")
class InsideOpenMpi(OpenMpiTest, InsideMpi):
    pass


@unittest.skipUnless((OPEN_MPI / "deadlocks").exists(), "built without Open MPI")
class NoDeadlocksWithOpenMpi(OpenMpiTest, NoDeadlocks):
    pass


class SimulatedRendezvous(LiveTest):
    def test_two_crossing_sends_that_only_the_model_blocks_complete_and_are_reported(self):
        network = "lsb:latency=1e-3,bandwidth=1e6,eager=1024"
        run = self.exact("send 1 1025; recv 1 1025", "send 0 1025; recv 0 1025", network=network)
        self.assertTrue(run.summary["trust"]["relies_on_buffering"])
        run = self.exact("send 1 1024; recv 1 1024", "send 0 1024; recv 0 1024", network=network)
        self.assertFalse(run.summary["trust"]["relies_on_buffering"])

    def test_the_same_with_messages_that_mpi_itself_would_block(self):
        network = "lsb:latency=1e-3,bandwidth=1e6,eager=1024"
        large = 4 << 20
        run = self.exact(f"send 1 {large}; recv 1 {large}", f"send 0 {large}; recv 0 {large}", network=network)
        self.assertTrue(run.summary["trust"]["relies_on_buffering"])

    def test_a_message_after_a_released_send_leaves_when_the_interface_has_sent_that(self):
        """Ranks reckon for themselves only where every message is eager, so that no rank keeps an interface of its own here."""
        network = "loggops:L=1us,o=1us,g=1us,G=1us,O=0,S=1024"
        for options in ((), ("--direct", "off")):
            ends = self.ends("send 1 1025; send 2 8; recv 1 1025", "send 0 1025; recv 0 1025", "recv 0 8",
                             network=network, options=options)
            # o + 1025 G until the interface is free, L + 8 G, and o of the receiver; g is shorter
            self.assertEqual(ends[2], seconds("0.001036"))


if __name__ == "__main__":
    unittest.main()
