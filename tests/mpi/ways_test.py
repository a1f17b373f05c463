"""Virtual times don't depend on how events travel: with time stamps straight from rank to rank or not, through shared
memory or TCP, on one host or two."""
import pathlib
import subprocess
import unittest

import determinism_test
import early_leavers_test
from live import LiveTest, path_of

EXAMPLES = [(4, "ping_pong", 50, 3000), (4, "halo", 20, 20000), (5, "master_worker", 40, 10), (4, "waitany", 6, 10),
            (4, "wavefront", 10), (4, "cg_traffic"), (4, "imbalance", 4, 1), (3, "hello_c"), (3, "hello_cpp"),
            (3, "hello_mpifh"), (3, "hello_mpi"), (3, "hello_f08")]
WAYS = [("--direct", "off"), ("--transport", "tcp"), ("--transport", "tcp", "--direct", "off"),
        ("--mpi-args", "-launcher fork -hosts ha,hb")]
NETWORKS = ["lsb:latency=1e-6,bandwidth=1e9", "lsb:latency=1e-6,bandwidth=1e9,eager=1024",
            "loggops:L=2e-6,o=3e-7,g=1e-6,G=1e-9,O=1e-11",
            "loggops:L=2e-6,o=3e-7,g=1e-6,G=1e-9,O=1e-11,S=4096,interfaces=both"]


def told(test, ranks, *words, network=NETWORKS[0], options=()):
    run = test.exact(*words, ranks=ranks, network=network, compute="fixed:1e-7", options=options)
    return run.summary["rank_end_s"], run.summary["point_to_point"]


class Ways(LiveTest):
    def check(self, ranks, *words, **named):
        first = told(self, ranks, *words, **named)
        for way in WAYS:
            with self.subTest(program=words[0], way=way, **named):
                self.assertEqual(told(self, ranks, *words, options=way, **named), first)

    def test_every_example_has_the_same_times_every_way(self):
        for example in EXAMPLES:
            self.check(*example)

    def test_other_networks_too(self):
        for network in NETWORKS[1:]:
            for example in EXAMPLES[:5]:
                self.check(*example, network=network)

    def test_threads_have_the_same_times_every_way(self):
        """Each thread sends through an interface of its own, for the stubs and for the engine."""
        for words in ((2, 10), (4, 10), (3, 10, "comm")):
            self.check(3, "named_threads", *words)
            self.check(2, "named_threads", *words, network=NETWORKS[2])

    def test_scripts_have_the_same_times_every_way(self):
        for name in determinism_test.RECEIVERS:
            self.check(4, "script", *determinism_test.Determinism.scripts(None, name))

    def test_early_leavers_have_the_same_times_every_way(self):
        for name in ("Bcast", "Scatter"):
            collective, leaver, late = early_leavers_test.CASES[name]
            self.check(4, "script", *early_leavers_test.EarlyLeavers.scripts(None, collective.format(1 << 16), leaver, late))

    def test_the_transport_asked_for_is_used(self):
        for transport in ("shm", "tcp"):
            run = self.exact("send 1 8", "recv 0 8", options=("--transport", transport))
            self.assertEqual(run.summary["transport"], transport)

    def test_time_stamps_go_straight_to_the_receiver_where_they_can(self):
        for direct, options, network in ((True, (), NETWORKS[0]), (False, WAYS[0], NETWORKS[0]),
                                         (False, WAYS[1], NETWORKS[0]), (False, (), NETWORKS[1])):
            run = self.exact("send 1 8", "recv 0 8", options=options, network=network)
            self.assertEqual(run.summary["direct"], direct, (options, network))


class TwoHosts(LiveTest):
    """Two hosts of one machine, each with a network and a name of its own. Hydra deals the ranks out in turn, and the
    last of all, the simulator's, is on the second."""

    STAGE = pathlib.Path(__file__).with_name("two_hosts.sh")
    hosts = "ha,hb"

    @classmethod
    def setUpClass(cls):
        if subprocess.run([cls.STAGE, "true"], check=False).returncode == 77:
            raise unittest.SkipTest("namespaces may not be made here")

    def command(self, *words, options=(), **named):
        if self.hosts is None:
            return super().command(*words, options=options, **named)
        hydra = f"-launcher ssh -launcher-exec {self.STAGE} -hosts {self.hosts} -iface cable"
        return [str(self.STAGE), *super().command(*words, options=("--mpi-args", hydra, *options), **named)]

    def test_ranks_of_another_host_take_tcp_by_themselves(self):
        self.assertEqual(self.exact("send 1 8", "recv 0 8", "").summary["transport"], "shm+tcp")

    def test_the_simulator_may_have_a_host_for_itself(self):
        """Hydra's proxy there has no other process, and the job's end is nobody's but the keepers' to see."""
        for scripts in (["compute 1"], ["send 1 8", "recv 0 8"]):
            self.hosts = f"ha:{len(scripts)},hb:1"
            self.assertEqual(self.exact(*scripts).summary["transport"], "tcp")
            self.observe(len(scripts), "sh", "-c", f"{path_of('plain')} who me; exit 5", code=5)

    def test_virtual_times_are_those_of_one_host(self):
        for example in EXAMPLES[:6]:
            with self.subTest(program=example[0]):
                ranks, *words = example
                self.hosts = "ha,hb"
                far = told(self, ranks, *words)
                self.hosts = None
                self.assertEqual(far, told(self, ranks, *words))

    def test_who_asks_for_shared_memory_is_told_that_another_host_has_none(self):
        run = self.observe(3, "script", "send 1 8", "recv 0 8", "", options=("--transport", "shm"))
        self.assertIn("cannot join the simulation", run.stderr)


if __name__ == "__main__":
    unittest.main()
