// array-lower-transposes: the blocks that array-vectorize-linalg reads across. Invariants: one function for an element
// type. It reads nothing outside of the source: rows beyond the last one repeat it, and columns are masked if a square
// is not whole. It writes whole squares.
// RUN: array-opt %s --array-lower-transposes | FileCheck %s --implicit-check-not=linalg

!matrix = memref<?x?xf32, strided<[?, 1], offset: ?>>

// CHECK-LABEL: func.func @twice
// CHECK-SAME:    (%[[A:.*]]: memref<{{.*}}>, %[[B:.*]]: memref<{{.*}}>)
// CHECK:         call @transpose_f32(%[[A]], %[[B]])
// CHECK:         call @transpose_f32(%[[B]], %[[A]])
// CHECK:       func.func private @transpose_f32(%[[SOURCE:[a-z0-9]+]]: memref<{{.*}}>, %[[TARGET:[a-z0-9]+]]: memref<{{.*}}>) attributes {array.unit
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK-COUNT-16:    arith.minui
// CHECK:             scf.if {{.*}} -> (vector<16xf32>
// CHECK-COUNT-16:      vector.load %[[SOURCE]]
// CHECK:             else
// CHECK:               vector.create_mask
// CHECK-COUNT-16:      vector.maskedload %[[SOURCE]]
// CHECK-COUNT-64:    vector.shuffle
// CHECK-NOT:         vector.shuffle
// CHECK-COUNT-16:    vector.store {{.*}}, %[[TARGET]]
// CHECK-NOT:   func.func
func.func @twice(%a: !matrix, %b: !matrix) {
  linalg.transpose ins(%a : !matrix) outs(%b : !matrix) permutation = [1, 0]
  linalg.transpose ins(%b : !matrix) outs(%a : !matrix) permutation = [1, 0]
  return
}
