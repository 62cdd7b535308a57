// The filter of a convolution to few features becomes dense in its terms, and stays so when operations are fused.
// RUN: array-opt %s --convert-array-to-linalg | FileCheck %s
// RUN: array-opt %s --pass-pipeline='builtin.module(convert-array-to-linalg, func.func(array-fuse-elementwise))' | FileCheck %s

// CHECK-DAG:     #[[READ:.+]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3, d2)>
// CHECK-DAG:     #[[FILTER:.+]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d5, d6, d1, d4)>
// CHECK-LABEL: func.func @few(
// CHECK:         %[[DENSE:.+]] = linalg.generic {indexing_maps = [#[[READ]], {{.*}}ins(%arg1 : tensor<3x3x64x3xf32>)
// CHECK:         linalg.generic {indexing_maps = [#{{.+}}, #[[FILTER]], {{.*}}ins(%arg0, %[[DENSE]] :
func.func @few(%x: tensor<4x10x10x64xf32>, %w: tensor<3x3x64x3xf32>) -> tensor<4x8x8x3xf32> {
  %0 = array.conv_general_dilated %x, %w window_strides = [1, 1] low = [0, 0] high = [0, 0] lhs_dilation = [1, 1]
         rhs_dilation = [1, 1] lhs_spec = [0, 3, 1, 2] rhs_spec = [3, 2, 0, 1] out_spec = [0, 3, 1, 2]
         feature_group_count = 1 batch_group_count = 1
       : (tensor<4x10x10x64xf32>, tensor<3x3x64x3xf32>) -> tensor<4x8x8x3xf32>
  return %0 : tensor<4x8x8x3xf32>
}

// Tiles have vectors of many features.
// CHECK-LABEL: func.func @many(
// CHECK:         linalg.generic {{.*}}ins(%arg0, %arg1 :
func.func @many(%x: tensor<4x10x10x64xf32>, %w: tensor<3x3x64x32xf32>) -> tensor<4x8x8x32xf32> {
  %0 = array.conv_general_dilated %x, %w window_strides = [1, 1] low = [0, 0] high = [0, 0] lhs_dilation = [1, 1]
         rhs_dilation = [1, 1] lhs_spec = [0, 3, 1, 2] rhs_spec = [3, 2, 0, 1] out_spec = [0, 3, 1, 2]
         feature_group_count = 1 batch_group_count = 1
       : (tensor<4x10x10x64xf32>, tensor<3x3x64x32xf32>) -> tensor<4x8x8x32xf32>
  return %0 : tensor<4x8x8x32xf32>
}
