#!/bin/sh
# Installs the Debian 12 packages that building needs, if any of them is missing; with --tests, those that testing
# needs too. As root, or with sudo.
set -eu

packages="
  g++ gfortran cmake ninja-build python3
  mpich libmpich-dev
  libcli11-dev libeigen3-dev libfmt-dev nlohmann-json3-dev libtomlplusplus-dev
  libzstd-dev libisal-dev zlib1g-dev
  libotf2-trace-dev libsimgrid-dev
  libboost-dev robin-map-dev libdw-dev libclang-14-dev
  node-d3
"
# python3-otf2 imports six, and Debian's package does not depend on it.
if [ "${1:-}" = --tests ]; then
  packages="$packages
    git patch xz-utils file dpkg-dev
    make iproute2 pkg-config libgtest-dev libbenchmark-dev clang-format-14 clang-14
    openmpi-bin libopenmpi-dev python3-mpi4py
    slurm-wlm munge
    tcl
    otf2-tools python3-otf2 python3-six
    zsh fish
    chromium chromium-driver
  "
fi

missing=
for package in $packages; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -eq 0 ]; then
  as_root=
elif command -v sudo >/dev/null; then
  as_root=sudo
else
  echo "install_dependencies: these packages are missing:$missing" >&2
  echo "  so:   nothing was built" >&2
  echo "  next: run this as root, or install sudo, or: apt-get install$missing" >&2
  exit 1
fi

echo "Installing:$missing" >&2
$as_root apt-get update -q >&2
# shellcheck disable=SC2086  # a list of words
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing >&2
