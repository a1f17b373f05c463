#!/bin/sh
# Compares all C and C++ files with .clang-format. `check_format.sh --fix` formats them instead.
# clang-format 14 (Debian 12's) decides: other versions disagree in details.
set -eu
cd "$(dirname "$0")/.."

formatter=${CLANG_FORMAT:-}
for candidate in clang-format-14 clang-format; do
  [ -n "$formatter" ] || formatter=$(command -v "$candidate" || true)
done
if [ -z "$formatter" ]; then
  echo "check_format: clang-format is missing; next: apt-get install clang-format-14" >&2
  exit 2
fi

files() {
  git ls-files -z --cached --others --exclude-standard '*.cpp' '*.hpp' '*.c' '*.h' | tr '\0' '\n' | sort
}

if [ "${1:-}" = --fix ]; then
  files | xargs "$formatter" -i
else
  count=$(files | wc -l)
  files | xargs -P 2 -n 64 "$formatter" --dry-run -Werror
  echo "check_format: $count files are formatted"
fi
