// RUN: array-opt %s --canonicalize --split-input-file | FileCheck %s

// Lines of equal elements. The running sum is the element times its place.

// CHECK-LABEL: @sums_of_ones
func.func @sums_of_ones() -> tensor<1000xf32> {
  // CHECK-DAG: %[[SIZE:.*]] = array.constant dense<1000> : tensor<1000xi32>
  // CHECK-DAG: %[[INDEX:.*]] = array.iota dimension = 0 : tensor<1000xi32>
  // CHECK: %[[PLACE:.*]] = array.sub %[[SIZE]], %[[INDEX]]
  // CHECK: %[[FACTOR:.*]] = array.convert %[[PLACE]] : (tensor<1000xi32>) -> tensor<1000xf32>
  // CHECK-NOT: array.cumsum
  // CHECK: return %[[FACTOR]]
  %0 = array.constant dense<1.0> : tensor<f32>
  %1 = array.broadcast_in_dim %0 broadcast_dimensions = [] : (tensor<f32>) -> tensor<1000xf32>
  %2 = array.cumsum %1 axis = 0 reverse = true : (tensor<1000xf32>) -> tensor<1000xf32>
  return %2 : tensor<1000xf32>
}

// -----

// CHECK-LABEL: @sums_of_a_scalar
// CHECK-SAME: (%[[X:.*]]: tensor<4xf64>)
func.func @sums_of_a_scalar(%x: tensor<4xf64>) -> tensor<4x8xf64> {
  // CHECK-DAG: %[[ONE:.*]] = array.constant dense<1> : tensor<4x8xi32>
  // CHECK-DAG: %[[INDEX:.*]] = array.iota dimension = 1 : tensor<4x8xi32>
  // CHECK-DAG: %[[WIDE:.*]] = array.broadcast_in_dim %[[X]]
  // CHECK: %[[PLACE:.*]] = array.add %[[INDEX]], %[[ONE]]
  // CHECK: %[[FACTOR:.*]] = array.convert %[[PLACE]]
  // CHECK: array.mul %[[WIDE]], %[[FACTOR]] : tensor<4x8xf64>
  %0 = array.broadcast_in_dim %x broadcast_dimensions = [0] : (tensor<4xf64>) -> tensor<4x8xf64>
  %1 = array.cumsum %0 axis = 1 reverse = false : (tensor<4x8xf64>) -> tensor<4x8xf64>
  return %1 : tensor<4x8xf64>
}

// -----

