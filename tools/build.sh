#!/bin/sh
# Installs what is missing, configures and builds the release preset into build/. demo.sh and test.sh begin with it.
set -eu
cd "$(dirname "$0")/.."
tools/install_dependencies.sh
cmake --preset release >&2
cmake --build --preset release -j "$(nproc)" >&2
