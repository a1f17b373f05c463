"""What befalls a job from outside, other than kills (survivors_test.py) and full disks (failing_calls.py): signals to each of its
processes at random moments, a small /dev/shm, and a program that closes what it does not own. The program does what it does
bare, nothing is left behind, and what was recorded can be read.

NPLUS1_SIGNALS=N sends N signals (16); NPLUS1_SIGNALS_SEED is 1."""
import os
import random
import re
import signal
import subprocess
import time
import unittest

from live import (LIMIT, LiveTest, alive_below, descendants, environment, hangs_in_open_mpi, left_in_shared_memory, path_of,
                  shared_files, wait_until)
from openmpi_test import OPEN_MPI, OpenMpiTest
from random_kills import marked, recording_problems

SIGNALS = int(os.environ.get("NPLUS1_SIGNALS", "16"))
SEED = int(os.environ.get("NPLUS1_SIGNALS_SEED", "1"))
ROUNDS = 12
STEPS = [f"repeat {ROUNDS} {{ delay 0.05; send {to} 100; recv -1 100; allreduce 8 }}" for to in (1, 2, 0)]
# As they do bare, these end the job or go on: a rank's end ends all; the keeper and the simulator are not the program's.
GOES_ON = ("simulator", "keeper")


class Signals(LiveTest):
    victims = {"nplus1": "nplus1", "mpirun": "mpirun.mpich", "simulator": "nplus1-simnode", "keeper": "nplus1-keeper", "rank": "script"}

    def begin(self, mark):
        command = self.command(3, self.of("script"), *STEPS, output=self.folder / mark)
        return subprocess.Popen(command, cwd=self.folder, env=environment({"SIGNAL_MARK": mark}), text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def process(self, job, victim):
        """One of the job's processes, once all have their names; None if it has ended."""
        def find():
            below = descendants(job.pid)
            names = list(below.values())
            keepers = 2 if "keeper" in self.victims else 0
            if names.count("nplus1-keeper") < keepers or "nplus1-simnode" not in names or "script" not in names:
                return None
            return job.pid if victim == "nplus1" else next(p for p, name in sorted(below.items()) if name == self.victims[victim])
        return wait_until(lambda: find() or job.poll() is not None and -1, LIMIT) or -1

    def one(self, number, victim, how):
        """What was wrong."""
        mark, files, problems, ended_at = f"signal-{os.getpid()}-{number}", shared_files(), [], time.time_ns()
        job = self.begin(mark)
        process = self.process(job, victim)
        time.sleep(random.uniform(0, 0.6))
        if process > 0 and job.poll() is None:
            try:
                os.kill(process, how)
                ended_at = time.time_ns()
                if how == signal.SIGSTOP:
                    time.sleep(random.uniform(0.1, 1.0))
                    os.kill(process, signal.SIGCONT)
            except ProcessLookupError:
                pass
        try:
            out, err = job.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            if not hangs_in_open_mpi(job.pid):
                problems.append(f"hangs: {alive_below(job.pid)}")
            job.terminate()
            out, err = job.communicate()
        left = wait_until(lambda: not marked(mark.encode()), 20) or marked(mark.encode())
        if left is not True:
            problems.append(f"processes {left}")
        problems += [f"left {f}" for f in left_in_shared_memory(files)]
        goes_on = how == signal.SIGSTOP or victim in GOES_ON
        if goes_on and (job.returncode, sorted(out.splitlines())) != (0, self.expected):
            problems.append(f"code {job.returncode}, {len(out.splitlines())} lines")
        if how == signal.SIGSTOP and not (self.folder / mark / "summary.json").exists():
            problems.append("no result")
        ended = how != signal.SIGSTOP and victim == "simulator"
        if ended and err.count("nplus1: ") not in (1, 2):  # that a rank cannot join it is said at once, too
            problems.append(f"said: {err!r}")
        return problems + recording_problems("simulator" if ended else "rank", self.folder / mark, ended_at, ended)[0]

    def test_at_random_moments_to_each_process_leave_nothing_behind(self):
        random.seed(SEED)
        self.expected = sorted(self.bare(3, "script", *STEPS).stdout.splitlines())
        self.assertGreaterEqual(len(self.expected), ROUNDS)
        for number in range(SIGNALS):
            victim = list(self.victims)[number % len(self.victims)]
            how = random.choice((signal.SIGINT, signal.SIGTERM, signal.SIGSTOP))
            with self.subTest(number=number, victim=victim, signal=how.name):
                self.assertEqual(self.one(number, victim, how), [])


@unittest.skipUnless((OPEN_MPI / "script").exists(), "built without Open MPI")
class SignalsOfOpenMpi(OpenMpiTest, Signals):
    """Its simulator is started by `nplus1 run` itself, without keepers."""
    victims = {"nplus1": "nplus1", "mpirun": "mpirun.openmpi", "simulator": "nplus1-simnode", "rank": "script"}


class NotTheProgramsOwn(LiveTest):
    def test_a_program_that_closes_our_connections_runs_on(self):
        bare = self.bare(3, "closes")
        self.assertEqual(bare.code, 0, bare.stderr)
        for options in ((), ("--transport", "tcp"), ("--patterns-only",), ("--native", "--record", "full")):
            with self.subTest(options=options):
                run = self.observe(3, "closes", options=options)
                self.assertEqual(sorted(run.stdout.splitlines()), sorted(bare.stdout.splitlines()))

    def test_a_small_dev_shm_is_mpis_trouble_alone(self):
        """Ours is a file in memory."""
        for size in ("4k", "100m"):
            with self.subTest(size=size):
                within = ["unshare", "--mount", "--", "sh", "-c", 'mount -t tmpfs -o size="$0" none /dev/shm && exec "$@"', size]
                words = ["script", "send 1 100", "recv 0 100"]
                bare = self.run_command([*within, "mpirun.mpich", "-np", "2", path_of(words[0]), *words[1:]])
                if "mount" in bare.stderr:
                    self.skipTest("mount is not allowed here")
                run = self.run_command([*within, *self.command(2, *words, output=self.folder / size)])
                # Of ranks that MPI ends, one or all say why before Hydra has ended them.
                without_numbers = lambda text: set(re.sub(r"\d+", "", text).splitlines())
                self.assertEqual((run.returncode, without_numbers(run.stdout)), (bare.returncode, without_numbers(bare.stdout)))


if __name__ == "__main__":
    unittest.main()
