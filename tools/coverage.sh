#!/bin/sh
# Which lines and functions the tests run, for each folder. Builds the preset `coverage` into build-coverage/ and runs
# the tests there; docs/coverage.md has the method and the figures.
#   tools/coverage.sh [--keep] [ARGUMENTS OF CTEST...]   --keep: adds to the counts that are there, and builds nothing
#   tools/coverage.sh --table [FOLDER...]                only the table; for each FOLDER the lines that nothing ran
# Without arguments all tests are run. Tests that measure time may fail: instrumented code is slower.
set -eu
cd "$(dirname "$0")/.."
build=build-coverage
if [ "${1:-}" = --table ]; then
  shift
  exec python3 tools/coverage/table.py "$build" "$@"
fi
if [ "${1:-}" = --keep ]; then
  shift
else
  tools/install_dependencies.sh --tests
  cmake --preset coverage >&2
  cmake --build --preset coverage -j "$(nproc)" >&2
  find "$build" -name '*.gcda' -delete
fi
# Some tests are other users, whose processes count into the same files.
umask 0
ctest --test-dir "$build" --output-on-failure "$@" >&2 || echo "coverage: some tests failed; what they ran is counted" >&2
exec python3 tools/coverage/table.py "$build"
