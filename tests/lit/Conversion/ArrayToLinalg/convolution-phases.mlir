// RUN: array-opt %s --convert-array-to-linalg --split-input-file | FileCheck %s

// A transposed convolution with few output features: its phases are features of a convolution of the operand itself, with
// windows of a half of the size, and become positions.
// CHECK-LABEL: func.func @transposed(
// CHECK-NOT:     tensor<2x3x15xf32>
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<2x8x6xf32>)
// CHECK:         tensor.expand_shape {{.*}} : tensor<2x8x6xf32> into tensor<2x8x2x3xf32>
// CHECK:         tensor.collapse_shape {{.*}} into tensor<2x16x3xf32>
func.func @transposed(%x: tensor<2x8x4xf32>, %w: tensor<2x4x3xf32>) -> tensor<2x16x3xf32> {
  %0 = array.conv_general_dilated %x, %w window_strides = [1] low = [1] high = [1] lhs_dilation = [2]
         rhs_dilation = [1] lhs_spec = [0, 2, 1] rhs_spec = [2, 1, 0] out_spec = [0, 2, 1] feature_group_count = 1
         batch_group_count = 1 : (tensor<2x8x4xf32>, tensor<2x4x3xf32>) -> tensor<2x16x3xf32>
  return %0 : tensor<2x16x3xf32>
}

// -----

// Few phases of many features: array-lower-convolutions divides the positions.
// CHECK-LABEL: func.func @many_features(
// CHECK:         tensor.insert_slice {{.*}} [1, 2, 1] : {{.*}} into tensor<2x17x4xf32>
func.func @many_features(%x: tensor<2x8x4xf32>, %w: tensor<2x4x32xf32>) -> tensor<2x16x32xf32> {
  %0 = array.conv_general_dilated %x, %w window_strides = [1] low = [1] high = [1] lhs_dilation = [2]
         rhs_dilation = [1] lhs_spec = [0, 2, 1] rhs_spec = [2, 1, 0] out_spec = [0, 2, 1] feature_group_count = 1
         batch_group_count = 1 : (tensor<2x8x4xf32>, tensor<2x4x32xf32>) -> tensor<2x16x32xf32>
  return %0 : tensor<2x16x32xf32>
}
