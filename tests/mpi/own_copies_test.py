"""What a member of a collective copies of its own data, at a `copy_rate`: live as in replays, and nothing in place."""
import json
import unittest

from live import NPLUS1, LiveTest

FREE = ("--compute", "fixed:0", "--network", "lsb:latency=0,bandwidth=1e30")
RATE = ("--collectives", "copy_rate=1GBps,scan=linear,exscan=linear")  # a block of a million bytes: a millisecond
# How many blocks ranks 0 and 1 copy, or wait for the other to have copied; twice where they are messages to themselves.
APART = {"gather": (1, 0), "gatherv": (1, 0), "scatter": (1, 1), "scatterv": (1, 1), "allgather": (1, 1), "allgatherv": (2, 2),
         "alltoall": (1, 1), "alltoallv": (4, 4), "alltoallw": (4, 4), "reduce": (1, 1), "allreduce": (1, 1),
         "reduce_scatter_block": (1, 1), "reduce_scatter": (2, 2), "scan": (1, 1), "exscan": (1, 1), "bcast": (0, 0)}
# Who is not the root has its own vector to itself until others' are combined with it.
IN_PLACE = {kind: (1, 1) if kind == "reduce" else (0, 0) for kind in APART}


class OwnCopies(LiveTest):
    def times(self, run):
        times = {}
        for line in sorted(run.stdout.splitlines()):
            rank, kind, seconds = line.split()
            times.setdefault(kind, []).append(round(1e3 * float(seconds), 3))
        return {kind: tuple(both) for kind, both in times.items()}

    def test_a_member_copies_what_it_keeps_for_itself_unless_it_is_in_place(self):
        for place, blocks in (("apart", APART), ("in_place", IN_PLACE)):
            with self.subTest(place=place):
                free = self.observe(2, "own_copies", place, options=FREE)
                self.assertEqual(set(self.times(free).values()), {(0, 0)})
                priced = self.observe(2, "own_copies", place, options=(*FREE, *RATE))
                self.assertEqual(self.times(priced), blocks)
                file = self.folder / "replay.json"
                done = self.run_command([str(NPLUS1), "replay", str(free.folder), "--json", str(file), *RATE])
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(json.loads(file.read_text())["rank_end_s"], [float(end) for end in priced.summary["rank_end_s"]])


if __name__ == "__main__":
    unittest.main()
