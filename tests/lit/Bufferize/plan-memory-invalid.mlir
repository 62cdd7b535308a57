// RUN: array-opt %s --pass-pipeline='builtin.module(func.func(array-plan-memory))' --split-input-file --verify-diagnostics

func.func @dynamic(%n: index) {
  // expected-error @below {{the sizes of a temporary must follow from the symbols of the call, but are of 'memref<?xf32>'}}
  %a = memref.alloc(%n) : memref<?xf32>
  linalg.exp ins(%a : memref<?xf32>) outs(%a : memref<?xf32>)
  return
}

// -----

func.func @carried(%n: index, %init: memref<4xf32>) -> memref<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%last = %init) -> memref<4xf32> {
    // expected-error @below {{a temporary of a loop must not leave its iteration}}
    %a = memref.alloc() : memref<4xf32>
    scf.yield %a : memref<4xf32>
  }
  return %r : memref<4xf32>
}

// -----

func.func @alignment() {
  // expected-error @below {{a temporary can't be aligned to more than 64 bytes}}
  %a = memref.alloc() {alignment = 4096 : i64} : memref<4xf32>
  return
}
