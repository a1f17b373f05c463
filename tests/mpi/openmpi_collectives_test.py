"""What all_collectives_test.py asks, of the same program linked with Open MPI, which has no persistent collectives and no
sessions: a sample. NPLUS1_ALL_COLLECTIVES=1 asks all of it, which takes long on a busy machine; NPLUS1_ALL_PLATFORMS=N is as
there."""
import os
import unittest

import all_collectives_test
from all_collectives_test import PLATFORMS
from openmpi_test import OpenMpiTest

ALL = "NPLUS1_ALL_COLLECTIVES" in os.environ or all_collectives_test.RANDOM_PLATFORMS
# In which, each by itself, a rank natively waits for others that have no part in it in virtual time: decisions are then made
# after a while without their next call (docs/cli.md, Open MPI). One after the other it happens in others, too.
WAITING = ("Scatterv", "Iscatterv", "inter_Bcast", "inter_Scatter", "inter_Ibcast", "inter_Iscatter")


class OfOpenMpi(all_collectives_test.AllCollectives, OpenMpiTest):
    CALLS = tuple(call for call in all_collectives_test.ALL
                  if not call.endswith("_init") and call not in ("Comm_create_from_group", "Comm_idup_with_info"))
    SAMPLE = all_collectives_test.SAMPLE if ALL else {"two_hosts": 2}
    RANDOM_SEEDS = all_collectives_test.AllCollectives.RANDOM_SEEDS if ALL else ()
    ALONE_ON = 16 if ALL else 6

    def check(self, platform, ranks, sizes="40000"):
        """All, one after the other: they end, with right data. How much was decided by force is printed."""
        with self.subTest(platform=str(platform), ranks=ranks):
            trust = self.observe_on(platform, ranks, self.CALLS, sizes).summary["trust"]
            print(f"{platform.stem}, {ranks} ranks: {trust['forced_decisions']} forced decisions, {trust['order_inversions']} inversions")
            self.assertEqual(trust["clock_mismatches"], 0)

    def test_each_by_itself_is_decided_without_force(self):
        calls = [call for call in self.CALLS if call not in WAITING]
        for call in calls if ALL else calls[::6]:
            with self.subTest(call=call):
                trust = self.observe_on(PLATFORMS / "cluster64.xml", 5, (call,), "40000").summary["trust"]
                self.assertEqual((trust["forced_decisions"], trust["order_inversions"], trust["clock_mismatches"]), (0, 0, 0))


if __name__ == "__main__":
    unittest.main()
