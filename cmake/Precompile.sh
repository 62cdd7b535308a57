#!/bin/sh
# Runs the command that compiles a precompiled header, and writes the header's sum beside it, by which ccache knows it.
# usage: Precompile.sh COMPILER ARGUMENT... -o HEADER.pch ARGUMENT...
"$@" || exit
while [ $# -gt 1 ]; do
  if [ "$1" = -o ] && [ -e "$2" ]; then
    case $2 in *.pch | *.gch) sha256sum < "$2" > "$2.sum" ;; esac
  fi
  shift
done
