"""What comes and goes in a program leaves nothing behind: neither in its ranks, whose heap is counted to the byte, nor in the
simulator. One kind of thing at a time (programs/comes_and_goes.c); flat_memory.py has all of them, by the hour."""
import pathlib
import re
import subprocess
import unittest

from live import LiveTest, descendants, environment

RANKS = 2
KINDS = ("copies", "generations", "between_groups", "disconnected", "persistent", "outlived", "undecided",
         "persistent_collectives", "windows", "anybody", "probed", "cancelled")


def of_its_own(process):
    """Resident bytes of a process that no other shares; 0 if it has ended."""
    try:
        found = re.search(r"RssAnon:\s+(\d+) kB", pathlib.Path(f"/proc/{process}/status").read_text())
    except OSError:
        return 0
    return 1024 * int(found.group(1)) if found else 0


class Ranks(LiveTest):
    ROUNDS = 800
    # A thread's own cache of what it freed counts as used (mallinfo(3)), and fills by what order things were freed in.
    HEAP = {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}

    def test_a_round_leaves_nothing_on_the_heap(self):
        for kind in KINDS:
            with self.subTest(kind):
                grown = [int(g) for g in self.exact("comes_and_goes", kind, self.ROUNDS, ranks=RANKS,
                                                     more=self.HEAP).stdout.split()]
                # In each quarter: a table may grow once more, with what is alive at a time, which depends on how far ranks are
                # apart.
                self.assertLess(min(grown) / (self.ROUNDS / 4), 1, f"bytes a round, of {grown}")


class Simulator(LiveTest):
    ROUNDS = 1000

    def largest(self, kind, rounds):
        """The most memory that the simulator had, looked at often."""
        command = self.command(RANKS, "comes_and_goes", kind, rounds, output=self.folder / f"{kind}-{rounds}",
                               options=("--network", "lsb:latency=1e-6,bandwidth=1e9", "--compute", "fixed:0", "--record", "off"))
        most = 0
        with subprocess.Popen(command, cwd=self.folder, env=environment(), stdout=subprocess.DEVNULL) as job:
            while job.poll() is None:
                most = max(most, *(of_its_own(process) for process, name in descendants(job.pid).items()
                                   if name == "nplus1-simnode"), 0)
                try:
                    job.wait(0.05)
                except subprocess.TimeoutExpired:
                    pass
        self.assertEqual(job.returncode, 0)
        return most

    def grown(self, kind):
        """Bytes a round."""
        return (self.largest(kind, 5 * self.ROUNDS) - self.largest(kind, self.ROUNDS)) / (4 * self.ROUNDS)

    def test_a_communicator_is_forgotten_with_its_last_use(self):
        """Whatever that is: of a communicator that is never forgotten some 350 bytes stay."""
        calls = self.grown("anybody")  # what as many calls take that make none
        for kind in ("disconnected", "undecided", "persistent_collectives"):
            with self.subTest(kind):
                self.assertLess(self.grown(kind) - calls, 200)


if __name__ == "__main__":
    unittest.main()
