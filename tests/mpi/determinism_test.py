"""With given compute costs a run says the same to the last picosecond, however the machine dawdles; and the simulated
network, not the machine, decides who comes first."""
import unittest

from live import LiveTest

# Rank 0 learns of messages whose order the network decides; the others send at times of their own.
SENDER = "repeat 6 {{{{ compute {0}e-6; delay 0.00{1}; send 0 {2} {{}} }}}}"
TAGS = {"wildcards and named": (0, 5, 0)}
SENDERS = [SENDER.format(c, d, b) for c, d, b in ((7, 3, 40), (5, 1, 800), (11, 2, 4))]
RECEIVERS = {
    "ANY_SOURCE": "repeat 18 { recv -1 800 }",
    "pending ANY_SOURCE": "repeat 3 { repeat 6 { irecv -1 800 }; compute 3e-6; waitall }",
    "Waitany": "repeat 6 { irecv 1 800; irecv 2 800; irecv 3 800; repeat 3 { waitany }; waitall }",
    "Waitsome": "repeat 6 { irecv 1 800; irecv 2 800; irecv 3 800; waitsome; compute 2e-6; waitall }",
    "Test loops": "repeat 6 { irecv 1 800; irecv 2 800; irecv 3 800; poll 2; testany; testsome; waitall }",
    "Testall loop": "repeat 6 { irecv 1 800; irecv 2 800; irecv 3 800; testall }",
    "Request_get_status loop": "repeat 6 { irecv 1 800; irecv 2 800; irecv 3 800; status 1; waitall }",
    "Iprobe loops": "repeat 6 { iprobe 3 4; iprobe 1 40; iprobe 2 800 }",
    "Mprobe": "repeat 6 { mprobe 1 40; mprobe 2 800; improbe 3 4 }",
    "wildcards and named": "repeat 6 { irecv -1 800 0; irecv 2 800 5; irecv -1 800 0; waitany; waitall }",
}
ORDER_DEPENDS_ON_THE_MACHINE = ["recv -1 4; recv -1 4", "delay 0.3; send 0 4", "compute 1e-3; send 0 4"]


class Determinism(LiveTest):
    def result(self, scripts, **named):
        run = self.exact(*scripts, compute="fixed:1e-7", network="lsb:latency=1e-6,bandwidth=1e9", **named)
        self.assertEqual(run.summary["trust"]["forced_decisions"], 0)
        self.assertEqual(run.summary["trust"]["order_inversions"], 0)
        return run.summary["rank_end_s"], run.summary["point_to_point"], run.stdout

    def scripts(self, name):
        tags = TAGS.get(name, (0, 0, 0))
        return [RECEIVERS[name], *(sender.format(tag) for sender, tag in zip(SENDERS, tags))]

    def check_repeats(self, name):
        scripts = self.scripts(name)
        first = self.result(scripts)
        self.assertEqual(first[2].count("from"), 18)
        for seed in range(10):
            more = {"NPLUS1_TEST_DELAY": f"random:{seed}:0.004"}
            self.assertEqual(self.result(scripts, more=more), first, f"seed {seed}")

    def test_a_simulator_that_takes_a_millisecond_per_event_gives_the_same_times(self):
        for name in RECEIVERS:
            with self.subTest(name):
                scripts = self.scripts(name)
                self.assertEqual(self.result(scripts, more={"NPLUS1_TEST_DELAY": "0.001"}), self.result(scripts))

    def test_threads_that_name_each_other_have_the_same_times_under_random_delays(self):
        def ends(**more):
            run = self.exact("named_threads", 4, 5, ranks=3, compute="fixed:1e-7",
                             network="lsb:latency=1e-6,bandwidth=1e9", **more)
            return run.summary["rank_end_s"], run.summary["point_to_point"]
        first = ends()
        for seed in range(5):
            self.assertEqual(ends(more={"NPLUS1_TEST_DELAY": f"random:{seed}:0.001"}), first, f"seed {seed}")

    def test_the_network_and_not_the_machine_decides_who_comes_first(self):
        native = self.bare(3, "script", *ORDER_DEPENDS_ON_THE_MACHINE)
        self.assertEqual(native.stdout, "from 2, tag 0, 4 bytes\nfrom 1, tag 0, 4 bytes\n")
        for _ in range(3):
            self.assertEqual(self.exact(*ORDER_DEPENDS_ON_THE_MACHINE).stdout,
                             "from 1, tag 0, 4 bytes\nfrom 2, tag 0, 4 bytes\n")

    def test_every_order_is_decided_by_the_network(self):
        """As above, for each way to learn of a message first."""
        senders = ["delay 0.1; send 0 4", "compute 1e-3; send 0 4"]
        ways = {"Waitany": ("irecv 1 4; irecv 2 4; waitany; waitall", "12", "21"),
                "pending ANY_SOURCE": ("irecv -1 4; irecv -1 4; waitall", "12", "21"),
                "Probe": ("probe -1 4; probe -1 4", "12", "21"),
                "Iprobe": ("iprobe -1 4; iprobe -1 4", "12", "21"),
                "Mprobe": ("mprobe -1 4; mprobe -1 4", "12", "21"),
                "Improbe": ("improbe -1 4; improbe -1 4", "12", "21"),
                "Testany": ("irecv 1 4; irecv 2 4; testany; testany; waitall", "12", "21")}
        for name, (receiver, simulated, native) in ways.items():
            with self.subTest(name):
                self.assertEqual(self.sources(self.exact(receiver, *senders)), simulated)
                self.assertEqual(self.sources(self.bare(3, "script", receiver, *senders)), native)

    def sources(self, run):
        return "".join(line.split()[1].rstrip(",") for line in run.stdout.splitlines())


def add_repetitions():
    for name in RECEIVERS:
        title = "test_ten_runs_under_random_delays_agree_for_" + name.replace(" ", "_")
        setattr(Determinism, title, lambda self, name=name: self.check_repeats(name))


add_repetitions()

if __name__ == "__main__":
    unittest.main()
