"""Jobs that Slurm starts: `nplus1 run -- srun -n 4 ./app`. They do what they do bare, and their virtual times are those of
the same programs under mpirun. Slurm is the test's own (slurm.py).

NPLUS1_SLURM_FAULTS=N kills and ends parts of N jobs (8); NPLUS1_SLURM_FAULTS_SEED is 1.
Environment (set by ctest): NPLUS1_OPENMPI_TEST_PROGRAMS, the folder of the programs built by Open MPI's compilers."""
import os
import pathlib
import random
import signal
import subprocess
import tempfile
import time
import unittest

import slurm
from live import LiveTest, NPLUS1, environment, left_in_shared_memory, path_of, read, shared_files, wait_until
from random_kills import marked, recording_problems

STAGE = pathlib.Path(__file__).with_name("two_hosts.sh")
OPEN_MPI = pathlib.Path(os.environ.get("NPLUS1_OPENMPI_TEST_PROGRAMS", "."))
LIMIT = 200
SAME = ("ranks", "virtual_time_s", "rank_end_s", "compute_s", "point_to_point", "collectives", "message_sizes", "unmodelled")
EXACT = ("--network", "lsb:latency=1e-6,bandwidth=1e9", "--compute", "fixed:1e-6")


class SlurmTest(LiveTest):
    """Two nodes on this host; each has a slurmd, and both the host's name."""

    @classmethod
    def setUpClass(cls):
        if slurm.why_not():
            raise unittest.SkipTest(slurm.why_not())
        folder = tempfile.TemporaryDirectory(prefix="nplus1-slurm-")
        cls.addClassCleanup(folder.cleanup)
        try:
            cls.slurm = slurm.Slurm(folder.name).__enter__()
        except slurm.NotUp as log:
            raise unittest.SkipTest(f"Slurm does not come up here: {log}") from log
        cls.addClassCleanup(cls.slurm.stop)

    def run_command(self, command, more=None, input=None, timeout=LIMIT):
        return super().run_command(command, {**self.slurm.environment, **(more or {})}, input, timeout)

    def srun(self, ranks, *words, options=("--mpi=pmi2", "-N2")):
        return ["srun", *options, "-n", str(ranks), path_of(words[0]), *map(str, words[1:])]

    def command(self, ranks, *words, options=(), output=None):
        if not self.by_slurm:
            return super().command(ranks, *words, options=options, output=output)
        output = ("-o", output) if output else ()
        return [str(w) for w in (NPLUS1, "run", "-q", *output, *options, "--", *self.srun(ranks, *words,
                                                                                         options=self.step))]

    by_slurm = True
    step = ("--mpi=pmi2", "-N2")

    def as_mpirun(self, ranks, *words, options=()):
        """Both ways agree on all that is exact."""
        runs = []
        for self.by_slurm in (True, False):
            runs.append(self.observe(ranks, *words, options=(*EXACT, *options)))
        ours, others = runs
        self.by_slurm = True
        self.assertEqual(sorted(ours.stdout.splitlines()), sorted(others.stdout.splitlines()))
        self.assertIsNotNone(ours.summary, ours.stderr)
        self.assertEqual(ours.summary["trust"]["active_ranks"], ranks)
        self.assertEqual(ours.summary["trust"]["clock_mismatches"], 0)
        for key in SAME:
            self.assertEqual(ours.summary[key], others.summary[key], f"{words} {options}: {key}")
        return ours


