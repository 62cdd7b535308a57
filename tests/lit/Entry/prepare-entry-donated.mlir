// RUN: array-opt %s --array-prepare-entry --split-input-file | FileCheck %s
// RUN: array-opt %s --split-input-file --array-prepare-entry --eliminate-empty-tensors --one-shot-bufferize --canonicalize | FileCheck %s --check-prefix=BUFFERS

// A donated argument is written: its result is computed in its buffer, and the result's own is not touched.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[X:.*]]: memref<4xf32> {array.role = "argument", array.written}, %[[R:.*]]: memref<4xf32> {array.role = "result"})
// CHECK-NOT:     array.donated
// CHECK:         %[[T:.*]] = bufferization.to_tensor %[[X]] restrict writable
// CHECK:         %[[Y:.*]] = linalg.exp ins(%[[T]]
// CHECK:         %[[M:.*]] = bufferization.materialize_in_destination %[[Y]] in %[[T]]
// CHECK:         bufferization.materialize_in_destination %[[M]] in restrict writable %[[X]]

// BUFFERS-LABEL: func.func @main(
// BUFFERS-SAME:    %[[X:.*]]: memref<4xf32> {{.*}}, %[[R:.*]]: memref<4xf32>
// BUFFERS-NEXT:    linalg.exp ins(%[[X]] : memref<4xf32>) outs(%[[X]] : memref<4xf32>)
// BUFFERS-NEXT:    return
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {array.donated = array<i64: 0>} {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// The carry of a loop is the argument itself.
// BUFFERS-LABEL: func.func @main(
// BUFFERS-SAME:    %[[X:.*]]: memref<8xf32> {{.*}}, %[[V:.*]]: memref<f32>
// BUFFERS-NOT:     alloc
// BUFFERS-NOT:     memref.copy
// BUFFERS:         scf.for
// BUFFERS:         memref.store %{{.*}}, %[[X]]
// BUFFERS-NOT:     memref.copy
// BUFFERS:         return
func.func @main(%x: tensor<8xf32>, %v: tensor<f32>) -> tensor<8xf32> attributes {array.donated = array<i64: 0, -1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %s = tensor.extract %v[] : tensor<f32>
  %y = scf.for %i = %c0 to %c8 step %c1 iter_args(%c = %x) -> (tensor<8xf32>) {
    %n = tensor.insert %s into %c[%i] : tensor<8xf32>
    scf.yield %n : tensor<8xf32>
  }
  return %y : tensor<8xf32>
}

// -----

// A value that is overwritten but read later is copied first.
// BUFFERS-LABEL: func.func @main(
// BUFFERS-SAME:    %[[X:.*]]: memref<4xf32> {{.*}}, %[[R0:.*]]: memref<4xf32> {{.*}}, %[[R1:.*]]: memref<4xf32>
// BUFFERS:         linalg.exp ins(%[[X]] : memref<4xf32>) outs(%[[TMP:.*]] : memref<4xf32>)
// BUFFERS:         linalg.abs ins(%[[X]] : memref<4xf32>) outs(%[[R1]] : memref<4xf32>)
// BUFFERS:         memref.copy %[[TMP]], %[[X]]
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {array.donated = array<i64: 0>} {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %f = tensor.empty() : tensor<4xf32>
  %z = linalg.abs ins(%x : tensor<4xf32>) outs(%f : tensor<4xf32>) -> tensor<4xf32>
  return %y, %z : tensor<4xf32>, tensor<4xf32>
}
