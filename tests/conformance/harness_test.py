#!/usr/bin/env python3
"""The harness itself: testlist lines, verdicts and the proof that the stubs were active."""

import contextlib
import io
import json
import os
import pathlib
import signal
import sys
import tempfile
import time
import types
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import judge  # noqa: E402
import run  # noqa: E402
import testlist  # noqa: E402
from judge import Run  # noqa: E402

PLAIN = testlist.TestCase("pt2pt", "sendself")


class TestLists(unittest.TestCase):
    def test_a_line_may_be_only_a_program(self):
        case = testlist.parse_line("attr", "attrt")
        self.assertEqual((case.program, case.ranks, case.time_limit), ("attrt", 2, 0))

    def test_keys_are_collected_in_order(self):
        case = testlist.parse_line("coll", "x 5 arg=-a arg=b=c env=V=1=2 mpiexecarg=-f timeLimit=300 mem=1.5 strict=FALSE")
        self.assertEqual((case.ranks, case.arguments, case.environment), (5, ["-a", "b=c"], {"V": "1=2"}))
        self.assertEqual((case.mpiexec_arguments, case.time_limit, case.memory, case.strict), (["-f"], 300, 1.5, "false"))

    def test_comments_and_rules_are_no_tests(self):
        self.assertIsNone(testlist.parse_line("coll", "  # only a comment"))
        self.assertIsNone(testlist.parse_line("coll", "!util:library"))
        self.assertEqual(testlist.parse_line("coll", "bcast 4 # four").ranks, 4)

    def test_what_is_not_understood_is_refused(self):
        with self.assertRaises(ValueError):
            testlist.parse_line("coll", "bcast 4 colour=red")
        with self.assertRaises(ValueError):
            testlist.parse_line("coll", "bcast 4 resultTest=TestMood")

    def test_a_newer_standard_is_noticed(self):
        self.assertFalse(testlist.parse_line("coll", "x 2 mpiversion=3.1").needs_newer_mpi())
        self.assertTrue(testlist.parse_line("coll", "x 2 mpiversion=4.1").needs_newer_mpi())

    def test_directories_in_a_list_are_followed(self):
        with tempfile.TemporaryDirectory() as suite:
            inner = pathlib.Path(suite) / "f77" / "coll"
            inner.mkdir(parents=True)
            (inner.parent / "testlist").write_text("coll\n#io\nalone 1\n")
            (inner / "testlist").write_text("redscatf 4\n")
            names = [case.name for case in testlist.read(suite, "f77")]
        self.assertEqual(names, ["f77/coll/redscatf 4", "f77/alone 1"])

    def test_a_missing_list_has_no_tests(self):
        self.assertEqual(testlist.read("/nonexistent", "pt2pt"), [])


class Races(unittest.TestCase):
    def verdict(self, races, racing=(), output="No Errors\n"):
        return run.verdict_on(PLAIN, types.SimpleNamespace(racing=set(racing)), Run(0, output, 1.0, races=races))

    def test_a_test_that_reports_a_race_fails_although_it_passes(self):
        self.assertIsNone(self.verdict([]))
        self.assertEqual(self.verdict(["a.c:7, 0 bytes into the buffer of line 5"]),
                         "reports a race: a.c:7, 0 bytes into the buffer of line 5")

    def test_one_that_is_known_to_race_has_to_pass_only(self):
        self.assertIsNone(self.verdict(["a.c:7"], ["pt2pt/sendself"]))
        self.assertIsNotNone(self.verdict(["a.c:7"], ["pt2pt/sendself"], "wrong\n"))


class Verdicts(unittest.TestCase):
    def judged(self, output, code=0, timed_out=False, kind=""):
        case = testlist.TestCase("init", "x", result_test=kind)
        return judge.failure(case, Run(code, output, 1.0, timed_out))

    def test_only_no_errors_passes(self):
        self.assertIsNone(self.judged(" No Errors\n"))
        self.assertIsNone(self.judged("No errors\nTest Passed\nFORTRAN STOP\n"))
        self.assertIn("without No Errors", self.judged(""))

    def test_other_output_and_repeated_output_fail(self):
        self.assertIn("unexpected", self.judged("No Errors\nwarning: x\n"))
        self.assertIn("unexpected", self.judged("No Errors\nNo Errors\n"))
        self.assertIn("unexpected", self.judged("\nNo Errors\n"))

    def test_an_exit_code_fails_where_none_is_wanted(self):
        self.assertEqual(self.judged("No Errors\n", code=3), "exit code 3")
        self.assertIsNone(self.judged("No Errors\n", code=3, kind="TestStatusNoErrors"))
        self.assertEqual(self.judged("No Errors\n", kind="TestStatusNoErrors"), "exit code 0")

    def test_a_demanded_failure_passes_with_any_output(self):
        for kind in ("TestStatus", "TestErrFatal"):
            self.assertIsNone(self.judged("killed\n", code=9, kind=kind))
            self.assertIsNotNone(self.judged("No Errors\n", kind=kind))

    def test_the_time_limit_is_a_failure(self):
        self.assertEqual(self.judged("No Errors\n", timed_out=True), "time limit")

    def test_the_simulators_own_words_are_not_the_tests(self):
        self.assertIsNone(self.judged(f"No Errors\n\n{judge.SIMULATOR_MARK}\nterminate called\n"))

    def test_what_a_rank_says_of_arguments_that_mpi_takes_is_not_the_tests(self):
        said = "nplus1: rank 3: arguments that look wrong: the program goes on without us, and the simulation ends here"
        self.assertIsNone(self.judged(f"{said}\nNo Errors\n"))
        self.assertIn("nplus1: rank 3", self.judged("nplus1: rank 3: something else\nNo Errors\n"))


