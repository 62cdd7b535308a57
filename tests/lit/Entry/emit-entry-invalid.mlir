// RUN: array-opt %s --array-emit-entry --split-input-file --verify-diagnostics

// expected-error @below {{the module has no function @main to call}}
module {
}

// -----

// expected-error @below {{argument #0 has no place in the call frame: run array-prepare-entry first}}
func.func @main(%x: memref<4xf64>) {
  return
}
