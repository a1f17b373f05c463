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

    def test_the_status_of_a_sendrecv_from_nobody_says_so(self):
        job = search.made_from(1, 5, search.options(["--platforms", "0", "--kinds", "exchange,nobody", "--steps", "40"]))
        self.check(job._replace(ranks=3, ways=search.WAYS[:1]))


if __name__ == "__main__":
    unittest.main()
