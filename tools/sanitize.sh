#!/bin/sh
# Builds a preset with sanitizers and runs under it what can be; stops with 1 if they found anything.
#   tools/sanitize.sh asan      AddressSanitizer and UBSan: unit tests, command line; then live runs
#   tools/sanitize.sh tsan      ThreadSanitizer: unit tests; then live runs
#   tools/sanitize.sh ubsan     UBSan alone, also in the preloaded library: live runs
#   tools/sanitize.sh PRESET --live [SUITE...]    only the live runs: suites of tests/mpi
#
# In live runs the command and the simulator are the sanitized ones. A library that is preloaded into a program which
# knows nothing of sanitizers cannot bring AddressSanitizer or ThreadSanitizer, which must be there before everything
# else and replace malloc: with asan and tsan the ranks have the library of build/, with ubsan they have a sanitized one.
set -eu
cd "$(dirname "$0")/.."
preset=${1:?asan, tsan or ubsan}
shift
build=build-$preset
findings=$PWD/$build/findings
rm -rf "$findings"
mkdir -p -m 1777 "$findings"
# Into files: what tests do with the standard error of programs would hide it. The scenario of a full descriptor table, or
# a child that is killed, leaves nothing behind; leaks are looked for where processes end by themselves.
common=log_path=$findings/report:abort_on_error=0:exitcode=99
export ASAN_OPTIONS="$common:detect_leaks=1:allocator_may_return_null=1:handle_segv=1:verify_asan_link_order=0"
export UBSAN_OPTIONS="$common:print_stacktrace=1"
export TSAN_OPTIONS="$common:second_deadlock_stack=1"

live_only=no
if [ "${1:-}" = --live ]; then
  live_only=yes
  shift
fi
suites=${*:-collectives closed_forms wildcards ways recording platform deadlock endings strangers native replay}

cmake --preset "$preset" >&2
if [ $live_only = no ] && [ "$preset" != ubsan ]; then
  cmake --build --preset "$preset" -j "$(nproc)" >&2
  labels=unit
  [ "$preset" = asan ] && labels='unit|cli'
  ctest --test-dir "$build" -L "$labels" -LE mpi --output-on-failure >&2 ||
    echo "sanitize: some tests failed; those of time and memory may, being slower and larger" >&2
else
  cmake --build --preset "$preset" -j "$(nproc)" --target nplus1 nplus1-simnode nplus1-stubs nplus1-simgrid >&2
fi

# An installation of its own, in which what can be sanitized is: tests look beside the command for all else, and hand on
# no settings that would say where it is. The rest is that of build/, and of the same version.
[ -f build/lib/libnplus1-stubs.so ] || tools/build.sh --tests
live=$PWD/$build/live
rm -rf "$live"
mkdir "$live"
cp -al build/bin build/lib "$live/"
[ -d build/share ] && cp -al build/share "$live/"
parts='bin/nplus1 bin/nplus1-simnode lib/libnplus1-simgrid.so'
[ "$preset" = ubsan ] && parts="$parts lib/libnplus1-stubs.so"
for part in $parts; do ln -f "$build/$part" "$live/$part"; done
export NPLUS1="$live/bin/nplus1" NPLUS1_TEST_PROGRAMS="$live/bin/mpi-tests" PYTHONDONTWRITEBYTECODE=1
export NPLUS1_MPIRUN="${NPLUS1_MPIRUN:-mpirun.mpich}"
for suite in $suites; do
  echo "== live: $suite" >&2
  (cd tests/mpi && timeout 1200 python3 ../run_suite.py "${suite}_test") >&2 ||
    echo "sanitize: $suite failed; look for a report, else it is a matter of time" >&2
done

count=$(find "$findings" -type f | wc -l)
echo "$count reports of sanitizers in $findings"
[ "$count" -eq 0 ]
