"""A rank's children are no ranks: they are silent, inherit nothing of ours, and may start MPI jobs of their own. What
becomes the rank later (a shell's or an interpreter's last command) still does."""
import collections
import json
import pathlib
import re
import sys
import unittest

from live import MPIRUN, NPLUS1, PROGRAMS, path_of
from recorded import RecordedTest

RANKS = 2


class ForkedChildren(RecordedTest):
    def check(self, mode, exchanges, times=1, code=0):
        for _ in range(times):
            recording, run = self.record(RANKS, "children", mode, options=("--compute", "fixed:0"), code=code)
            self.assertEqual(sum(map(sum, run.summary["point_to_point"]["messages"])), RANKS * exchanges)
            self.assertTrue(run.summary["complete"])
            for rank in range(RANKS):
                edges = collections.Counter(recording.edges(rank))
                self.assertNotIn("only_in_a_child", {name for _, name in edges}, "the child told of itself")
                self.assertEqual({n for kind, n in edges if kind == "begin"}, {n for kind, n in edges if kind == "end"})

    def test_of_the_main_thread_are_silent(self):
        self.check("fork", 20 + 1)

    def test_of_a_thread_are_silent_and_end(self):
        self.check("thread", 20 + 20 * 50 + 1, times=3)

    def test_a_thread_may_end_the_program(self):
        self.assertEqual(self.bare(RANKS, "children", "exit").code, 7)
        for _ in range(3):
            self.observe(RANKS, "children", "exit", code=7)


class Inheritance(RecordedTest):
    OURS = re.compile(r"^(LD_PRELOAD|NPLUS1_|PMI_SIZE)")

    def told(self, run):
        return collections.Counter(line for line in run.stdout.splitlines() if self.OURS.match(line))

    def test_children_inherit_what_they_do_bare(self):
        """By a shell, a pipe, posix_spawn and fork and exec."""
        bare = self.told(self.bare(RANKS, "children", "tell"))
        self.assertEqual(bare, {f"PMI_SIZE={RANKS}": 4})
        self.assertEqual(self.told(self.observe(RANKS, "children", "tell")), bare)
        self.assertEqual(self.told(self.observe(RANKS, "children", "tell", options=("--transport", "tcp"))), bare)

    def test_what_the_user_preloads_himself_they_do_inherit(self):
        run = self.observe(RANKS, "children", "tell", more={"LD_PRELOAD": "libm.so.6"})
        self.assertEqual(self.told(run), {f"PMI_SIZE={RANKS}": 4, "LD_PRELOAD=libm.so.6": 4})

    def nested(self, *words):
        """Runs a job of three from within."""
        return [*words, MPIRUN, "-np", 3, path_of("plain"), "who", "inner"]

    def check_nested(self, run):
        self.assertEqual(sorted(line for line in run.stdout.splitlines() if "inner" in line),
                         [f"rank {r} of 3: inner" for r in range(3)])
        self.assertEqual(run.summary["ranks"], RANKS)
        self.assertTrue(run.summary["complete"])
        self.assertEqual([line for line in run.stderr.splitlines() if not line.startswith("nplus1: note:")], [])

    def test_a_job_within_a_rank_is_a_job_of_its_own(self):
        self.check_nested(self.observe(RANKS, *self.nested("children", "mpirun")))

    def test_a_job_before_the_rank_begins_too(self):
        inner = " ".join(map(str, self.nested()))
        script = f'[ "$PMI_RANK" = 0 ] && {inner}; exec {path_of("plain")} who outer'
        self.check_nested(self.observe(RANKS, "sh", "-c", script))

    def watched(self, *options):
        """A watched job of three, and the summary that it leaves."""
        folder = self.folder / f"inner-{self.runs}"
        return [NPLUS1, "run", "-q", "-n", 3, "-o", folder, *options, "--", path_of("plain"), "who", "inner"], folder

    def check_watched(self, run, folder, **expected):
        self.check_nested(run)
        inner = json.loads((folder / "summary.json").read_text())
        self.assertEqual((inner["ranks"], inner["complete"]), (3, True))
        self.assertEqual(inner["trust"]["active_ranks"], 3)
        for key, value in expected.items():
            self.assertEqual(inner[key], value)

    def test_nplus1_within_a_rank_watches_the_inner_job(self):
        """Before the rank's MPI_Init its shell still has the outer job's environment, and none of it is the inner's."""
        words, folder = self.watched("--network", "lsb:latency=3e-6,bandwidth=1e9")
        script = f'[ "$PMI_RANK" = 0 ] && {" ".join(map(str, words))}; exec {path_of("plain")} who outer'
        run = self.observe(RANKS, "sh", "-c", script, options=("--compute", "fixed:1e-3", "--direct", "off"))
        self.check_watched(run, folder, direct=True)
        self.assertEqual(run.summary["direct"], False)

    def test_nplus1_within_a_rank_that_has_begun_watches_it_too(self):
        words, folder = self.watched()
        self.check_watched(self.observe(RANKS, "children", "mpirun", *words), folder)

    def test_nplus1_within_a_rank_reads_platforms(self):
        """SimGrid refuses a process into which the stubs are preloaded."""
        platform = pathlib.Path(__file__).parents[2] / "platforms" / "cluster64.xml"
        words, folder = self.watched("--platform", platform)
        script = f'[ "$PMI_RANK" = 0 ] && {" ".join(map(str, words))}; exec {path_of("plain")} who outer'
        self.check_watched(self.observe(RANKS, "sh", "-c", script), folder)


class Wrappers(RecordedTest):
    def check(self, *words):
        # An interpreter that has mpi4py would be taken for a program of that library's.
        run = self.observe(RANKS, *words, options=("--mpi", "mpich"))
        self.assertEqual(sorted(run.stdout.splitlines()), [f"rank {r} of {RANKS}: me" for r in range(RANKS)])
        self.assertEqual(run.summary["trust"]["active_ranks"], RANKS)

    def test_of_all_kinds_still_lead_to_the_rank(self):
        program = str(PROGRAMS / "plain")
        self.check("sh", "-c", f"exec {program} who me")
        self.check("sh", "-c", f"{program} who me; exit $?")
        self.check("env", "A=1", program, "who", "me")
        self.check("bash", "-c", f"bash -c '{program} who me'; true")
        # The connection to Hydra is a descriptor that the rank inherits, bare too.
        self.check(sys.executable, "-c",
                   f"import subprocess; subprocess.run(['{program}', 'who', 'me'], check=True, close_fds=False)")
        self.check(sys.executable, "-c", f"import os; os.execv('{program}', ['{program}', 'who', 'me'])")


if __name__ == "__main__":
    unittest.main()
