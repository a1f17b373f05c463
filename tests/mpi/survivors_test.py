"""The simulator is killed in the middle: the program goes on and ends as if bare. Nothing is left behind, whoever is
killed."""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import unittest

from live import LIMIT, LiveTest, descendants, environment, states_below, wait_until

# What rank 0 waits in when the simulator dies; rank 1 sends three messages long after that, rank 2 one.
WAITS = {
    "a blocking receive": "recv 1 4; recv 1 4; recv 1 4; recv 2 4",
    "a receive from anybody": "repeat 4 { recv -1 4 }",
    "pending wildcards": "irecv -1 4; irecv -1 4; irecv 1 4; irecv -1 4; waitall",
    "pending wildcards of one sender": "irecv -1 4 0; irecv -1 8 1; irecv -1 12 2; irecv -1 4 0; waitall",
    "Waitany": "irecv 1 4; irecv 1 4; irecv 1 4; irecv 2 4; repeat 4 { waitany }",
    "Waitany over wildcards": "irecv -1 4; irecv -1 4; irecv -1 4; irecv -1 4; repeat 4 { waitany }",
    "Waitsome": "irecv 1 4; irecv 1 4; irecv 1 4; irecv 2 4; waitsome; waitall",
    "a Test loop": "irecv 1 4; poll 0; recv 1 4; recv 1 4; recv 2 4; waitall",
    "a Testall loop": "irecv 1 4; irecv 1 4; irecv -1 4; irecv 2 4; testall",
    "a Testsome loop": "irecv -1 4; testsome; recv -1 4; recv -1 4; recv -1 4; waitall",
    "a probe": "probe 1 4; recv 1 4; recv 1 4; recv 2 4",
    "a probe for anybody": "probe -1 4; probe -1 4; probe -1 4; probe -1 4",
    "an Iprobe loop": "iprobe -1 4; iprobe 1 4; recv -1 4; recv -1 4",
    "an Mprobe": "mprobe 1 4; mprobe -1 4; improbe -1 4; mprobe -1 4",
}
SENDERS = ["delay 0.5; send 0 {0} 0; send 0 {1} {3}; send 0 {2} {4}; barrier", "delay 0.7; send 0 4 0; barrier"]
COLLECTIVES = {"Barrier": "barrier", "Bcast": "bcast 1 100000", "Allreduce": "allreduce 4000", "Gather": "gather 0 50000",
               "Alltoallv": "spread 1 1000", "Reduce": "reduce 0 4000", "Scan": "scan 4000", "Scatter": "scatter 1 4"}
KILLER = pathlib.Path(__file__).parent / "random_kills.py"


class Killed(LiveTest):
    """Jobs of which something is killed."""

    def begin(self, command):
        return subprocess.Popen(command, cwd=self.folder, env=environment(), text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)

    def end_of(self, job):
        """What the job printed; it must end well."""
        try:
            out, err = job.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            states = states_below(job.pid)
            job.terminate()
            job.communicate()
            self.fail(f"the program hangs\n{states}")
        self.assertEqual(job.returncode, 0, err)
        return out, err


