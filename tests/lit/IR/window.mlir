// RUN: array-opt %s | array-opt | FileCheck %s
// RUN: array-opt %s --mlir-print-op-generic | array-opt | FileCheck %s

// Running results, reductions over windows, convolutions.

// CHECK-LABEL: @cumulative
func.func @cumulative(%x: tensor<4x?xf32>, %b: tensor<4xi1>) {
  // CHECK: array.cumsum %{{.*}} axis = 0 reverse = false : (tensor<4x?xf32>) -> tensor<4x?xf32>
  %0 = array.cumsum %x axis = 0 reverse = false : (tensor<4x?xf32>) -> tensor<4x?xf32>
  // CHECK: array.cumprod %{{.*}} axis = 1 reverse = true : (tensor<4x?xf32>) -> tensor<4x?xf32>
  %1 = array.cumprod %x axis = 1 reverse = true : (tensor<4x?xf32>) -> tensor<4x?xf32>
  // CHECK: array.cummax %{{.*}} axis = 0 reverse = false : (tensor<4xi1>) -> tensor<4xi1>
  %2 = array.cummax %b axis = 0 reverse = false : (tensor<4xi1>) -> tensor<4xi1>
  // CHECK: array.cummin %{{.*}} axis = 0 reverse = false : (tensor<4xi1>) -> tensor<4xi1>
  %3 = array.cummin %b axis = 0 reverse = false : (tensor<4xi1>) -> tensor<4xi1>
  // CHECK: array.cumlogsumexp %{{.*}} axis = 0 reverse = false : (tensor<4x?xf32>) -> tensor<4x?xf32>
  %4 = array.cumlogsumexp %x axis = 0 reverse = false : (tensor<4x?xf32>) -> tensor<4x?xf32>
  return
}

// CHECK-LABEL: @windows
func.func @windows(%x: tensor<?x5xf32>, %s: tensor<?x3xf32>) {
  // CHECK: array.reduce_window_sum %{{.*}} window_dimensions = [1, 2] window_strides = [1, 2] low = [0, 0] high = [0, 1]
  // CHECK-SAME: base_dilation = [1, 1] window_dilation = [1, 1] : (tensor<?x5xf32>) -> tensor<?x3xf32>
  %0 = array.reduce_window_sum %x window_dimensions = [1, 2] window_strides = [1, 2] low = [0, 0] high = [0, 1]
         base_dilation = [1, 1] window_dilation = [1, 1] : (tensor<?x5xf32>) -> tensor<?x3xf32>
  // CHECK: array.reduce_window_max
  // CHECK-SAME: (tensor<?x5xf32>) -> tensor<?x2xf32>
  %1 = array.reduce_window_max %x window_dimensions = [1, 2] window_strides = [1, 2] low = [0, 0] high = [0, -1]
         base_dilation = [1, 1] window_dilation = [1, 1] : (tensor<?x5xf32>) -> tensor<?x2xf32>
  // CHECK: array.select_and_gather %{{.*}}, %{{.*}} greatest = true
  %2 = array.select_and_gather %x, %x greatest = true window_dimensions = [1, 2] window_strides = [1, 2] low = [0, 0]
         high = [0, 1] base_dilation = [1, 1] window_dilation = [1, 1]
         : (tensor<?x5xf32>, tensor<?x5xf32>) -> tensor<?x3xf32>
  // CHECK: array.select_and_scatter %{{.*}}, %{{.*}} greatest = false
  %3 = array.select_and_scatter %s, %x greatest = false window_dimensions = [1, 2] window_strides = [1, 2] low = [0, 0]
         high = [0, 1] base_dilation = [1, 1] window_dilation = [1, 1]
         : (tensor<?x3xf32>, tensor<?x5xf32>) -> tensor<?x5xf32>
  // CHECK: array.top_k %{{.*}} k = 2 axis = 1 : (tensor<?x5xf32>) -> (tensor<?x2xf32>, tensor<?x2xi32>)
  %4, %5 = array.top_k %x k = 2 axis = 1 : (tensor<?x5xf32>) -> (tensor<?x2xf32>, tensor<?x2xi32>)
  return
}

// CHECK-LABEL: @convolution
func.func @convolution(%x: tensor<?x4x8xbf16>, %w: tensor<6x2x3xbf16>) {
  // CHECK: array.conv_general_dilated %{{.*}}, %{{.*}} window_strides = [2] low = [1] high = [0] lhs_dilation = [1]
  // CHECK-SAME: rhs_dilation = [2] lhs_spec = [0, 1, 2] rhs_spec = [0, 1, 2] out_spec = [1, 0, 2]
  // CHECK-SAME: feature_group_count = 2 batch_group_count = 1
  // CHECK-SAME: (tensor<?x4x8xbf16>, tensor<6x2x3xbf16>) -> tensor<6x?x3xf32>
  %0 = array.conv_general_dilated %x, %w window_strides = [2] low = [1] high = [0] lhs_dilation = [1]
         rhs_dilation = [2] lhs_spec = [0, 1, 2] rhs_spec = [0, 1, 2] out_spec = [1, 0, 2] feature_group_count = 2
         batch_group_count = 1 : (tensor<?x4x8xbf16>, tensor<6x2x3xbf16>) -> tensor<6x?x3xf32>
  return
}