class Mpich(SlurmTest):
    def test_languages(self):
        for program in ("hello_c", "hello_cpp", "hello_mpifh", "hello_mpi", "hello_f08"):
            with self.subTest(program=program):
                self.as_mpirun(4, program)

    def test_examples(self):
        for words in (("halo", 5, 1000), ("cg_traffic",), ("master_worker",), ("waitany",)):
            with self.subTest(program=words[0]):
                self.as_mpirun(4, *words)

    def test_over_tcp(self):
        self.assertEqual(self.as_mpirun(4, "halo", 5, 1000, options=("--transport", "tcp")).summary["transport"], "tcp")

    def test_native_recordings(self):
        run = self.observe(2, "halo", 5, 1000, options=("--native", "--record", "full"))
        self.assertTrue(run.summary["complete"], run.stderr)

    def test_exit_codes_are_sruns(self):
        for words in (("sh", "-c", "exit 5"), ("sh", "-c", f"{path_of('plain')} who me; exit 5")):
            bare = self.run_command(self.srun(2, *words))
            run = self.observe(2, *words, code=None)
            self.assertEqual((run.code, sorted(run.stdout)), (bare.returncode, sorted(bare.stdout)), run.stderr)

    def test_a_deadlock_is_proved(self):
        run = self.observe(2, "script", "recv 1 4", "recv 0 4", code=None)
        self.assertIn("deadlock", run.stderr)
        self.assertNotEqual(run.code, 0)

    def test_processes_that_are_jobs_by_themselves(self):
        """srun that is not told of the MPI library: bare, each has a world of one rank."""
        self.step = ("-N2",)
        run = self.observe(2, "hello_c")
        self.assertEqual(run.stdout, "rank 0 of 1, checksum 1, token 0\n" * 2)
        self.assertIn("--mpi=pmi2", run.stderr)
        self.assertIsNone(run.summary)

    def test_mpirun_in_an_allocation(self):
        folder = self.folder / "r-%j"
        done = self.run_command(["salloc", "-Q", "-N2", "-n4", str(NPLUS1), "run", "-q", "-o", str(folder), "--",
                                 "mpirun.mpich", "-n", "4", path_of("hello_c")])
        self.assertEqual(len(done.stdout.splitlines()), 4, done.stderr)
        (made,) = self.folder.glob("r-*")
        self.assertRegex(made.name, "r-[0-9]+$")
        self.assertTrue((made / "summary.json").exists())

    def test_no_process_stays(self):
        self.observe(2, "hello_c")

        def left():
            return [p for p in pathlib.Path("/proc").glob("[0-9]*/environ") if str(self.folder).encode() in read(p)]
        self.assertEqual(wait_until(lambda: not left()), True)


