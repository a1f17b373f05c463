#!/bin/sh
# Builds a preset with sanitizers and runs under it what can be; stops with 1 if they found anything, or a test failed.
#   tools/sanitize.sh asan      AddressSanitizer and UBSan: unit tests, command line; then live runs
#   tools/sanitize.sh tsan      ThreadSanitizer: unit tests; then live runs
#   tools/sanitize.sh ubsan     UBSan alone: live runs
#   tools/sanitize.sh PRESET --live [SUITE...]    only the live runs: suites of tests/mpi, and random_programs; CLASS and TEST may follow
#
# In live runs the simulator and the libraries in the ranks are sanitized, but for those of `overlap measure` and `guidelines
# tune`; the command is in the tests of the command line. AddressSanitizer and ThreadSanitizer replace malloc and must be there
# before the C library. A program that knows nothing of them gets their library by LD_PRELOAD, behind ours, which is linked with
# it: so it is in the loader's list before the C library, and set up before ours. Tests hand on no LD_PRELOAD, so the command
# that they call is a script that sets it.
# tools/sanitize/left_out.PRESET.txt lists the tests that mean nothing under a sanitizer, with reasons.
set -eu
cd "$(dirname "$0")/.."
preset=${1:?asan, tsan or ubsan}
shift
build=build-$preset
findings=$PWD/$build/findings
rm -rf "$findings"
mkdir -p "$findings"
chmod 1777 "$findings"
rm -f "$build/simulators.log"
# Into files: what tests do with the standard error of programs would hide it. The scenario of a full descriptor table, or
# a child that is killed, leaves nothing behind; leaks are looked for where processes end by themselves.
common=log_path=$findings/report:abort_on_error=0:exitcode=99
export ASAN_OPTIONS="$common:allocator_may_return_null=1"
export UBSAN_OPTIONS="$common:print_stacktrace=1"
export TSAN_OPTIONS="$common:second_deadlock_stack=1:allocator_may_return_null=1"

live_only=no
if [ "${1:-}" = --live ]; then
  live_only=yes
  shift
fi
suites=${*:-collectives closed_forms wildcards ways recording threads one_sided platform deadlock endings strangers native replay survivors children}
failed=''

cmake --preset "$preset" >&2
if [ $live_only = no ] && [ "$preset" != ubsan ]; then
  cmake --build --preset "$preset" -j "$(nproc)" >&2
  labels=unit
  [ "$preset" = asan ] && labels='unit|cli'
  left_out=$(sed -e '/^#/d' -e '/^$/d' -e 's/: .*//' "tools/sanitize/left_out.$preset.txt" | paste -sd'|')
  ctest --test-dir "$build" -L "$labels" -LE mpi -E "$left_out" --output-on-failure >&2 || failed="$failed unit"
else
  cmake --build --preset "$preset" -j "$(nproc)" --target nplus1-simnode nplus1-stubs nplus1-openmpi nplus1-statistics >&2
fi

# An installation of its own, in which what can be sanitized is: tests look beside the command for all else, and hand on
# no settings that would say where it is. The rest is that of build/, and of the same version.
[ -f build/lib/libnplus1-stubs.so ] || tools/build.sh --tests
live=$PWD/$build/live
rm -rf "$live"
mkdir -p "$live/command"
cp -al build/bin build/lib "$live/"
[ -d build/share ] && cp -al build/share "$live/"
for part in bin/nplus1-simnode lib/libnplus1-stubs.so lib/libnplus1-openmpi.so lib/libnplus1-statistics.so; do
  ln -f "$build/$part" "$live/$part"
done
(cd "$live/command" && ln -s ../bin/* .)
case $preset in
  asan) runtime=$(gcc -print-file-name=libasan.so) ;;
  tsan) runtime=$(gcc -print-file-name=libtsan.so) ;;
  *) runtime='' ;;
esac
if [ -n "$runtime" ]; then
  gcc -Wall -Wextra -shared -fPIC -o "$live/lib/libranks.so" tools/sanitize/ranks.c
  rm "$live/command/nplus1"
  cat > "$live/command/nplus1" <<END
#!/bin/sh
# UCX's hooks of memory functions lock while a thread is at its very end, which ThreadSanitizer has seen the end of already.
export UCX_MEM_EVENTS=no
# UBSan's own messages beside AddressSanitizer's go to stderr whatever log_path says.
export NPLUS1_SIMNODE_LOG="\${NPLUS1_SIMNODE_LOG:-$findings/../simulators.log}"
case "\${1:-} \$*" in  # what else there is starts no ranks, and limits the memory of children
  run*|doctor*|demo*|guidelines*|*--reenact*) export LD_PRELOAD="$live/lib/libranks.so:$runtime\${LD_PRELOAD:+:\$LD_PRELOAD}" ;;
esac
exec "$live/bin/nplus1" "\$@"
END
  chmod +x "$live/command/nplus1"
fi
export NPLUS1="$live/command/nplus1" NPLUS1_TEST_PROGRAMS="$live/bin/mpi-tests" PYTHONDONTWRITEBYTECODE=1
export NPLUS1_OPENMPI_TEST_PROGRAMS="$live/bin/openmpi-tests"
# Tests that preload a library of ours themselves, without the command: what they preload behind it, and UCX as above.
export NPLUS1_PRELOAD_BEHIND="${runtime:+$live/lib/libranks.so:$runtime}"
[ -z "$runtime" ] || export UCX_MEM_EVENTS=no
export RANDOM_PROGRAM="$NPLUS1_TEST_PROGRAMS/random_program" PATIENT="$live/lib/librandom_programs_patient.so"
export NPLUS1_MPIRUN="${NPLUS1_MPIRUN:-mpirun.mpich}" NPLUS1_LEAVE_OUT="$PWD/tools/sanitize/left_out.$preset.txt"
if [ "$preset" = asan ]; then  # can it fail?
  mpicc.mpich -o "$live/planted" tools/sanitize/planted.c
  "$NPLUS1" run -q -n 2 -o "$live/planted-result" -- "$live/planted" >"$live/planted.log" 2>&1 || true
  grep -ql heap-buffer-overflow "$findings"/* || failed="$failed a-planted-fault-was-not-found"
  rm -f "$findings"/*
fi
for suite in $suites; do
  name=${suite%%.*}
  echo "== live: $suite" >&2
  folder=mpi file=$name
  [ "$name" != random_programs ] || folder=random_programs file=sample
  (cd "tests/$folder" && timeout 1200 python3 ../run_suite.py "${file}_test${suite#"$name"}") >&2 || failed="$failed $suite"
done

said=$(grep -c 'runtime error' "$build/simulators.log" 2>/dev/null || true)
[ "${said:-0}" -eq 0 ] || failed="$failed $said-in-$build/simulators.log"
count=$(find "$findings" -type f | wc -l)
echo "$count reports of sanitizers in $findings"
[ -z "$failed" ] || echo "failed:$failed"
[ "$count" -eq 0 ] && [ -z "$failed" ]
