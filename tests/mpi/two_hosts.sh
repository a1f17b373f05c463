#!/bin/sh
# Usage: two_hosts.sh COMMAND...
# Runs COMMAND on a host `ha` that has a neighbour `hb`, both made of namespaces of this machine: each has a network (so
# abstract unix sockets of its own), a name, and a cable to the other. For Hydra:
#   -launcher ssh -launcher-exec two_hosts.sh -hosts ha,hb -iface cable
# Nothing of it stays. Exit code 77 where namespaces may not be made, as in most containers.
set -eu

start_on() {  # HOST COMMAND, as ssh would be asked to
  [ "$1" != -x ] || shift
  [ "$1" = hb ] || { echo "two_hosts: there is no host $1 to reach" >&2; exit 1; }
  shift
  exec nsenter -t "$TWO_HOSTS_NEIGHBOUR" --net --uts sh -c "$*"
}

make_neighbour() {
  unshare --net --uts sleep infinity &
  export TWO_HOSTS_NEIGHBOUR=$!
  trap 'kill $TWO_HOSTS_NEIGHBOUR' EXIT
  until [ "$(readlink /proc/$TWO_HOSTS_NEIGHBOUR/ns/net)" != "$(readlink /proc/self/ns/net)" ] &&
      [ "$(readlink /proc/$TWO_HOSTS_NEIGHBOUR/ns/uts)" != "$(readlink /proc/self/ns/uts)" ]; do sleep 0.01; done
  ip link add cable type veth peer name cable netns "$TWO_HOSTS_NEIGHBOUR"
  hostname ha
  set_up 10.77.0.1
  nsenter -t "$TWO_HOSTS_NEIGHBOUR" --net --uts sh -c "hostname hb; $(command -v "$0") --set-up 10.77.0.2"
}

set_up() {
  ip link set lo up
  ip addr add "$1/24" dev cable
  ip link set cable up
}

case $1 in
  -x|hb) start_on "$@" ;;
  --set-up) set_up "$2" ;;
  --inside)
    shift
    printf '127.0.0.1 localhost\n10.77.0.1 ha\n10.77.0.2 hb\n' | {
      hosts=$(mktemp); cat > "$hosts"; mount --bind "$hosts" /etc/hosts; rm "$hosts"; }
    make_neighbour
    "$@" &  # a signal interrupts a wait, not a program in the foreground
    trap "kill -TERM $!" TERM INT
    while kill -0 $! 2>/dev/null; do
      wait $! && code=0 || code=$?
    done
    exit $code ;;
  *)
    user=  # root needs no namespace of users, in which daemons may not give up groups
    unshare --net --mount --uts true 2>/dev/null || user=--map-root-user
    unshare $user --net --mount --uts true 2>/dev/null || exit 77
    exec unshare $user --net --mount --uts "$0" --inside "$@" ;;
esac
