"""What a recording says of each call, against what the programs' sources say: payloads are computed here again, lines
are looked up in the source."""
import json
import pathlib
import shutil
import struct
import subprocess
import unittest

from live import LIMIT, PROGRAMS, environment
from recorded import (FINALIZE, IRECV, NO_CRC, RECV, SCATTERED, SOURCES, RecordedTest, Recording, marked_lines)


def fill(tag, size):
    return bytes((7 * tag + 13 * i) % 251 for i in range(size))


def vector(data, count, blocks, length, stride, extent):
    return b"".join(data[e * extent + b * stride:][:length] for e in range(count) for b in range(blocks))


def swapped(data):
    return b"".join(data[i + 4:i + 8] + data[i:i + 4] for i in range(0, len(data), 8))


# tag: payload, elements, name of the datatype, of rank 0's sends in recorded.c
SENT = {
    1: (fill(1, 8), 8, "MPI_BYTE"),
    2: (fill(2, 24), 3, "MPI_DOUBLE"),
    3: (fill(3, 5), 5, "MPI_CHAR"),
    4: (fill(4, 300000), 75000, "MPI_INT"),
    5: (b"", 0, "MPI_BYTE"),
    6: (fill(6, 100), 100, "MPI_BYTE"),
    7: (fill(7, 17), 17, "MPI_BYTE"),
    8: (fill(8, 40000), 40000, "MPI_BYTE"),
    9: (fill(9, 16), 4, "MPI_FLOAT"),
    11: (vector(fill(11, 1000), 2, 50, 2, 4, 198), 2, "MPI_Type_vector(MPI_BYTE)"),
    12: (vector(fill(12, 1000), 2, 50, 3, 4, 199), 2, "MPI_Type_vector(MPI_BYTE)"),
    13: (swapped(fill(13, 8000)), 1000, "swapped halves"),
    14: (fill(14, 60), 3, "MPI_Type_contiguous(MPI_INT)"),
    15: (fill(15, 64), 64, "MPI_BYTE"),
    16: (fill(16, 20000), 5000, "MPI_INT"),
    18: (fill(18, 4), 4, "MPI_BYTE"),
}


