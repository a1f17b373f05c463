"""Output and exit code are those of the bare program, however it ends; what was seen until then is in the results."""
import json
import os
import pathlib
import signal
import subprocess
import unittest

from live import LIMIT, LiveTest, MPIRUN, NPLUS1, PROGRAMS, alive_below, descendants, environment, wait_until

WORK = "repeat 3 {{ send 1 100; recv 1 100 }}; {}"
PEER = "repeat 3 { recv 0 100; send 0 100 }"


class Endings(LiveTest):
    def check(self, code, ranks, *words, times=5, complete=None):
        """Codes are compared with the bare run; output where Hydra does not kill the job (it drops some then)."""
        bare = self.bare(ranks, *words)
        self.assertEqual(bare.code, code)
        for _ in range(times):
            run = self.observe(ranks, *words, code=code)
            if complete is not None:
                self.assertEqual(run.stdout, bare.stdout)
                self.assertEqual(run.summary["complete"], complete)
        return run

    def of_killed_job(self, code, *words):
        """Three runs of a job of two ranks that Hydra kills, with the code of the rank that it kills it for."""
        self.assertEqual(self.bare(2, *words).code, code)
        return [self.observe(2, *words, code=code) for _ in range(3)]

    def test_return_5_after_finalize(self):
        self.check(5, 2, "script", WORK.format("return 5"), PEER, complete=True)

    def test_exit_5_after_finalize(self):
        self.check(5, 3, "plain", "late", 5, complete=True)

    def test_exit_0(self):
        self.check(0, 2, "script", WORK.format(""), PEER, complete=True)

    def test_a_program_without_mpi_is_not_observed_and_that_is_the_reason_given(self):
        run = self.run_command(self.command(2, "/bin/true", output=self.folder / "out"))
        self.assertEqual((run.returncode, run.stdout), (0, ""), run.stderr)
        self.assertIn("there is no result", run.stderr)
        self.assertIn("no process of the job called MPI_Init", run.stderr)

    def test_exit_before_init(self):
        for code in (0, 3):
            bare = self.bare(3, "plain", "early", code)
            for _ in range(5):
                run = self.observe(3, "plain", "early", code, code=bare.code)
                self.assertEqual(run.stdout, "")

    def test_killed_jobs_keep_their_code_and_what_was_seen(self):
        for how, code in (("abort 7", 7), *((f"raise {s.value}", s.value) for s in (signal.SIGSEGV, signal.SIGABRT, signal.SIGKILL))):
            with self.subTest(how=how):
                words = ("script", WORK.format(how), PEER + "; recv 0 4")
                for run in self.of_killed_job(code, *words):
                    summary = run.summary
                    self.assertFalse(summary["complete"])
                    self.assertEqual(summary["point_to_point"]["messages"], [[0, 3], [3, 0]])
                    self.assertEqual(summary["point_to_point"]["bytes"], [[0, 300], [300, 0]])

    def test_exit_without_finalize(self):
        words = ("script", WORK.format("exit 4"), PEER)
        for run in self.of_killed_job(4, *words):
            self.assertEqual(run.summary["point_to_point"]["messages"], [[0, 3], [3, 0]])


    def test_all_may_leave_without_finalize(self):
        """Bare it is Hydra's race whether the code is theirs, or that of its kill of those who are not out yet."""
        for how, code in (("_exit 0", 0), ("exit 3", 3)):
            for _ in range(6):
                with self.subTest(how=how):
                    run = self.observe(4, "script", f"barrier; {how}", code=code)
                    self.assertEqual(run.summary["trust"]["active_ranks"], 4)

    def test_one_that_leaves_without_finalize_ends_the_others(self):
        self.observe(2, "script", "barrier; exit 0", "barrier; recv 0 4", code=None)  # it hangs if they are not

    def test_a_child_of_vfork_that_ends_is_not_the_rank(self):
        run = self.observe(2, "plain", "vfork", code=0)
        self.assertTrue(run.summary["complete"])


class ToldToEnd(LiveTest):
    def test_a_job_whose_output_is_held_open_by_what_a_rank_has_left_behind_ends(self):
        """mpirun waits for whoever holds its ranks' output, as bare; it is not woken by SIGTERM."""
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number):
                script = f'[ "$PMI_RANK" = 0 ] && setsid sleep {LIMIT} & exec {PROGRAMS}/plain who me'
                job = subprocess.Popen(self.command(2, "sh", "-c", script, output=self.folder / f"out-{number}"), cwd=self.folder,
                                       env=environment(), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       stdin=subprocess.DEVNULL)
                lines = [job.stdout.readline() for _ in range(2)]
                self.assertTrue(wait_until(lambda job=job: "plain" not in alive_below(job.pid), LIMIT))
                sleepers = [p for p, name in descendants(job.pid).items() if name == "sleep"]
                self.assertIsNone(job.poll())
                job.send_signal(number)
                code = wait_until(job.poll, LIMIT / 2)
                for sleeper in sleepers:
                    os.kill(sleeper, signal.SIGKILL)
                _, err = job.communicate(timeout=LIMIT)
                self.assertEqual(code, 128 + number, err)
                self.assertEqual(sorted(lines), [f"rank {r} of 2: me\n" for r in range(2)])
                self.assertIn(f"holds their output open: sleep ({sleepers[0]})\n", err)
                self.assertEqual(err.count("mpirun did not end"), 1, err)
                self.assertTrue((self.folder / f"out-{number}/summary.json").exists())


