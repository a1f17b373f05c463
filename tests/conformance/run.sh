#!/bin/sh
# Builds MPICH's test suite if need be, and runs it with the nplus1 of the release preset:
#   run.sh [OPTIONS OF run.py]      all directories, or those of --dir; hours on two cores if all
#   run.sh --mpi openmpi [OPTIONS]  the same of Open MPI
#   run.sh --sample                 the quick sample of ./test.sh
# NPLUS1 names another nplus1. Exit code 77: the suite is not there and could not be fetched.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
nplus1=${NPLUS1:-$here/../../build/bin/nplus1}
set_mpi=
[ "${1:-}" != --mpi ] || set_mpi="--mpi $2"
suite=$("$here/build.sh" $set_mpi) || exit $?
exec python3 "$here/run.py" --suite "$suite" --nplus1 "$nplus1" "$@"
