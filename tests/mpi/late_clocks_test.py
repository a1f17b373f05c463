"""Late clocks: on a network with contention a rank does not wait to be told when its calls ended. Everything else is as if
it had: `--direct off` waits each time."""
import os
import pathlib
import signal
import unittest

import determinism_test
from live import LiveTest, descendants, wait_until
from survivors_test import Killed

PLATFORMS = pathlib.Path(__file__).resolve().parents[2] / "platforms"
HALO = "repeat 20 {{ irecv {0} {2}; irecv {1} {2}; send {0} {2}; isend {1} {2}; waitall; compute 1e-6 }}"
RING = ("repeat 10 {{ isend {0} 2000; recv {1} 2000; waitall }}", "repeat 10 {{ send {0} 8; recv {1} 8 }}")
EXAMPLES = [(4, "ping_pong", 20, 3000), (4, "halo", 10, 20000), (5, "master_worker", 20, 10), (4, "waitany", 6, 10),
            (4, "wavefront", 10), (4, "cg_traffic"), (4, "imbalance", 4, 1), (3, "hello_f08")]


def on(platform, *more):
    return ("--platform", str(PLATFORMS / f"{platform}.xml"), "--compute", "fixed:1e-7", *more)


class LateClocks(LiveTest):
    def told(self, ranks, *words, options):
        run = self.observe(ranks, *words, options=options)
        trust = run.summary["trust"]
        for count in ("clock_mismatches", "order_inversions", "forced_decisions"):
            self.assertEqual(trust[count], 0, count)
        return run

    def as_if_told_each_time(self, ranks, *words, platforms=("torus", "cluster64")):
        for platform in platforms:
            late = self.told(ranks, *words, options=on(platform))
            told = self.told(ranks, *words, options=on(platform, "--direct", "off"))
            self.assertEqual((late.summary["late_clocks"], told.summary["late_clocks"]), (True, False))
            self.assertEqual(late.summary["trust"]["events"], told.summary["trust"]["events"])
            for what in ("rank_end_s", "point_to_point"):
                self.assertEqual(late.summary[what], told.summary[what], (platform, words, what))
            self.assertEqual(sorted(late.stdout.splitlines()), sorted(told.stdout.splitlines()))

    def scripts(self, *scripts, **named):
        self.as_if_told_each_time(len(scripts), "script", *scripts, **named)

    def test_examples(self):
        for example in EXAMPLES:
            with self.subTest(example=example):
                self.as_if_told_each_time(*example)

    def test_halos_of_all_protocols(self):
        """Without data, eager, from private copies, and rendezvous."""
        for size in (0, 100, 30_000, 200_000):
            with self.subTest(size=size):
                self.scripts(*(HALO.format((r + 1) % 4, (r + 3) % 4, size) for r in range(4)))

    def test_a_run_of_more_events_than_a_rank_may_be_ahead(self):
        self.scripts(*(HALO.replace("repeat 20", "repeat 2000").format((r + 1) % 3, (r + 2) % 3, 64) for r in range(3)), platforms=("torus",))

    def test_rings(self):
        for ring in RING:
            self.scripts(*(ring.format((r + 1) % 5, (r + 4) % 5) for r in range(5)))

    def test_collectives_between_messages(self):
        for collective in ("barrier", "allreduce 1000", "bcast 1 50000", "bcast 0 200000", "scan 100", "gather 2 3000", "scatter 1 3000",
                           "reduce 0 3000", "ibcast 1 500; waitall", "spread 1 800"):
            with self.subTest(collective=collective):
                self.scripts(*(f"repeat 5 {{ isend {(r + 1) % 4} 500; recv {(r + 3) % 4} 500; {collective}; waitall; compute {1e-6 * (r + 1)} }}"
                               for r in range(4)))

    def test_what_asks_for_the_time_learns_it(self):
        """Loops on MPI_Wtime, on tests and on probes, of ranks whose clocks are adrift."""
        for look in ("wtime 3e-5", "irecv 1 40 7; poll 0", "irecv 1 40 7; testall", "irecv 1 40 7; testany", "irecv 1 40 7; testsome",
                     "irecv 1 40 7; waitany", "irecv 1 40 7; waitsome", "probe 1 40 7", "iprobe 1 40 7", "mprobe 1 40 7", "improbe -1 40 7",
                     "recv -1 40 7"):
            with self.subTest(look=look):
                sends = "" if look.startswith("wtime") else "compute 5e-5; send 0 40 7"
                rest = "" if look.startswith("wtime") or "probe" in look or look.startswith("recv") else "waitall"
                self.scripts(f"repeat 4 {{ recv 1 3000; send 2 100; {look}; {rest}; recv 2 10 }}",
                             f"repeat 4 {{ send 0 3000; {sends} }}", "repeat 4 { recv 0 100; compute 2e-5; send 0 10 }")

    def test_messages_from_anybody(self):
        for name in determinism_test.RECEIVERS:
            with self.subTest(name=name):
                self.as_if_told_each_time(4, "script", *determinism_test.Determinism.scripts(None, name), platforms=("torus",))

    def test_callbacks_read_virtual_time(self):
        run = self.told(3, "callbacks", "wtime", options=on("torus"))
        self.assertIn("virtual", run.stdout)

    def test_other_ways_to_keep_time_know_it_each_time(self):
        for options in (("--virtual-clocks",), ("--protocol", "riesen"), ("--record-accesses",)):
            with self.subTest(options=options):
                run = self.told(4, "halo", 3, 2000, options=on("torus", *options))
                self.assertFalse(run.summary["late_clocks"])
        self.assertFalse(self.told(3, "named_threads", 2, 5, options=on("torus")).summary["late_clocks"])
        self.assertFalse(self.observe(4, "halo", 3, 2000).summary["late_clocks"])

    def test_a_deadlock_behind_calls_whose_end_nobody_was_told(self):
        run = self.observe(2, "script", "send 1 10; recv 1 10; barrier; recv 1 4", "recv 0 10; send 0 10; barrier; recv 0 4",
                           options=on("torus"), code=86)
        self.assertIn("nplus1: deadlock:", run.stderr)
        for rank in (0, 1):
            self.assertIn(f"rank {rank} in MPI_Recv", run.stderr)
        self.assertTrue(run.summary["late_clocks"])

    def test_the_recording_is_that_of_a_run_that_waits_each_time(self):
        """Questions for the clock are no calls: the replay ends at the same time, and has the same events."""
        counts = []
        scripts = ("repeat 4 { recv 1 300; wtime 2e-5; send 1 8 }", "repeat 4 { send 0 300; wtime 1e-5; recv 0 8 }")
        for more in ((), ("--direct", "off")):
            run = self.told(2, "script", *scripts, options=on("torus", *more))
            replay = self.run_command([self.command(1, "x")[0], "replay", run.folder, "--json", f"{len(counts)}.json"])
            self.assertEqual(replay.returncode, 0, replay.stderr)
            counts.append((run.summary["recording"]["events"], run.summary["rank_end_s"], replay.stdout.splitlines()[1:]))
        self.assertEqual(*counts)


class WithoutSimulator(Killed):
    def test_ranks_adrift_go_on(self):
        scripts = [HALO.format((r + 1) % 3, (r + 2) % 3, 3000).replace("repeat 20", "repeat 20000") + "; wtime 1e-6" for r in range(3)]
        job = self.begin(self.command(3, "script", *scripts, options=on("torus")))
        simulators = wait_until(lambda: sum(n == "script" for n in descendants(job.pid).values()) >= 3 and
                                [p for p, name in descendants(job.pid).items() if name == "nplus1-simnode"])
        self.assertEqual(len(simulators), 1)
        wait_until(lambda: False, 0.4)
        os.kill(simulators[0], signal.SIGKILL)
        self.end_of(job)


if __name__ == "__main__":
    unittest.main()
