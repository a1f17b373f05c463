"""nplus1 run --native --record: real times of a run that nothing was simulated in. What was sent and received is
compared with the recording of a simulated run; times with what the program says itself."""
import json
import re
import subprocess
import unittest
from collections import Counter

from live import NPLUS1
from recorded import IRECV, RECV, RecordedTest

NATIVE = ("--native", "--record", "full")
# What they send does not depend on who is first. Few ranks: they wait as MPI does.
EXAMPLES = [(2, "ping_pong", 50, 3000), (2, "halo", 20, 20000), (2, "wavefront", 10), (2, "imbalance", 4, 1),
            (3, "master_worker", 10, 10), (3, "waitany", 4, 10)]


def messages(recording):
    return Counter((e["rank"], e["peer"], e["tag"], e["size"]) for e in recording.sends() if e["peer"] >= 0)


class Native(RecordedTest):
    def test_every_message_of_a_simulated_run_is_in_the_native_recording(self):
        for ranks, *words in EXAMPLES:
            with self.subTest(words):
                native, run = self.record(ranks, *words, options=NATIVE)
                simulated, _ = self.record(ranks, *words, options=("--compute", "fixed:0"))
                if words[0] == "master_worker":  # who gets which task is decided by who is first
                    self.assertEqual(sum(messages(native).values()), sum(messages(simulated).values()))
                else:
                    self.assertEqual(messages(native), messages(simulated))
                self.assertEqual(run.summary["network"], "none: recorded natively")
                self.check_pairs(native)

    def check_pairs(self, recording):
        """Each message is received once, and each receive has one: by (source, destination, number)."""
        sent = {(e["rank"], e["peer"], e["sequence"]): (e["tag"], e["size"]) for e in recording.sends()
                if e["peer"] >= 0}
        received = [((m["source"], m["rank"], m["sequence"]), (m["tag"], m["size"])) for m in recording.matches]
        received += [((e["peer"], e["rank"], e["sequence"]), None) for e in recording.events
                     if e["kind"] == RECV and e["peer"] >= 0]
        any_source = [e for e in recording.events if e["kind"] == RECV and e["peer"] == -1]
        self.assertEqual(len(received) + len(any_source), len(sent))
        for key, what in received:
            self.assertIn(key, sent)
            if what is not None:
                self.assertEqual(what, sent[key])
        self.assertEqual(len({key for key, _ in received}), len(received))

    def test_however_a_program_waits_and_looks_its_messages_are_recorded_and_replayed(self):
        others = "recv 0 9; send 0 10; send 0 20 1; send 0 30; send 0 40; send 0 50; send 0 60; send 0 70"
        for way in ("testall", "waitany", "waitsome", "testany", "testsome", "poll 0", "status 0"):
            with self.subTest(way):
                recording, run = self.record(2, "script",
                                             f"irecv 1 10; irecv 1 20 1; isend 1 9; {way}; waitall; probe 1 30; "
                                             "mprobe 1 40; iprobe 1 50; improbe 1 60; improbe -1 70; irecv 1 5 99; cancel 0",
                                             others, options=NATIVE)
                self.check_pairs(recording)
                self.assertEqual(sorted(int(size) for size in re.findall(r"(\d+) bytes", run.stdout)),
                                 [10, 20, 30, 40, 50, 60, 70])
                self.assertTrue(run.stdout.endswith("cancelled\n"))
                done = subprocess.run([str(NPLUS1), "replay", str(run.folder), "--network", "lsb"], capture_output=True,
                                      text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertNotIn("forced", done.stdout + done.stderr)
                self.assertNotIn("inversion", done.stdout + done.stderr)

    def test_every_thread_s_calls_follow_one_another_in_real_time(self):
        recording, _ = self.record(2, "halo", 20, 20000, options=NATIVE)
        last = {}
        for event in recording.events:
            self.assertTrue(event["finished"])
            self.assertGreaterEqual(event["entry_ps"], last.get(event["rank"], 0))
            self.assertGreaterEqual(event["exit_ps"], event["entry_ps"])
            last[event["rank"]] = event["exit_ps"]
        self.assertTrue(any(e["kind"] == IRECV for e in recording.events))

    def test_a_late_sender_is_as_late_as_the_program_was_busy(self):
        """Rank 2 is busy for 0.1 s, rank 1 for 0.3 s, by their own clocks."""
        _, run = self.record(3, "first_come", options=NATIVE)
        self.assertEqual(run.stdout, "first_come: 2 before 1\n")
        file = run.folder / "waitstates.json"
        done = subprocess.run([str(NPLUS1), "waitstates", str(run.folder), "--json", str(file)], capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(file.read_text())
        self.assertEqual(found["unresolved_calls"], 0)
        late = found["total"]["wait_states"]["late_sender_s"]
        self.assertGreater(late, 0.25)
        self.assertLess(late, 2)
        self.assertGreaterEqual(found["virtual_time_s"], 0.3)

    def test_other_verbs_read_it(self):
        _, run = self.record(2, "ping_pong", 5, 100, options=NATIVE)
        for verb in (("replay", "--network", "lsb"), ("replay", "--network", "lsb", "--decisions", "adapted"),
                     ("patterns",), ("convert", "--to", "jsonl")):
            with self.subTest(verb):
                more = ("-o", str(self.folder / "converted")) if verb[0] == "convert" else ()
                done = subprocess.run([str(NPLUS1), verb[0], str(run.folder), *verb[1:], *more], capture_output=True,
                                      text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_native_alone_records_nothing(self):
        done = self.run_command(self.command(2, "ping_pong", 5, 100, options=("--native",)))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
