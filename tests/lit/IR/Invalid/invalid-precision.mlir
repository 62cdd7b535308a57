// RUN: array-opt %s --split-input-file --verify-diagnostics

func.func @word(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @+1 {{'array.dot_general' op array.precision must be "tf32", got "half"}}
  %0 = array.dot_general %x, %x contracting = [1] x [0] {array.precision = "half"} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

func.func @convolution(%x: tensor<2x8x16x8xf32>, %w: tensor<3x3x8x16xf32>) -> tensor<2x6x14x16xf32> {
  // expected-error @+1 {{'array.conv_general_dilated' op 'array.precision' must be a string, got 10 : i64}}
  %0 = array.conv_general_dilated %x, %w window_strides = [1, 1] low = [0, 0] high = [0, 0] lhs_dilation = [1, 1]
         rhs_dilation = [1, 1] lhs_spec = [0, 3, 1, 2] rhs_spec = [3, 2, 0, 1] out_spec = [0, 3, 1, 2]
         feature_group_count = 1 batch_group_count = 1 {array.precision = 10}
         : (tensor<2x8x16x8xf32>, tensor<3x3x8x16xf32>) -> tensor<2x6x14x16xf32>
  return %0 : tensor<2x6x14x16xf32>
}
