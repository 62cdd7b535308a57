#!/bin/sh
# Installs the missing Debian packages of a list, by default apt-packages.txt. Without root and sudo, prints the command.
# If none is missing, it ends within milliseconds.
set -eu
cd "$(dirname "$0")/.."
version=$(cat llvm-version.txt)
list=${1:-apt-packages.txt}
missing=
for package in $(sed -e 's/#.*//' -e "s/@/$version/" "$list"); do
  dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" = 0 ]; then sudo=; elif command -v sudo >/dev/null; then sudo=sudo; else
  echo "error: these Debian packages are missing:$missing" >&2
  echo "       run as root: apt-get install$missing" >&2
  exit 1
fi
echo "installing Debian packages:$missing"
$sudo apt-get update -q
# shellcheck disable=SC2086 # a list of words
DEBIAN_FRONTEND=noninteractive $sudo apt-get install -q -y --no-install-recommends $missing
