"""The mpirun line, and what `nplus1 run` does around mpirun: streams, exit codes, signals, waiting for the simulator."""
import os
import shlex
import signal
import subprocess
import time
import unittest

from command import NPLUS1, CommandTest


class Line(CommandTest):
    def line(self, *words):
        result = self.nplus1("run", "--print", *words)
        self.assertEqual(result.returncode, 0, result.stderr)
        return shlex.split(result.stdout)

    def genv(self, line):
        return {line[i + 1]: line[i + 2] for i, word in enumerate(line) if word == "-genv"}

    def test_one_rank_more_than_asked_for(self):
        line = self.line("-n", "16", "--", "./app", "-n", "3", "two words", "--", "$HOME")
        self.assertEqual(line[0], str(self.folder / "mpirun"))
        self.assertEqual(line[-8:], ["-np", "17", "./app", "-n", "3", "two words", "--", "$HOME"])
        variables = self.genv(line)
        self.assertEqual(variables["LD_PRELOAD"], str(self.folder / "stubs.so"))
        self.assertEqual(variables["NPLUS1_OUTPUT"], str(self.folder / "nplus1-app-16-1"))
        self.assertEqual([name for name in variables if not name.startswith(("LD_PRELOAD", "NPLUS1_"))], [],
                         "no setting of the MPI library's is touched")

    def test_printing_makes_no_folder(self):
        self.line("-n", "2", "--", "./app")
        self.assertFalse((self.folder / "nplus1-app-2-1").exists())

    def test_dashes_may_be_left_out(self):
        self.assertEqual(self.line("-n", "2", "./app", "-x", "--", "y")[-6:], ["-np", "3", "./app", "-x", "--", "y"])

    def test_the_extra_rank_belongs_to_the_last_of_several_programs(self):
        line = self.line("-n", "4", "--", "./app", "a", ":", "-n", "2", "-host", "here", "./app", "b")
        self.assertEqual(line[-11:], ["-np", "4", "./app", "a", ":", "-np", "3", "-host", "here", "./app", "b"])
        self.assertEqual(self.genv(line)["NPLUS1_OUTPUT"], str(self.folder / "nplus1-app-6-1"))

    def test_native_runs_have_no_extra_rank_and_no_folder(self):
        line = self.line("-n", "4", "--native", "--", "./app")
        self.assertEqual(line[-3:], ["-np", "4", "./app"])
        self.assertEqual(self.genv(line)["NPLUS1_NATIVE"], "1")
        self.assertNotIn("NPLUS1_OUTPUT", self.genv(line))

    def test_options_reach_the_ranks_as_variables(self):
        self.write("costs", "* * 0\n")
        variables = self.genv(self.line(
            "-n", "2", "--network", "lsb:latency=1e-6", "--clock", "wall", "--compute", "file:costs", "--protocol",
            "riesen", "--transport", "tcp", "--direct", "off", "--virtual-clocks", "--on-deadlock", "continue",
            "--poll-cost", "1e-7,1e-5", "--quiet", "--verbose", "--", "./app"))
        wanted = {"NETWORK": "lsb:latency=1e-6", "CLOCK": "wall", "COMPUTE": f"file:{self.folder}/costs",
                  "PROTOCOL": "riesen", "TRANSPORT": "tcp", "DIRECT": "off", "VIRTUAL_CLOCKS": "1",
                  "ON_DEADLOCK": "continue", "POLL_COST": "1e-7,1e-5", "QUIET": "1", "VERBOSE": "1"}
        self.assertEqual({k: variables.get("NPLUS1_" + k) for k in wanted}, wanted)

    def test_flag_beats_environment_beats_file(self):
        self.write("nplus1.toml", "[run]\nclock = 'cpu'\nprotocol = 'riesen'\ndirect = 'off'\nranks = 5\n")
        self.set("NPLUS1_CLOCK", "wall")
        self.set("NPLUS1_PROTOCOL", "conservative")
        line = self.line("--clock", "auto", "--", "./app")
        variables = self.genv(line)
        self.assertEqual(variables["NPLUS1_CLOCK"], "auto")
        self.assertEqual(variables["NPLUS1_PROTOCOL"], "conservative")
        self.assertEqual(variables["NPLUS1_DIRECT"], "off")
        self.assertEqual(line[-2:], ["6", "./app"])

    def test_mpirun_options_go_through_and_excuse_programs_of_other_hosts(self):
        line = self.line("-n", "2", "--mpi-args", "-f 'my hosts' -ppn 4", "--mpi-args", "-l", "--", "/elsewhere/app")
        self.assertEqual(line[-8:], ["-f", "my hosts", "-ppn", "4", "-l", "-np", "3", "/elsewhere/app"])

    def test_the_users_own_settings_stay(self):
        self.set("LD_PRELOAD", "libm.so.6")
        variables = self.genv(self.line("-n", "2", "--", "./app"))
        self.assertEqual(variables["LD_PRELOAD"], f"{self.folder}/stubs.so:libm.so.6")


