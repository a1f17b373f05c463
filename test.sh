#!/bin/sh
# Builds nplus1 and runs all tests. On a bare Debian 12, as root or with sudo.
#   ./test.sh                    everything but the long suites
#   ./test.sh --conformance      MPICH's own test suite, bare and under nplus1 (long)
#   ./test.sh -L unit            other arguments go to ctest
set -eu
cd "$(dirname "$0")"
tools/build.sh --tests
if [ "${1:-}" = --conformance ]; then
  shift
  exec tests/conformance/run.sh "$@"
fi
# Everything that tests need is installed: what is skipped nevertheless fails, unless tests/skips.txt says why not.
# Tests share the processors, one more at a time than there are, since many wait; but those that judge times of the machine,
# or all that runs on it (RUN_SERIAL).
NPLUS1_NO_SKIPS=1 exec ctest --preset release -j "$(($(nproc) + 1))" "$@"
