// RUN: array-opt %s --pass-pipeline='builtin.module(array-to-linalg,func.func(array-fuse-elementwise),array-prepare-entry,array-eliminate-empty-tensors,array-bufferize,canonicalize,func.func(array-vectorize-linalg))' | FileCheck %s

// The squares of a base that does not vary along the vectors are reached by 2^62 ways: each is looked at once.
// CHECK-LABEL: func.func @main
// CHECK-NOT:     linalg.generic
// CHECK:         arith.muli
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @main(%x: tensor<1x4xi64>, %n: tensor<3x4xi64>) -> tensor<3x4xi64> {
  %b = array.broadcast_in_dim %x broadcast_dimensions = [0, 1] : (tensor<1x4xi64>) -> tensor<3x4xi64>
  %y = array.pow %b, %n : tensor<3x4xi64>
  return %y : tensor<3x4xi64>
}
