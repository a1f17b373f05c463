#!/bin/sh
# Makes build/nplus1-VERSION-linux-MACHINE.tar.gz: unpacked anywhere, by anybody, it runs where MPICH is installed.
#   tools/package.sh [BUILD]     of what was built there [build]
#
# Every library that our programs load is in it, but for the C library, those of MPI, whose users have their own, and those
# of clang, without which `nplus1 overlap --patch` says what to install.
set -eu
cd "$(dirname "$0")/.."
build=${1:-build}
version=$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$build/CMakeCache.txt")
name=nplus1-$version-linux-$(uname -m)
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
cmake --install "$build" --prefix "$stage/$name" --strip > /dev/null
chmod 755 "$stage"

# libraries of FILE...: those that they load, and what those load
libraries() {
  for file in "$@"; do ldd "$file"; done | awk '/=> \// { print $3 }' | sort -u
}
system='/(libc|libm|libdl|libpthread|librt|ld-linux-[^/]*)\.so'
private=$stage/$name/lib/nplus1/private
mkdir "$private"
ours=$(echo "$stage/$name"/bin/* "$stage/$name/lib/nplus1/libnplus1-simgrid.so")
with_mpi=$(find "$stage/$name/libexec" -type f ! -name nplus1-patch)
mpi=$(libraries $with_mpi | grep -E '/libmpi(ch)?\.so')
{ echo "$mpi"; libraries $mpi; } | sort -u > "$stage/of_mpi"
{
  libraries $ours
  libraries $with_mpi | grep -vxFf "$stage/of_mpi"
} | sort -u | grep -vE "$system" | while read -r library; do cp -L "$library" "$private/"; done
tar -C "$stage" --owner=0 --group=0 -czf "$build/$name.tar.gz" "$name"
echo "$build/$name.tar.gz"
