// RUN: array-opt %s --pass-pipeline='builtin.module(func.func(array-launch-stores))' --split-input-file | FileCheck %s

// One thread executes the stores of @main, with the operations between the first store and the last.
// CHECK-LABEL: func.func @stores(
// CHECK-SAME:    %[[X:.*]]: memref<4xf32>, %[[F:.*]]: f32)
// CHECK:         gpu.launch
// CHECK-SAME:    blocks(%{{.*}}) in (%{{.*}} = %[[ONE:.*]], %{{.*}} = %[[ONE]], %{{.*}} = %[[ONE]]) threads(%{{.*}}) in (%{{.*}} = %[[ONE]], %{{.*}} = %[[ONE]], %{{.*}} = %[[ONE]])
// CHECK:           memref.store %[[F]], %[[X]]
// CHECK-NEXT:      %[[V:.*]] = memref.load %[[X]]
// CHECK-NEXT:      %[[S:.*]] = arith.addf %[[V]], %[[V]]
// CHECK-NEXT:      memref.store %[[S]], %[[X]]
// CHECK-NEXT:      gpu.terminator
// CHECK-NEXT:    } {array.launch_name = "store"}
// CHECK-NOT:     memref
// CHECK:         return
func.func @stores(%x: memref<4xf32>, %f: f32) {
  %i = arith.constant 0 : index
  %j = arith.constant 1 : index
  memref.store %f, %x[%i] : memref<4xf32>
  %v = memref.load %x[%i] : memref<4xf32>
  %s = arith.addf %v, %v : f32
  memref.store %s, %x[%j] : memref<4xf32>
  return
}

// -----

// A loop that launches nothing is one thread's.
// CHECK-LABEL: func.func @loop(
// CHECK:         gpu.launch
// CHECK:           scf.for
// CHECK:             memref.store
// CHECK:         } {array.launch_name = "store"}
func.func @loop(%x: memref<4xf32>, %f: f32) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  scf.for %i = %zero to %four step %one {
    memref.store %f, %x[%i] : memref<4xf32>
  }
  return
}
