// RUN: array-translate --stablehlo-to-array -split-input-file %s | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<4x5xf32>)
// CHECK: array.constant dense<[1, 2]> : tensor<2xui32>
// CHECK: array.iota dimension = 1 : tensor<4x5xi32>
// CHECK: array.transpose %[[X]] permutation = [1, 0]
// CHECK: array.reshape %{{.*}} : (tensor<5x4xf32>) -> tensor<20xf32>
// CHECK: array.slice %[[X]] start_indices = [1, 0] limit_indices = [3, 5] strides = [1, 2]
// CHECK: array.pad %[[X]], %{{.*}} low = [0, 1] high = [-1, 0] interior = [0, 2]
// CHECK: array.concatenate %[[X]], %[[X]] dimension = 1
// CHECK: array.reverse %[[X]] dimensions = [0, 1]
func.func @main(%x: tensor<4x5xf32>) -> tensor<4x10xf32> {
  %c = stablehlo.constant dense<[1, 2]> : tensor<2xui32>
  %i = stablehlo.iota dim = 1 : tensor<4x5xi32>
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x5xf32>) -> tensor<5x4xf32>
  %1 = stablehlo.reshape %0 : (tensor<5x4xf32>) -> tensor<20xf32>
  %2 = stablehlo.slice %x [1:3, 0:5:2] : (tensor<4x5xf32>) -> tensor<2x3xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %3 = stablehlo.pad %x, %z, low = [0, 1], high = [-1, 0], interior = [0, 2] : (tensor<4x5xf32>, tensor<f32>) -> tensor<3x14xf32>
  %4 = stablehlo.concatenate %x, %x, dim = 1 : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x10xf32>
  %5 = stablehlo.reverse %x, dims = [0, 1] : tensor<4x5xf32>
  return %4 : tensor<4x10xf32>
}

// -----

// The dimensions of the array dialect's broadcast increase.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<4x5xf32>)
// CHECK: %[[T:.*]] = array.transpose %[[X]] permutation = [1, 0]
// CHECK: array.broadcast_in_dim %[[T]] broadcast_dimensions = [0, 2] : (tensor<5x4xf32>) -> tensor<5x3x4xf32>
func.func @main(%x: tensor<4x5xf32>) -> tensor<5x3x4xf32> {
  %0 = stablehlo.broadcast_in_dim %x, dims = [2, 0] : (tensor<4x5xf32>) -> tensor<5x3x4xf32>
  return %0 : tensor<5x3x4xf32>
}

// -----

// The same in the generic form, as other producers than JAX write it.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<4x5xf32>)
// CHECK: array.slice %[[X]] start_indices = [1, 0] limit_indices = [3, 5] strides = [1, 2]
// CHECK: array.broadcast_in_dim %{{.*}} broadcast_dimensions = [1, 2]
// CHECK: array.transpose %{{.*}} permutation = [2, 0, 1]
func.func @main(%x: tensor<4x5xf32>) -> tensor<3x1x2xf32> {
  %0 = "stablehlo.slice"(%x) {limit_indices = dense<[3, 5]> : tensor<2xi64>, start_indices = dense<[1, 0]> : tensor<2xi64>, strides = dense<[1, 2]> : tensor<2xi64>} : (tensor<4x5xf32>) -> tensor<2x3xf32>
  %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<2x3xf32>) -> tensor<1x2x3xf32>
  %2 = "stablehlo.transpose"(%1) <{permutation = array<i64: 2, 0, 1>}> : (tensor<1x2x3xf32>) -> tensor<3x1x2xf32>
  return %2 : tensor<3x1x2xf32>
}

// -----

// The bits of an element as several narrower ones, along a new last dimension.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
// CHECK: array.bitcast %[[X]] : (tensor<4xf32>) -> tensor<4xui32>
// CHECK: array.shift_right_logical %{{.*}}, %{{.*}} : tensor<4x2xui32>
// CHECK: array.convert %{{.*}} : (tensor<4x2xui32>) -> tensor<4x2xui16>
// CHECK: array.bitcast %{{.*}} : (tensor<4x2xui16>) -> tensor<4x2xbf16>
func.func @main(%x: tensor<4xf32>) -> tensor<4x2xbf16> {
  %0 = stablehlo.bitcast_convert %x : (tensor<4xf32>) -> tensor<4x2xbf16>
  return %0 : tensor<4x2xbf16>
}
