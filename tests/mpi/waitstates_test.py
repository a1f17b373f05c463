"""Wait states of real runs, from their recordings: known lengths, and sums that the run itself has counted too."""
import json
import subprocess
import unittest
from decimal import Decimal

from live import EXAMPLES, NPLUS1, LiveTest, seconds

EXACT = {"parse_float": Decimal}


class WaitStates(LiveTest):
    def waitstates(self, run, *options):
        file = run.folder / "waitstates.json"
        done = subprocess.run([str(NPLUS1), "waitstates", str(run.folder), "--json", str(file), *options],
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.screen = done.stdout
        return json.loads(file.read_text(), **EXACT)

    def check_sums(self, run, found):
        counted = json.loads((run.folder / "patterns.json").read_text(), **EXACT)
        self.assertEqual(found["total"]["waiting_s"], counted["totals"]["waiting_s"])
        self.assertEqual(found["total"]["compute_s"], counted["totals"]["compute_s"])
        self.assertEqual([r["waiting_s"] for r in found["rank"]], counted["rank"]["waiting_s"])
        sites = {(s["path"], s["call"]): s["waiting_s"] for s in counted["call_sites"]}
        for activity in found["activities"]:
            if activity["kind"] != "computing" and activity["region"] is None:
                self.assertEqual(activity["waiting_s"], sites[activity["path"], activity["kind"]])
        self.assertEqual(found["virtual_time_s"], counted["virtual_time_s"])
        self.assertEqual(found["total"]["critical_path_s"], found["virtual_time_s"])
        self.assertEqual(found["unresolved_calls"], 0)
        for tally in [found["total"], *found["rank"], *found["activities"]]:
            states = sum(v for k, v in tally["wait_states"].items() if k != "wrong_order_s")
            self.assertEqual(tally["waiting_s"] + tally["polling_s"], states + tally["transfer_s"])

    def test_sums_are_those_that_the_run_counted(self):
        for program, ranks, words in (("imbalance", 8, ("5", "20")), ("wavefront", 8, ("10",)), ("halo", 4, ()),
                                      ("master_worker", 4, ()), ("cg_traffic", 4, ()), ("waitany", 4, ())):
            with self.subTest(program):
                run = self.observe(ranks, EXAMPLES / program, *words)
                self.check_sums(run, self.waitstates(run))

    def test_a_lock_held_by_others_is_contention_until_their_unlock_returns(self):
        run = self.exact("windows", "turns", ranks=4, options=("--record", "full"))
        found = self.waitstates(run)
        self.check_sums(run, found)
        # Of three origins the k-th has the lock 2000 + 5000 k us after asking, the unlock before it returned at 5000 k.
        # A call of MPI_Wtime costs some ns.
        self.assertAlmostEqual(float(found["total"]["wait_states"]["lock_contention_s"]), 0.015, delta=1e-6)
        self.assertIn("lock contention", self.screen)

    def test_windows_of_random_programs_leave_nothing_unexplained(self):
        for seed in (7300001, 7300002, 7300009):
            with self.subTest(seed):
                run = self.observe(2 + seed % 7, "random_program", seed, 6, 30, "--one-sided",
                                   options=("--compute", "fixed:1e-6", "--record", "full"))
                found = self.waitstates(run)
                self.check_sums(run, found)
                self.assertGreater(found["total"]["wait_states"]["wait_at_fence_s"], 0)

    def test_imbalance_is_caused_by_the_heavy_ranks_computing(self):
        run = self.observe(8, EXAMPLES / "imbalance", "5", "100")
        found = self.waitstates(run)
        cause = found["causes"][0]
        self.assertIn(cause["rank"], (3, 7))
        self.assertEqual(found["activities"][cause["activity"]]["kind"], "computing")
        heavy = sum(c["direct_s"] + c["propagated_s"] for c in found["causes"] if c["rank"] in (3, 7))
        self.assertGreater(heavy, Decimal("0.7") * found["total"]["waiting_s"])
        self.assertLess(found["efficiencies"]["load_balance"], 0.7)
        self.assertIn("late sender", self.screen)

    def test_a_wavefront_loses_by_serialisation_not_by_balance_or_transfer(self):
        found = self.waitstates(self.observe(8, EXAMPLES / "wavefront", "10", "64", "200000"))
        efficiencies = found["efficiencies"]
        self.assertLess(efficiencies["serialisation"], 0.3)
        self.assertGreater(efficiencies["transfer"], 0.9)
        self.assertAlmostEqual(float(efficiencies["parallel"]), float(
            efficiencies["load_balance"] * efficiencies["serialisation"] * efficiencies["transfer"]), 9)

    def test_a_late_sender_of_5_ms_is_found_with_5_ms(self):
        found = self.waitstates(self.exact("compute 5e-3; send 1 1000", "recv 0 1000"))
        self.assertEqual(found["total"]["wait_states"]["late_sender_s"], seconds("5e-3"))
        self.assertEqual(found["total"]["transfer_s"], seconds("2e-3"))


if __name__ == "__main__":
    unittest.main()
