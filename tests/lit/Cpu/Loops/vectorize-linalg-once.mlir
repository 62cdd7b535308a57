// RUN: array-opt %s --pass-pipeline='builtin.module(func.func(array-vectorize-linalg))' | FileCheck %s

// A loop whose trip count is a condition is a conditional.
// CHECK-LABEL: func.func @once(
// CHECK-SAME: %[[X:.*]]: memref<8xf32>, %[[I:.*]]: index, %[[P:.*]]: i1, %[[V:.*]]: f32)
func.func @once(%x: memref<8xf32>, %i: index, %p: i1, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK-NOT: scf.for
  // CHECK: scf.if %[[P]] {
  // CHECK-NEXT: memref.store %[[V]], %[[X]][%[[I]]]
  // CHECK-NEXT: }
  // CHECK-NEXT: return
  %count = arith.index_castui %p : i1 to index
  scf.for %k = %c0 to %count step %c1 {
    memref.store %v, %x[%i] : memref<8xf32>
  }
  return
}