class Streams(LiveTest):
    def test_stdin_goes_to_rank_0(self):
        text = "".join(f"line {i}\n" for i in range(5000))
        bare = subprocess.run(["mpirun.mpich", "-np", "3", str(PROGRAMS / "plain"), "stdin"], input=text, text=True,
                              capture_output=True, timeout=LIMIT, check=False, env=environment())
        run = self.observe(3, "plain", "stdin", input=text)
        self.assertEqual(sorted(run.stdout.splitlines()), sorted(bare.stdout.splitlines()))
        self.assertIn("5000 lines", run.stdout)

    def test_several_programs(self):
        program = str(PROGRAMS / "plain")
        run = self.observe(2, "plain", "who", "one", ":", "-n", "3", program, "who", "two")
        self.assertEqual(sorted(run.stdout.splitlines()),
                         [f"rank {r} of 5: {'one' if r < 2 else 'two'}" for r in range(5)])
        self.assertEqual(run.summary["ranks"], 5)

    def test_a_shell_around_the_program(self):
        for script in ('exec "$0" who shell', '"$0" who shell'):
            with self.subTest(script=script):
                run = self.observe(3, "sh", "-c", script, PROGRAMS / "plain")
                self.assertEqual(sorted(run.stdout.splitlines()), [f"rank {r} of 3: shell" for r in range(3)])
                self.assertEqual(run.summary["trust"]["active_ranks"], 3)

    def test_a_native_run_has_no_simulator_and_all_its_ranks(self):
        run = self.run_command(self.command(3, "plain", "who", "me", options=("--native",)))
        self.assertEqual(sorted(run.stdout.splitlines()), [f"rank {r} of 3: me" for r in range(3)])
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertEqual(list(self.folder.iterdir()), [])


class NoRoomForResults(LiveTest):
    """The program finishes; one message says what is missing."""

    def test_an_output_folder_that_vanishes(self):
        job = subprocess.Popen(self.command(2, "script", "delay 1; send 1 4", "recv 0 4", output=self.folder / "out"),
                               cwd=self.folder, env=environment(), text=True, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        self.assertTrue(wait_until(lambda: (self.folder / "out").exists()))
        os.rmdir(self.folder / "out")
        (self.folder / "out").write_text("in the way")
        out, err = job.communicate(timeout=LIMIT)
        self.assertEqual(job.returncode, 0, err)
        self.assertEqual(pathlib.Path(self.folder, "out").read_text(), "in the way")

    def test_a_dev_null_that_may_only_be_read(self):
        """The job ends, though what waits for its ranks has nowhere to send its own output."""
        null = self.folder / "null"
        null.touch()
        words = self.command(2, "script", WORK.format(""), PEER, output=self.folder / "out")
        run = self.run_command(["unshare", "--mount", "--", "sh", "-c", 'mount --bind "$0" /dev/null && mount -o remount,bind,ro /dev/null && '
                                'exec "$@"', null, *words])
        if "mount" in run.stderr:
            self.skipTest("mount is not allowed here")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertTrue((self.folder / "out" / "summary.json").exists())

    def test_a_full_disk(self):
        disk = self.folder / "disk"
        disk.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8k", "none", str(disk)], capture_output=True).returncode:
            self.skipTest("mount is not allowed here")
        try:
            (disk / "filler").write_bytes(b"x" * 4096)
            command = self.command(2, "script", "send 1 4", "recv 0 4", output=disk / "out")
            run = self.run_command(command)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assert_says_what_is_missing(run.stderr)
        finally:
            subprocess.run(["umount", str(disk)], check=False)

    def test_what_nplus1_says_may_be_lost(self):
        bare = sorted(self.bare(3, "plain", "who").stdout.splitlines())
        for where in ("2> /dev/full", "2>&-", "2>&- <&-"):
            with self.subTest(where):
                self.runs += 1
                folder = self.folder / f"result-{self.runs}"
                words = [str(NPLUS1), "run", "-n", "3", "-o", str(folder), "--", str(PROGRAMS / "plain"), "who"]
                # Hydra, which will not start without a stderr, has one; nplus1 has not.
                started = {"NPLUS1_MPIRUN": self.with_an_error_stream()} if "&-" in where else {}
                done = self.run_command(["sh", "-c", f'exec "$@" {where}', "sh", *words], started)
                self.assertEqual(done.returncode, 0)
                self.assertEqual(sorted(done.stdout.splitlines()), bare)
                self.assertTrue((folder / "report.html").exists())
                self.assertEqual(json.loads((folder / "summary.json").read_text())["complete"], True)

    def with_an_error_stream(self):
        mpirun = self.folder / "mpirun"
        mpirun.write_text(f'#!/bin/sh\nexec {MPIRUN} "$@" 2> /dev/null < /dev/null\n')
        mpirun.chmod(0o755)
        return mpirun

    def test_files_of_the_simulator_that_may_not_grow(self):
        simulator = self.folder / "simulator"
        simulator.write_text(f'#!/bin/sh\nulimit -f 0\nexec "{NPLUS1.parent}/nplus1-simnode" "$@"\n')
        simulator.chmod(0o755)
        command = self.command(2, "script", "send 1 4", "recv 0 4", output=self.folder / "out")
        run = self.run_command(command, {"NPLUS1_SIMNODE": simulator})
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assert_says_what_is_missing(run.stderr)

    def assert_says_what_is_missing(self, text):
        self.assertEqual(text.count("nplus1: "), 1, text)
        self.assertRegex(text, "not complete|no result")


if __name__ == "__main__":
    unittest.main()
