// RUN: array-opt %s --convert-array-to-linalg=has-threads=true | FileCheck %s

// Running results are library routines, and so are windows on GPUs (window-loops.mlir has those on the CPU). A
// convolution is a contraction that reads windows in place.

// CHECK-DAG: #[[READ:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d2 + d4, d3)>
// CHECK-DAG: #[[LAST:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d2, d1)>
// CHECK-DAG: #[[MOVED:.*]] = affine_map<(d0, d1, d2) -> (d0, d2, d1)>

// CHECK-LABEL: @routines
func.func @routines(%x: tensor<4x5xf32>, %u: tensor<6xui8>)
    -> (tensor<4x5xf32>, tensor<4x2xf32>, tensor<2xui8>, tensor<2xi32>) {
  // CHECK: array.runtime_call "cumulative" params = [4, 1, 1] element_types = [f32, f32]
  %0 = array.cumlogsumexp %x axis = 1 reverse = true : (tensor<4x5xf32>) -> tensor<4x5xf32>
  // CHECK: array.runtime_call "reduce_window" params = [2, 1, 1, 0, 1, 1, 2, 2, -1, 1, 3] element_types = [f32, f32]
  %1 = array.reduce_window_max %x window_dimensions = [1, 2] window_strides = [1, 2] low = [0, -1] high = [0, 2]
         base_dilation = [1, 1] window_dilation = [1, 3] : (tensor<4x5xf32>) -> tensor<4x2xf32>
  // CHECK: array.runtime_call "top_k" params = [0] element_types = [ui8, ui8, i32] ins(%{{.*}} : tensor<6xi8>)
  %2, %3 = array.top_k %u k = 2 axis = 0 : (tensor<6xui8>) -> (tensor<2xui8>, tensor<2xi32>)
  return %0, %1, %2, %3 : tensor<4x5xf32>, tensor<4x2xf32>, tensor<2xui8>, tensor<2xi32>
}

// CHECK-LABEL: @windows
func.func @windows(%x: tensor<2x16x8xf32>, %w: tensor<3x8x32xf32>) -> tensor<2x16x32xf32> {
  // Zeros that can be seen to be zeros.
  // CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
  // CHECK: %[[ZEROS:.*]] = linalg.fill ins(%[[ZERO]] : f32)
  // CHECK: %[[PADDED:.*]] = tensor.insert_slice %{{.*}} into %[[ZEROS]]
  // CHECK: linalg.generic {indexing_maps = [#[[READ]], #{{.*}}, #{{.*}}], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
  // CHECK-SAME: ins(%[[PADDED]], %{{.*}} : tensor<2x18x8xf32>, tensor<3x8x32xf32>) outs(%{{.*}} : tensor<2x16x32xf32>)
  %0 = array.conv_general_dilated %x, %w window_strides = [1] low = [1] high = [1] lhs_dilation = [1]
         rhs_dilation = [1] lhs_spec = [0, 2, 1] rhs_spec = [2, 1, 0] out_spec = [0, 2, 1] feature_group_count = 1
         batch_group_count = 1 : (tensor<2x16x8xf32>, tensor<3x8x32xf32>) -> tensor<2x16x32xf32>
  return %0 : tensor<2x16x32xf32>
}

// The sums of a large one are rows of features, which are then moved to their places. A narrow type is widened before
// it is padded.
// CHECK-LABEL: @features_first
// CHECK-SAME: %[[X:.*]]: tensor<2x8x16xbf16>
func.func @features_first(%x: tensor<2x8x16xbf16>, %w: tensor<32x8x3xbf16>) -> tensor<2x32x16xbf16> {
  // CHECK: %[[WIDE:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<2x8x16xbf16>) outs(%{{.*}} : tensor<2x8x16xf32>)
  // CHECK: %[[PADDED:.*]] = tensor.insert_slice %[[WIDE]]
  // CHECK: %[[SUMS:.*]] = linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}, #[[LAST]]]
  // CHECK-SAME: ins(%[[PADDED]], %{{.*}} : tensor<2x8x18xf32>, tensor<32x8x3xf32>) outs(%{{.*}} : tensor<2x16x32xf32>)
  // CHECK: linalg.generic {indexing_maps = [#[[MOVED]], #{{.*}}]
  // CHECK-SAME: ins(%[[SUMS]] : tensor<2x16x32xf32>) outs(%{{.*}} : tensor<2x32x16xf32>)
  %0 = array.conv_general_dilated %x, %w window_strides = [1] low = [1] high = [1] lhs_dilation = [1]
         rhs_dilation = [1] lhs_spec = [0, 1, 2] rhs_spec = [0, 1, 2] out_spec = [0, 1, 2] feature_group_count = 1
         batch_group_count = 1 : (tensor<2x8x16xbf16>, tensor<32x8x3xbf16>) -> tensor<2x32x16xbf16>
  return %0 : tensor<2x32x16xbf16>
}

// A small one in groups: no copy, the window is read in place.
// CHECK-LABEL: @in_place
// CHECK-SAME: %[[X:.*]]: tensor<1x4x8xf32>
func.func @in_place(%x: tensor<1x4x8xf32>, %w: tensor<4x1x3xf32>) -> tensor<1x4x6xf32> {
  // CHECK: %[[GROUPS:.*]] = tensor.expand_shape %[[X]]
  // CHECK: linalg.generic
  // CHECK-SAME: ins(%[[GROUPS]], %{{.*}} : tensor<1x4x1x8xf32>, tensor<4x1x1x3xf32>)
  // CHECK: tensor.collapse_shape
  // CHECK-SAME: into tensor<1x4x6xf32>
  %0 = array.conv_general_dilated %x, %w window_strides = [1] low = [0] high = [0] lhs_dilation = [1]
         rhs_dilation = [1] lhs_spec = [0, 1, 2] rhs_spec = [0, 1, 2] out_spec = [0, 1, 2] feature_group_count = 4
         batch_group_count = 1 : (tensor<1x4x8xf32>, tensor<4x1x3xf32>) -> tensor<1x4x6xf32>
  return %0 : tensor<1x4x6xf32>
}