class Survivors(Killed):
    def kill_simulator(self, *scripts, after="", options=()):
        """Kills the simulator 0.25 s after the ranks have begun; returns the sorted output."""
        command = self.command(len(scripts), "script", *(f"barrier; {s}" for s in scripts), options=options)
        job = self.begin(command)
        find = lambda: [p for p, name in descendants(job.pid).items() if name == "nplus1-simnode"]
        ranks = lambda: sum(name == "script" for name in descendants(job.pid).values()) >= len(scripts)
        simulators = wait_until(lambda: ranks() and find())
        self.assertEqual(len(simulators), 1)
        wait_until(lambda: False, 0.25)
        os.kill(simulators[0], signal.SIGKILL)
        out, _ = self.end_of(job)
        return sorted(out.splitlines())

    def check(self, *scripts, options=()):
        bare = self.bare(len(scripts), "script", *(f"barrier; {s}" for s in scripts))
        self.assertEqual(bare.code, 0, bare.stderr)
        self.assertEqual(self.kill_simulator(*scripts, options=options), sorted(bare.stdout.splitlines()))

    def senders(self, name):
        sizes = (4, 8, 12, 1, 2) if "one sender" in name else (4, 4, 4, 0, 0)
        return [s.format(*sizes) for s in SENDERS]

    def test_every_wait_goes_on_without_the_simulator(self):
        for options in ((), ("--transport", "tcp")):
            for name, receiver in WAITS.items():
                with self.subTest(name, options=options):
                    self.check(receiver + "; barrier", *self.senders(name), options=options)

    def test_every_collective_goes_on_without_the_simulator(self):
        for name, collective in COLLECTIVES.items():
            with self.subTest(name):
                self.check(f"repeat 3 {{ {collective} }}", f"delay 0.5; repeat 3 {{ {collective} }}",
                           f"repeat 3 {{ {collective} }}")

    def test_a_wildcard_whose_sender_all_wait_for(self):
        """Rank 0 waits inside MPI for rank 1, whose long message waits for a receive that the simulator was to decide."""
        for waits in ("barrier", "bcast 1 1000", "allreduce 8"):
            for options in ((), ("--transport", "tcp")):
                with self.subTest(waits, options=options):
                    self.check(f"irecv -1 1000000; {waits}; waitall", f"delay 0.7; ssend 0 1000000; {waits}", waits,
                               options=options)

    def test_a_cancelled_wildcard(self):
        out = self.kill_simulator("irecv -1 4 7; delay 0.6; cancel 0; recv 1 4", "delay 0.8; send 0 4")
        self.assertEqual(out, ["cancelled", "from 1, tag 0, 4 bytes"])

    def test_a_wildcard_that_is_posted_and_cancelled_after_the_simulators_end(self):
        """Rank 0 has noticed it by then: it has waited for what only the simulator decides."""
        out = self.kill_simulator("delay 0.6; recv -1 4; irecv -1 4 7; irecv -1 4 7; cancel 0; cancel 1; recv 1 4",
                                  "delay 0.6; send 0 4; delay 0.6; send 0 4")
        self.assertEqual(out, ["cancelled", "cancelled", "from 1, tag 0, 4 bytes", "from 1, tag 0, 4 bytes"])

    def test_a_program_that_never_stops_talking(self):
        ping = "repeat 3000 {{ send {0} 64; recv {0} 64; irecv -1 64; send {0} 64; waitall }}"
        out = self.kill_simulator(ping.format(1), ping.format(0))
        self.assertEqual(len(out), 6000)


class Keepers(Killed):
    """Two processes hold the connection to the process manager: either may be killed, at any moment."""
    STEPS = "repeat 12 {{ delay 0.05; send {0} 100; recv -1 100; barrier }}"

    def kill(self, victims, delay):
        """Kills what `victims(keepers, simulators)` names, `delay` after the keepers are there; the run."""
        folder = self.folder / f"result-{self.runs}"
        self.runs += 1
        command = self.command(2, "script", self.STEPS.format(1), self.STEPS.format(0), output=folder)
        job = self.begin(command)

        def named(name):
            return sorted(p for p, n in descendants(job.pid).items() if n == name)
        wait_until(lambda: len(named("nplus1-keeper")) == 2)
        wait_until(lambda: False, delay)
        for victim in victims(named("nplus1-keeper"), named("nplus1-simnode")):
            with contextlib.suppress(ProcessLookupError):
                os.kill(victim, signal.SIGKILL)
        out, err = self.end_of(job)
        self.assertEqual(len(out.splitlines()), 12, err)
        return folder

    def test_either_may_be_killed_at_any_moment(self):
        for i in range(14):
            with self.subTest(kill=i):
                self.kill(lambda keepers, _, i=i: keepers[i % 2:][:1], i * 0.04)

    def test_the_results_are_complete_all_the_same(self):
        for which in (0, 1):
            folder = self.kill(lambda keepers, _, which=which: [keepers[which]], 0.4)
            self.assertTrue(json.loads((folder / "summary.json").read_text())["complete"])

    def test_one_after_the_other_may_be_killed(self):
        def in_turn(keepers, _):
            yield keepers[0]
            wait_until(lambda: False, 0.1)
            yield keepers[1]
        self.kill(in_turn, 0.2)

    def test_keeper_and_simulator_may_be_killed_together(self):
        for delay in (0, 0.3):
            self.kill(lambda keepers, simulators: [*simulators, keepers[0]], delay)


class RandomKills(LiveTest):
    def test_nothing_is_left_behind(self):
        done = self.run_command([sys.executable, str(KILLER), "--kills", "10", "--seed", "1"],
                                {k: v for k, v in os.environ.items() if k.startswith("NPLUS1")}, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
