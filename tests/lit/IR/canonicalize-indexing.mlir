// RUN: array-opt %s --canonicalize --split-input-file | FileCheck %s

// Windows of equal elements are equal wherever they lie, unless another number replaces those outside.

// CHECK-LABEL: @gather_of_ones
func.func @gather_of_ones(%i: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK-DAG: %[[ONES:.*]] = array.constant dense<1.000000e+00> : tensor<4xf32>
  // CHECK-DAG: %[[FILLED:.*]] = array.gather {{.*}} mode = "fill"
  // CHECK: return %[[ONES]], %[[ONES]], %[[FILLED]]
  %x = array.constant dense<1.0> : tensor<100xf32>
  %one = array.constant dense<1.0> : tensor<f32>
  %zero = array.constant dense<0.0> : tensor<f32>
  %0 = array.gather %x at(%i) {collapsed_slice_dims = array<i64: 0>, mode = "clip", slice_sizes = array<i64: 1>, start_index_map = array<i64: 0>}
      : (tensor<100xf32>, tensor<4xi32>) -> tensor<4xf32>
  %1 = array.gather %x at(%i, %one) {collapsed_slice_dims = array<i64: 0>, mode = "fill", slice_sizes = array<i64: 1>, start_index_map = array<i64: 0>}
      : (tensor<100xf32>, tensor<4xi32>, tensor<f32>) -> tensor<4xf32>
  %2 = array.gather %x at(%i, %zero) {collapsed_slice_dims = array<i64: 0>, mode = "fill", slice_sizes = array<i64: 1>, start_index_map = array<i64: 0>}
      : (tensor<100xf32>, tensor<4xi32>, tensor<f32>) -> tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
