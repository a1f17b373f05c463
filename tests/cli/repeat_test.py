"""`nplus1 run --repeat`: a stand-in for mpirun leaves the results of each run, so that what they have in common is known."""
import json
import os
import signal
import subprocess
import time
import unittest

from command import CommandTest

# The n-th run takes n ms of virtual time, and what to fix first is "balance", in the third run "bcast".
MPIRUN = r"""
while [ "$1" != -np ]; do
  if [ "$2" = NPLUS1_OUTPUT ]; then out=$3; fi
  shift
done
echo "output of ${out##*/}"
n=${out##*/}
[ -e stop_at ] && [ "$(cat stop_at)" = "$n" ] && { touch waiting; exec sleep 30; }
[ -e in_the_way ] && touch "${out%/*}/2"
[ -e fails ] && [ "$(cat fails)" = "$n" ] && exit 7
[ -e silent ] && [ "$(cat silent)" = "$n" ] && exit 0
first=0.0005
[ "$n" = 3 ] && first=0.00001
cat > "$out/fixes.json" <<END
{"schema": "nplus1-whatif-sweep/1", "random_s": 0.0002, "candidates": [
 {"what": "balance", "flags": "--balance all", "saved_s": 0.0009, "systematic_s": $first, "finished": true, "bound": false, "problem": 1, "leads": true},
 {"what": "bcast", "flags": "--finding 1", "saved_s": 0.0001, "systematic_s": null, "finished": true, "bound": false, "problem": 2, "leads": true},
 {"what": "ideal", "flags": "--network x", "saved_s": 0.0009, "systematic_s": null, "finished": true, "bound": true, "problem": null, "leads": false}]}
END
echo "{\"complete\": true, \"virtual_time_s\": 0.00$n}" > "$out/summary.json"
echo "a summary" > "$out/summary.txt"
"""


class Repeat(CommandTest):
    def setUp(self):
        super().setUp()
        self.set("NPLUS1_MPIRUN", self.script("mpirun", MPIRUN))

    def repeat(self, number, *words, code=0):
        done = self.nplus1("run", "-n", "2", "--repeat", number, *words, "--", "./app")
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def document(self, folder="nplus1-app-2-1"):
        return json.loads((self.folder / folder / "repeat.json").read_text())

    def test_each_run_has_its_folder_and_its_output_goes_where_it_goes(self):
        done = self.repeat(3)
        self.assertEqual(done.stdout, "output of 1\noutput of 2\noutput of 3\n")
        self.assertEqual(sorted(p.name for p in (self.folder / "nplus1-app-2-1").iterdir()), ["1", "2", "3", "repeat.json"])
        self.assertIn("run 3 of 3: 3 ms of virtual time", done.stderr)
        self.assertNotIn("a summary", done.stderr)

    def test_median_spread_and_first_fix(self):
        done = self.repeat(5, "-o", "all")
        found = self.document("all")
        time_s = found["virtual_time_s"]
        self.assertEqual((found["wanted"], found["complete"], found["searched"]), (5, 5, 5))
        self.assertEqual([time_s[k] for k in ("runs", "least", "lower_quartile", "median", "upper_quartile", "most")],
                         [5, 0.001, 0.002, 0.003, 0.004, 0.005])
        self.assertEqual((time_s["interval"], time_s["level"]), ([0.001, 0.005], 1 - 2 / 32))
        self.assertEqual([(s["what"], s["saved_s"]["median"]) for s in found["savings"]], [("balance", 0.0005), ("bcast", 0.0001)])
        self.assertEqual(found["savings"][0]["saved_s"]["least"], 0.00001)
        self.assertEqual(found["first_fixes"], [{"what": "balance", "runs": 4}, {"what": "bcast", "runs": 1}])
        self.assertEqual([r["first_fix"] for r in found["runs"]], ["balance", "balance", "bcast", "balance", "balance"])
        self.assertIn("What to fix first was the same in 4 of 5 runs: balance", done.stderr)
        self.assertIn("93.75 % certain", done.stderr)

    def test_one_run_says_nothing_of_its_spread(self):
        self.assertIn("one run says nothing", self.repeat(1).stderr)
        self.assertEqual(self.document()["virtual_time_s"]["level"], 0)

    def test_a_run_that_fails_is_left_out_and_its_exit_code_is_the_first(self):
        self.write("fails", "2\n")
        done = self.repeat(3, code=7)
        found = self.document()
        self.assertEqual((len(found["runs"]), found["complete"]), (3, 2))
        self.assertEqual([r["exit_code"] for r in found["runs"]], [0, 7, 0])
        self.assertEqual(found["virtual_time_s"]["least"], 0.001)
        self.assertIn("1 ended badly or left no result", done.stderr)

    def test_a_run_without_a_result_is_left_out(self):
        self.write("silent", "1\n")
        done = self.repeat(2)
        self.assertIn("there is no result", done.stderr)
        self.assertEqual((self.document()["complete"], self.document()["virtual_time_s"]["least"]), (1, 0.002))

    def test_where_a_folder_cannot_be_made_the_series_ends_and_what_is_there_is_compared(self):
        self.write("in_the_way", "")
        done = self.repeat(3, code=73)
        self.assertIn("the runs end here", done.stderr)
        self.assertEqual((self.document()["complete"], len(self.document()["runs"])), (1, 1))

    def test_a_signal_ends_the_run_under_way_and_the_series(self):
        self.write("stop_at", "2\n")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            folder = f"stopped-{number.name}"
            process = self.start("run", "-n", "2", "--repeat", "4", "-o", folder, "--", "./app")
            waiting = self.folder / "waiting"
            begin = time.monotonic()
            while not waiting.exists() and time.monotonic() - begin < 50:
                time.sleep(0.01)
            os.kill(process.pid, number)
            _, stderr = process.communicate(timeout=50)
            waiting.unlink()
            self.assertEqual(process.returncode, 128 + number, stderr)
            self.assertEqual(sorted(p.name for p in (self.folder / folder).iterdir()), ["1", "2", "repeat.json"])
            self.assertEqual((self.document(folder)["complete"], len(self.document(folder)["runs"])), (1, 2))

    def test_nothing_is_overwritten(self):
        self.repeat(1)
        self.repeat(1)
        self.assertTrue((self.folder / "nplus1-app-2-2/1/summary.json").exists())
        before = (self.folder / "nplus1-app-2-1/repeat.json").read_text()
        refused = self.repeat(2, "-o", "nplus1-app-2-1", code=73)
        self.assertIn("never overwritten", refused.stderr)
        self.assertEqual((self.folder / "nplus1-app-2-1/repeat.json").read_text(), before)

    def test_native_runs_compare_real_times_and_leave_no_folder(self):
        self.set("NPLUS1_MPIRUN", self.script("mpirun", "exit 0"))
        done = self.repeat(3, "--native")
        self.assertIn("real time", done.stderr)
        self.assertNotIn("virtual time", done.stderr.split("3 of 3 runs")[1])
        self.assertFalse(any(p.name.startswith("nplus1-app") for p in self.folder.iterdir()))

    def test_quiet_runs_say_nothing_and_printing_starts_nothing(self):
        self.assertEqual(self.repeat(2, "-q").stderr, "")
        printed = self.nplus1("run", "-n", "2", "--repeat", "2", "-o", "new", "--print", "--", "./app")
        self.assertEqual([line.split("NPLUS1_OUTPUT ")[1].split()[0] for line in printed.stdout.splitlines()],
                         [f"{self.folder}/new/1", f"{self.folder}/new/2"])
        self.assertFalse((self.folder / "new").exists())

    def test_numbers_of_runs_that_make_no_sense_are_refused(self):
        for number in ("0", "-1", "1.5", "six", "10001", "99999999999999999999", "''"):
            self.assert_refused(64, "--repeat", "run", "-n", "2", f"--repeat={number}", "--", "./app")


