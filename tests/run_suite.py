#!/usr/bin/env python3
"""Runs a suite of the current folder, as `python3 -m unittest -v SUITE` does; but with NPLUS1_NO_SKIPS (./test.sh sets it,
which installs what the tests need) a test that is skipped fails, unless tests/skips.txt lists it with a reason. Tests that
the file NPLUS1_LEAVE_OUT lists in the same way are not run at all.

Usage: run_suite.py SUITE[.CLASS[.TEST]]
"""
import os
import pathlib
import re
import resource
import sys
import time
import unittest

LISTED = pathlib.Path(__file__).with_name("skips.txt")


def listed(text):
    """[(pattern, reason)] of lines "PATTERN: REASON"; # begins a comment."""
    lines = [line.strip() for line in text.splitlines()]
    return [tuple(line.split(": ", 1)) for line in lines if line and not line.startswith("#")]


def unlisted(skipped, allowed):
    """What of [(name, why)] no pattern matches."""
    return [(name, why) for name, why in skipped if not any(re.search(pattern, name) for pattern, _ in allowed)]


def tests_in(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from tests_in(test)
        else:
            yield test


def kept(tests):
    """Those that NPLUS1_LEAVE_OUT does not list."""
    left_out = os.environ.get("NPLUS1_LEAVE_OUT")
    patterns = listed(pathlib.Path(left_out).read_text()) if left_out else []
    return [test for test in tests if unlisted([(test.id(), "")], patterns)]


def main(suite):
    sys.path.insert(0, os.getcwd())
    found = list(tests_in(unittest.defaultTestLoader.loadTestsFromName(suite)))
    if not found:
        print(f"{suite} has no tests", file=sys.stderr)
        return 1
    tests = kept(found)
    if not tests:
        print(f"{suite}: all of its {len(found)} tests are left out")
        return 0
    began = time.monotonic()
    result = unittest.TextTestRunner(verbosity=2).run(unittest.TestSuite(tests))
    used = sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(f"{suite}: {time.monotonic() - began:.1f} s, {used:.1f} s of processors", file=sys.stderr)
    wrong = unlisted([(test.id(), why) for test, why in result.skipped], listed(LISTED.read_text()))
    for name, why in wrong:
        print(f"SKIPPED: {name}: {why}", file=sys.stderr)
    if wrong and os.environ.get("NPLUS1_NO_SKIPS"):
        print(f"  so:   what these tests hold was not looked at\n"
              f"  next: tools/install_dependencies.sh, or list them in {LISTED} with a reason", file=sys.stderr)
        return 1
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