class Faults(SlurmTest):
    """SIGKILL and SIGTERM to each part of a job, at a random moment while its ranks exchange messages. Ranks are no children
    of ours here: the job's processes are told by what they inherit."""
    PARTS = {"nplus1": "nplus1", "srun": "srun", "simulator": "nplus1-simnode", "rank": "script"}
    STEPS = [f"repeat 12 {{ delay 0.05; send {to} 100; recv -1 100; allreduce 8 }}" for to in (1, 2, 0)]

    def process(self, job, mark, part):
        """One of the job's, once ranks and simulator are there."""
        found = marked(mark)
        if "script" not in found.values() or part in ("simulator", "nplus1") and "nplus1-simnode" not in found.values():
            return None
        if part == "nplus1" or part == "srun" and job.pid in found and found[job.pid] == "srun":
            return job.pid
        return next((p for p, name in sorted(found.items()) if name == self.PARTS[part]), None)

    def hit(self, command, mark, part, how):
        """The job, which has ended, its output, and when it was hit."""
        job = subprocess.Popen(command, cwd=self.folder, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, env=environment({**self.slurm.environment, "FAULT_MARK": mark}))
        process = wait_until(lambda: self.process(job, mark.encode(), part) or job.poll() is not None and -1, LIMIT)
        time.sleep(random.uniform(0.05, 0.4))
        self.assertGreater(process or -1, 0, f"the job has no {part}")
        os.kill(process, how)
        when = time.time_ns()
        try:
            out, err = job.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            job.terminate()
            self.fail(f"hangs: {job.communicate()}")
        self.assertIs(wait_until(lambda: not marked(mark.encode()), 30), True, f"left: {marked(mark.encode())}")
        return job.returncode, sorted(out.splitlines()), err, when

    def test_kills_and_ends_of_each_part(self):
        random.seed(int(os.environ.get("NPLUS1_SLURM_FAULTS_SEED", "1")))
        self.step = (*self.step, "-K")
        expected = sorted(self.run_command(self.srun(3, "script", *self.STEPS)).stdout.splitlines())
        self.assertGreaterEqual(len(expected), 12)
        for number in range(int(os.environ.get("NPLUS1_SLURM_FAULTS", "8"))):
            part, how = list(self.PARTS)[number % 4], (signal.SIGKILL, signal.SIGTERM)[number // 4 % 2]
            with self.subTest(number=number, part=part, signal=how.name):
                files, folder = shared_files(), self.folder / f"fault-{number}"
                command = self.command(3, "script", *self.STEPS, output=folder)
                code, out, err, when = self.hit(command, f"fault-{number}-{os.getpid()}", part, how)
                self.assertEqual(left_in_shared_memory(files), [])
                self.assertEqual(recording_problems(part, folder, when, False)[0], [])
                if part == "simulator":  # is not the program's
                    self.assertEqual((code, out), (0, expected), err)
                    self.assertIn("the simulator was ended by signal", err)
                    self.assertNotIn("--mpi=pmi2", err)  # what is missing where nobody is observed
                elif part == "nplus1" and how == signal.SIGKILL:  # the job goes on to its end
                    self.assertEqual((code, read_summary(folder)["trust"]["active_ranks"]), (-how, 3))
                else:  # as bare: Slurm ends the others by either signal, and srun returns the highest code
                    self.assertIn(code, (128 + signal.SIGKILL, 128 + signal.SIGTERM), err)


@unittest.skipUnless((OPEN_MPI / "hello_c").exists(), "nplus1 was built without Open MPI")
class OpenMpi(SlurmTest):
    """On one node: of two with the same host name Open MPI takes the shared memory for its own."""
    step = ("--mpi=pmix", "-N1")

    def test_as_by_mpirun(self):
        for words in (("hello_c",), ("hello_cpp",), ("hello_f08",), ("halo", 5, 1000), ("waitany",)):
            with self.subTest(program=words[0]):
                self.as_mpirun(4, OPEN_MPI / words[0], *words[1:])


class TwoHosts(LiveTest):
    """Two hosts of this machine, each with its own name, network and slurmd; nothing is shared but the files."""
    NODES = ("ha=ha=10.77.0.1", "hb=hb=10.77.0.2")

    @classmethod
    def setUpClass(cls):
        if slurm.why_not():
            raise unittest.SkipTest(slurm.why_not())
        if subprocess.run([STAGE, "true"], check=False).returncode == 77:
            raise unittest.SkipTest("namespaces may not be made here")

    def observed(self, *step):
        folder = self.folder / f"result-{len(list(self.folder.iterdir()))}"
        done = self.run_command(
            [str(STAGE), "env", f"SLURM_NEIGHBOUR={STAGE} hb exec", slurm.__file__, *self.NODES, "--", str(NPLUS1), "run",
             "-q", "-o", str(folder), *EXACT, "--", "srun", *step], timeout=LIMIT)
        if done.returncode == slurm.SKIPPED:
            self.skipTest(f"Slurm does not come up here: {done.stderr}")
        return done, folder

    def same_as_here(self, program, *step):
        done, folder = self.observed(*step, program)
        here = self.observe(4, program, options=EXACT)
        self.assertEqual((done.returncode, sorted(done.stdout.splitlines())), (0, sorted(here.stdout.splitlines())),
                         done.stderr)
        summary = read_summary(folder)
        self.assertEqual(summary["trust"]["active_ranks"], 4)
        self.assertEqual(summary["transport"], "shm+tcp")
        for key in SAME:
            self.assertEqual(summary[key], here.summary[key], key)

    def test_virtual_times_are_those_of_one_host(self):
        self.same_as_here(path_of("hello_c"), "--mpi=pmi2", "-N2", "-n4")

    @unittest.skipUnless((OPEN_MPI / "hello_c").exists(), "nplus1 was built without Open MPI")
    def test_open_mpi(self):
        self.same_as_here(str(OPEN_MPI / "hello_c"), "--mpi=pmix", "-N2", "-n4")


def read_summary(folder):
    import json
    from decimal import Decimal
    return json.loads((folder / "summary.json").read_text(), parse_float=Decimal)


if __name__ == "__main__":
    unittest.main()