class HostSpeed(CommandTest):
    HOST = {"schema": "nplus1-host/1", "host": "here", "processor": "P", "date": "2024-01-31", "scalar_flops": 1e9,
            "vector_flops": 4e9, "vector_bits": 256,
            "levels": [{"name": "L1", "bytes": 32768, "touched": 16384, "bandwidth": 1e11, "latency_s": 1e-9}]}

    def setUp(self):
        super().setUp()
        self.write("here.json", json.dumps(self.HOST))
        self.write("there.json", json.dumps({**self.HOST, "host": "there", "scalar_flops": 4e9}))

    def compute_of(self, *words):
        done = self.nplus1("run", "--print", "-n", "2", *words, "--", "./app")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.said = done.stderr
        words = done.stdout.split()
        return words[words.index("NPLUS1_COMPUTE") + 1] if "NPLUS1_COMPUTE" in words else None

    def test_two_hosts_scale_measured_compute_times_and_what_that_relies_on_is_said(self):
        self.assertEqual(self.compute_of("--host-speed", "here.json:there.json"), "scale:0.25")
        self.assertIn("ratio of scalar from here (P, measured 2024-01-31) to there", self.said)
        self.assertIn("of other kinds it would be: vector 1, L1 1, L1-latency 1", self.said)
        self.assertEqual(self.compute_of("--host-speed", "there.json:here.json"), "scale:4")
        self.assertEqual(self.compute_of("--host-speed", "here.json:there.json:vector"), "scale:1")
        self.assertEqual(self.compute_of("--host-speed", "here.json:there.json", "--compute", "scale:2"), "scale:0.5")

    def test_what_cannot_be_compared_is_refused(self):
        self.write("broken.json", "{")
        self.write("slow.json", json.dumps({**self.HOST, "scalar_flops": 0}))
        for mention, text in (("no JSON object", "here.json:broken.json"), ("no such file", "here.json:nowhere.json"),
                              ("scalar_flops is no number above 0", "slow.json:here.json"),
                              ("'L9' is no kind", "here.json:there.json:L9"), ("does not name two", "here.json:"),
                              ("no JSON object", "broken.json")):
            self.assert_refused(64, mention, "run", "-n", "2", "--host-speed", text, "--", "./app")
        for given in ("fixed:1us", "warm"):
            self.assert_refused(64, given, "run", "-n", "2", "--host-speed", "here.json:there.json", "--compute", given,
                                "--", "./app")

    def test_a_host_is_measured_into_a_file_that_is_understood(self):
        done = self.nplus1("calibrate", "--host", "-o", "new.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("--host-speed new.json", done.stdout)
        self.assertEqual(self.compute_of("--host-speed", "new.json:new.json"), "scale:1")
        self.assert_refused(64, "--raw", "calibrate", "--host", "--raw", "raw.csv")


if __name__ == "__main__":
    unittest.main()
