#!/bin/sh
# Gets MPICH's own test suite from Debian's source package and builds it against the installed MPICH, outside the
# checkout: all but the tests, which run.py makes one by one, as the suite's own `runtests` does.
#   build.sh [--mpi openmpi] [FOLDER]     ${XDG_CACHE_HOME:-~/.cache}/nplus1-conformance if not given, with -openmpi
# --mpi openmpi: against Open MPI, as far as its tests build there.
# What is there already is kept. Its only output is the suite's folder. It needs no root: deb-src is enabled in a list
# file of its own, with package lists of its own. Exit code 77: the source package could not be fetched.
set -eu

mpi=mpich name=nplus1-conformance
if [ "${1:-}" = --mpi ]; then
  mpi=$2
  shift 2
  [ "$mpi" = mpich ] || name=$name-$mpi
fi
folder=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/$name}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
suite=$folder/suite/test/mpi

fail() { # CAUSE NEXT [EXIT CODE]
  echo "conformance: $1" >&2
  echo "  so:   MPICH's test suite cannot run" >&2
  echo "  next: $2" >&2
  exit "${3:-1}"
}

# The source package's mirror is the one that the installed packages came from, as apt itself tells it.
source_list() {
  apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT) $(ORIGIN)' 'Created-By: Packages' |
    awk '$4 == "Debian" && $3 == "main" {
      keyring = "/usr/share/keyrings/debian-archive-keyring.gpg"
      if (!seen[$1 $2]++) print "deb-src [signed-by=" keyring "]", $1, $2, $3
    }'
}

download() {
  apt=$folder/apt
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
  source_list >"$apt/sources.list"
  [ -s "$apt/sources.list" ] || fail "apt knows no Debian mirror" "apt-get update, as root" 77
  set -- -q -o "Dir::Etc::SourceList=$apt/sources.list" -o Dir::Etc::SourceParts=/dev/null \
    -o "Dir::State::Lists=$apt/lists" -o "Dir::Cache=$apt/cache" -o APT::Sandbox::User="$(id -un)"
  version=$(dpkg-query -W -f '${source:Version}' libmpich-dev) || fail "libmpich-dev is not installed" "tools/build.sh"
  (cd "$folder" && apt-get "$@" update && apt-get "$@" source --download-only --only-source "mpich=$version") >&2 ||
    fail "the source package of mpich $version could not be fetched" "check the network, then repeat" 77
}

unpack() {
  rm -rf "$folder/suite.partial"
  mkdir "$folder/suite.partial"
  tar -xf "$1" -C "$folder/suite.partial" --strip-components=1 --wildcards '*/test/mpi' ||
    fail "$1 cannot be unpacked" "remove it and repeat"
  mv "$folder/suite.partial" "$folder/suite"
}

# MPICH builds its f08 tests only inside its own tree; elsewhere they build as well.
configure() {
  sed -i 's/test "$enable_f08" = "yes" -a "$FROM_MPICH" = "yes"/test "$enable_f08" = "yes"/' "$suite/configure"
  (cd "$suite" && ./configure --with-mpi=/usr --enable-fortran=all --enable-threads=multiple --enable-xfail \
    --disable-cxx --disable-ft-tests \
    MPICC=/usr/bin/mpicc.$mpi MPICXX=/usr/bin/mpicxx.$mpi MPIF77=/usr/bin/mpif77.$mpi \
    MPIFC=/usr/bin/mpifort.$mpi MPIEXEC=/usr/bin/mpirun.$mpi CFLAGS="$1 $2" CXXFLAGS="$1" \
    FFLAGS="$1 -fallow-argument-mismatch" FCFLAGS="$1 -fallow-argument-mismatch") >"$folder/configure.log" 2>&1 ||
    fail "the suite's configure failed" "read $folder/configure.log"
}

tarball() { find "$folder" -maxdepth 1 -name 'mpich_*.orig.tar.*' | head -n 1; }
[ -n "$(tarball)" ] || download
[ -d "$suite" ] || unpack "$(tarball)"
# What MPI 3.0 has removed Open MPI has still, and declares where it is asked to.
removed=
[ "$mpi" = mpich ] || removed='-std=gnu99 -DOMPI_OMIT_MPI1_COMPAT_DECLS=0'
[ -f "$suite/config.status" ] || configure '-O0 -g' "$removed"

make -C "$suite/util" >"$folder/make.log" 2>&1 || fail "the suite's library failed to build" "read $folder/make.log"
[ ! -d "$suite/dtpools" ] || make -C "$suite/dtpools" >>"$folder/make.log" 2>&1 ||
  fail "the suite's datatype pools failed to build" "read $folder/make.log"
echo "$suite"
