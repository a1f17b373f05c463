"""`nplus1 guidelines check` from outside: made-up measurements with a known answer, files of other programs, and a real
program's calls."""
import json
import shutil
import subprocess
import unittest

from command import CommandTest

VIOLATED, USAGE, NO_INPUT = 1, 64, 66
COLUMNS = "mpirun,test,p,nrep_index,msize,runtime_sec,runtime_without_copies_sec\n"
PROGRAM = """#include <mpi.h>
int main(int argc, char **argv) {
  static char a[65536], b[65536];
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 100; ++i) MPI_Scan(a, b, 8, MPI_CHAR, MPI_BOR, MPI_COMM_WORLD);
  for (int i = 0; i < 30; ++i) MPI_Reduce(a, b, 60000, MPI_CHAR, MPI_BOR, 0, MPI_COMM_WORLD);
  MPI_Bcast(a, 7, MPI_CHAR, 0, MPI_COMM_SELF);
  return MPI_Finalize();
}
"""


class Check(CommandTest):
    def measure(self, microseconds, folder="measured", name="raw.csv", runs=10, processes=2, head=""):
        """A file of {test: {size: time}}; mpiruns differ by a thousandth."""
        (self.folder / folder).mkdir(exist_ok=True)
        rows = [f"{run},{test},{processes},0,{size},{time * (1000 + run)}e-9,\n" for run in range(runs)
                for test, times in microseconds.items() for size, time in times.items()]
        self.write(f"{folder}/{name}", head + COLUMNS + "".join(rows))
        return folder

    def check(self, *words, code=0):
        result = self.nplus1("guidelines", "check", *words)
        self.assertEqual(result.returncode, code, result.stderr)
        return result.stdout

    def violations(self, folder="measured"):
        return json.loads((self.folder / folder / "violations.json").read_text())["violations"]

    def test_a_slow_reduce_is_found_where_it_is_and_fails_a_ci_job_that_asks_for_it(self):
        folder = self.measure({"Reduce": {8: 10, 65536: 60}, "Reduce_with_Allreduce": {8: 12, 65536: 30}})
        self.assertIn("Reduce(64K) on 2: 60.3 us, but Allreduce(n) takes 30.1 us", self.check(folder))
        self.check(folder, "--fail-on-violation", code=VIOLATED)
        [found] = self.violations()
        self.assertEqual((found["guideline"], found["sizes"], found["stars"]), ("Reduce(n) <= Allreduce(n)", [65536], "***"))
        self.assertAlmostEqual(found["ratio"], 2, places=2)
        self.assertAlmostEqual(found["p"], 1 / 184756)  # ten above ten: 1 / C(20, 10)
        self.assertTrue((self.folder / folder / "guidelines.html").exists())

    def test_a_library_that_keeps_its_promises_passes(self):
        folder = self.measure({"Reduce": {8: 10, 65536: 60}, "Reduce_with_Allreduce": {8: 12, 65536: 70}})
        self.assertIn("No guideline was found violated", self.check(folder, "--fail-on-violation"))

    def test_a_split_violation_fails_a_ci_job_only_when_it_was_confirmed(self):
        folder = self.measure({"Bcast": {1024: 10, 2000: 30}})
        self.check(folder, "--fail-on-violation")
        self.assertEqual([v["type"] for v in self.violations()], ["split"])
        self.assertIn("No guideline", self.check(folder, "--legacy-split"))
        self.measure({"Bcast": {2000: 30}, "Bcast_split_2x1024": {2000: 21}}, name="confirm.csv", head="#@purpose=confirm\n")
        self.check(folder, "--fail-on-violation", code=VIOLATED)
        self.assertEqual([v["confirmed"] for v in self.violations()], [True])

    def test_no_violation_in_an_unfinished_measurement_is_no_finding(self):
        sound = {"Reduce": {8: 10}, "Reduce_with_Allreduce": {8: 12}}
        head = "#@nprocs=2\n#@mpiruns=10\n"
        for verb, more in (("advise", ()), ("confirm", ()), ("tune", ("-o", "lib.so"))):
            self.measure(sound, folder="begun", runs=3, head=head)
            done = self.nplus1("guidelines", verb, "begun", *more)
            self.assertEqual(done.returncode, NO_INPUT, done.stdout)
            self.assertIn("is not finished: it is in mpirun 3 of 10", done.stderr)
            self.measure(sound, folder="killed", runs=10, head=head)
            self.write("killed/measurements.plan", "")
            self.assertEqual(self.nplus1("guidelines", verb, "killed", *more).returncode, NO_INPUT)
            self.measure(sound, folder="whole", runs=10, head=head)
            done = self.nplus1("guidelines", verb, "whole", *more)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("violated: there is nothing to", done.stdout)
        self.measure(sound, folder="few", runs=2, head="#@nprocs=2\n#@mpiruns=2\n")
        self.assertIn("comparisons are undecided, with 2 mpiruns", self.nplus1("guidelines", "advise", "few").stdout)

    def test_what_simulated_times_rely_on_is_printed_with_them(self):
        head = "#@clock=virtual\n#@simulated_doubt_simulated-1_1=3 forced decisions: made without proof (simulated-1)\n"
        folder = self.measure({"Reduce": {8: 10}, "Reduce_with_Allreduce": {8: 12}}, name="simulated.csv", runs=1, head=head)
        self.assertIn("simulated times rely on 3 forced decisions: made without proof", self.check(folder))

    def test_files_of_reprompi_are_mpiruns(self):
        (self.folder / "theirs").mkdir()
        for run in range(10):
            lines = "".join(f"  {test}  0  8  {time * (1000 + run)}e-9\n" for test, time in
                            (("MPI_Allgather", 30), ("GL_Allgather_as_GatherBcast", 10)))
            self.write(f"theirs/run{run}.dat", "#@nnp=4\n  test nrep count runtime_sec\n" + lines)
        self.assertIn("run0.dat, line 3: nothing says how many processes", self.nplus1("guidelines", "check", "theirs").stderr)
        self.check("theirs", "--processes", 8)
        self.assertEqual([(v["right"]["test"], v["processes"]) for v in self.violations("theirs")], [("Allgather_with_Gather_Bcast", 8)])

    def test_simulated_times_stand_beside_the_measured(self):
        folder = self.measure({"Scan": {8: 30}, "Scan_with_Exscan_Reduce_local": {8: 10}})
        self.measure({"Scan": {8: 3}, "Scan_with_Exscan_Reduce_local": {8: 4}}, name="simulated.csv", runs=1, head="#@clock=virtual\n")
        self.assertIn("Simulated and measured agree on 0 of 1 guidelines", self.check(folder))
        self.assertEqual([v["simulated"] for v in self.violations()], ["holds"])
        agreement = json.loads((self.folder / folder / "violations.json").read_text())["simulated_agreement"]
        self.assertEqual(agreement["only_measured"], ["Scan(n) <= Exscan(n) + Reduce_local(n)"])
        self.assertEqual(agreement["only_simulated"], [])

    def test_own_guidelines_and_choices(self):
        self.write("own.json", '[{"orig": "Halo", "mock": "Halo_with_Alltoallv", "bound": "Alltoallv"}]')
        folder = self.measure({"Halo": {8: 30}, "Halo_with_Alltoallv": {8: 10}, "Scan": {8: 30}, "Scan_with_Exscan_Reduce_local": {8: 10}})
        self.check(folder, "--catalogue", "own.json", "--functions", "Halo,MPI_Bcast")
        self.assertEqual([v["function"] for v in self.violations()], ["Halo"])

    def test_profiles_for_pgmpitunelib(self):
        folder = self.measure({"Bcast": {8: 30}, "Bcast_with_Scatter_Allgather": {8: 10}})
        self.check(folder, "--profiles", "profiles")
        self.assertEqual((self.folder / "profiles/p_bcast_2.prf").read_text().splitlines()[1:],
                         ["MPI_Bcast", "2", "1", "1 bcast_as_scatter_allgather", "1", "8 8 1"])

    def test_bad_input_is_refused(self):
        folder = self.measure({"Scan": {8: 30}})
        self.assert_refused(NO_INPUT, "absent", "guidelines", "check", "absent")
        self.assert_refused(USAGE, "--functions", "guidelines", "check", folder, "--functions", "Gahter")
        self.assert_refused(USAGE, "--test", "guidelines", "check", folder, "--test", "t")
        self.assert_refused(NO_INPUT, "not-there", "guidelines", "check", folder, "--application", "not-there")
        self.write("own.json", '[\n{"orig": "Halo", "mock": "Bcast_with_Halo"}]')
        self.assert_refused(NO_INPUT, "own.json, line 2", "guidelines", "check", folder, "--catalogue", "own.json")
        self.write(f"{folder}/raw.csv", COLUMNS + "0,Scan,2,0,8,soon,\n")
        self.assert_refused(NO_INPUT, "raw.csv, line 2: 'runtime_sec'", "guidelines", "check", folder)

    def test_a_recorded_programs_own_calls_say_what_a_violation_costs(self):
        self.write("app.c", PROGRAM)
        subprocess.run([shutil.which("mpicc.mpich") or "mpicc", "-o", "app", "app.c"], cwd=self.folder, check=True)
        for variable in ("NPLUS1_STUBS", "NPLUS1_SIMNODE", "NPLUS1_MPIRUN"):
            del self.environment[variable]
        run = self.nplus1("run", "-q", "-n", 2, "-o", "run", "--", "./app")
        self.assertEqual(run.returncode, 0, run.stderr)
        folder = self.measure({"Scan": {8: 3}, "Scan_with_Exscan_Reduce_local": {8: 1}, "Reduce": {65536: 60}, "Reduce_with_Allreduce": {65536: 50}})
        text = self.check(folder, "--application", "run")
        self.assertIn("100 calls of Scan(8) on 2", text)
        self.assertIn("30 calls of Reduce(64K) on 2", text)  # 60000 bytes are nearest to 64K
        self.assertIn("2 of its 132 collective calls have no measurement", text)  # each rank's Bcast with itself
        gains = json.loads((self.folder / folder / "violations.json").read_text())["application"]
        self.assertAlmostEqual(gains["gain_s"], 100 * 2e-6 + 30 * 10e-6, delta=1e-5)


if __name__ == "__main__":
    unittest.main()
