// Reductions over windows, and the elements that windows choose.

// The last window has an element of padding, which is neutral.
// RUN: array-run %s --entry=reduced --input='[1, 5, 2, -3, 4]' --expect='[6, -1, 4]' --expect='[5, -6, 4]' \
// RUN:   --expect='[5, 2, 4]' --expect='[1, -3, 4]'
func.func @reduced(%x: tensor<5xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %0 = array.reduce_window_sum %x window_dimensions = [2] window_strides = [2] low = [0] high = [1]
         base_dilation = [1] window_dilation = [1] : (tensor<5xf32>) -> tensor<3xf32>
  %1 = array.reduce_window_prod %x window_dimensions = [2] window_strides = [2] low = [0] high = [1]
         base_dilation = [1] window_dilation = [1] : (tensor<5xf32>) -> tensor<3xf32>
  %2 = array.reduce_window_max %x window_dimensions = [2] window_strides = [2] low = [0] high = [1]
         base_dilation = [1] window_dilation = [1] : (tensor<5xf32>) -> tensor<3xf32>
  %3 = array.reduce_window_min %x window_dimensions = [2] window_strides = [2] low = [0] high = [1]
         base_dilation = [1] window_dilation = [1] : (tensor<5xf32>) -> tensor<3xf32>
  return %0, %1, %2, %3 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}

// RUN: array-run %s --entry=squares --input='[[1, 2, 3], [4, 5, 6], [7, 8, 9]]' --expect='[[12, 16], [24, 28]]'
func.func @squares(%x: tensor<3x3xi32>) -> tensor<2x2xi32> {
  %0 = array.reduce_window_sum %x window_dimensions = [2, 2] window_strides = [1, 1] low = [0, 0] high = [0, 0]
         base_dilation = [1, 1] window_dilation = [1, 1] : (tensor<3x3xi32>) -> tensor<2x2xi32>
  return %0 : tensor<2x2xi32>
}

// Every other element.
// RUN: array-run %s --entry=spread --input='[1, 5, 2, -3]' --expect='[2, 5]'
func.func @spread(%x: tensor<4xf32>) -> tensor<2xf32> {
  %0 = array.reduce_window_max %x window_dimensions = [2] window_strides = [1] low = [0] high = [0]
         base_dilation = [1] window_dilation = [2] : (tensor<4xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// RUN: array-run %s --entry=chosen --input='[10, 20, 30, 40, 50]' --input='[1, 5, 2, -3, 4]' --input='[7, 8, 9]' \
// RUN:   --expect='[20, 30, 50]' --expect='[10, 40, 50]' --expect='[0, 7, 8, 0, 9]'
func.func @chosen(%s: tensor<5xf32>, %x: tensor<5xf32>, %t: tensor<3xf32>)
    -> (tensor<3xf32>, tensor<3xf32>, tensor<5xf32>) {
  %0 = array.select_and_gather %s, %x greatest = true window_dimensions = [2] window_strides = [2] low = [0] high = [1]
         base_dilation = [1] window_dilation = [1] : (tensor<5xf32>, tensor<5xf32>) -> tensor<3xf32>
  %1 = array.select_and_gather %s, %x greatest = false window_dimensions = [2] window_strides = [2] low = [0] high = [1]
         base_dilation = [1] window_dilation = [1] : (tensor<5xf32>, tensor<5xf32>) -> tensor<3xf32>
  %2 = array.select_and_scatter %t, %x greatest = true window_dimensions = [2] window_strides = [2] low = [0] high = [1]
         base_dilation = [1] window_dilation = [1] : (tensor<3xf32>, tensor<5xf32>) -> tensor<5xf32>
  return %0, %1, %2 : tensor<3xf32>, tensor<3xf32>, tensor<5xf32>
}
