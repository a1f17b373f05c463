"""A sample of random programs with fixed seeds: some minutes; search.py runs as many as there is time for."""
import unittest

import search

SEEDS = range(1, 41, 5)


class RandomPrograms(unittest.TestCase):
    def check(self, job):
        try:
            search.check(job)
        except search.Failure as failure:
            self.fail(f"{search.described(job)}\n{failure}")

    def test_programs_do_the_same_bare_and_every_way_and_the_counts_are_theirs(self):
        for seed in SEEDS:
            job = search.made_from(seed, 5, search.options(["--platforms", "0"]))
            with self.subTest(seed=seed):
                self.check(job)

    def check_step(self, seed, step, ranks, network, largest):
        self.check_steps(seed, {step}, ranks, network, largest)

    def check_steps(self, seed, steps, ranks, network, largest):
        job = search.made_from(seed, 1, search.options([]))
        self.check(job._replace(ranks=ranks, network=network, largest=largest, ways=search.WAYS[:1], code=0,
                                skipped=set(range(job.steps)) - steps))

    def test_messages_from_anybody_arrive_in_another_order_on_a_platform_than_they_were_sent(self):
        self.check_step(36, 9, 2, "fat_tree.xml", 1 << 20)

    def test_a_short_message_overtakes_a_long_one_of_its_sender(self):
        self.check_step(41, 10, 3, search.NETWORKS[2], 70000)

    def test_an_allreduce_of_no_elements_waits_for_nobody_who_waits_for_a_message(self):
        self.check_steps(59, {3, 9, 10}, 4, "torus.xml", 1 << 20)

    def test_whole_programs_on_a_platform_where_some_leave_an_empty_allreduce_early(self):
        self.check_steps(26, set(range(30)), 5, "dragonfly.xml", 70000)

    def test_one_waits_for_anybody_while_the_others_are_in_an_alltoallv_in_place(self):
        job = search.made_from(3, 2, search.options([]))
        self.check(job._replace(ranks=6, network=search.NETWORKS[0], largest=70000, ways=search.WAYS[:1]))

    def test_the_status_of_a_sendrecv_from_nobody_says_so(self):
        job = search.made_from(1, 5, search.options(["--platforms", "0", "--kinds", "exchange,nobody", "--steps", "40"]))
        self.check(job._replace(ranks=3, ways=search.WAYS[:1]))


if __name__ == "__main__":
    unittest.main()
