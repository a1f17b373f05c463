"""Hand-written collectives of real programs (../scenarios): `nplus1 run`, then `nplus1 collectives`, must say exactly
what the programs' EXPECT comments say. NPLUS1_SCENARIO_RANKS chooses the numbers of ranks (all: 4,6,12,16). Each row must
stand in the table of docs/detector_scenarios.md; NPLUS1_UPDATE=1 writes them again."""
import json
import os
import pathlib
import re
import subprocess
import unittest

from live import NPLUS1, LiveTest

RANKS = [int(p) for p in os.environ.get("NPLUS1_SCENARIO_RANKS", "4,6").split(",")]


def ceil_log2(p):
    return (p - 1).bit_length()


def finding(kind, count, messages, roots=(), size=None, certainty="certain", op=None):
    return {"kind": kind, "count": count, "messages": messages, "roots": list(roots), "bytes": size, "op": op,
            "certainty": certainty}


# What each program's EXPECT says, as a function of the number of ranks. Sizes are the programs' defaults.
EXPECTED = {
    "p01_bcast_linear_noise": lambda p: [finding("bcast", 1, p - 1, [0], 800)],
    "p02_bcast_binomial_rotating": lambda p: [finding("bcast", 24, 24 * (p - 1), range(min(p, 24)), 800)],
    "p03_bcast_chain_pipelined": lambda p: [finding("bcast", 1, 4 * (p - 1), [0], 4 * 64 * 8)],
    "p04_bcast_redundant_6b": lambda p: [finding("bcast", 1, p, [0, 1], 512, "probable")],
    "p05_bcast_repeated_6c": lambda p: [finding("bcast", 2, 2 * (p - 1), [0], 512)],
    "p06_nested_token_6d": lambda p: [finding("bcast", p, p * (p - 1), range(p), 512),
                                      finding("bcast", 1, p - 1, [0], 32)],
    "p07_token_ring": lambda p: [finding("bcast", 3, 3 * p, [0], 32)],
    "p08_barrier_dissemination": lambda p: [finding("barrier", 3, 3 * p * ceil_log2(p), [], 0)],
    # Messages of one rank to each other once come about by accident, the more easily the fewer there are.
    "p09_scatter_linear": lambda p: [finding("scatter", 1, p - 1, [2], 400, "certain" if p > 6 else "probable")],
    "p10_gather_binomial": lambda p: [finding("gather", 1, p - 1, [0], 400, "probable")],
    "p11_allgather_ring": lambda p: [finding("allgather", 2, 2 * p * (p - 1), [], 400)],
    "p12_alltoall_pairwise": lambda p: [finding("alltoall", 3, 3 * p * (p - 1), [], 240)],
    "p13_allreduce_recdoubling_sum": lambda p: [finding("allreduce", 4, 4 * p * ceil_log2(p), [], 320, op="sum")],
    "p14_NEG_halo_zero": lambda p: [],
    "p15_NEG_master_worker": lambda p: [],
}
PANELS = 8
HPL_MESSAGES = {"1ring": lambda q: q - 1, "1ringM": lambda q: q - 1, "2ring": lambda q: q - 1, "2ringM": lambda q: q - 1,
                "long": lambda q: (q - 1) + q * (q - 1), "longM": lambda q: 1 + (q - 2) + (q - 1) * (q - 2)}


DOCUMENT = pathlib.Path(__file__).parents[2] / "docs" / "detector_scenarios.md"
HEAD = "| scenario | ranks | expected | right | missed | wrong |\n|---|---|---|---|---|---|\n"