class Content(RecordedTest):
    def test_every_way_of_sending_in_c(self):
        for options in ((), ("--transport", "tcp"), ("--direct", "off"), ("--inline-payloads", "0")):
            with self.subTest(options=options):
                recording, _ = self.record(2, "recorded", options=("--pcontrol", "ipm", *options))
                self.check_c(recording)

    def check_c(self, recording):
        lines = marked_lines("recorded.c")
        sends = {}
        for event in recording.sends(0):
            sends.setdefault(event["tag"], []).append(event)
        self.assertEqual(sorted(sends), sorted(SENT))
        for tag, (payload, count, name) in SENT.items():
            with self.subTest(tag=tag):
                event = sends[tag][0]
                self.check_content(event, payload)
                self.assertEqual(event["detail"]["count"], count)
                self.assertEqual(recording.datatype(event)["name"], name)
                self.assertEqual(event["detail"]["buffer"] == 0, not payload)
                frame = recording.frames(event)[0]
                self.assertTrue(frame["file"].endswith("recorded.c"), frame)
                if tag in lines:
                    self.assertEqual(frame["line"], lines[tag])
        # The second start of the persistent send has another payload.
        self.assertEqual(len(sends[9]), 2)
        self.check_content(sends[9][1], fill(10, 16))
        self.assertEqual(sends[9][0]["detail"]["buffer"], sends[9][1]["detail"]["buffer"])
        # A type of another size under a handle that was free again.
        self.assertEqual([recording.datatype(sends[t][0])["bytes"] for t in (11, 12)], [100, 150])

    def test_receives_name_buffer_count_and_type_but_no_content(self):
        recording, _ = self.record(2, "recorded")
        receives = [e for e in recording.events if e["kind"] in (RECV, IRECV) and e["rank"] == 1]
        self.assertGreater(len(receives), 14)
        for event in receives:
            self.assertEqual(event["detail"]["content"], NO_CRC)
            self.assertNotEqual(event["detail"]["buffer"], 0)
            self.assertEqual(event["detail"]["count"] * recording.datatype(event)["bytes"], event["size"])

    def test_without_hashing_the_rest_is_there(self):
        recording, _ = self.record(2, "recorded", options=("--hash", "off"))
        for event in recording.sends():
            self.assertEqual((event["detail"]["content"] & ~SCATTERED, event["detail"]["crc"]), (NO_CRC, 0))
            self.assertGreater(event["detail"]["wall_entry_ns"], 0)

    def test_fortran(self):
        numbers = struct.pack("<100i", *(3 * i for i in range(1, 101)))
        values = struct.pack("<4d", 1, 2, 3, 4)
        for program in ("recorded_f08", "recorded_mpifh"):
            with self.subTest(program=program):
                recording, _ = self.record(2, program)
                lines = marked_lines(f"{program}.f90")
                first, second = recording.sends(0)
                self.check_content(first, numbers)
                self.check_content(second, values)
                self.assertEqual(recording.datatype(first)["name"], "MPI_INTEGER")
                self.assertEqual(recording.datatype(second)["name"], "MPI_DOUBLE_PRECISION")
                frames = recording.frames(first)
                self.assertEqual((frames[0]["function"], frames[0]["line"]), ("send_numbers", lines[1]))
                self.assertEqual(frames[1]["function"], program)
                self.assertEqual(recording.frames(second)[0]["line"], lines[2])

    def check_cpp(self, recording):
        event, = recording.sends(0)
        self.check_content(event, struct.pack("<32d", *(i + 0.5 for i in range(32))))
        frames = recording.frames(event)
        expected = [marked_lines("recorded_cpp.cpp", word)[1] for word in ("SEND", "BY", "FROM")]
        self.assertEqual([f["line"] for f in frames[:3]], expected)
        self.assertIn("send_values", frames[0]["function"])
        self.assertIn("(anonymous namespace)::Solver::step", frames[1]["function"])
        self.assertEqual(frames[2]["function"], "main")
        self.assertEqual(frames[0]["offset"], frames[1]["offset"])  # inlined: one address, two lines

    def test_cpp_with_inlined_calls(self):
        self.check_cpp(self.record(2, "recorded_cpp")[0])

    def test_clang_with_dwarf_5(self):
        if shutil.which("clang++-14") is None:
            self.skipTest("clang++-14 is not installed")
        program = self.folder / "by_clang"
        subprocess.run(["mpicxx.mpich", "-cxx=clang++-14", "-O2", "-gdwarf-5", "-o", str(program),
                        str(SOURCES / "recorded_cpp.cpp")], check=True, timeout=LIMIT)
        self.check_cpp(self.record(2, program)[0])


class Times(RecordedTest):
    def test_wall_clocks_run_forward_within_the_run(self):
        recording, _ = self.record(2, "script", "repeat 50 { send 1 100; usleep 0.002; recv 1 4 }",
                                   "repeat 50 { recv 0 100; send 0 4 }")
        written = (self.folder / "result-1" / "recording" / "events.n1r").stat()
        for rank in (0, 1):
            last = 0
            for event in (e for e in recording.events if e["rank"] == rank):
                detail = event["detail"]
                self.assertLessEqual(detail["wall_before_ns"], detail["wall_entry_ns"])
                self.assertLessEqual(last, detail["wall_entry_ns"])
                last = detail["wall_entry_ns"]
            self.assertLess(abs(written.st_mtime_ns - last), 5e9)
        first = min(e["detail"]["wall_entry_ns"] for e in recording.events)
        self.assertGreater(last - first, 50 * 0.002 * 1e9)

    def test_ordinals_count_each_ranks_events(self):
        recording, _ = self.record(3, "script", "isend 1 10; irecv 2 10; waitall; barrier", "recv 0 10; barrier",
                                   "send 0 10; barrier")
        for rank in range(3):
            ordinals = [e["ordinal"] for e in recording.events if e["rank"] == rank]
            self.assertEqual(ordinals, list(range(len(ordinals))))
            self.assertEqual([e for e in recording.events if e["rank"] == rank][-1]["kind"], FINALIZE)

    def test_every_irecv_has_its_match(self):
        recording, _ = self.record(2, "script", "irecv 1 10 5; irecv -1 10; waitall", "send 0 10 7; send 0 10 5")
        sends = {(e["rank"], e["peer"], e["sequence"]): e for e in recording.sends()}
        receives = {e["request"]: e for e in recording.events if e["kind"] == IRECV}
        self.assertEqual({m["request"] for m in recording.matches}, set(receives))
        for match in recording.matches:
            self.assertEqual(sends[(match["source"], 0, match["sequence"])]["tag"], match["tag"])


