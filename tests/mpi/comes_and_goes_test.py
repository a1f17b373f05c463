"""What comes and goes in a program leaves nothing behind: neither in its ranks, whose heap is counted to the byte, nor in the
simulator. One kind of thing at a time (programs/comes_and_goes.c); flat_memory.py has all of them, by the hour."""
import subprocess
import unittest

from flat_memory import resident
from live import LiveTest, descendants, environment

RANKS = 2
KINDS = ("copies", "generations", "between_groups", "disconnected", "persistent", "outlived", "undecided",
         "persistent_collectives", "windows", "anybody", "probed", "cancelled")


class Ranks(LiveTest):
    ROUNDS = 400

    def test_a_round_leaves_nothing_on_the_heap(self):
        for kind in KINDS:
            with self.subTest(kind):
                grown = int(self.exact("comes_and_goes", kind, self.ROUNDS, ranks=RANKS).stdout)
                # Not 0: tables are as large as what was in them at a time, which depends on how far ranks are apart.
                self.assertLess(grown / (3 * self.ROUNDS / 4), 4, "bytes a round")


class Simulator(LiveTest):
    ROUNDS = 1000

    def largest(self, kind, rounds):
        """The most resident bytes of the simulator, looked at often."""
        command = self.command(RANKS, "comes_and_goes", kind, rounds, output=self.folder / f"{kind}-{rounds}",
                               options=("--network", "lsb:latency=1e-6,bandwidth=1e9", "--compute", "fixed:0"))
        most = 0
        with subprocess.Popen(command, cwd=self.folder, env=environment(), stdout=subprocess.DEVNULL) as job:
            while job.poll() is None:
                for process, name in descendants(job.pid).items():
                    most = max(most, resident(process) if name == "nplus1-simnode" else 0)
                try:
                    job.wait(0.05)
                except subprocess.TimeoutExpired:
                    pass
        self.assertEqual(job.returncode, 0)
        return most

    def test_a_communicator_is_forgotten_with_its_last_use(self):
        """Whatever that is. What stays is its number; each took some 300 bytes."""
        for kind in ("copies", "disconnected", "outlived", "undecided", "persistent_collectives"):
            with self.subTest(kind):
                grown = self.largest(kind, 5 * self.ROUNDS) - self.largest(kind, self.ROUNDS)
                self.assertLess(grown / (4 * self.ROUNDS), 100, "bytes a round")


if __name__ == "__main__":
    unittest.main()
