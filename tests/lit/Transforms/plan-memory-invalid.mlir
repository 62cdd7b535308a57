// RUN: array-opt %s --pass-pipeline='builtin.module(func.func(array-plan-memory))' --split-input-file --verify-diagnostics

func.func @dynamic(%n: index) {
  // expected-error @below {{a temporary must have a static shape and a dense layout, but is 'memref<?xf32>'}}
  %a = memref.alloc(%n) : memref<?xf32>
  return
}

// -----

func.func @nested(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    // expected-error @below {{a temporary must be allocated in the function's entry block}}
    %a = memref.alloc() : memref<4xf32>
  }
  return
}

// -----

func.func @alignment() {
  // expected-error @below {{a temporary can't be aligned to more than 64 bytes}}
  %a = memref.alloc() {alignment = 4096 : i64} : memref<4xf32>
  return
}