class Charges(RecordedTest):
    """Hashing and capture are not the program's time."""

    SCRIPT = ("repeat 60 { send 1 1000000; recv 1 4; compute 0.0001 }", "repeat 60 { recv 0 1000000; send 0 4 }")

    def ends(self, *options):
        run = self.observe(2, "script", *self.SCRIPT, options=options)
        self.assertEqual(run.summary["trust"]["clock_mismatches"], 0)
        return run.summary

    def test_given_compute_times_give_identical_virtual_times(self):
        ends = {self.ends("--compute", "fixed:1e-6", *options)["rank_end_s"][0]
                for options in (("--record", "off"), ("--hash", "off"), (), ("--frames", "16"))}
        self.assertEqual(len(ends), 1)

    def test_measured_virtual_times_agree_within_noise(self):
        # 200 hashes of 1 MB take 4 ms with the fastest CRC there is; the program computes for a few microseconds.
        computed = {}
        for options in (("--record", "off"), ("--hash", "crc")) * 3:
            summary = self.observe(2, "untouched", options=("--clock", "cpu", *options)).summary
            seconds = float(summary["compute_s"][0])
            computed[options] = min(seconds, computed.get(options, seconds))
        bare, hashed = computed.values()
        self.assertLess(hashed - bare, 1e-3)


