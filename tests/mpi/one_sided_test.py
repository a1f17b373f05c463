"""One-sided communication is not modelled, but goes on: a target that waits for something in virtual time lets it in."""
import unittest

from live import LiveTest


class OneSided(LiveTest):
    def test_a_target_that_waits_for_a_message_lets_transfers_in(self):
        took, simulated = {}, {}
        for way, options in (("native", ("--native",)), ("simulated", ())):
            run = self.observe(3, "one_sided", 50, options=options)
            took[way], whole = float(run.stdout.split()[0]), int(run.stdout.split()[1])
            self.assertEqual(whole, 50)
            simulated = run.summary
        self.assertTrue(simulated["complete"])
        # A target that sleeps between looks at the MPI library takes some 13 s, on an idle machine too.
        self.assertLess(took["simulated"], 4 + 5 * took["native"])


if __name__ == "__main__":
    unittest.main()
