#!/usr/bin/env python3
"""check_layers.py must find a planted violation of each kind, and nothing in a clean tree."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).parent / "check_layers.py"
USED = {"high/uses.cpp": '#include <mpi.h>\n#include "low/b.hpp"\n#include "mid/part/b.hpp"\n',
        "mid/uses.cpp": '#include "low/b.hpp"\n', "mid/part/uses.cpp": "#include <simgrid/s4u.hpp>\n"}
TABLES = """
| folder | what | may include |
|---|---|---|
| `low` | x | |
| `high` | x | `low` `mid/part` |
| `mid` | x | `low` |
| `mid/part` | x | |

| header | only in |
|---|---|
| `mpi.h` | `high` |
| `simgrid/` | `mid/part` |
"""


class CheckLayers(unittest.TestCase):
    def run_on(self, path, line, used=USED):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "docs").mkdir()
            (root / "docs/architecture.md").write_text(TABLES)
            for name, text in used.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text("// first line\n" + line + "\n")
            result = subprocess.run([sys.executable, CHECK, root], capture_output=True, text=True, check=False)
            return result.returncode, result.stdout

    def assert_allowed(self, path, line):
        self.assertEqual(self.run_on(path, line)[0], 0, line)

    def assert_refused(self, path, line):
        code, output = self.run_on(path, line)
        self.assertEqual(code, 1, line)
        self.assertIn(f"{path}:2:", output)

    def test_allowed_includes_pass(self):
        self.assert_allowed("low/a.hpp", '#include "low/b.hpp"')
        self.assert_allowed("high/a.cpp", '#include "low/b.hpp"')
        self.assert_allowed("high/a.cpp", '#include "mid/part/b.hpp"')
        self.assert_allowed("mid/a.cpp", '#include "mid/part/b.hpp"')
        self.assert_allowed("high/a.cpp", "#include <mpi.h>")
        self.assert_allowed("mid/part/a.cpp", "#include <simgrid/s4u.hpp>")
        self.assert_allowed("low/a.cpp", "#include <vector>")

    def test_upward_and_sideways_includes_are_refused(self):
        self.assert_refused("low/a.hpp", '#include "high/b.hpp"')
        self.assert_refused("high/a.cpp", '#include "mid/b.hpp"')
        self.assert_refused("mid/part/a.cpp", '  #  include "low/b.hpp"')

    def test_a_part_does_not_inherit_from_its_folder(self):
        self.assert_refused("mid/part/a.cpp", '#include "low/b.hpp"')

    def test_headers_stay_in_their_corner(self):
        self.assert_refused("low/a.cpp", "#include <mpi.h>")
        self.assert_refused("low/a.cpp", '#include "mpi.h"')
        self.assert_refused("high/a.cpp", "#include <simgrid/s4u.hpp>")

    def test_what_lies_in_testing_is_for_tests(self):
        self.assert_refused("low/a.cpp", '#include "low/testing/world.hpp"')
        self.assert_refused("high/a.cpp", '#include "low/testing/world.hpp"')
        self.assert_allowed("low/a_test.cpp", '#include "low/testing/world.hpp"')
        self.assert_allowed("high/testing/a.hpp", '#include "low/testing/world.hpp"')
        self.assert_allowed("mid/part/a_test.cpp", '#include "low/b.hpp"')
        self.assert_refused("low/a_test.cpp", '#include "high/b.hpp"')

    def test_what_is_allowed_and_not_used_is_named(self):
        for name, said in (("mid/uses.cpp", "`mid` may include `low`, and never does"),
                           ("mid/part/uses.cpp", "`mid/part` may include <...> of `simgrid/`, and never does")):
            code, output = self.run_on("low/a.cpp", "#include <vector>", {k: v for k, v in USED.items() if k != name})
            self.assertEqual(code, 1)
            self.assertIn(said, output)

    def test_circles_of_folders_are_named_with_the_includes_that_close_them(self):
        two = USED | {"low/b.hpp": "", "mid/part/b.hpp": "", "mid/a.hpp": ""}
        three = two | {"mid/uses.cpp": '#include "low/b.hpp"\n#include "mid/part/b.hpp"\n',
                       "mid/part/b.hpp": '#include "mid/part/deep/c.hpp"\n', "mid/part/deep/c.hpp": '#include "mid/a.hpp"\n'}
        code, output = self.run_on("mid/a.cpp", '#include "mid/part/b.hpp"', two | {"mid/part/c.hpp": '#include "mid/a.hpp"\n'})
        self.assertEqual(code, 1)
        self.assertIn("mid/a.cpp:2: a circle of folders: mid -> mid/part -> mid (mid/a.cpp:2, mid/part/c.hpp:1)", output)
        code, output = self.run_on("low/a.cpp", "#include <vector>", three)
        self.assertEqual(code, 1)
        self.assertIn("a circle of folders: mid -> mid/part -> mid/part/deep -> mid", output)

    def test_tests_make_no_circles(self):
        files = USED | {"mid/a.hpp": "", "mid/part/b.hpp": "", "mid/part/c_test.cpp": '#include "mid/a.hpp"\n'}
        self.assertEqual(self.run_on("mid/a.cpp", '#include "mid/part/b.hpp"', files)[0], 0)

    def test_includes_that_do_not_start_at_the_root_are_refused(self):
        self.assert_refused("low/a.cpp", '#include "b.hpp"')


if __name__ == "__main__":
    unittest.main()
