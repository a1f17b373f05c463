#!/bin/sh
# Runs every fuzz target for MINUTES of processor time, its children's too, one after the other, and says what each has met.
#   tests/fuzz/run.sh BUILD_FOLDER MINUTES [TARGET...]
# In a build of the preset `fuzz` the targets are libFuzzer's: they go on where they were in BUILD_FOLDER/corpus, which grows;
# findings are written to BUILD_FOLDER/findings, and a line for each run to BUILD_FOLDER/findings/runs.tsv. In any other
# build they mutate by themselves, and --keep leaves the last input.
set -eu
build=$(cd "$1" && pwd)
minutes=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
targets=${*:-$(cd "$here" && grep -o '^nplus1_fuzz([a-z_0-9]*' CMakeLists.txt | cut -d'(' -f2)}
mkdir -p "$build/findings"
failed=0

# Seconds of processor time that process $1 has had, with the children that it has waited for; nothing if it has ended.
used() {
  sed 's/.*) //' "/proc/$1/stat" 2>/dev/null |
    awk -v tick="$(getconf CLK_TCK)" '$1 != "Z" {printf "%d\n", ($12 + $13 + $14 + $15) / tick}'
}

# The largest number that stands behind $1 in the log $2.
last_of() {
  grep -o "$1:\{0,1\} *[0-9]*" "$2" | grep -o '[0-9]*$' | sort -n | tail -1
}

guided() {
  mkdir -p "$build/corpus/$target"
  log=$build/findings/$target.log
  kept=
  [ -d "$here/corpus/$target" ] && kept=$here/corpus/$target
  # What takes long in processor time is a finding of the target's own; its time on a clock says nothing.
  # shellcheck disable=SC2086  # none or one folder
  "$build/bin/fuzz_$target" -timeout=1000000 -rss_limit_mb=3000 -max_len=65536 -print_final_stats=1 \
    -artifact_prefix="$build/findings/$target-" "$build/corpus/$target" $kept >"$log" 2>&1 &
  fuzzer=$!
  had=0
  while now=$(used $fuzzer) && [ -n "$now" ]; do
    had=$now
    # It stops when the input that it has is through. A target that is still at its corpus hears it then.
    [ "$had" -lt $((minutes * 60)) ] || kill -USR1 $fuzzer 2>/dev/null || true
    sleep 2
  done
  result=ends
  wait $fuzzer || { result=found; failed=1; }
  printf '%s\t%s\t%s\t%s\t%s\n' "$target" "$had" "$(last_of stat::number_of_executed_units "$log")" \
    "$(last_of cov "$log")" $result >>"$build/findings/runs.tsv"
  tail -1 "$build/findings/runs.tsv"
  grep -E 'ERROR|SUMMARY|Test unit written' "$log" || true
}

for target in $targets; do
  echo "== $target, $minutes minutes of processor time"
  if grep -q '^NPLUS1_FUZZ:[A-Z]*=ON' "$build/CMakeCache.txt"; then
    guided
  else
    "$build/bin/fuzz_$target" --seconds "$((minutes * 60))" --seed "$$" --keep "$build/findings/$target-last" || failed=1
  fi
done
exit $failed