class LaunchersOwnLine(CommandTest):
    """`nplus1 run -- mpirun -n 4 ./app`: the launchers are stand-ins in PATH, but the names are the real ones'."""

    def setUp(self):
        super().setUp()
        self.set("NPLUS1_OPENMPI_STUBS", self.write("openmpi.so", ""))
        self.set("PATH", f"{self.folder}:{self.environment['PATH']}")
        for name in ("srun", "flux", "prun"):
            self.script(name, "exit 0")
        for name in ("SLURM_NTASKS", "SLURM_EXPORT_ENV", "SLURM_JOB_ID"):
            self.environment.pop(name, None)

    def line(self, *words):
        result = self.nplus1("run", "--print", *words)
        self.assertEqual(result.returncode, 0, result.stderr)
        return shlex.split(result.stdout)

    def says(self, name, version):
        self.script(name, f'[ "$1" = --version ] && echo "{version}"; exit 0')

    def test_hydras_gets_our_variables_and_one_rank_more(self):
        self.script("mpiexec.hydra", "exit 0")
        line = self.line("--", "mpiexec.hydra", "-f", "my hosts", "-n", "4", "-genv", "A", "b", "./app", "-n", "3")
        self.assertEqual(line[:4], ["mpiexec.hydra", "-genv", "LD_PRELOAD", str(self.folder / "stubs.so")])
        self.assertEqual(line[-10:], ["-np", "5", "-f", "my hosts", "-genv", "A", "b", "./app", "-n", "3"])

    def test_mpirun_is_whose_it_says_it_is(self):
        self.says("mpirun", "HYDRA build details:")
        self.assertEqual(self.line("--", "mpirun", "-n", "2", "./app")[-3:], ["-np", "3", "./app"])
        self.says("mpirun", "mpirun (Open MPI) 4.1.4")
        line = self.line("--", "mpirun", "-n", "2", "--bind-to", "none", "./app")
        self.assertEqual(line, ["/usr/bin/env", f"NPLUS1_OUTPUT={self.folder}/nplus1-app-2-1", "mpirun", "--bind-to",
                                "none", "-x", f"LD_PRELOAD={self.folder}/openmpi.so", "-n", "2", "./app"])
        self.says("mpirun", "Intel(R) MPI Library")
        refused = self.nplus1("run", "--", "mpirun", "-n", "2", "./app")
        self.assertEqual((refused.returncode, len(refused.stderr.splitlines())), (64, 3), refused.stderr)
        self.assertIn("neither", refused.stderr)

    def test_what_slurm_hands_to_the_ranks(self):
        line = self.line("--network", "lsb", "--", "srun", "--mpi=pmi2", "-n16", "./app")
        self.assertEqual(line[0], "/usr/bin/env")
        self.assertEqual(line[1:line.index("srun")],
                         [f"NPLUS1_OUTPUT={self.folder}/nplus1-app-16-1", "NPLUS1_NETWORK=lsb"])
        self.assertEqual(line[line.index("srun"):],
                         ["srun", "--mpi=pmi2", "--export=ALL,NPLUS1_OUTPUT,NPLUS1_NETWORK,NPLUS1_MEETING,"
                          f"LD_PRELOAD={self.folder}/stubs.so", "-n", "16", "./app"])

    def test_flux_and_prun(self):
        self.assertIn(f"--env=LD_PRELOAD={self.folder}/stubs.so", self.line("--", "flux", "run", "-n", "2", "./app"))
        self.assertIn("NPLUS1_MEETING", self.line("--mpi", "openmpi", "--", "prun", "-n", "2", "./app"))

    def test_the_ranks_may_be_said_before_it(self):
        self.script("mpiexec.hydra", "exit 0")
        self.assertEqual(self.line("-n", "4", "--", "mpiexec.hydra", "./app")[-3:], ["-np", "5", "./app"])
        self.assertEqual(self.line("-n", "4", "--", "mpiexec.hydra", "-np", "4", "./app")[-3:], ["-np", "5", "./app"])

    def test_what_cannot_be_taken_apart(self):
        self.script("mpiexec.hydra", f"touch {self.folder}/started")
        for mention, words in (("how many ranks", ["./app"]), ("-frobnicate", ["-frobnicate", "-n", "2", "./app"]),
                               ("told of 4 ranks", ["-n", "2", "./app"]), ("LD_PRELOAD", ["-genv", "LD_PRELOAD", "x",
                                                                                         "-n", "2", "./app"]),
                               ("program", ["-n", "2"]), ("configfile", ["-configfile", "f"])):
            said = ["-n", "4"] if mention.startswith("told") else []
            self.assert_refused(64, mention, "run", *said, "--", "mpiexec.hydra", *words)
        self.assert_refused(64, "--mpi-args", "run", "--mpi-args", "-l", "--", "mpiexec.hydra", "-n", "2", "./app")
        self.assert_refused(64, "flux run", "run", "--", "flux", "batch", "./app")
        self.assert_refused(69, "srun", "run", "--", "/nowhere/srun", "-n", "2", "./app")
        self.assert_refused(65, "Open MPI", "run", "--mpi", "openmpi", "--", "mpiexec.hydra", "-n", "2", "./app")
        self.assertFalse((self.folder / "started").exists())


