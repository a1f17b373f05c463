# Sourced by scripts that try things on a Debian with next to nothing: one is made of its packages (debootstrap, minimal) in a
# folder of its own. Needs root, debootstrap and namespaces. $name is the script's, for what it says.

missing() {
  echo "$name: $1" >&2
  exit 77
}

# make_debian ROOT LOG [PACKAGE,...]: in the folder ROOT, of the mirror that the installed packages came from.
make_debian() {
  [ "$(id -u)" = 0 ] || missing "only root may make a Debian"
  command -v debootstrap > /dev/null || missing "debootstrap is not installed"
  unshare --mount --pid --fork true 2> /dev/null || missing "namespaces may not be made here"
  format='$(REPO_URI) $(CODENAME) $(COMPONENT) $(ORIGIN)'
  mirror=$(apt-get indextargets --format "$format" 'Created-By: Packages' |
    awk '$4 == "Debian" && $3 == "main" && $2 !~ /-/ { print $2, $1; exit }')
  [ -n "$mirror" ] || missing "apt knows no Debian mirror"
  made_since=$(date +%s)
  debootstrap --variant=minbase ${3:+--include="$3"} "${mirror% *}" "$1" "${mirror#* }" > "$2" 2>&1 ||
    { tail -3 "$2" >&2; missing "no Debian could be made of ${mirror#* }"; }
  echo "Debian $(cat "$1/etc/debian_version"), $(du -sm "$1" | cut -f1) MiB, made in $(($(date +%s) - made_since)) s"
}

# in_debian ROOT SCRIPT: SCRIPT is run by sh in ROOT's folder, from where `chroot .` enters it, in spaces of its own for processes
# and mounts, with the devices that programs need.
in_debian() {
  unshare --mount --pid --fork -- sh -c '
    cd "$0" && mount -t proc proc proc && mount -t tmpfs shm dev/shm && mount --rbind /sys sys
    for device in null zero urandom; do touch dev/$device; mount --bind /dev/$device dev/$device; done
    eval "$1"
  ' "$@"
}
