"""nplus1 calibrate: with measurements that are made up, what comes out is known; with real ones, only that it comes."""
import json
import unittest
from decimal import Decimal

from live import LiveTest, NPLUS1

SIZES = sorted({s for k in range(20) for s in (2 ** k, 3 * 2 ** k // 2)})
ROUNDS = 10


def one_way(size):
    """Two protocols: up to 8 KiB, and beyond."""
    return 5e-7 + size * 3e-10 if size <= 8192 else 4e-6 + size * 1e-10


class Calibrate(LiveTest):
    def calibrate(self, *options, more=None):
        done = self.run_command([str(NPLUS1), "calibrate", "-n", "2", "-o", "here.xml", "--raw", "raw.csv", "--json", "result.json", *options], more=more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def made_up(self, between=1):
        """`between`: a factor of the times of sizes that are no powers of two."""
        lines = ["kind,size,repetition,value"]
        for size in SIZES:
            factor = between if size & (size - 1) else 1
            lines += [f"half_round_trip,{size},{r},{one_way(size) * noise * factor}" for r, noise in enumerate((0.9, 1, 1.3))]
            lines += [f"send,{size},0,1e-7", f"gap,{size},0,2e-7", f"eager,{size},0,{int(size <= 8192)}"]
        (self.folder / "measured.csv").write_text("\n".join(lines) + "\n")
        program = self.folder / "measure"
        program.write_text(f"#!/bin/sh\n[ \"$PMI_RANK\" != 0 ] || cat {self.folder}/measured.csv\n")
        program.chmod(0o755)
        return self.calibrate(more={"NPLUS1_MEASURE": program})

    def test_messages_on_the_platform_take_the_times_that_were_measured(self):
        text = self.made_up()
        self.assertIn("up to 8192 B", text)
        for size in (1, 100, 4000, 8192, 8193, 20000, 300000):
            run = self.observe(2, "ping_pong", ROUNDS, size, options=("--compute", "fixed:0"))
            done = self.run_command([str(NPLUS1), "replay", str(run.folder), "--platform", "here.xml", "--json", "r.json"])
            self.assertEqual(done.returncode, 0, done.stderr)
            makespan = json.loads((self.folder / "r.json").read_text())["virtual_time_s"]
            with self.subTest(size=size):
                self.assertAlmostEqual(makespan / (2 * ROUNDS) / one_way(size), 1, delta=0.01)

    def test_it_says_how_well_it_predicts_the_sizes_held_back(self):
        text = self.made_up()
        self.assertRegex(text, r"(?m)^Sizes held back: 0\.0 % off in the median .*: as stated\.$")
        result = json.loads((self.folder / "result.json").read_text())
        self.assertTrue(result["holds"])
        self.assertEqual(result["error_platform"]["covered"], 1)
        self.assertIn("Stated error at other sizes", (self.folder / "here.xml").read_text())
        self.assertLess(result["error_platform"]["held_back_median"], 0.001)
        self.assertGreater(result["error_lsb"]["held_back_median"], 0.05)  # one line for two protocols
        held_back = [s for s in SIZES if s & (s - 1)]
        self.assertEqual([size for size, *_ in result["held_back"]], held_back)
        for size, measured, predicted in result["held_back"]:
            self.assertAlmostEqual(measured / one_way(size), 1, delta=1e-5)
            self.assertAlmostEqual(predicted / one_way(size), 1, delta=1e-3)

    def test_it_says_where_sizes_between_follow_another_law(self):
        text = self.made_up(between=1.12)  # 10.7 % off: good enough, and not what it stated
        self.assertIn("NOT as stated", text)
        result = json.loads((self.folder / "result.json").read_text())
        self.assertFalse(result["holds"])
        platform = result["error_platform"]
        self.assertFalse(platform["as_stated"])
        self.assertAlmostEqual(platform["held_back_median"], 1 - 1 / 1.12, delta=0.005)
        self.assertLess(platform["median_limit"], 0.01)
        self.assertLess(platform["covered"], 0.8)

    def test_its_words_are_networks(self):
        words = [line.split()[1] for line in self.made_up().splitlines() if line.startswith("--network")]
        self.assertEqual([w.split(":")[0] for w in words], ["lsb", "loggops"])
        run = self.observe(2, "ping_pong", ROUNDS, 8, options=("--compute", "fixed:0"))
        for word in words:
            self.assertEqual(self.run_command([str(NPLUS1), "replay", str(run.folder), "--network", word]).returncode, 0)

    def test_the_machines_own_network_is_measured(self):
        text = self.calibrate("--repetitions", "3", "--largest", "65536")
        kinds = {line.split(",")[0] for line in (self.folder / "raw.csv").read_text().splitlines()[1:]}
        self.assertEqual(kinds, {"half_round_trip", "send", "gap", "eager", "reduce", "copy"})
        self.assertRegex(text, r"(?m)^--collectives reduce_rate=\d")
        doctor = self.run_command([str(NPLUS1), "doctor", "--platform", "here.xml", "-n", "2"])
        self.assertEqual(doctor.returncode, 0, doctor.stdout)

    def test_ranks_between_the_two_that_measure_keep_nobody(self):
        for ranks in ("3", "4"):
            with self.subTest(ranks=ranks):
                done = self.run_command([str(NPLUS1), "calibrate", "-n", ranks, "-o", "here.xml", "--raw", "raw.csv",
                                         "--repetitions", "3", "--largest", "64"])
                self.assertEqual(done.returncode, 0, done.stderr)
                rows = [line.split(",") for line in (self.folder / "raw.csv").read_text().splitlines()[1:]]
                self.assertEqual(sorted({int(row[1]) for row in rows if row[0] == "eager"}), [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64])


if __name__ == "__main__":
    unittest.main()
