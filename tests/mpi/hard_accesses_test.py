"""`nplus1 run --record-accesses`, and programs whose signals, processes and memory are easily broken by it: they behave
as without, and where they are correct no race is reported. Also all examples."""
import os
import unittest

from live import NPLUS1
from recorded import LOCAL, SOURCES, RecordedTest

FIRST_WRITE, EARLY_TOUCH = 17, 19
CORRECT = ("signals", "signals_on_stack", "jumps", "timer", "children", "in_place", "nothing", "huge", "stack", "twice",
           "pending", "threads", "thread_memory", "thread_table", "kernel")
EXAMPLES = ((4, "cg_traffic"), (4, "halo", 20, 20000), (3, "hello_c"), (3, "hello_cpp"), (3, "hello_f08"), (3, "hello_mpi"),
            (3, "hello_mpifh"), (4, "imbalance", 4, 1), (5, "master_worker", 40, 10),
            (4, "overlap_1d", "blocking", 4000, 20, 0), (4, "overlap_1d", "by_hand", 4000, 20, 0), (4, "ping_pong", 50, 3000),
            (4, "planted", "halo", "planted"), (4, "waitany", 6, 10), (4, "waitany_order"), (4, "wavefront", 10))


def line(name, program="hard_accesses.c"):
    text = (SOURCES / program).read_text().splitlines()
    return next(i for i, words in enumerate(text, 1) if f"TOUCH({name})" in words)


def lines_of(run):
    return sorted(run.stdout.splitlines())


class HardAccesses(RecordedTest):
    def accesses(self, recording, which):
        return [e for e in recording.events if e["kind"] == LOCAL and e["operation"] == which]

    def check_as_bare(self, ranks, *words):
        bare = self.bare(ranks, *words)
        recording, run = self.record(ranks, *words, options=("--record-accesses", "--compute", "fixed:0"), code=bare.code)
        self.assertEqual(lines_of(run), lines_of(bare))
        self.assertEqual(run.summary["trust"]["clock_mismatches"], 0)
        return recording

    def test_correct_programs_behave_as_without_and_race_nowhere(self):
        for what in CORRECT:
            with self.subTest(what=what):
                recording = self.check_as_bare(2, "hard_accesses", what)
                self.assertEqual(self.accesses(recording, EARLY_TOUCH), [])

    def test_so_do_exceptions_and_fortran_arrays_of_all_shapes(self):
        for program in ("hard_accesses_cpp", "hard_accesses_f08"):
            with self.subTest(program=program):
                self.assertEqual(self.accesses(self.check_as_bare(2, program), EARLY_TOUCH), [])

    def test_only_what_comes_is_stored_where_a_receive_is_told_of_more_memory_than_is_its_own(self):
        self.check_as_bare(2, "hard_accesses", "more_than_comes")

    def test_of_two_sends_of_one_buffer_each_has_its_own_races_and_its_own_first_write(self):
        recording = self.check_as_bare(2, "hard_accesses", "twice_wrong")
        sends = [e["ordinal"] for e in recording.events if e["rank"] == 0 and e["call"] == "MPI_Isend"]
        races = self.accesses(recording, EARLY_TOUCH)
        self.assertEqual([(r["aux"], r["size"]) for r in races], [(sends[0], 4000)])
        self.assertEqual(recording.frames(races[0])[0]["line"], line("race"))
        writes = {e["aux"]: recording.frames(e)[0]["line"] for e in self.accesses(recording, FIRST_WRITE) if e["rank"] == 0}
        self.assertEqual(writes, {sends[1]: line("race"), sends[0]: line("write")})

    def test_no_example_is_left_out(self):
        built = {p.name for p in (NPLUS1.parent / "examples").iterdir() if p.is_file() and os.access(p, os.X_OK)}
        self.assertEqual(built, {program for _, program, *_ in EXAMPLES})

    def test_every_example_says_and_returns_what_it_does_without(self):
        for ranks, *words in EXAMPLES:
            with self.subTest(example=words):
                network = ("--network", "lsb:latency=1e-6,bandwidth=1e9", "--compute", "fixed:1e-6")
                without = self.observe(ranks, *words, options=network, code=None)
                run = self.observe(ranks, *words, options=(*network, "--record-accesses"), code=without.code)
                self.assertEqual(lines_of(run), lines_of(without))
                for key in ("rank_end_s", "point_to_point"):
                    self.assertEqual(run.summary[key], without.summary[key])

    def test_a_program_with_a_sanitizer_is_not_watched_and_told_why(self):
        run = self.observe(2, "sanitized", options=("--record-accesses",))
        self.assertEqual(lines_of(run), ["ran", "ran"])
        self.assertIn("accesses are not recorded: the program was built with -fsanitize=thread", run.stderr)
        self.assertTrue(run.summary["complete"])

    def test_the_cost_of_recording_is_told(self):
        run = self.observe(2, "accesses", "heap", options=("--record-accesses", "--compute", "fixed:0"))
        told = self.run_command([str(NPLUS1), "overlap", str(run.folder)])
        self.assertRegex(told.stdout, r"Recording the accesses: [1-9]\d* faults \(.*\d+ single steps .* changes of protection")


if __name__ == "__main__":
    unittest.main()