class Scope(RecordedTest):
    """What is recorded, and what is not."""

    def test_off_and_patterns_leave_no_recording(self):
        for what in ("off", "patterns"):
            run = self.observe(2, "recorded", options=("--record", what))
            self.assertFalse((run.folder / "recording").exists())
            self.assertIsNone(run.summary["recording"])
            self.assertTrue(run.summary["complete"])

    def test_a_region(self):
        recording, run = self.record(2, "recorded", options=("--record-region", "blocking"))
        self.assertEqual({e["tag"] for e in recording.sends()}, {1, 2, 3, 4, 5, 6})
        self.assertEqual(recording.edges(), [("begin", "blocking"), ("end", "blocking")])
        self.assertEqual(sum(map(sum, run.summary["point_to_point"]["messages"])), 19)  # simulated all the same

    def test_pcontrol_pauses_and_resumes(self):
        recording, _ = self.record(2, "recorded")
        self.assertEqual({e["tag"] for e in recording.sends(0)}, set(SENT) - {18})
        self.assertEqual(recording.edges(), [("begin", "blocking"), ("end", "blocking")])

    def test_pcontrol_as_ipm_has_it(self):
        recording, _ = self.record(2, "recorded", options=("--pcontrol", "ipm"))
        self.assertEqual(recording.edges(), [(edge, name) for name in ("blocking", "ways") for edge in ("begin", "end")])
        self.assertIn(18, {e["tag"] for e in recording.sends(0)})

    def test_pcontrol_as_ipm_without_a_name_does_nothing(self):
        recording, _ = self.record(2, "recorded_mpifh", options=("--pcontrol", "ipm"))
        self.assertEqual(recording.edges(), [])

    def test_a_size_cap(self):
        words = ("script", "repeat 60000 { send 1 10 }", "repeat 60000 { recv 0 10 }")
        run = self.observe(2, *words, options=("--record-cap", "20K"))
        recording = Recording(run.folder)
        told = run.summary["recording"]
        self.assertLess(told["bytes"], 250 * 1024)
        self.assertGreater(told["dropped"], 0)
        self.assertEqual(told["events"], len(recording.events))
        self.assertEqual(told["events"] + told["dropped"], run.summary["trust"]["events"])
        self.assertGreater(told["expected_bytes"], told["bytes"])
        self.assertIn("--record-cap", " ".join(run.summary["notes"]))

    def test_instrumented_functions_are_regions_and_short_ones_are_left_out(self):
        recording, _ = self.record(2, "instrumented")
        edges = recording.edges()
        self.assertEqual(edges.count(("begin", "busy")), 20)
        self.assertEqual(edges.count(("end", "busy")), 20)
        self.assertEqual(edges.count(("begin", "solve")), 1)
        self.assertEqual(edges.count(("begin", "tiny")), edges.count(("end", "tiny")))
        self.assertLess(edges.count(("begin", "tiny")), 2000)
        open_regions = []
        for edge, name in edges:
            if edge == "begin":
                open_regions.append(name)
            else:
                self.assertEqual(open_regions.pop(), name)

    def test_call_paths_have_the_frames_asked_for_and_the_programs_build_id(self):
        recording, _ = self.record(2, "recorded", options=("--frames", "1"))
        self.assertEqual({len({f["offset"] for f in p["frames"]}) for p in recording.paths.values()}, {1})
        notes = subprocess.run(["readelf", "-n", recording.frames(recording.sends(0)[0])[0]["module"]],
                               capture_output=True, text=True, check=True, env=environment()).stdout
        build_id = notes.split("Build ID: ")[1].split()[0]
        self.assertEqual({f["build_id"] for e in recording.sends() for f in recording.frames(e)}, {build_id})

    def test_a_program_may_have_newlines_and_spaces_in_its_name(self):
        program = self.folder / "two\nlines and\na space"
        shutil.copy(PROGRAMS / "recorded", program)
        for options in ((), ("--patterns-only",)):
            run = self.observe(2, str(program), options=options)
            sites = json.loads((run.folder / "patterns.json").read_text())["call_sites"]
            self.assertGreater(len({f["line"] for s in sites for f in s["frames"][:1]}), 10)
            self.assertEqual({(f["module"], pathlib.Path(f["file"]).name) for s in sites for f in s["frames"]},
                             {(str(program), "recorded.c")})


class Endings(RecordedTest):
    def test_a_deadlock_leaves_its_calls_unfinished(self):
        run = self.observe(2, "script", "send 1 10; recv 1 4", "recv 0 10; recv 0 4", code=86)
        recording = Recording(run.folder)
        self.assertTrue(recording.coverage["closed"])
        unfinished = [e for e in recording.events if not e["finished"]]
        self.assertEqual({(e["rank"], e["kind"]) for e in unfinished}, {(0, RECV), (1, RECV)})
        self.assertEqual(run.summary["point_to_point"]["messages"], [[0, 1], [0, 0]])

    def test_crashes_and_aborts_keep_what_was_seen(self):
        for how in ("abort 7", "raise 11", "raise 9", "exit 4"):
            with self.subTest(how=how):
                run = self.observe(2, "script", f"repeat 30 {{ send 1 100 }}; recv 1 4; {how}",
                                   "repeat 30 { recv 0 100 }; send 0 4; recv 0 4", code=None)
                recording = Recording(run.folder)
                self.assertTrue(recording.coverage["closed"], recording.coverage)
                self.assertEqual(len(recording.sends(0)), 30)
                self.assertNotIn(FINALIZE, {e["kind"] for e in recording.events})


if __name__ == "__main__":
    unittest.main()
