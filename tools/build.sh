#!/bin/sh
# Installs what is missing, configures and builds the release preset into build/.
#   tools/build.sh           what users run: no tests, no test framework, no browser
#   tools/build.sh --tests   tests and benchmarks too
#   tools/build.sh --demo    what ./demo.sh runs, four fifths of it; tools/build.sh adds the rest
# A build/ that has tests keeps them.
set -eu
cd "$(dirname "$0")/.."
if [ "${1:-}" = --tests ]; then
  tests=ON
elif [ -f build/CMakeCache.txt ]; then
  tests=$(sed -n 's/^NPLUS1_TESTS:BOOL=//p' build/CMakeCache.txt)
else
  tests=OFF
fi
if [ "${tests:-ON}" = ON ]; then
  tools/install_dependencies.sh --tests
else
  tools/install_dependencies.sh
fi
cmake --preset release -DNPLUS1_UNITY=ON -DNPLUS1_TESTS="${tests:-ON}" >&2
if [ "${1:-}" = --demo ]; then
  cmake --build --preset release -j "$(nproc)" --target nplus1_demo >&2
else
  cmake --build --preset release -j "$(nproc)" >&2
fi
