// RUN: array-opt --array-to-linalg < %s | FileCheck %s

// Calls are inlined and their functions dropped; no op of the array dialect is left.
// CHECK-NOT:     array.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[X:.*]]: tensor<8x4xf32>) -> tensor<8xf32>
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]} ins(%[[X]], %[[X]] :
// CHECK:           arith.mulf
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]}
// CHECK:           arith.addf
// CHECK:         return %{{.*}} : tensor<8xf32>
// CHECK-NOT:     func.func
func.func @main(%x: tensor<8x4xf32>) -> tensor<8xf32> {
  %0 = array.call @square(%x) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = array.reduce_sum %0 axes = [1] : (tensor<8x4xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

func.func private @square(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = array.mul %x, %x : tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