// Each part of a complex number is multiplied, because 0 times an infinite part would be nan.
// CHECK-LABEL: @sums_of_a_complex_scalar
func.func @sums_of_a_complex_scalar(%x: tensor<complex<f32>>) -> tensor<8xcomplex<f32>> {
  // CHECK: %[[FACTOR:.*]] = array.convert %{{.*}} : (tensor<8xi32>) -> tensor<8xf32>
  // CHECK-DAG: %[[RE:.*]] = array.mul %{{.*}}, %[[FACTOR]] : tensor<8xf32>
  // CHECK-DAG: %[[IM:.*]] = array.mul %{{.*}}, %[[FACTOR]] : tensor<8xf32>
  // CHECK: array.complex %[[RE]], %[[IM]]
  // CHECK-NOT: array.cumsum
  %0 = array.broadcast_in_dim %x broadcast_dimensions = [] : (tensor<complex<f32>>) -> tensor<8xcomplex<f32>>
  %1 = array.cumsum %0 axis = 0 reverse = false : (tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
  return %1 : tensor<8xcomplex<f32>>
}

// -----

// Lines along the other dimension have different elements; narrow elements don't hold the places.
// CHECK-LABEL: @other_sums
func.func @other_sums(%x: tensor<5xf64>, %h: tensor<f16>) -> (tensor<5x8xf64>, tensor<5000xf16>) {
  // CHECK-COUNT-2: array.cumsum
  %0 = array.broadcast_in_dim %x broadcast_dimensions = [0] : (tensor<5xf64>) -> tensor<5x8xf64>
  %1 = array.cumsum %0 axis = 0 reverse = false : (tensor<5x8xf64>) -> tensor<5x8xf64>
  %2 = array.broadcast_in_dim %h broadcast_dimensions = [] : (tensor<f16>) -> tensor<5000xf16>
  %3 = array.cumsum %2 axis = 0 reverse = false : (tensor<5000xf16>) -> tensor<5000xf16>
  return %1, %3 : tensor<5x8xf64>, tensor<5000xf16>
}

// -----

// A dimension of size 1 is repeated, too.
// CHECK-LABEL: @extrema
// CHECK-SAME: (%[[X:.*]]: tensor<5x1xf32>)
func.func @extrema(%x: tensor<5x1xf32>) -> (tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) {
  // CHECK: %[[WIDE:.*]] = array.broadcast_in_dim %[[X]]
  // CHECK: %[[DOWN:.*]] = array.cummax %[[WIDE]] axis = 0
  // CHECK: return %[[WIDE]], %[[WIDE]], %[[DOWN]]
  %0 = array.broadcast_in_dim %x broadcast_dimensions = [0, 1] : (tensor<5x1xf32>) -> tensor<5x8xf32>
  %1 = array.cummax %0 axis = 1 reverse = false : (tensor<5x8xf32>) -> tensor<5x8xf32>
  %2 = array.cummin %0 axis = 1 reverse = true : (tensor<5x8xf32>) -> tensor<5x8xf32>
  %3 = array.cummax %0 axis = 0 reverse = false : (tensor<5x8xf32>) -> tensor<5x8xf32>
  return %1, %2, %3 : tensor<5x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>
}

// -----

// Short lines are elementwise operations on slices; sums of f32 are rounded once for each element.
// CHECK-LABEL: @short_lines
// CHECK-SAME: (%[[X:.*]]: tensor<100x2xf32>, %[[Y:.*]]: tensor<3x7xi32>)
func.func @short_lines(%x: tensor<100x2xf32>, %y: tensor<3x7xi32>) -> (tensor<100x2xf32>, tensor<3x7xi32>) {
  // CHECK-DAG: %[[A:.*]] = array.slice %[[X]] start_indices = [0, 0] limit_indices = [100, 1]
  // CHECK-DAG: %[[B:.*]] = array.slice %[[X]] start_indices = [0, 1] limit_indices = [100, 2]
  // CHECK-DAG: %[[WA:.*]] = array.convert %[[A]] : (tensor<100x1xf32>) -> tensor<100x1xf64>
  // CHECK-DAG: %[[WB:.*]] = array.convert %[[B]] : (tensor<100x1xf32>) -> tensor<100x1xf64>
  // CHECK: %[[S:.*]] = array.add %[[WA]], %[[WB]] : tensor<100x1xf64>
  // CHECK: %[[R:.*]] = array.convert %[[S]] : (tensor<100x1xf64>) -> tensor<100x1xf32>
  // CHECK: array.concatenate %[[A]], %[[R]] dimension = 1
  %0 = array.cumsum %x axis = 1 reverse = false : (tensor<100x2xf32>) -> tensor<100x2xf32>
  // CHECK-DAG: %[[L:.*]] = array.slice %[[Y]] start_indices = [2, 0]
  // CHECK-DAG: %[[M:.*]] = array.slice %[[Y]] start_indices = [1, 0]
  // CHECK-DAG: %[[F:.*]] = array.slice %[[Y]] start_indices = [0, 0]
  // CHECK-DAG: %[[ML:.*]] = array.max %[[L]], %[[M]] : tensor<1x7xi32>
  // CHECK-DAG: %[[FML:.*]] = array.max %[[ML]], %[[F]] : tensor<1x7xi32>
  // CHECK: array.concatenate %[[FML]], %[[ML]], %[[L]] dimension = 0
  %1 = array.cummax %y axis = 0 reverse = true : (tensor<3x7xi32>) -> tensor<3x7xi32>
  return %0, %1 : tensor<100x2xf32>, tensor<3x7xi32>
}
