"""Every collective and every call that makes a communicator, live on a platform, where a rank whose call has ended in
virtual time may hold up all others until its next one: natively it must wait for nobody who still waits for the
simulator. Nothing hangs, nothing is decided by force, all data are right, and the replay ends as the run did.

./test.sh runs a sample. NPLUS1_ALL_PLATFORMS=N runs 2 to 17 ranks on the platforms of platforms/ and each
of these numbers on N random ones, one run after the other."""
import os
import pathlib
import random
import unittest

from replay_test import ReplayTest

PLATFORMS = pathlib.Path(__file__).resolve().parents[2] / "platforms"
RANDOM_PLATFORMS = int(os.environ.get("NPLUS1_ALL_PLATFORMS", "0"))
LIMIT_S = 1500 if RANDOM_PLATFORMS else 300  # of one run; the whole of them may be shared out over a busy machine
MOST_RANKS = {"two_hosts": 2}  # that a platform has cores for
SAMPLE = {"two_hosts": 2, "cluster64": 17, "fat_tree": 16, "torus": 8, "dragonfly": 12}

# In which nobody leaves before all have come, or natively each waits for those only whom it waits for in virtual time.
EVERYBODY = ("Barrier", "Allgather", "Allgatherv", "Alltoall", "Allreduce", "Reduce_scatter_block", "Reduce_scatter",
             "Scan", "Exscan", "Neighbor_allgather", "Neighbor_allgatherv", "Neighbor_alltoall", "Neighbor_alltoallv",
             "Neighbor_alltoallw")
ROOTED = ("Bcast", "Gather", "Gatherv", "Scatter", "Scatterv", "Reduce")
COMMUNICATORS = ("Comm_dup", "Comm_dup_with_info", "Comm_idup", "Comm_idup_with_info", "Comm_split", "Comm_split_type",
                 "Comm_create", "Comm_create_group", "Comm_disconnect", "Cart_create", "Graph_create",
                 "Dist_graph_create", "Dist_graph_create_adjacent")
BETWEEN_GROUPS = ("Barrier", "Bcast", "Gather", "Scatter", "Reduce", "Allreduce", "Allgather", "Alltoall")
EXCHANGES = ("Alltoallv", "Alltoallw")
CONNECTING = ("Comm_create_from_group", "Intercomm_create", "Intercomm_merge",
              *(f"inter_{call}" for call in BETWEEN_GROUPS), *(f"inter_I{call.lower()}" for call in BETWEEN_GROUPS))
MANNERS = ("alone", "skewed", "crossed", "held", "pending", "chatty")


def nonblocking(call):
    return "I" + call[0].lower() + call[1:]


ALL = tuple(form for call in (*EVERYBODY, *EXCHANGES, *ROOTED) for form in (call, nonblocking(call), f"{call}_init")) + (
    *COMMUNICATORS, *CONNECTING)


def random_platform(seed):
    """A cluster for at least 17 ranks: flat, with and without a backbone, one of the three topologies, or few hosts of many
    cores."""
    draw = random.Random(seed)
    latency, bandwidth = f"{draw.choice((0, 0.1, 1, 20))}us", f"{draw.choice((0.1, 1, 12))}GBps"
    kind = draw.choice(("flat", "backbone", "TORUS", "FAT_TREE", "DRAGONFLY", "cores"))
    hosts, more = draw.randint(17, 40), ""
    if kind == "backbone":
        more = f'bb_bw="{draw.choice((0.2, 5))}GBps" bb_lat="1us"'
    elif kind == "cores":  # several ranks on a host
        hosts = draw.randint(2, 4)
        more = f'core="{-(-17 // hosts)}"'
    elif kind == "TORUS":
        extents = [draw.randint(2, 5) for _ in range(draw.randint(1, 3))] + [9]
        hosts, more = 1, f'topology="TORUS" topo_parameters="{",".join(map(str, extents))}"'
        for extent in extents:
            hosts *= extent
    elif kind == "FAT_TREE":
        leaf, leaves, up = draw.randint(3, 6), draw.randint(6, 8), draw.randint(1, 3)
        hosts, more = leaf * leaves, f'topology="FAT_TREE" topo_parameters="2;{leaf},{leaves};1,{up};1,1"'
    elif kind == "DRAGONFLY":
        groups, chassis, routers, nodes = draw.randint(2, 4), draw.randint(1, 3), draw.randint(2, 4), 5
        hosts = groups * chassis * routers * nodes
        more = f'topology="DRAGONFLY" topo_parameters="{groups},1;{chassis},1;{routers},1;{nodes}"'
    return (f'<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd"><platform version="4.1">'
            f'<cluster id="c" prefix="n" suffix="" radical="0-{hosts - 1}" speed="1Gf" bw="{bandwidth}" lat="{latency}" '
            f'{more}/></platform>\n')


