#!/bin/sh
# What somebody sees who clones the repository on a Debian where nothing was installed by hand: the last commit's demo.sh, or another
# script, in a minimal Debian (debian.sh), with the time that it takes.
#   bare_machine.sh [FOLDER [SCRIPT [ARGUMENT...]]]     [a new folder, demo.sh]
# FOLDER keeps what comes of it, and is where the Debian is made; without it all is removed. Exit code: the script's; 77: no Debian
# can be made here.
set -eu
cd "$(dirname "$0")/../.."
name=bare_machine
. tests/launchers/debian.sh
if [ $# -gt 0 ]; then
  folder=$1
  shift
  mkdir -p "$folder"
else
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
fi
[ $# -gt 0 ] || set -- demo.sh
root=$folder/root
make_debian "$root" "$folder/log"
# It reaches packages and names as this machine does.
cp -a /etc/apt/. "$root/etc/apt/"
cp -aL /etc/resolv.conf /etc/hosts "$root/etc/"
[ ! -d /etc/ssl ] || cp -aL /etc/ssl "$root/etc/"
git clone --quiet --no-hardlinks . "$root/nplus1"
began=$(date +%s)
code=0
WORDS="$*" in_debian "$root" '
  chroot . env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin sh -c "cd /nplus1 && ./$WORDS"
' > "$folder/said" 2>&1 || code=$?
tail -40 "$folder/said"
echo "$* took $(($(date +%s) - began)) s, exit code $code; $(nproc) cores, load $(cut -d' ' -f1 /proc/loadavg)"
exit $code
