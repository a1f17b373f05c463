#!/bin/sh
# Somebody without root, on a Debian that has MPICH alone, unpacks the archive of tools/package.sh, has reports of his
# program (examples/halo, brought compiled) and removes the folder, after which nothing is left.
#   bare_debian.sh [BUILD]     of what was built there [build]
# The Debian is minimal, with `mpich` (debian.sh), in a folder of its own, and removed. Exit code 77: it cannot be made here.
# (The test cli.archive does the same in seconds, in a folder of this machine's files, without packages.)
set -eu
cd "$(dirname "$0")/../.."
build=${1:-build}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
root=$folder/root

name=bare_debian
. tests/launchers/debian.sh
make_debian "$root" "$folder/log" mpich
for package in libfmt9 libsimgrid3.32 gcc python3-minimal; do
  if chroot "$root" dpkg-query -W -f '${Status}' $package 2> /dev/null | grep -q '^install ok'; then
    echo "bare_debian: has $package, so it shows nothing" >&2
    exit 1
  fi
done

archive=$build/$(basename "$(tools/package.sh "$build")")
chroot "$root" useradd --create-home --shell /bin/sh user
cp "$archive" "$build/bin/examples/halo" "$root/home/user/"
rm "$archive"
unpacked=$(basename "$archive" .tar.gz)

cat > "$root/home/user/steps" << EOF
set -eux
cd
bare=\$(mpirun -n 4 ./halo 20 1000)
tar -xzf $unpacked.tar.gz
PATH=\$HOME/$unpacked/bin:\$PATH
test "\$(nplus1 run -n 4 -o result -- ./halo 20 1000 2> said)" = "\$bare"
grep "Trust: 4 of 4 ranks observed" said
nplus1 report result -o again.html
grep -q "</html>" result/report.html && grep -q "</html>" again.html
nplus1 patterns result | grep "MPI_Allreduce"
nplus1 waitstates result | head -3
nplus1 replay result --platform $unpacked/share/nplus1/platforms/torus.xml | grep torus
nplus1 run -q -n 4 -o counted --patterns-only -- ./halo 20 1000
nplus1 patterns counted | grep "MPI_Allreduce"
nplus1 doctor || test \$? = 1
rm -rf $unpacked $unpacked.tar.gz result counted again.html said halo
EOF
find "$root" -xdev > "$folder/before"
in_debian "$root" '
  chroot --userspec=user . env -i HOME=/home/user PATH=/usr/bin:/bin sh /home/user/steps || exit 1
  left=$(ls -A dev/shm; cat proc/[0-9]*/comm 2> /dev/null | grep -E "nplus1|halo|hydra|mpirun")
  [ -z "$left" ] || { echo "left: $left"; exit 1; }
' || { echo "bare_debian: failed" >&2; exit 1; }
find "$root" -xdev > "$folder/after"
stays=$(diff "$folder/before" "$folder/after" | grep '^>' || true)
[ -z "$stays" ] || { echo "bare_debian: what stays: $stays" >&2; exit 1; }
echo "unpacked, run, reported and removed, as a user without root"
