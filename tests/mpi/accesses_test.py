"""`nplus1 run --record-accesses`: when programs touch the memory of their messages, and that they do not notice."""
import re
import unittest

from recorded import LOCAL, RECV, SEND, SOURCES, RecordedTest

FIRST_TOUCH, FIRST_WRITE, LAST_TOUCH, EARLY_TOUCH, STATUS_USE = range(16, 21)
PROGRAM, MPI_CALL, SYSTEM_CALL, RELEASE = range(4)
INEXACT, WRITE = 1, 2
OPTIONS = ("--record-accesses", "--compute", "fixed:0")


def lines(program="accesses.c"):
    """{name: line} of TOUCH(name) comments."""
    text = (SOURCES / program).read_text().splitlines()
    return {m.group(1): i for i, line in enumerate(text, 1) if (m := re.search(r"TOUCH\((\w+)\)", line))}


class Accesses(RecordedTest):
    def seen(self, what, ranks=2, options=OPTIONS):
        """The recording of a run whose output is the bare one's."""
        bare = self.bare(ranks, "accesses", what)
        recording, run = self.record(ranks, "accesses", what, options=options)
        self.assertEqual(sorted(run.stdout.splitlines()), sorted(bare.stdout.splitlines()))
        self.assertEqual(run.code, bare.code)
        self.assertEqual(run.summary["trust"]["clock_mismatches"], 0)
        return recording

    def accesses(self, recording, which, rank):
        return [e for e in recording.events if e["kind"] == LOCAL and e["operation"] == which and e["rank"] == rank]

    def call(self, recording, access):
        found = [e for e in recording.events if e["rank"] == access["rank"] and e["ordinal"] == access["aux"]]
        self.assertEqual(len(found), 1)
        return found[0]

    def first_touch(self, what, offset, line="read", by=PROGRAM, bits=0):
        recording = self.seen(what)
        touches = self.accesses(recording, FIRST_TOUCH, 1)
        self.assertEqual(len(touches), 1)
        self.assertEqual((touches[0]["size"], touches[0]["peer"]), (offset, by))
        self.assertEqual(touches[0]["tag"] & INEXACT, bits)
        self.assertEqual(self.call(recording, touches[0])["kind"], RECV)
        self.assertEqual(recording.frames(touches[0])[0]["line"], lines()[line])
        self.assertEqual(self.accesses(recording, EARLY_TOUCH, 0) + self.accesses(recording, EARLY_TOUCH, 1), [])
        return recording

    def test_first_touches_are_exact_in_heap_and_static_memory(self):
        self.first_touch("heap", 777 * 8)
        self.first_touch("module", 5000 * 8)

    def test_a_neighbour_on_the_page_is_no_touch(self):
        self.first_touch("small", 2 * 8)

    def test_on_the_stack_the_place_is_exact_and_what_lies_beside_live_frames_is_said_to_be_unknown(self):
        recording = self.seen("stack")
        unseen, seen = self.accesses(recording, FIRST_TOUCH, 1)
        for touch, offset in ((unseen, 0), (seen, 9000 * 8)):
            self.assertEqual((touch["size"], touch["peer"]), (offset, PROGRAM))
            self.assertEqual(touch["tag"] & INEXACT, INEXACT)
            self.assertEqual(self.call(recording, touch)["kind"], RECV)
        # Right behind the call: from then on it may be touched where nobody looks.
        self.assertEqual(unseen["ordinal"], self.call(recording, unseen)["ordinal"] + 1)
        self.assertEqual(recording.frames(seen)[0]["line"], lines()["read"])
        for rank in (0, 1):
            self.assertEqual(self.accesses(recording, EARLY_TOUCH, rank), [])

    def test_gaps_of_a_strided_type_are_not_told(self):
        self.first_touch("strided", 33 * 100 * 8)

    def test_system_calls_are_carried_out_and_told(self):
        self.first_touch("system_calls", 40 * 8, line="system", by=SYSTEM_CALL)

    def test_memory_that_goes_ends_the_wait(self):
        self.first_touch("freed", 0, line="release", by=RELEASE)

    def test_mpi_calls_on_the_cells_are_told(self):
        recording = self.seen("packed")
        touches = self.accesses(recording, FIRST_TOUCH, 1)
        self.assertEqual([(t["size"], t["peer"]) for t in touches], [(72, MPI_CALL)])
        self.assertEqual(recording.frames(touches[0])[0]["line"], lines()["pack"])

    def test_the_next_call_on_the_same_memory_is_its_first_touch_if_nothing_else_is(self):
        recording = self.seen("untouched")
        touches = self.accesses(recording, FIRST_TOUCH, 1)
        self.assertEqual([t["peer"] for t in touches], [MPI_CALL])
        last = self.accesses(recording, LAST_TOUCH, 1)
        self.assertEqual(len(last), 2)
        self.assertEqual(last[0]["tag"] & INEXACT, INEXACT)  # nothing is known before the first call
        self.assertEqual(last[0]["sizes"], [0])
        self.assertEqual((last[1]["peer"], last[1]["tag"] & INEXACT), (MPI_CALL, 0))

    def test_races_are_told_with_line_and_offset(self):
        recording = self.seen("race")
        for rank, offset, line in ((0, 800, "write"), (1, 1600, "read")):
            races = self.accesses(recording, EARLY_TOUCH, rank)
            self.assertEqual([r["size"] for r in races], [offset])
            self.assertEqual(recording.frames(races[0])[0]["line"], lines()[line])
            self.assertIn(self.call(recording, races[0])["call"], ("MPI_Isend", "MPI_Irecv"))

    def test_a_correct_program_has_none(self):
        recording = self.seen("correct")
        for rank in (0, 1):
            self.assertEqual(self.accesses(recording, EARLY_TOUCH, rank), [])
        self.assertEqual(len(self.accesses(recording, FIRST_WRITE, 0)), 1)
        self.assertEqual(len(self.accesses(recording, FIRST_TOUCH, 1)), 1)

    def test_the_programs_own_handlers_run(self):
        for what in ("handler", "own_stack"):
            recording = self.seen(what)
            self.assertEqual([t["size"] for t in self.accesses(recording, FIRST_TOUCH, 1)], [96, 96, 96])

    def test_threads_that_never_call_mpi_are_seen(self):
        self.first_touch("threads", 4321 * 8)

    def test_children_have_everything_open(self):
        self.first_touch("children", 55 * 8)

    def test_accesses_are_no_calls(self):
        _, with_them = self.record(2, "accesses", "heap", options=OPTIONS)
        _, without = self.record(2, "accesses", "heap", options=OPTIONS[1:])
        for key in ("point_to_point", "rank_end_s"):
            self.assertEqual(with_them.summary[key], without.summary[key])

    def test_a_native_run_is_refused(self):
        run = self.observe(2, "accesses", "heap", options=("--record-accesses", "--native"), code=None)
        self.assertNotEqual(run.code, 0)
        self.assertIn("leave out --native", run.stderr)

    def test_programs_behave_as_without(self):
        for ranks, *words in ((3, "exchanges"), (3, "errors"), (3, "callbacks", "longjmp"), (2, "children"),
                              (4, "halo"), (3, "threads")):
            bare = self.bare(ranks, *words)
            run = self.observe(ranks, *words, options=OPTIONS, code=bare.code)
            self.assertEqual(sorted(run.stdout.splitlines()), sorted(bare.stdout.splitlines()), words)


if __name__ == "__main__":
    unittest.main()