class Collectives(LiveTest):
    rows = []

    @classmethod
    def tearDownClass(cls):
        text = DOCUMENT.read_text()
        if os.environ.get("NPLUS1_UPDATE"):
            before, rest = text.split(HEAD)
            played = re.sub(r"^\| (hpl_broadcasts|own_parts|p\d\d_).*\n", "", rest, flags=re.MULTILINE)
            DOCUMENT.write_text(before + HEAD + "".join(cls.rows) + played)
        elif missing := [row for row in cls.rows if row not in text]:
            raise AssertionError(f"not in {DOCUMENT}; NPLUS1_UPDATE=1 writes them:\n{''.join(missing)}")

    def score(self, program, ranks, expected, found):
        """What is reported above `possible` and not expected is wrong."""
        right = sum(any(all(f[k] == v for k, v in e.items()) for f in found) for e in expected)
        sure = sum(f["certainty"] != "possible" for f in found)
        self.rows.append(f"| {program} | {ranks} | {len(expected)} | {right} | {len(expected) - right} | {sure - right} |\n")

    def collectives(self, run, *words):
        file = run.folder / "collectives.json"
        done = subprocess.run([str(NPLUS1), "collectives", str(run.folder), "--json", str(file), *words],
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.screen = done.stdout
        return json.loads(file.read_text())

    def check(self, found, expected, ranks):
        self.assertEqual([{k: f[k] for k in e} for f, e in zip(found, expected)], expected, self.screen)
        self.assertEqual(len(found), len(expected), self.screen)
        for f in found:
            self.assertEqual(f["ranks"], ranks)
            self.assertTrue(f["lines"] and f["replacement"] and f["evidence"])

    def test_the_shared_scenarios_give_exactly_what_they_say(self):
        for p in RANKS:
            for program, expected in EXPECTED.items():
                if program.startswith("p13") and p & (p - 1):
                    continue
                with self.subTest(program, ranks=p):
                    found = self.collectives(self.observe(p, program))
                    self.score(program, p, expected(p), found)
                    self.check(found, expected(p), list(range(p)))
                    for f in found:
                        self.assertTrue(all(line.startswith(program) or program in line for line in f["lines"]))

    def test_what_repeats_or_could_be_read_otherwise_is_said(self):
        for program, words in (("p05_bcast_repeated_6c", "redundant"), ("p07_token_ring", "any other rank as the root"),
                               ("p03_bcast_chain_pipelined", "sent in 4 segments")):
            with self.subTest(program):
                self.collectives(self.observe(4, program))
                self.assertIn(words, self.screen)

    def test_broadcasts_as_in_hpl_are_one_with_a_group_for_each_row(self):
        grids = [(rows, columns, variant) for rows, columns in ((2, 3), (1, 6)) for variant in HPL_MESSAGES]
        for rows, columns, variant in grids + [(1, 16, "long"), (1, 16, "longM")]:
            with self.subTest(variant, rows=rows, columns=columns):
                run = self.observe(rows * columns, "hpl_broadcasts", variant, rows, columns, PANELS)
                found = [f | {"groups": sorted(f["groups"])} for f in self.collectives(run)
                         if f["certainty"] != "possible"]
                messages = PANELS * HPL_MESSAGES[variant](columns)
                members = [list(range(r * columns, (r + 1) * columns)) for r in range(rows)]
                expected = [{"kind": "bcast", "ranks": list(range(rows * columns)), "groups": members,
                             "roots": sorted(sum((m[:PANELS] for m in members), [])), "count": rows * PANELS,
                             "messages": rows * messages}]
                self.score(f"hpl_broadcasts {variant} {rows} x {columns}", rows * columns, expected, found)
                self.assertEqual([{k: f[k] for k in expected[0]} for f in found], expected, self.screen)
                for f in found:
                    self.assertTrue(all("hpl_broadcasts.c" in line for line in f["lines"]))
                    self.assertTrue(f["callers"] and all("hpl_broadcasts.c" in line for line in f["callers"]))
                    self.assertFalse(set(f["callers"]) & set(f["lines"]))
                    self.assertIn("count, datatype, root, comm)  /* datatype: MPI_Type_create_struct", f["replacement"])
                self.assertIn("MPI_Ibcast", self.screen)

    def test_parts_that_ranks_tell_of_prove_sums(self):
        for words, ranks, expected in (("tree", 8, finding("reduce", 3, 21, [0], 192, "probable", "sum")),
                                       ("chain", 5, finding("scan", 3, 12, [], 192, "probable", "sum")),
                                       ("halving", 8,
                                        finding("reduce_scatter_block", 1, 24, [], 24, "probable", "sum"))):
            with self.subTest(words):
                found = self.collectives(self.observe(ranks, "own_parts", words))
                self.score(f"own_parts {words}", ranks, [expected], found)
                self.check(found, [expected], list(range(ranks)))

    def test_parts_that_are_inferred_prove_sums_too(self):
        for words, ranks, expected in (("tree", 8, finding("reduce", 3, 21, [0], 192, "probable", "sum")),
                                       ("chain", 5, finding("scan", 3, 12, [], 192, "probable", "sum"))):
            with self.subTest(words):
                found = self.collectives(self.observe(ranks, "own_parts", words, "silent"))
                self.score(f"own_parts {words} silent", ranks, [expected], found)
                self.check(found, [expected], list(range(ranks)))
                self.assertIn("the first time is not proved", self.screen)

    def test_without_hashes_it_says_what_cannot_be_found(self):
        run = self.observe(4, "p01_bcast_linear_noise", options=("--hash", "off"))
        done = subprocess.run([str(NPLUS1), "collectives", str(run.folder)], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0)
        self.assertIn("without hashes", done.stderr)
        self.assertIn("--hash crc", done.stderr)

    def test_a_recording_that_was_cut_off_still_gives_its_beginning(self):
        run = self.observe(4, "p02_bcast_binomial_rotating")
        file = run.folder / "recording" / "events.n1r"
        file.write_bytes(file.read_bytes()[:-200])
        done = subprocess.run([str(NPLUS1), "collectives", str(run.folder)], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("recording:", done.stderr)


if __name__ == "__main__":
    unittest.main()
