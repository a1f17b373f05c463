"""Virtual times that can be worked out by hand, from real runs. L = 1 ms and B = 1 MB/s unless a test says otherwise:
a message of 1000 bytes takes 2 ms."""
import unittest

from live import LiveTest, seconds

L, MESSAGE = seconds("0.001"), seconds("0.002")


class ClosedForms(LiveTest):
    def test_a_round_of_ping_pong_takes_twice_latency_plus_size_over_bandwidth(self):
        ends = self.ends("repeat 25 { send 1 1000; recv 1 1000 }", "repeat 25 { recv 0 1000; send 0 1000 }")
        self.assertEqual(ends, [25 * 2 * MESSAGE, (2 * 25 - 1) * MESSAGE])

    def test_the_default_network_is_one_microsecond_and_ten_gigabytes_per_second(self):
        ends = self.ends("repeat 100 { send 1 10000; recv 1 10000 }", "repeat 100 { recv 0 10000; send 0 10000 }",
                         network="lsb")
        self.assertEqual(ends[0], 100 * 2 * seconds("2e-6"))

    def test_fixed_compute_is_charged_between_calls(self):
        """Two calls and MPI_Finalize: three intervals of 10 us on each rank."""
        ends = self.ends("send 1 1000; send 1 1000", "recv 0 1000; recv 0 1000", compute="fixed:1e-5")
        self.assertEqual(ends[0], 3 * seconds("1e-5"))
        # The second message leaves at 20 us.
        self.assertEqual(ends[1], seconds("2e-5") + MESSAGE + seconds("1e-5"))

    def test_a_late_sender_of_5_ms_costs_the_receiver_5_ms(self):
        early = self.ends("send 1 1000", "recv 0 1000")
        late = self.ends("compute 5e-3; send 1 1000", "recv 0 1000")
        self.assertEqual(early[1], MESSAGE)
        self.assertEqual(late[1] - early[1], seconds("5e-3"))

    def test_a_late_receiver_finds_the_message_there(self):
        self.assertEqual(self.ends("send 1 1000", "compute 5e-3; recv 0 1000"), [0, seconds("5e-3")])

    def test_rendezvous_waits_for_the_receiver(self):
        network = "lsb:latency=1e-3,bandwidth=1e6,eager=1024"
        for bytes_, sender in ((1024, 0), (1025, seconds("4e-3") + seconds("1.025e-3"))):
            for send in (f"send 1 {bytes_}", f"isend 1 {bytes_}; waitall"):
                for receive in (f"recv 0 {bytes_}", f"irecv 0 {bytes_}; waitall"):
                    with self.subTest(send=send, receive=receive):
                        ends = self.ends(send, "compute 3e-3; " + receive, network=network)
                        self.assertEqual(ends, [sender, sender or seconds("3e-3")])

    def test_a_handshake_is_added_once(self):
        network = "lsb:latency=1e-3,bandwidth=1e6,eager=0,handshake=2e-3"
        self.assertEqual(self.ends("send 1 1000", "recv 0 1000", network=network), [MESSAGE + seconds("2e-3")] * 2)

    def test_a_synchronous_send_waits_for_its_receive_whatever_its_size(self):
        for send in ("ssend 1 1000", "issend 1 1000; waitall"):
            with self.subTest(send=send):
                self.assertEqual(self.ends(send, "compute 3e-3; recv 0 1000"), [seconds("3e-3") + MESSAGE] * 2)

    def test_a_buffered_send_waits_for_nobody(self):
        network = "lsb:latency=1e-3,bandwidth=1e6,eager=0"
        self.assertEqual(self.ends("bsend 1 1000", "compute 3e-3; recv 0 1000", network=network), [0, seconds("3e-3")])

    def test_loggops_ping_pong(self):
        """A hop of s bytes: o + sO, then L + sG, then o + sO."""
        network = "loggops:L=3us,o=1us,g=2us,G=0.08ns,O=0.01ns"
        hop = seconds("1.5e-6") + seconds("7e-6") + seconds("1.5e-6")  # 50,000 bytes
        ends = self.ends("repeat 10 { send 1 50000; recv 1 50000 }", "repeat 10 { recv 0 50000; send 0 50000 }",
                         network=network)
        self.assertEqual(ends[0], 10 * 2 * hop)

    def test_loggops_sender_waits_for_its_interface(self):
        """The worked number of docs/networks.md: arrivals at 8.5 and 12.5 us, receiving costs 1.5 us each."""
        network = "loggops:L=3us,o=1us,g=2us,G=0.08ns,O=0.01ns"
        ends = self.ends("send 1 50000; send 1 50000", "recv 0 50000; recv 0 50000", network=network)
        self.assertEqual(ends, [seconds("3e-6"), seconds("14e-6")])

    def test_loggops_messages_of_many_senders_queue_at_the_receiver(self):
        """Seven of 1001 bytes leave at o, are there L later, and are taken every g + 1000 G; the last one's receive costs o.
        A receiver that comes late finds them all taken, and pays o for each."""
        network = "loggops:L=2us,o=1us,g=1us,G=1ns,interfaces=both"
        receives = "".join(f"irecv {sender} 1001; " for sender in range(1, 8)) + "waitall"
        ends = self.ends(receives, *["send 0 1001"] * 7, network=network)
        self.assertEqual(ends, [seconds("17e-6")] + [seconds("1e-6")] * 7)
        ends = self.ends("compute 1e-3; " + receives, *["send 0 1001"] * 7, network=network)
        self.assertEqual(ends[0], seconds("1.007e-3"))

    def test_a_binomial_broadcast_takes_log2_rounds(self):
        ends = self.ends(*["bcast 0 1000"] * 8)
        self.assertEqual(ends[0], 0)  # the root leaves at once
        self.assertEqual(max(ends), 3 * MESSAGE)

    def test_a_barrier_waits_for_the_last(self):
        ends = self.ends("compute 7e-3; barrier", "barrier", "barrier", "barrier")
        self.assertEqual(max(ends), seconds("7e-3") + 2 * L)