class OutputName(CommandTest):
    def test_job_and_ranks_in_the_name(self):
        self.set("SLURM_JOB_ID", "4711")
        result = self.nplus1("run", "--print", "-n", "2", "-o", "r-%j-%n-%%", "--", "./app")
        self.assertIn(f"{self.folder}/r-4711-2-%", result.stdout, result.stderr)

    def test_what_stands_for_nothing(self):
        self.assert_refused(64, "%q", "run", "-n", "2", "-o", "r-%q", "--", "./app")
        self.assert_refused(64, "'%'", "run", "-n", "2", "-o", "r-%", "--", "./app")


# A stand-in for mpirun, until there is a file `over`: says whenever it has a signal.
COUNTS_SIGNALS = r"""
#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>
static void say(int number) { (void)!write(number == SIGTERM ? 1 : 2, "got TERM\n", 9); }
int main(void) {
  const struct timespec moment = {0, 10000000};
  signal(SIGTERM, say);
  close(open("ready", O_CREAT | O_WRONLY, 0600));
  for (int i = 0; i < 6000 && access("over", F_OK) != 0; ++i) nanosleep(&moment, NULL);
  return 0;
}
"""
# It is long in coming back from the start of a program.
SLOW_TO_KNOW = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <spawn.h>
#include <unistd.h>
static void linger(void) {
  for (int i = 0; i < 100; ++i) usleep(10000);  // a signal ends a sleep
}
int posix_spawnp(pid_t* pid, const char* file, const posix_spawn_file_actions_t* actions, const posix_spawnattr_t* attributes,
                 char* const words[], char* const environment[]) {
  int (*next)(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*, char* const[], char* const[]);
  *(void**)&next = dlsym(RTLD_NEXT, "posix_spawnp");
  const int code = next(pid, file, actions, attributes, words, environment);
  linger();
  return code;
}
pid_t fork(void) {
  pid_t (*next)(void);
  *(void**)&next = dlsym(RTLD_NEXT, "fork");
  const pid_t pid = next();
  if (pid > 0) linger();
  return pid;
}
"""


class Run(CommandTest):
    """mpirun is a stand-in that does what the test says."""

    # What the simulator does: survives mpirun in a session of its own, and writes its results late.
    SIMULATOR = ('for a; do [ "$last" = NPLUS1_OUTPUT ] && dir=$a; last=$a; done\n'
                 'setsid sh -c "exec <&- >&- 2>&-; sleep 0.5; echo THE SUMMARY > $dir/summary.txt" &\n')

    def test_streams_pass_through_and_the_summary_goes_to_stderr(self):
        self.script("mpirun", self.SIMULATOR + "cat; echo warning >&2; exit 7")
        self.write("in", "from stdin\n")
        with open(self.folder / "in") as stdin:
            result = self.nplus1("run", "-n", "2", "--", "./app", stdin=stdin)
        self.assertEqual(result.returncode, 7)
        self.assertEqual(result.stdout, "from stdin\n")
        self.assertTrue(result.stderr.endswith("THE SUMMARY\n"), result.stderr)
        self.assertEqual((self.folder / "nplus1-app-2-1/summary.txt").read_text(), "THE SUMMARY\n")

    def test_the_line_that_is_shown_can_be_pasted(self):
        self.script("mpirun", 'printf "%s\\n" "$@" >> seen; echo >> seen')
        result = self.nplus1("run", "-n", "2", "--", "./app", "two words", "$x'")
        shown = result.stderr.splitlines()[0].removeprefix("nplus1: ")
        subprocess.run(shown, shell=True, cwd=self.folder, env=self.environment, check=True)
        first, second, _ = (self.folder / "seen").read_text().split("\n\n")
        self.assertEqual(first, second)

    def test_what_the_simulator_could_not_write_is_said_even_with_quiet(self):
        self.script("mpirun", self.SIMULATOR.replace("THE SUMMARY > $dir/summary.txt", "DISK FULL > $dir/error.txt"))
        result = self.nplus1("run", "-q", "-n", "2", "--", "./app")
        self.assertEqual(result.returncode, 0)
        self.assertIn("DISK FULL", result.stderr)

    def test_a_script_that_starts_a_job_itself_is_named(self):
        self.script("mpirun", "exit 0")
        for line, launcher in (("exec mpirun `echo $OPTIONS` /usr/lib/app \"$@\"", "mpirun"), ("/usr/bin/mpiexec.hydra -n 4 ./app", "/usr/bin/mpiexec.hydra"),
                               ("cd x && srun -n 2 ./app", "srun"), ("  for i in 1 2; do mpirun -n $i ./app; done", "mpirun")):
            self.assertIn(f"is a script that calls {launcher} itself",
                          self.nplus1("run", "-n", "2", self.script("job", line)).stderr)
        for line in ("# mpirun -n 4 ./app", "./app --like mpirun", "mpirun=no; ./app", "echo use mpirun to start this"):
            self.assertNotIn("is a script that calls", self.nplus1("run", "-n", "2", self.script("job", line)).stderr)

    def test_quiet_says_nothing(self):
        self.script("mpirun", self.SIMULATOR)
        result = self.nplus1("run", "-q", "-n", "2", "--", "./app")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))

    def test_death_by_signal_becomes_128_plus_its_number(self):
        self.script("mpirun", "kill -SEGV $$")
        self.assertEqual(self.nplus1("run", "-n", "2", "--", "./app").returncode, 128 + signal.SIGSEGV)

    def test_without_a_simulator_it_says_so_and_leaves_no_empty_folder(self):
        result = self.nplus1("run", "-n", "2", "--", "./app")
        self.assertEqual(result.returncode, 0)
        self.assertIn("there is no result", result.stderr)
        self.assertFalse((self.folder / "nplus1-app-2-1").exists())

    def test_that_there_is_no_result_is_said_even_with_quiet(self):
        result = self.nplus1("run", "-q", "-n", "2", "--", "./app")
        self.assertEqual(result.returncode, 0)
        self.assertIn("there is no result", result.stderr)

    def test_why_there_is_no_result_is_known_by_how_the_simulator_ended(self):
        """Its keeper's exit code: the folder may have no room for a word."""
        for code, words in ((74, "could not write it"), (75, "called MPI_Init"), (137, "signal 9")):
            self.script("mpirun", f'setsid sh -c "exec <&- >&- 2>&-; sleep 0.2; exit {code}" &\nexit 0')
            result = self.nplus1("run", "-q", "-n", "2", "--", "./app")
            self.assertEqual(result.returncode, 0)
            self.assertIn(words, result.stderr)

    def test_a_reason_that_did_not_fit_on_the_disk_is_found_out(self):
        self.script("mpirun", self.SIMULATOR.replace("echo THE SUMMARY > $dir/summary.txt", "> $dir/error.txt"))
        result = self.nplus1("run", "-q", "-n", "2", "--", "./app")
        self.assertRegex(result.stderr, "there is no result:\n.*disk")

    def test_missing_folders_above_the_output_are_made(self):
        self.script("mpirun", self.SIMULATOR)
        self.assertEqual(self.nplus1("run", "-n", "2", "-o", "a/b/c", "--", "./app").returncode, 0)
        self.assertTrue((self.folder / "a/b/c/summary.txt").exists())

    def test_each_run_has_a_folder_of_its_own(self):
        self.script("mpirun", self.SIMULATOR)
        for k in (1, 2):
            self.nplus1("run", "-n", "2", "--", "./app")
            self.assertTrue((self.folder / f"nplus1-app-2-{k}/summary.txt").exists())

    def test_a_process_that_the_application_left_behind_does_not_hold_it_up(self):
        self.script("mpirun", self.SIMULATOR + 'setsid sh -c "exec <&- >&- 2>&-; sleep 30" &\necho $! > left')
        start = time.monotonic()
        result = self.nplus1("run", "-n", "2", "--", "./app")
        self.assertLess(time.monotonic() - start, 15)
        self.assertIn("THE SUMMARY", result.stderr)
        os.kill(int((self.folder / "left").read_text()), signal.SIGKILL)

    def test_signals_reach_mpirun(self):
        self.script("mpirun", "trap 'echo got TERM; exit 9' TERM\ntouch ready\nwhile :; do sleep 0.05; done")
        process = self.start("run", "-n", "2", "--", "./app")
        while not (self.folder / "ready").exists():
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        output, _ = process.communicate(timeout=30)
        self.assertEqual((process.returncode, output), (9, "got TERM\n"))

    def test_an_mpirun_that_waits_for_itself_is_ended(self):
        self.compile("mpirun", COUNTS_SIGNALS)
        process = self.start("run", "-n", "2", "--", "./app")
        while not (self.folder / "ready").exists():
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 128 + signal.SIGTERM)
        self.assertIn("did not end when it was told to, though all ranks have ended\n", said)

    def start_in_a_group(self, number, more=None, options=()):
        (self.folder / "over").unlink(missing_ok=True)
        process = subprocess.Popen([NPLUS1, "run", "-n", "2", *options, "-o", f"out-{number}", "--", "./app"], cwd=self.folder,
                                   env={**self.environment, **(more or {})}, text=True, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, start_new_session=True)
        while not (self.folder / "ready").exists():
            time.sleep(0.01)
        (self.folder / "ready").unlink()
        return process

    def ends_without_more(self, process):
        self.write("over", "")
        self.assertEqual(process.stdout.read(), "")
        process.stdout.close()
        self.assertEqual(process.wait(timeout=30), 0)

    def test_mpirun_has_a_signal_once_also_where_its_whole_group_has_it(self):
        self.compile("mpirun", COUNTS_SIGNALS)
        alone, all_of_them = os.kill, os.killpg
        # Two signals at once may come as one, so that it is tried more than once.
        for number, sends in enumerate(([alone], *[[all_of_them]] * 5, [all_of_them, alone])):
            with self.subTest(number):
                process = self.start_in_a_group(number)
                for send in sends:
                    send(process.pid, signal.SIGTERM)
                    self.assertEqual(process.stdout.readline(), "got TERM\n")
                    time.sleep(0.5)  # in which it would come again
                self.ends_without_more(process)

    def test_so_does_an_mpirun_that_has_only_just_started(self):
        self.compile("mpirun", COUNTS_SIGNALS)
        self.compile("slow.so", SLOW_TO_KNOW, "-shared", "-fPIC")
        for send, options in ((os.kill, ()), (os.killpg, ()), (os.killpg, ("--repeat", "2"))):
            with self.subTest(send.__name__, options=options):
                process = self.start_in_a_group(f"{send.__name__}-{len(options)}", {"LD_PRELOAD": str(self.folder / "slow.so")},
                                                options)
                send(process.pid, signal.SIGTERM)
                self.assertEqual(process.stdout.readline(), "got TERM\n")
                time.sleep(2)
                self.write("over", "")
                self.assertEqual(process.stdout.read().count("got TERM"), 0)
                process.stdout.close()
                self.assertEqual(process.wait(timeout=30), 128 + signal.SIGTERM if options else 0)

    def test_native_runs_have_no_summary_and_no_folder(self):
        self.script("mpirun", "exit 3")
        result = self.nplus1("run", "--native", "-n", "2", "--", "./app")
        self.assertEqual(result.returncode, 3)
        self.assertNotIn("result", result.stderr)
        self.assertEqual(list(self.folder.glob("nplus1-*")), [])


class Help(CommandTest):
    def test_examples_come_before_options(self):
        for words in (("--help",), ("run", "--help"), ("doctor", "--help"), ("demo", "--help")):
            text = self.nplus1(*words).stdout
            self.assertLess(text.index("Examples:"), text.index("Options:"), words)


if __name__ == "__main__":
    unittest.main()
