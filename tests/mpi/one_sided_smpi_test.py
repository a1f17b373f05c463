"""One-sided communication beside SMPI's: the calls end when messages end in SMPI that do what docs/one_sided.md says of them, on
platforms where flows share links and where they don't; and SMPI's own calls end by the rules that are written there."""
import os
import pathlib
import shutil
import unittest

import live
import one_sided_table

RANKS = 6


@unittest.skipUnless(shutil.which("smpicc") and shutil.which("smpirun"), "SMPI is not installed")
class BesideSmpi(live.LiveTest):
    def agree(self, platform, patterns, sizes, model="SMPI"):
        programs = pathlib.Path(os.environ["NPLUS1_TEST_PROGRAMS"])
        for pattern in patterns:
            for size in sizes:
                with self.subTest(platform=platform, pattern=pattern, size=size, model=model):
                    file = one_sided_table.smpi_table.PLATFORMS / f"{platform}.xml"
                    equations, rules, *_ = one_sided_table.agreement(pattern, size, file, RANKS, model, programs, self.folder)
                    for found in (equations, rules):
                        self.assertGreaterEqual(6 if found is None else found, 6)

    def test_each_call_and_pattern(self):
        self.agree("cluster64", one_sided_table.PATTERNS, (8, 65536))

    def test_where_transfers_share_links(self):
        self.agree("torus", ("put", "fetch_and_op", "to_all", "from_all", "ring", "lock_all"), (100000,))

    def test_other_models(self):
        for model in ("LV08", "CM02", "IB"):
            self.agree("cluster64", ("put", "from_all", "fences", "lock"), (100000,), model)


if __name__ == "__main__":
    unittest.main()
