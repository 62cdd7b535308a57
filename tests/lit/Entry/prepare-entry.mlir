// RUN: array-opt %s --array-prepare-entry --split-input-file | FileCheck %s
// RUN: array-opt %s --split-input-file --array-prepare-entry --eliminate-empty-tensors --one-shot-bufferize --canonicalize | FileCheck %s --check-prefix=BUFFERS

// Arguments come first, then results; each is read and written as a buffer of the caller.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[X:.*]]: memref<4xf32> {array.role = "argument"}, %[[R:.*]]: memref<4xf32> {array.role = "result"})
// CHECK:         %[[T:.*]] = bufferization.to_tensor %[[X]] restrict
// CHECK:         %[[Y:.*]] = linalg.exp ins(%[[T]]
// CHECK:         bufferization.materialize_in_destination %[[Y]] in restrict writable %[[R]]
// CHECK-NEXT:    return{{$}}

// BUFFERS-LABEL: func.func @main(
// BUFFERS-SAME:    %[[X:.*]]: memref<4xf32> {{.*}}, %[[R:.*]]: memref<4xf32>
// BUFFERS-NEXT:    linalg.exp ins(%[[X]] : memref<4xf32>) outs(%[[R]] : memref<4xf32>)
// BUFFERS-NEXT:    return
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// A value that is returned twice, and an argument that is returned, are copied.
// BUFFERS-LABEL: func.func @main(
// BUFFERS-SAME:    %[[X:.*]]: memref<4xf32> {{.*}}, %[[R0:.*]]: memref<4xf32> {{.*}}, %[[R1:.*]]: memref<4xf32> {{.*}}, %[[R2:.*]]: memref<4xf32> {{.*}})
// BUFFERS-NOT:     alloc
// BUFFERS:         linalg.exp ins(%[[X]] : memref<4xf32>) outs(%[[R0]] : memref<4xf32>)
// BUFFERS-DAG:     memref.copy %[[R0]], %[[R1]]
// BUFFERS-DAG:     memref.copy %[[X]], %[[R2]]
// BUFFERS:         return
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %y, %y, %x : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// A function without arguments or results is one without buffers.
// CHECK-LABEL: func.func @main() {
// CHECK-NEXT:    return
func.func @main() {
  return
}

// -----

// Equal elements are a fill for each use, unequal ones stay a constant.
// CHECK-LABEL: func.func @main(
// CHECK-DAG:     %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-DAG:     arith.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK:         linalg.fill ins(%[[ONE]]
// CHECK:         linalg.fill ins(
// CHECK-NOT:     dense<1.000000e+00>
func.func @main() -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %0 = arith.constant dense<1.0> : tensor<2xf32>
  %1 = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  return %0, %0, %1 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// -----

// A value that a loop changes and another one reads later is copied, and each result is computed in its own buffer.
// CHECK-LABEL: func.func @main(
// CHECK:         %[[E:.*]] = linalg.exp
// CHECK:         %[[COPY:.*]] = bufferization.materialize_in_destination %[[E]] in
// CHECK:         scf.for {{.*}} = %[[COPY]])
// CHECK:         scf.for {{.*}} = %[[E]])

// BUFFERS-LABEL: func.func private @shared_start
// BUFFERS:       func.func @main(
// BUFFERS-SAME:    %[[X:arg0]]: memref<4xf32> {array.role = "argument"}, %[[R0:arg1]]: memref<4xf32> {array.role = "result"}, %[[R1:arg2]]: memref<4xf32>
// BUFFERS-NOT:     alloc
// BUFFERS:         linalg.exp ins(%[[X]] : memref<4xf32>) outs(%[[R1]] : memref<4xf32>)
// BUFFERS-NEXT:    memref.copy %[[R1]], %[[R0]]
// BUFFERS:         memref.store %{{.*}}, %[[R0]]
// BUFFERS:         memref.store %{{.*}}, %[[R1]]
// BUFFERS-NOT:     memref.copy
// BUFFERS:         return
func.func private @shared_start()
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %empty = tensor.empty() : tensor<4xf32>
  %e = linalg.exp ins(%x : tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  %0 = scf.for %i = %c0 to %c4 step %c1 iter_args(%t = %e) -> (tensor<4xf32>) {
    %next = tensor.insert %one into %t[%i] : tensor<4xf32>
    scf.yield %next : tensor<4xf32>
  }
  %1 = scf.for %i = %c0 to %c4 step %c1 iter_args(%t = %e) -> (tensor<4xf32>) {
    %next = tensor.insert %two into %t[%i] : tensor<4xf32>
    scf.yield %next : tensor<4xf32>
  }
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
