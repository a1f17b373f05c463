"""whatif and waitstates on bad input: recordings that are cut, damaged, newer or empty; hypotheses with slips of the
pen. One clear message each, nothing written. The recording is made by nplus1 convert, without MPI."""
import json
import unittest

from command import CommandTest

USAGE, NO_INPUT, CANT_CREATE = 64, 66, 73
US = 1_000_000


def event(rank, kind, entry, exit, ordinal, **more):
    return {"record": "event", "rank": rank, "kind": kind, "entry_ps": entry * US, "exit_ps": exit * US, "ordinal": ordinal,
            "answer": "exit", "answer_exit_ps": exit * US, **more}


LINES = [
    {"record": "run", "text": "nplus1-events/1", "ranks": 2},
    {"record": "property", "name": "network", "text": "lsb:latency=1us,bandwidth=1GBps"},
    {"record": "property", "name": "application", "text": "two"},
    event(0, "send", 10, 10, 0, peer=1, tag=7, size=1000, compute_ps=10 * US, call="MPI_Send"),
    event(1, "recv", 2, 12, 0, peer=0, tag=7, compute_ps=2 * US, call="MPI_Recv", answer_source=0, answer_tag=7,
          answer_size=1000),
    event(0, "finalize", 10, 10, 1, call="MPI_Finalize"),
    event(1, "finalize", 12, 12, 1, call="MPI_Finalize"),
]


class WhatIfInput(CommandTest):
    def setUp(self):
        super().setUp()
        self.write("two.jsonl", "".join(json.dumps(line) + "\n" for line in LINES))
        done = self.nplus1("convert", "two.jsonl", "-o", "two.n1r")
        self.assertEqual(done.returncode, 0, done.stderr)
        (self.file,) = [p for p in (self.folder / "two.n1r").rglob("*.n1r") if p.is_file()]
        self.bytes = self.file.read_bytes()

    def damaged(self, content):
        self.file.write_bytes(content)
        return "two.n1r"

    def test_the_recording_is_sound(self):
        done = self.nplus1("whatif", "two.n1r", "--scale", "factor=2", "--json", "w.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads((self.folder / "w.json").read_text())
        self.assertEqual(found["before"]["virtual_time_s"], 12e-6)
        self.assertEqual(found["after"]["virtual_time_s"], 22e-6)
        self.assertEqual(found["before"]["wait_states"]["late_sender_s"], 8e-6)

    def test_no_recording(self):
        for verb, more in (("whatif", ("--scale", "factor=2")), ("whatif", ("--sweep",)), ("waitstates", ())):
            self.assert_refused(NO_INPUT, "absent", verb, "absent", *more, "--json", "w.json")

    def test_empty_newer_or_damaged_at_its_beginning(self):
        newer = self.bytes[:8] + b"\x02" + self.bytes[9:]
        damaged = self.bytes[:13] + bytes([self.bytes[13] ^ 1]) + self.bytes[14:]
        for content in (b"", b"\x89N1R", damaged, newer):
            for verb, more in (("whatif", ("--scale", "factor=2", "-o", "out")), ("whatif", ("--sweep", "-o", "out")),
                               ("waitstates", ())):
                with self.subTest(verb=verb, content=content[:14]):
                    self.assert_refused(NO_INPUT, "events.n1r", verb, self.damaged(content), *more)

    def test_cut_or_damaged_later_is_analysed_as_far_as_it_goes_and_says_so(self):
        for content in (self.bytes[:-20], self.bytes[:-1], self.bytes[:200] + b"\xff" + self.bytes[201:]):
            source = self.damaged(content)
            done = self.nplus1("waitstates", source)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("recording: ", done.stdout)

    def test_slips_of_the_pen(self):
        for flag, text, mention in (("--scale", "regoin=a,factor=2", "'regoin'"), ("--scale", "factor=fast", "factor=fast"),
                                    ("--delete", "tag=8", "no message"), ("--scale", "region=a,factor=2", "no computing"),
                                    ("--replace", "with=bcst", "with=bcst"), ("--balance", "weights=1", "1 of 2"),
                                    ("--network", "lsb:latency=soon", "latency"), ("--eager", "much", "--eager"),
                                    ("--collectives", "bcast=magic", "magic"), ("--fail-if", "speed<1", "'speed'"),
                                    ("--platform", "absent.xml", "absent.xml")):
            with self.subTest(flag=flag, text=text):
                more = ("--scale", "factor=1") if flag == "--fail-if" else ()
                self.assert_refused(USAGE, mention, "whatif", "two.n1r", flag, text, *more, "-o", "out")

    def test_no_hypothesis(self):
        self.assert_refused(USAGE, "no hypothesis", "whatif", "two.n1r")

    def test_slips_in_a_file_are_named_with_their_line(self):
        for text, mention in (("[[scale]]\nregoin = 'a'\n", "plan.toml:2"), ("\n\n[[scael]]\n", "plan.toml:3"),
                              ("network = \n", "plan.toml:1"), ("[[scale]]\nfactor = 'x'\n", "plan.toml:1")):
            self.write("plan.toml", text)
            self.assert_refused(USAGE, mention, "whatif", "two.n1r", "--hypothesis", "plan.toml", "-o", "out")
        self.assert_refused(USAGE, "absent.toml", "whatif", "two.n1r", "--hypothesis", "absent.toml")

    def test_what_there_is_instead_is_said(self):
        done = self.nplus1("whatif", "two.n1r", "--delete", "tag=8")
        self.assertIn("tags: 7", done.stderr)
        self.assertIn("sizes: 1000..1000", done.stderr)

    def test_nothing_is_overwritten(self):
        (self.folder / "out").mkdir()
        (self.folder / "out" / "mine").write_text("mine")
        self.assert_refused(CANT_CREATE, "out", "whatif", "two.n1r", "--scale", "factor=2", "-o", "out")

    def test_diff_of_a_cut_result(self):
        self.assertEqual(self.nplus1("whatif", "two.n1r", "--scale", "factor=2", "-o", "out").returncode, 0)
        file = self.folder / "out" / "whatif.json"
        file.write_text(file.read_text()[:-100])
        self.assert_refused(NO_INPUT, "whatif.json", "diff", "out", "two.n1r")


if __name__ == "__main__":
    unittest.main()
