// RUN: array-opt %s --split-input-file --verify-diagnostics

// The constraints of running results, windows, convolutions and top_k.

func.func @cumulative_axis(%x: tensor<4xf32>) {
  // expected-error @+1 {{axis is 1, expected a dimension of 'tensor<4xf32>' (C1)}}
  %0 = array.cumsum %x axis = 1 reverse = false : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @top_k(%x: tensor<4xf32>) {
  // expected-error @+1 {{k is 5, expected 0 to the size of dimension 0 of 'tensor<4xf32>' (C2)}}
  %0, %1 = array.top_k %x k = 5 axis = 0 : (tensor<4xf32>) -> (tensor<5xf32>, tensor<5xi32>)
  return
}

// -----

func.func @window_count(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{describes windows of 1 dimensions, expected 2 for 'tensor<4x4xf32>' (C1)}}
  %0 = array.reduce_window_sum %x window_dimensions = [2] window_strides = [2] low = [0] high = [0]
         base_dilation = [1] window_dilation = [1] : (tensor<4x4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @window_size(%x: tensor<4xf32>) {
  // expected-error @+1 {{has a window, stride or dilation below 1 in dimension 0 (C2)}}
  %0 = array.reduce_window_max %x window_dimensions = [2] window_strides = [0] low = [0] high = [0]
         base_dilation = [1] window_dilation = [1] : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @select_shape(%s: tensor<3xf32>, %x: tensor<4xf32>) {
  // expected-error @+1 {{has 'tensor<3xf32>', expected 'tensor<2xf32>' (C5)}}
  %0 = array.select_and_scatter %s, %x greatest = true window_dimensions = [2] window_strides = [2] low = [0] high = [0]
         base_dilation = [1] window_dilation = [1] : (tensor<3xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @conv_features(%x: tensor<1x3x8xf32>, %w: tensor<4x2x3xf32>) {
  // expected-error @+1 {{lhs has 3 input features, rhs 2 in 1 groups (C5)}}
  %0 = array.conv_general_dilated %x, %w window_strides = [1] low = [0] high = [0] lhs_dilation = [1]
         rhs_dilation = [1] lhs_spec = [0, 1, 2] rhs_spec = [0, 1, 2] out_spec = [0, 1, 2] feature_group_count = 1
         batch_group_count = 1 : (tensor<1x3x8xf32>, tensor<4x2x3xf32>) -> tensor<1x4x6xf32>
  return
}

// -----

func.func @conv_shape(%x: tensor<1x2x8xf32>, %w: tensor<4x2x3xf32>) {
  // expected-error @+1 {{result is 'tensor<1x4x8xf32>', expected 'tensor<1x4x6xf32>' (C6)}}
  %0 = array.conv_general_dilated %x, %w window_strides = [1] low = [0] high = [0] lhs_dilation = [1]
         rhs_dilation = [1] lhs_spec = [0, 1, 2] rhs_spec = [0, 1, 2] out_spec = [0, 1, 2] feature_group_count = 1
         batch_group_count = 1 : (tensor<1x2x8xf32>, tensor<4x2x3xf32>) -> tensor<1x4x8xf32>
  return
}

// -----

func.func @conv_spec(%x: tensor<1x2x8xf32>, %w: tensor<4x2x3xf32>) {
  // expected-error @+1 {{has [0, 1, 1], expected a permutation of 3 dimensions (C2)}}
  %0 = array.conv_general_dilated %x, %w window_strides = [1] low = [0] high = [0] lhs_dilation = [1]
         rhs_dilation = [1] lhs_spec = [0, 1, 1] rhs_spec = [0, 1, 2] out_spec = [0, 1, 2] feature_group_count = 1
         batch_group_count = 1 : (tensor<1x2x8xf32>, tensor<4x2x3xf32>) -> tensor<1x4x6xf32>
  return
}
