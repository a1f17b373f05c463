#!/bin/sh
# Runs every fuzz target for MINUTES, one after the other, and says how many inputs each has met.
#   tests/fuzz/run.sh BUILD_FOLDER MINUTES [TARGET...]
# In a build of the preset `fuzz` the targets are libFuzzer's: the corpus grows in BUILD_FOLDER/corpus, findings are
# written to BUILD_FOLDER/findings. In any other build they mutate by themselves, and --keep leaves the last input.
set -eu
build=$(cd "$1" && pwd)
minutes=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
targets=${*:-$(cd "$here" && grep -o '^nplus1_fuzz([a-z_0-9]*' CMakeLists.txt | cut -d'(' -f2)}
mkdir -p "$build/findings"
failed=0
for target in $targets; do
  program=$build/bin/fuzz_$target
  seconds=$((minutes * 60))
  echo "== $target, $minutes minutes"
  if grep -q '^NPLUS1_FUZZ:[A-Z]*=ON' "$build/CMakeCache.txt"; then
    mkdir -p "$build/corpus/$target"
    kept=
    [ -d "$here/corpus/$target" ] && kept=$here/corpus/$target
    # shellcheck disable=SC2086  # none or one folder
    "$program" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=3000 -max_len=65536 -print_final_stats=1 \
      -artifact_prefix="$build/findings/$target-" "$build/corpus/$target" $kept \
      >"$build/findings/$target.log" 2>&1 || failed=1
    grep -E 'stat::number_of_executed_units|ERROR|SUMMARY|Test unit written' "$build/findings/$target.log" || true
  else
    "$program" --seconds "$seconds" --seed "$$" --keep "$build/findings/$target-last" || failed=1
  fi
done
exit $failed
