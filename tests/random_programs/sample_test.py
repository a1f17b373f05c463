"""A sample of random programs with fixed seeds, and what the search has found; search.py runs as many as there is time
for."""
import unittest

import search

# Jobs of the sample: the first seed, ranks, and the programs' options.
SAMPLE = [(7000001, 3, ""), (7000101, 4, "errors"), (7000201, 3, "threads"), (7000301, 2, "threads,errors"),
          (7000401, 4, "one-sided")]
PROGRAMS, STEPS = 15, 12  # of each job


class RandomPrograms(unittest.TestCase):
    def check(self, job):
        try:
            search.check(job)
        except search.Failure as failure:
            self.fail(f"{search.described(job)}\n{failure}")

    def test_programs_do_the_same_bare_and_every_way_and_the_counts_are_theirs(self):
        for seed, ranks, flags in SAMPLE:
            with self.subTest(seed=seed):
                wanted = search.options(["--flags", flags, "--platforms", "0.3", "--steps", str(STEPS)])
                self.check(search.made_from(seed, PROGRAMS, wanted)._replace(ranks=ranks))

    def test_pairs_of_unequal_elements_arrive_whole(self):
        """Seed 9000030 was refused by MPI_Recv: what is sent from a copy was cut within an element."""
        job = search.made_from(9000030, 1, search.options(["--flags", "pairs", "--platforms", "0"]))
        self.check(job._replace(ranks=4, network="loggops:L=2e-6,o=3e-7,g=1e-6,G=1e-9,O=1e-11,S=2048", kinds=["message"],
                                largest=70000, code=0))

    def check_step(self, seed, step, ranks, network, largest):
        self.check_steps(seed, {step}, ranks, network, largest)

    def check_steps(self, seed, steps, ranks, network, largest):
        job = search.made_from(seed, 1, search.options(["--flags", ""]))
        self.check(job._replace(ranks=ranks, network=network, largest=largest, ways=search.WAYS[:1], code=0,
                                skipped=set(range(job.steps)) - steps))

    def check_program(self, seed, ranks, network, largest, flags=""):
        job = search.made_from(seed, 1, search.options(["--flags", flags, "--steps", str(STEPS)]))
        self.check(job._replace(ranks=ranks, network=network, largest=largest, ways=search.WAYS[:1], code=0))

    def check_error(self, seed, step, ranks, network, largest):
        job = search.made_from(seed, 1, search.options(["--flags", "errors", "--steps", str(STEPS)]))
        self.check(job._replace(ranks=ranks, network=network, largest=largest, ways=search.WAYS[:1], code=0,
                                skipped=set(range(STEPS)) - {step}))

    def test_a_probe_that_mpi_refuses_is_nothing_that_is_not_modelled(self):
        self.check_error(9200004, 4, 2, "fat_tree.xml", 3000)

    def test_what_waitall_leaves_behind_an_error_is_complete_too(self):
        self.check_error(9200013, 7, 2, "fat_tree.xml", 3000)

    def test_who_asks_for_the_status_of_a_gather_stays_no_longer_than_who_waits_for_it(self):
        """The root polls for what the leaf does next, which has given its part."""
        self.check_program(5000392, 2, search.NETWORKS[3], 70000)

    def test_a_reduce_scatter_of_nothing_between_groups_waits_for_nobody(self):
        self.check_program(5001189, 2, search.NETWORKS[1], 70000)

    def test_who_has_an_empty_block_of_a_reduce_scatter_leaves_before_the_others_have_come(self):
        self.check_program(7100582, 3, search.NETWORKS[2], 1 << 20)

    def test_a_communicator_with_an_undecided_receive_is_freed_once(self):
        """On a platform a receive is told of twice: when it is matched and when its message is there."""
        self.check_program(7201435, 4, "dragonfly.xml", 1 << 20)

    def test_a_short_message_to_oneself_leaves_though_its_receive_is_not_yet_decided(self):
        self.check_program(7201115, 3, search.NETWORKS[4], 70000)

    def test_who_received_in_threads_receives_in_order(self):
        self.check_program(7201945, 3, search.NETWORKS[1], 1 << 20, "errors,threads")

    def test_in_a_replay_a_thread_begins_after_what_its_creator_sent(self):
        self.check_program(7203846, 3, search.NETWORKS[0], 70000, "errors,threads")

    def test_who_connects_groups_waits_natively_for_nobody_who_is_later_in_virtual_time(self):
        self.check_program(7209825, 11, "torus.xml", 1 << 20, "errors")

    def test_empty_blocks_of_an_ialltoallw_between_groups_are_waited_for_in_virtual_time_as_natively(self):
        self.check_program(7214016, 5, search.NETWORKS[0], 70000)

    def test_who_gets_nothing_in_an_allgatherv_between_groups_leaves_before_its_own_group_has_come(self):
        self.check_program(7219276, 3, search.NETWORKS[4], 70000, "errors")

    def test_what_a_window_tells_others_keeps_the_interface_from_the_next_message(self):
        """The lock is given back to oneself, and a message follows within the gap g."""
        self.check_program(7232742, 3, search.NETWORKS[3], 70000, "one-sided")

    def test_what_follows_a_message_to_oneself_starts_then_though_others_have_been_looked_ahead_at(self):
        self.check_program(7241545, 5, "cluster64.xml", 3000, "one-sided")

    def test_messages_from_anybody_arrive_in_another_order_on_a_platform_than_they_were_sent(self):
        self.check_step(36, 9, 2, "fat_tree.xml", 1 << 20)

    def test_a_short_message_overtakes_a_long_one_of_its_sender(self):
        self.check_step(41, 10, 3, search.NETWORKS[2], 70000)

    def test_an_allreduce_of_no_elements_waits_for_nobody_who_waits_for_a_message(self):
        self.check_steps(59, {3, 9, 10}, 4, "torus.xml", 1 << 20)

    def test_whole_programs_on_a_platform_where_some_leave_an_empty_allreduce_early(self):
        self.check_steps(26, set(range(30)), 5, "dragonfly.xml", 70000)

    def test_one_waits_for_anybody_while_the_others_are_in_an_alltoallv_in_place(self):
        job = search.made_from(3, 2, search.options(["--flags", ""]))
        self.check(job._replace(ranks=6, network=search.NETWORKS[0], largest=70000, ways=search.WAYS[:1]))

    def test_the_status_of_a_sendrecv_from_nobody_says_so(self):
        job = search.made_from(1, 5, search.options(["--flags", "", "--platforms", "0", "--kinds", "exchange,nobody", "--steps", "40"]))
        self.check(job._replace(ranks=3, ways=search.WAYS[:1]))


if __name__ == "__main__":
    unittest.main()
