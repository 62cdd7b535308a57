#!/bin/sh
# Status 1: the module is of interest, since its linalg has a tanh. Arguments before the module are ignored.
for module in "$@"; do :; done
if array-opt --array-to-linalg "$module" 2>/dev/null | grep -q math.tanh; then exit 1; fi
exit 0
