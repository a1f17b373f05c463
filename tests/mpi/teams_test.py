"""OpenMP's teams: each member computes on a core of its own in virtual time, however few the host has, and members that call MPI
hold nobody back between regions."""
import os
import re
import unittest

from live import NPLUS1, LiveTest, path_of, seconds
from replay_test import ReplayTest

ROUNDS, LATENCY = 20, seconds("1e-6")
NETWORK = "lsb:latency=1e-6,bandwidth=1e9"
PIECE_MS = 0.5


class Computing(LiveTest):
    """Four ranks of four threads on the test's two cores or so: a member's work is processor time, which is the same wherever it
    runs, so that the truth is known. What forking costs comes on top."""

    def check(self, what, threads, pieces):
        run = self.observe(4, "teams", what, threads, ROUNDS, int(1e3 * PIECE_MS), options=("--compute", "measured", "--clock", "cpu"))
        truth = 1e-3 * PIECE_MS * ROUNDS * pieces
        for computed in map(float, run.summary["compute_s"]):
            self.assertGreater(computed, 0.98 * truth)
            self.assertLess(computed, 1.6 * truth)
        self.assertFalse([note for note in run.summary["notes"] if "without calling MPI" in note])

    def test_a_team_takes_as_long_as_one_member(self):
        self.check("work", 4, 1)

    def test_a_team_takes_as_long_as_its_longest_member(self):
        self.check("uneven", 4, 4)  # and not what the forker takes, who has a quarter of that

    def test_parts_between_barriers_take_as_long_as_their_longest(self):
        self.check("barriers", 4, 4 + 4)

    def test_teams_within_teams(self):
        self.check("nested", 2, 2)

    def test_loops_whose_pieces_go_to_who_is_free(self):
        self.check("loop", 4, 3)

    def test_tasks(self):
        """One for each member, each as long as a piece."""
        self.check("tasks", 4, 1)

    def test_tasks_that_depend_on_each_other_are_not_done_side_by_side(self):
        self.check("in_order", 3, 3)

    def test_pieces_at_random_take_as_long_as_if_who_is_free_first_took_the_next(self):
        """Loops with a dynamic schedule of all kinds, sections, tasks, task loops and trees of tasks, some with other work before
        them. The program says how long they take, by going through the pieces in their order."""
        for seed in range(101, 107):
            with self.subTest(seed=seed):
                run = self.observe(3, "teams", "shared", 2 + seed % 4, 8, seed, options=("--compute", "measured", "--clock", "cpu"))
                truth = 1e-6 * float(re.search(r"truth: (\d+) us", run.stdout).group(1))
                for computed in run.summary["compute_s"]:
                    self.assertGreater(computed, 0.9 * truth)
                    self.assertLess(computed, 1.3 * truth)


class Calling(ReplayTest):
    def run_teams(self, what, *words, **named):
        run = self.exact("teams", what, *words, ranks=4, compute="fixed:1e-6", network=NETWORK, **named)
        trust = run.summary["trust"]
        self.assertEqual((trust["order_inversions"], trust["clock_mismatches"]), (0, 0))
        return run

    def test_members_exchange_side_by_side(self):
        """A round is what a member computes before its call, and a message of four bytes."""
        round_s = seconds("1e-6") + LATENCY + seconds("4e-9")
        for every, rounds in (("calls", ROUNDS), ("sometimes", (ROUNDS + 2) // 3)):
            for options in ((), ("--direct", "off"), ("--transport", "tcp")):
                with self.subTest(every=every, options=options):
                    run = self.run_teams(every, 3, ROUNDS, options=options)
                    self.assertEqual(run.summary["virtual_time_s"], rounds * round_s + seconds("1e-6"))
                    self.assertEqual(self.replay(run.folder)["rank_end_s"], run.summary["rank_end_s"])
        waits = self.run_command([NPLUS1, "waitstates", run.folder])
        self.assertNotIn("did not end", waits.stdout)  # on the ideal network: all that began has ended

    def test_members_that_receive_from_anybody_have_the_same_times_in_every_run(self):
        first = self.run_teams("any", 3, ROUNDS)
        self.assertEqual(first.summary["trust"]["forced_decisions"], 0)
        self.assertEqual(self.replay(first.folder)["rank_end_s"], first.summary["rank_end_s"])
        for seed in range(4):
            again = self.run_teams("any", 3, ROUNDS, more={"NPLUS1_TEST_DELAY": f"random:{seed}:0.0005"})
            self.assertEqual(again.summary["rank_end_s"], first.summary["rank_end_s"], f"seed {seed}")

    def test_idle_members_hold_no_decision_back(self):
        run = self.observe(4, "teams", "any", 3, 100, options=("--clock", "cpu"))
        self.assertLess(run.summary["trust"]["forced_decisions"], 3)

    def test_members_that_fork_teams_before_they_have_called_mpi(self):
        """Nobody has forked them where nothing was told of their regions: they have to say that they are at work."""
        for options in (("--compute", "fixed:1e-6"), ()):
            run = self.observe(3, "teams", "nests_late", 2, 6, 20, options=options)
            self.assertEqual(sorted(re.findall(r"rank \d done", run.stdout)), [f"rank {i} done" for i in range(3)])
            self.assertNotIn("deadlock", run.stderr + "".join(run.summary["notes"]))
            self.assertEqual(run.summary["trust"]["forced_decisions"], 0)

    def test_tasks_that_call_mpi(self):
        for options in (("--compute", "fixed:1e-6"), ()):
            run = self.observe(4, "teams", "task_calls", 3, ROUNDS, options=options)
            self.assertEqual(sorted(re.findall(r"rank \d done", run.stdout)), [f"rank {i} done" for i in range(4)])

    def test_a_deadlock_in_a_region_is_named(self):
        run = self.observe(2, "teams", "stuck", 3, 1, code=86)
        self.assertIn("rank 0 in MPI_Recv", run.stderr)
        self.assertNotIn("nothing to do", run.stderr)


class Without(LiveTest):
    def test_a_program_that_only_asks_for_openmp_computes_alone(self):
        self.assertEqual(self.observe(1, "weak_teams").stdout, "1\n")


class Waiting(LiveTest):
    def variables(self, ranks, program="teams", **more):
        done = self.run_command([NPLUS1, "run", "-n", str(ranks), "--print", "--", path_of(program)], more)
        return "OMP_WAIT_POLICY passive" in done.stdout

    def test_members_sleep_while_they_wait_where_there_is_no_core_for_each_process(self):
        self.assertTrue(self.variables(64))
        self.assertFalse(self.variables(64, OMP_WAIT_POLICY="active"))
        self.assertFalse(self.variables(64, GOMP_SPINCOUNT="100"))
        self.assertFalse(self.variables(64, "threads"))  # it has no parallel regions
        if os.cpu_count() > 1:
            self.assertFalse(self.variables(1))


if __name__ == "__main__":
    unittest.main()