class Activity(unittest.TestCase):
    def judged(self, summary):
        with tempfile.TemporaryDirectory() as folder:
            if summary is not None:
                (pathlib.Path(folder) / "summary.json").write_text(json.dumps(summary))
            return judge.inactivity(PLAIN, folder)

    def test_all_ranks_with_events_are_active(self):
        self.assertIsNone(self.judged({"ranks": 2, "trust": {"active_ranks": 2, "events": 9}}))

    def test_fewer_ranks_another_world_or_no_events_are_not(self):
        self.assertIn("1 of 2", self.judged({"ranks": 2, "trust": {"active_ranks": 1, "events": 9}}))
        self.assertIn("3 ranks", self.judged({"ranks": 3, "trust": {"active_ranks": 3, "events": 9}}))
        self.assertIn("no events", self.judged({"ranks": 2, "trust": {"active_ranks": 2, "events": 0}}))
        self.assertIn("summary", self.judged(None))


class Endings(unittest.TestCase):
    def test_a_program_that_hangs_is_told_to_end_and_then_made_to(self):
        launcher = run.Launcher(types.SimpleNamespace())
        self.addCleanup(launcher.close)
        with unittest.mock.patch.multiple(run, GRACE=0, SECONDS_TO_END=2):
            for ends, code in (("exit 3", 3), (":", -signal.SIGKILL)):
                with self.subTest(ends):
                    loop = f"trap 'echo told; {ends}' TERM; while :; do sleep 0.1; done"
                    done = launcher._execute(["sh", "-c", loop], "/", os.environ, 1)
                    self.assertEqual((done.code, done.timed_out), (code, True))
                    self.assertTrue(done.output.endswith("told\n"), done.output)


class Turns(unittest.TestCase):
    def side_by_side(self, directory):
        """How many of a directory's tests ran at a time."""
        running, most = set(), []

        def examine(case, _launcher, _exempt):
            running.add(case.program)
            time.sleep(0.05)
            most.append(len(running))
            running.discard(case.program)
            return run.Outcome(case, "passed")

        cases = [testlist.TestCase(directory, str(number)) for number in range(4)]
        launcher = types.SimpleNamespace(options=types.SimpleNamespace(jobs=2))
        with unittest.mock.patch.object(run, "examine", examine), contextlib.redirect_stdout(io.StringIO()):
            run.run_all(cases, launcher, set())
        return max(most)

    def test_tests_of_files_are_not_run_side_by_side(self):
        self.assertEqual(self.side_by_side("f90/io"), 1)
        self.assertEqual(self.side_by_side("pt2pt"), 2)


class LeftOut(unittest.TestCase):
    def test_what_needs_options_of_mpichs_mpiexec_is_not_started_by_another(self):
        """Open MPI's mpirun refuses them, which looked like the end that those tests ask for."""
        case = testlist.parse_line("errors/comm", "subcomm_abort 4 mpiexecarg=-disable-auto-cleanup resultTest=TestStatus")
        with unittest.mock.patch.object(run, "build", lambda _case, _options: ""):
            reasons = [run.reason_to_skip(case, types.SimpleNamespace(mpi=mpi, memory=12)) for mpi in ("openmpi", "mpich")]
        self.assertEqual(reasons, ["needs options of MPICH's mpiexec", ""])


class Flaky(unittest.TestCase):
    """A test that fails and then passes is neither a pass nor a failure of its own."""

    class Scripted:
        """A launcher whose runs under nplus1 end as listed; bare ones pass."""

        def __init__(self, *codes):
            self.codes = list(codes)
            self.options = types.SimpleNamespace(repeat=True, ours_first=False, memory=12)

        def run(self, _case, way):
            code = 0 if way != "nplus1" else self.codes.pop(0)
            return Run(code, "No Errors\n", 1.0, False), None

    def outcome(self, *codes):
        with unittest.mock.patch.object(run, "reason_to_skip", lambda _case, _options: None):
            return run.examine(PLAIN, self.Scripted(*codes), set())

    def test_is_what_fails_once(self):
        self.assertEqual(self.outcome(0).verdict, "passed")
        self.assertEqual(self.outcome(1, 0).verdict, "flaky")
        self.assertEqual(self.outcome(1, 1, 0).verdict, "flaky")
        self.assertEqual(self.outcome(1, 1, 1).verdict, "failed")

    def test_is_no_pass(self):
        flaky = self.outcome(1, 0)
        rows, _ = run.table([flaky, self.outcome(0)])
        self.assertEqual((rows["pt2pt"]["nplus1"], rows["pt2pt"]["flaky"]), (1, 1))
        self.assertEqual(run.names_of([flaky], "flaky"), [PLAIN.name])

    def test_is_bounded(self):
        passed, flaky = self.outcome(0), self.outcome(1, 0)
        self.assertFalse(run.too_many_flaky([passed] * 34))
        self.assertFalse(run.too_many_flaky([passed] * 34 + [flaky]))
        self.assertTrue(run.too_many_flaky([passed] * 33 + [flaky] * 2))
        self.assertFalse(run.too_many_flaky([passed] * 198 + [flaky] * 2))
        self.assertTrue(run.too_many_flaky([passed] * 197 + [flaky] * 3))


if __name__ == "__main__":
    unittest.main()
