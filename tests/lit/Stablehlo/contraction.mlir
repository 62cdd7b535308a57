// RUN: array-translate --stablehlo-to-array -split-input-file %s | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<8x4x5xf32>, %[[Y:.*]]: tensor<8x5x6xf32>)
// CHECK-COUNT-2: array.dot_general %[[X]], %[[Y]] batch = [0] x [0] contracting = [2] x [1] :
// CHECK: array.dot_general %[[X]], %[[Y]] batch = [0] x [0] contracting = [2] x [1] {array.precision = "tf32"}
func.func @main(%x: tensor<8x4x5xf32>, %y: tensor<8x5x6xf32>) -> tensor<8x4x6xf32> {
  %0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x4x5xf32>, tensor<8x5x6xf32>) -> tensor<8x4x6xf32>
  %1 = "stablehlo.dot_general"(%x, %y) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<8x4x5xf32>, tensor<8x5x6xf32>) -> tensor<8x4x6xf32>
  %2 = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [1], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<8x4x5xf32>, tensor<8x5x6xf32>) -> tensor<8x4x6xf32>
  return %0 : tensor<8x4x6xf32>
}

// -----

// Bools, and types whose result is not wider, are converted.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<4x4xi1>, %[[Y:.*]]: tensor<4x4xi8>)
// CHECK: array.dot_general %{{.*}}, %{{.*}} contracting = [1] x [0] : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi32>
// CHECK: array.convert %{{.*}} : (tensor<4x4xi32>) -> tensor<4x4xi1>
// CHECK: array.convert %[[Y]] : (tensor<4x4xi8>) -> tensor<4x4xf32>
// CHECK: array.dot_general %{{.*}}, %{{.*}} contracting = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
func.func @main(%x: tensor<4x4xi1>, %y: tensor<4x4xi8>) -> (tensor<4x4xi1>, tensor<4x4xf32>) {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<4x4xi1>, tensor<4x4xi1>) -> tensor<4x4xi1>
  %1 = stablehlo.dot %y, %y : (tensor<4x4xi8>, tensor<4x4xi8>) -> tensor<4x4xf32>
  return %0, %1 : tensor<4x4xi1>, tensor<4x4xf32>
}

// -----

// Each list of dimensions is batch (or output feature), feature, spatial ones; a window that is reversed turns the kernel.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<2x8x7x3xf32>, %[[W:.*]]: tensor<3x2x3x4xf32>)
// CHECK: %[[R:.*]] = array.reverse %[[W]] dimensions = [1]
// CHECK: array.conv_general_dilated %[[X]], %[[R]] window_strides = [2, 1] low = [1, 0] high = [1, 0] lhs_dilation = [1, 1] rhs_dilation = [1, 2] lhs_spec = [0, 3, 1, 2] rhs_spec = [3, 2, 0, 1] out_spec = [0, 1, 2, 3]
func.func @main(%x: tensor<2x8x7x3xf32>, %w: tensor<3x2x3x4xf32>) -> tensor<2x4x4x5xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, f, 0, 1], window = {stride = [2, 1], pad = [[1, 1], [0, 0]], rhs_dilate = [1, 2], reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x7x3xf32>, tensor<3x2x3x4xf32>) -> tensor<2x4x4x5xf32>
  return %0 : tensor<2x4x4x5xf32>
}

// -----

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<2x3x8xf32>, %[[W:.*]]: tensor<4x3x3xf32>)
// CHECK: array.conv_general_dilated %[[X]], %[[W]] window_strides = [1] low = [1] high = [1] lhs_dilation = [1] rhs_dilation = [1] lhs_spec = [0, 1, 2] rhs_spec = [0, 1, 2] out_spec = [0, 1, 2]
func.func @main(%x: tensor<2x3x8xf32>, %w: tensor<4x3x3xf32>) -> tensor<2x4x8xf32> {
  %0 = "stablehlo.convolution"(%x, %w) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f, 0]x[o, i, 0]->[b, f, 0]>, feature_group_count = 1 : i64, padding = dense<1> : tensor<1x2xi64>, window_strides = array<i64: 1>}> : (tensor<2x3x8xf32>, tensor<4x3x3xf32>) -> tensor<2x4x8xf32>
  return %0 : tensor<2x4x8xf32>
}
