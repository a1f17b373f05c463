"""What the simulator counts for a collective is what the program passed: every collective, in every form."""
import unittest

from recorded import Recording, RecordedTest

COLLECTIVE, ICOLLECTIVE = 11, 12
SYNCHRONIZE = "MPI_Cart_create"


class CollectiveBytes(RecordedTest):
    def test_every_collective_is_recorded_with_the_bytes_that_the_program_passed(self):
        ranks = 4
        run = self.exact("collective_bytes", ranks=ranks, options=("--record", "full"))
        expected = {r: [] for r in range(ranks)}
        for line in run.stdout.splitlines():
            rank, call, *numbers = line.split()
            expected[int(rank)].append((call, [int(n) for n in numbers]))
        found = {r: [] for r in range(ranks)}
        for event in Recording(run.folder).events:
            if event["kind"] in (COLLECTIVE, ICOLLECTIVE) and event["call"] != SYNCHRONIZE:
                found[event["rank"]].append((event["call"], [event["size"], *event["sizes"]]))
        self.assertEqual(len(expected[0]), 3 * 22)
        for rank in range(ranks):
            for told, passed in zip(found[rank], expected[rank]):
                self.assertEqual(told, passed, f"rank {rank}")
            self.assertEqual(len(found[rank]), len(expected[rank]))


if __name__ == "__main__":
    unittest.main()