class AllCollectives(ReplayTest):
    CALLS = ALL  # that the MPI library has
    SAMPLE, RANDOM_SEEDS, ALONE_ON = SAMPLE, (1, 2), 16  # platforms and their ranks; random ones; ranks of one call alone

    def observe_on(self, platform, ranks, calls, sizes, compute="fixed:1e-6"):
        run = self.observe(ranks, self.of("all_collectives"), ",".join(calls), sizes, *MANNERS, options=(
            "--platform", str(platform), "--compute", compute), timeout=LIMIT_S)
        self.assertTrue(run.summary and run.summary["complete"], run.stderr)
        return run

    def check(self, platform, ranks, sizes="40000"):
        """40,000 bytes: the simulated sender is free at once, the native one waits for its receiver."""
        with self.subTest(platform=str(platform), ranks=ranks):
            run = self.observe_on(platform, ranks, self.CALLS, sizes)
            trust = run.summary["trust"]
            self.assertEqual((trust["forced_decisions"], trust["order_inversions"], trust["clock_mismatches"]), (0, 0, 0))
            self.assertEqual(self.replay(run.folder)["rank_end_s"], run.summary["rank_end_s"])

    def write_random(self, seed):
        file = self.folder / f"random-{seed}.xml"
        file.write_text(random_platform(seed))
        return file

    def test_one_after_the_other_on_platforms(self):
        for platform, ranks in self.SAMPLE.items():
            self.check(PLATFORMS / f"{platform}.xml", ranks)

    def test_those_that_move_nothing_wait_for_nobody(self):
        """In virtual time; natively MPI_Allreduce and its persistent forms wait for all also without elements."""
        calls = ",".join(call for call in self.CALLS if call.endswith("_init") or call in EVERYBODY)
        run = self.observe(4, self.of("all_collectives"), calls, "0", "held", timeout=LIMIT_S, options=(
            "--platform", str(PLATFORMS / "torus.xml"), "--compute", "fixed:1e-6"))
        self.assertTrue(run.summary and run.summary["complete"], run.stderr)
        self.assertEqual(run.summary["trust"]["forced_decisions"], 0)

    def test_on_random_platforms(self):
        for seed in self.RANDOM_SEEDS:
            self.check(self.write_random(seed), 3 + 4 * seed)

    def test_one_alone_ends(self):
        for call in ("Comm_split", "Comm_dup"):
            self.observe_on(PLATFORMS / "torus.xml", self.ALONE_ON, (call,), "4")

    def test_persistent_broadcasts_go_past_members_that_have_not_started_theirs(self):
        calls = [call for call in ("Bcast", "Bcast_init", "Ibcast", "Gather", "Bcast_init") if call in self.CALLS]
        for options in (("--platform", str(PLATFORMS / "torus.xml")), ("--network", "lsb:latency=1e-6,bandwidth=1e9")):
            for size in ("4", "1000000"):
                run = self.observe(5, self.of("all_collectives"), ",".join(calls), size, *MANNERS,
                                   options=(*options, "--compute", "fixed:1e-6"), timeout=LIMIT_S)
                self.assertTrue(run.summary and run.summary["complete"], run.stderr)
                self.assertEqual(run.summary["trust"]["forced_decisions"], 0)

    @unittest.skipUnless(RANDOM_PLATFORMS, "a matter of an hour: NPLUS1_ALL_PLATFORMS=N runs it")
    def test_all_numbers_of_ranks_on_all_platforms(self):
        for ranks in range(2, 18):
            for platform in sorted(PLATFORMS.glob("*.xml")):
                if ranks <= MOST_RANKS.get(platform.stem, ranks):
                    self.check(platform, ranks)
            for seed in range(RANDOM_PLATFORMS):  # others for each number of ranks
                self.check(self.write_random(100 * ranks + seed), ranks)


if __name__ == "__main__":
    unittest.main()
