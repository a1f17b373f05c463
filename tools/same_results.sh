#!/bin/sh
# Whether two builds say the same of given recordings: every verb that reads one, as text, JSON and pages.
# Usage: same_results.sh OLD_NPLUS1 NEW_NPLUS1 RESULT_FOLDER...
# Prints the differences; exit code 1 if there are some. What each said is kept where NPLUS1_SAME_RESULTS says, else nowhere.
set -eu
old=$1 new=$2
shift 2
work=${NPLUS1_SAME_RESULTS:-$(mktemp -d)}
[ -n "${NPLUS1_SAME_RESULTS:-}" ] || trap 'rm -rf "$work"' EXIT

# say NPLUS1 RESULT_FOLDER TO: everything that is said of one recording, a file each; the code of each command in its text.
say() {
  nplus1=$1 recorded=$2
  mkdir -p "$3/results"
  cd "$3"
  one() {
    name=$1
    shift
    { "$nplus1" "$@" && echo "code 0" || echo "code $?"; } > "$name.txt" 2>&1
  }
  one patterns patterns "$recorded" --json patterns.json
  one waitstates waitstates "$recorded" --json waitstates.json --html waitstates.html
  one sweep whatif "$recorded" --sweep --json sweep.json --html sweep.html
  one scaled whatif "$recorded" --scale factor=0.5 --json scaled.json --html scaled.html
  one network whatif "$recorded" --network lsb:latency=1e-5,bandwidth=1e9 --json network.json
  one collectives collectives "$recorded" --json collectives.json --html collectives.html
  one replay replay "$recorded" --network loggops:L=2us,o=1us,G=1e-10 -o results/replay
  one report report "$recorded" -o results/report.html
  one diff diff "$recorded" results/replay
  one convert convert "$recorded" -o recording.jsonl
  # What replaying took is no result.
  find . -type f -exec sed -i -E 's/("wall_time_s": ?)[0-9.e-]+/\10/; s/(wall time +)[0-9.]+ [a-z]+/\10 s/' {} +
  cd "$OLDPWD"
}

# keep SIDE NPLUS1 RESULT_FOLDER: in one folder first, because some say where they wrote.
keep() {
  say "$(realpath "$2")" "$(realpath "$3")" "$work/now"
  mkdir -p "$work/$1"
  mv "$work/now" "$work/$1/$(basename "$3")"
}

rm -rf "${work:?}/now" "${work:?}/old" "${work:?}/new"
for recorded in "$@"; do
  keep old "$old" "$recorded"
  keep new "$new" "$recorded"
done
diff -r "$work/old" "$work/new" && echo "same_results: $(find "$work/old" -type f | wc -l) files are the same"
