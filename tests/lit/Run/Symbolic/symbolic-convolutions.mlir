// UNSUPPORTED: gpu
// Code for a GPU is of fixed sizes. Convolutions of a batch of symbolic size, and their gradients, against those of
// integers, which are plain loops. All numbers are small integers, so that every order of summation gives the same
// sums.

// DEFINE: %{layer} = --input=random:uniform,low=-4,high=4,seed=1 --input=random:uniform,low=-4,high=4,seed=2 \
// DEFINE:   --expect='0' --expect='0' --expect='0'
// RUN: array-run %s --entry=layer --sizes=0 %{layer}
// RUN: array-run %s --entry=layer --sizes=1 %{layer}
// RUN: array-run %s --entry=layer --sizes=3 %{layer}
// RUN: array-run %s --entry=layer --sizes=50 %{layer}
func.func @layer(%x: tensor<?x10x12x16xi32> {array.dims = affine_map<()[n] -> (n, 10, 12, 16)>}, %k: tensor<3x3x16x32xi32>)
    -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  %0 = array.convert %x : (tensor<?x10x12x16xi32>) -> tensor<?x10x12x16xf32>
  %1 = array.convert %k : (tensor<3x3x16x32xi32>) -> tensor<3x3x16x32xf32>
  %f:2 = array.optimization_barrier(%0, %1) : (tensor<?x10x12x16xf32>, tensor<3x3x16x32xf32>) -> (tensor<?x10x12x16xf32>, tensor<3x3x16x32xf32>)
  %y = array.conv_general_dilated %f#0, %f#1 window_strides = [1, 1] low = [1, 1] high = [1, 1] lhs_dilation = [1, 1]
         rhs_dilation = [1, 1] lhs_spec = [0, 3, 1, 2] rhs_spec = [3, 2, 0, 1] out_spec = [0, 3, 1, 2] feature_group_count = 1
         batch_group_count = 1 : (tensor<?x10x12x16xf32>, tensor<3x3x16x32xf32>) -> tensor<?x10x12x32xf32>
  %z = array.conv_general_dilated %f#0, %f#1 window_strides = [2, 2] low = [0, 0] high = [0, 0] lhs_dilation = [1, 1]
         rhs_dilation = [1, 1] lhs_spec = [0, 3, 1, 2] rhs_spec = [3, 2, 0, 1] out_spec = [0, 3, 1, 2] feature_group_count = 1
         batch_group_count = 1 : (tensor<?x10x12x16xf32>, tensor<3x3x16x32xf32>) -> tensor<?x4x5x32xf32>
  %g = array.conv_general_dilated %f#0, %y window_strides = [1, 1] low = [1, 1] high = [1, 1] lhs_dilation = [1, 1]
         rhs_dilation = [1, 1] lhs_spec = [3, 0, 1, 2] rhs_spec = [3, 0, 1, 2] out_spec = [2, 3, 0, 1] feature_group_count = 1
         batch_group_count = 1 : (tensor<?x10x12x16xf32>, tensor<?x10x12x32xf32>) -> tensor<3x3x16x32xf32>
  %iy = array.conv_general_dilated %x, %k window_strides = [1, 1] low = [1, 1] high = [1, 1] lhs_dilation = [1, 1]
         rhs_dilation = [1, 1] lhs_spec = [0, 3, 1, 2] rhs_spec = [3, 2, 0, 1] out_spec = [0, 3, 1, 2] feature_group_count = 1
         batch_group_count = 1 : (tensor<?x10x12x16xi32>, tensor<3x3x16x32xi32>) -> tensor<?x10x12x32xi32>
  %iz = array.conv_general_dilated %x, %k window_strides = [2, 2] low = [0, 0] high = [0, 0] lhs_dilation = [1, 1]
         rhs_dilation = [1, 1] lhs_spec = [0, 3, 1, 2] rhs_spec = [3, 2, 0, 1] out_spec = [0, 3, 1, 2] feature_group_count = 1
         batch_group_count = 1 : (tensor<?x10x12x16xi32>, tensor<3x3x16x32xi32>) -> tensor<?x4x5x32xi32>
  %ig = array.conv_general_dilated %x, %iy window_strides = [1, 1] low = [1, 1] high = [1, 1] lhs_dilation = [1, 1]
         rhs_dilation = [1, 1] lhs_spec = [3, 0, 1, 2] rhs_spec = [3, 0, 1, 2] out_spec = [2, 3, 0, 1] feature_group_count = 1
         batch_group_count = 1 : (tensor<?x10x12x16xi32>, tensor<?x10x12x32xi32>) -> tensor<3x3x16x32xi32>
  %2 = array.convert %iy : (tensor<?x10x12x32xi32>) -> tensor<?x10x12x32xf32>
  %3 = array.sub %y, %2 : tensor<?x10x12x32xf32>
  %4 = array.abs %3 : tensor<?x10x12x32xf32>
  %5 = array.reduce_sum %4 axes = [0, 1, 2, 3] : (tensor<?x10x12x32xf32>) -> tensor<f32>
  %6 = array.convert %iz : (tensor<?x4x5x32xi32>) -> tensor<?x4x5x32xf32>
  %7 = array.sub %z, %6 : tensor<?x4x5x32xf32>
  %8 = array.abs %7 : tensor<?x4x5x32xf32>
  %9 = array.reduce_sum %8 axes = [0, 1, 2, 3] : (tensor<?x4x5x32xf32>) -> tensor<f32>
  %10 = array.convert %ig : (tensor<3x3x16x32xi32>) -> tensor<3x3x16x32xf32>
  %11 = array.sub %g, %10 : tensor<3x3x16x32xf32>
  %12 = array.abs %11 : tensor<3x3x16x32xf32>
  %13 = array.reduce_sum %12 axes = [0, 1, 2, 3] : (tensor<3x3x16x32xf32>) -> tensor<f32>
  return %5, %9, %13 : tensor<f32>, tensor<f32>, tensor<f32>
}