class Riesen(LiveTest):
    """Riesen 2006, figures 2 and 3. A message sent at tx arrives at tx + delta; a receive is called at t1. If the
    message comes later than t1, the receive returns at t3 = tx + delta, and what it cost the CPU does not count;
    otherwise at t2 = t1 plus the CPU time of the receive."""

    def receiver(self, script, protocol="riesen", **named):
        return self.ends("send 1 1000", script, options=("--protocol", protocol), **named)[1]

    def test_a_receive_called_early_returns_when_the_message_arrives(self):
        self.assertEqual(self.receiver("compute 1e-3; recv 0 1000"), MESSAGE)
        self.assertEqual(self.receiver("recv 0 1000; compute 1e-3"), MESSAGE + seconds("1e-3"))

    def test_a_receive_called_late_costs_its_own_cpu_time(self):
        big = 4_000_000  # copying takes measurable time
        for receive in (f"recv 0 {big}", f"irecv 0 {big}; waitall", f"irecv 0 {big}; wait 0", f"recv -1 {big}"):
            with self.subTest(receive=receive):
                ends = self.ends(f"send 1 {big}", "compute 60; " + receive, options=("--protocol", "riesen"))
                self.assertGreater(ends[1], 60)
                self.assertLess(ends[1], seconds("60.2"))
                self.assertEqual(self.ends(f"send 1 {big}", "compute 60; " + receive)[1], 60)

    def test_a_sender_is_charged_for_its_send(self):
        ends = self.ends("repeat 50 { send 1 1000000 }", "repeat 50 { recv 0 1000000 }",
                         options=("--protocol", "riesen"))
        self.assertGreater(ends[0], 0)


class ComputeTable(LiveTest):
    def test_a_file_gives_compute_times_per_rank_and_call(self):
        table = self.folder / "table"
        table.write_text("# rank  where  seconds\n0 MPI_Send 3e-3\n* MPI_Recv 1e-3\n1 MPI_Finalize 5e-4\n* * 0\n")
        ends = self.ends("send 1 1000; send 1 1000", "recv 0 1000; recv 0 1000", compute=f"file:{table}")
        self.assertEqual(ends, [seconds("6e-3"), seconds("6e-3") + MESSAGE + seconds("5e-4")])

    def test_its_times_have_units_and_its_path_any_length(self):
        folder = self.folder
        for _ in range(3):
            folder = folder / ("a" * 120)
        folder.mkdir(parents=True)
        table = folder / "table"
        table.write_text("0 MPI_Send 5ms\n")
        self.assertGreater(len(str(table)), 256)
        self.assertEqual(self.ends("send 1 1000", "recv 0 1000", compute=f"file:{table}"),
                         [seconds("5e-3"), seconds("5e-3") + MESSAGE])

    def test_the_same_table_gives_the_same_times_twice(self):
        table = self.folder / "table"
        table.write_text("* MPI_Send 1.25e-6\n* MPI_Recv 7.5e-7\n")
        words = ("repeat 50 { send 1 100; recv 1 100 }", "repeat 50 { recv 0 100; send 0 100 }")
        first = self.exact(*words, compute=f"file:{table}").summary["rank_end_s"]
        self.assertEqual(first, self.exact(*words, compute=f"file:{table}").summary["rank_end_s"])
        self.assertGreater(first[0], 0)


if __name__ == "__main__":
    unittest.main()
