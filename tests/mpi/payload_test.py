"""What a recording knows of the content of messages: taken when it was sent, in every set of hashes; parts that ranks
keep, told or inferred; what it costs. Payloads are computed here again."""
import ctypes
import json
import struct
import subprocess
import unittest

from live import NPLUS1
from recorded import LOCAL, SAMPLES, WHOLE, RecordedTest, Recording, marked_lines, whole_payload

PRIME, POINT = 2**61 - 1, 0x0e3779b97f4a7c15
TOLD, BETWEEN, ADDED_TO = range(3)


def fill(tag, size):
    return bytes((7 * tag + 13 * i) % 251 for i in range(size))


def polynomial(coefficients):
    value = 0
    for c in coefficients:
        value = (value * POINT + c) % PRIME
    return value


class Moments(RecordedTest):
    """Buffers change as soon as MPI allows it (payload_moments.c)."""

    def test_payloads_are_those_of_the_moment_of_sending(self):
        for size in (48, 2000, 100_000):  # recorded whole; hashed; sent from a private copy
            with self.subTest(size=size):
                recording, _ = self.record(2, "payload_moments", size)
                tags = {}
                for event in recording.sends(0):
                    tags.setdefault(event["tag"], []).append(event)
                for tag, payloads in {1: [1], 2: [2], 3: [3, 4], 10: [10, 20, 30], 11: [11, 21, 31], 40: [40],
                                      **{t: [t] for t in range(100, 160)}}.items():
                    self.assertEqual(len(tags[tag]), len(payloads), tag)
                    for event, payload in zip(tags[tag], payloads):
                        self.check_content(event, fill(payload, size))
                self.assertEqual(len({e["thread"] for t in range(100, 160) for e in tags[t]}), 3)
                self.check_content(recording.sends(1)[0], fill(41, size))


class Told(RecordedTest):
    def test_send_to_self_in_every_language(self):
        for program, source in (("tells", "tells.c"), ("tells_cpp", "tells_cpp.cpp"), ("tells_f08", "tells_f08.f90"),
                                ("tells_mpi", "tells_mpi.f90"), ("tells_mpifh", "tells_mpifh.f90")):
            with self.subTest(program):
                recording, _ = self.record(3, program)
                lines = marked_lines(source, "TELLS")
                for rank in range(3):
                    reals, integers = [e for e in recording.events if e["kind"] == LOCAL and e["rank"] == rank]
                    self.check_content(reals, struct.pack("<12d", *(rank + i / 10 for i in range(12))))
                    self.check_content(integers, struct.pack("<4i", *(10 * rank + i for i in range(4))))
                    for event, line in ((reals, lines[1]), (integers, lines[2])):
                        self.assertEqual(event["operation"], TOLD)
                        # Fortran's module has a frame of its own.
                        self.assertIn(line, [f["line"] for f in recording.frames(event)])


class Inferred(RecordedTest):
    """Parts that no message shows and no program tells of."""

    def parts(self, recording, how):
        return [e for e in recording.events if e["kind"] == LOCAL and e["operation"] == how]

    def test_the_block_that_the_root_of_a_scatter_keeps(self):
        for ranks in (4, 6):
            recording, _ = self.record(ranks, "p09_scatter_linear")
            kept, = self.parts(recording, BETWEEN)
            to_next = next(e for e in recording.sends(2) if e["peer"] == 3)
            self.assertEqual((kept["rank"], kept["size"]), (2, 400))
            self.assertEqual(kept["detail"]["buffer"], to_next["detail"]["buffer"] - 400)
            self.assertEqual(kept["call"], "none")

    def test_what_is_added_to_from_the_second_time_on(self):
        libc = ctypes.CDLL("libc.so.6")
        recording, _ = self.record(5, "own_parts", "chain", "silent")
        parts = self.parts(recording, ADDED_TO)
        # The first rank receives nothing; the last sends nothing, so that nobody knows where its part is.
        self.assertEqual([e["rank"] for e in sorted(parts, key=lambda e: e["rank"])], [1, 1, 2, 2, 3, 3])
        for rank in (1, 2, 3):
            libc.srand(3 + rank)
            rounds = [[libc.rand() for _ in range(24)] for _ in range(3)]
            for event, values in zip([e for e in parts if e["rank"] == rank], rounds[1:]):
                self.check_content(event, struct.pack("<24q", *values))
                self.assertEqual(event["detail"]["polynomial"], polynomial(values))

    def test_nothing_is_inferred_of_halos_master_and_worker_or_where_it_is_switched_off(self):
        for words, options in ((("p14_NEG_halo_zero",), ()), (("halo", 20), ()), (("p15_NEG_master_worker",), ()),
                               (("own_parts", "chain", "silent"), ("--hash", "both"))):
            with self.subTest(words, options=options):
                recording, _ = self.record(4, *words, options=options)
                self.assertEqual([e for e in recording.events if e["kind"] == LOCAL], [])

    def test_inferring_changes_no_virtual_time(self):
        ends = {tuple(self.observe(5, "own_parts", "chain", "silent",
                                   options=("--compute", "fixed:1e-6", *options)).summary["rank_end_s"])
                for options in ((), ("--hash", "both"), ("--hash", "off"), ("--record", "off"))}
        self.assertEqual(len(ends), 1)


