#!/bin/sh
# Builds nplus1 and runs the main job on a bundled program: 16 ranks with two planted problems.
# On a bare Debian 12, as root or with sudo. Arguments go to `nplus1 demo` (e.g. -o DIR).
set -eu
cd "$(dirname "$0")"
tools/build.sh --demo
exec build/bin/nplus1 demo "$@"