class Chosen(RecordedTest):
    """--hash and --inline-payloads, and what can then be found."""

    def kinds(self, run):
        file = run.folder / "collectives.json"
        done = subprocess.run([str(NPLUS1), "collectives", str(run.folder), "--json", str(file)], capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.said = done.stderr + done.stdout
        return [(f["kind"], f["op"], f["count"]) for f in json.loads(file.read_text()) if f["certainty"] != "possible"]

    def test_each_set_is_in_the_recording(self):
        for words, expected in {"off": 0, "prefix": 2, "crc32": 3, "poly61": 2 + 4, "both": 3 + 8,
                                "all": 3 + 8 + SAMPLES}.items():
            with self.subTest(words):
                recording, _ = self.record(2, "recorded_cpp", options=("--hash", words))
                event, = recording.sends(0)
                self.assertEqual(event["detail"]["content"], expected)
                if words == "all":
                    sampled = struct.unpack("<4f", b"".join(w.to_bytes(8, "little")
                                                            for w in event["detail"]["excerpt"][:2]))
                    self.assertEqual(sampled, tuple(31 * k // 4 + 0.5 for k in range(1, 5)))

    def test_small_messages_are_recorded_whole_up_to_the_size_asked_for(self):
        for most in (0, 16, 64):
            recording, _ = self.record(2, "recorded", options=("--inline-payloads", str(most)))
            for event in recording.sends(0):
                whole = bool(event["detail"]["content"] & WHOLE)
                self.assertEqual(whole, 0 < event["size"] <= most, event)
                if whole:
                    self.assertEqual(len(whole_payload(event)), event["size"])

    def test_broadcasts_are_found_with_any_hash_of_the_whole_payload(self):
        for words in ("crc32", "poly61", "both", "all"):
            with self.subTest(words):
                run = self.observe(4, "p02_bcast_binomial_rotating", options=("--hash", words))
                self.assertEqual(self.kinds(run), [("bcast", None, 24)])

    def test_sums_are_found_with_a_hash_that_adds_up_only(self):
        for words, found, noted in (("crc32", False, True), ("poly61", True, True), ("both", True, False)):
            with self.subTest(words):
                run = self.observe(4, "p13_allreduce_recdoubling_sum", options=("--hash", words))
                self.assertEqual(("allreduce", "sum", 4) in self.kinds(run), found, self.said)
                self.assertEqual("Run again with --hash crc" in self.said, noted, self.said)

    def test_the_first_bytes_alone_are_said_to_be_too_little(self):
        run = self.observe(4, "p02_bcast_binomial_rotating", options=("--hash", "prefix"))
        self.assertEqual(self.kinds(run), [])
        self.assertIn("without hashes", self.said)


class Costs(RecordedTest):
    def test_the_summary_says_what_hashing_took(self):
        words = ("script", "repeat 30 { send 1 4000000 }", "repeat 30 { recv 0 4000000 }")
        told = {}
        for hash_set in ("off", "all"):
            run = self.observe(2, *words, options=("--hash", hash_set))
            told[hash_set] = float(run.summary["recording"]["hashing_s"])
            self.assertEqual("payload hashing" in (run.folder / "summary.txt").read_text(), hash_set == "all")
        self.assertEqual(told["off"], 0)
        # 120 MB at 100 GB/s to 100 MB/s.
        self.assertGreater(told["all"], 0.0012)
        self.assertLess(told["all"], 1.2)

    def test_programs_that_read_the_systems_clock_are_told_of_virtual_clocks(self):
        for options, expected in (((), True), (("--virtual-clocks",), False)):
            run = self.observe(2, "plain", "stopwatch", options=options)
            self.assertEqual(any("--virtual-clocks" in note for note in run.summary["notes"]), expected)
        run = self.observe(2, "plain", "clocks")
        self.assertFalse(any("--virtual-clocks" in note for note in run.summary["notes"]))


if __name__ == "__main__":
    unittest.main()
