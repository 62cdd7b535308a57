// RUN: array-opt %s --convert-array-to-linalg --split-input-file | FileCheck %s

// Windows that are known when the program is compiled are loops.

// Each position of a window is an operand. The maps of windows that do not overlap need no slices, so elementwise ops
// fuse with them.
// CHECK-DAG: #[[FIRST:.*]] = affine_map<(d0, d1, d2) -> (d0, d1 * 2, d2)>
// CHECK-DAG: #[[SECOND:.*]] = affine_map<(d0, d1, d2) -> (d0, d1 * 2 + 1, d2)>
// CHECK-LABEL: @few
// CHECK-SAME: %[[X:.*]]: tensor<4x6x8xbf16>
// CHECK: linalg.generic {indexing_maps = [#[[FIRST]], #[[SECOND]], #{{.*}}], iterator_types = ["parallel", "parallel", "parallel"]}
// CHECK-SAME: ins(%[[X]], %[[X]] : tensor<4x6x8xbf16>, tensor<4x6x8xbf16>) outs(%{{.*}} : tensor<4x3x8xbf16>)
// CHECK: arith.extf
// CHECK: arith.extf
// CHECK: arith.addf {{.*}} : f32
// CHECK: arith.truncf
func.func @few(%x: tensor<4x6x8xbf16>) -> tensor<4x3x8xbf16> {
  %0 = array.reduce_window_sum %x window_dimensions = [1, 2, 1] window_strides = [1, 2, 1] low = [0, 0, 0]
         high = [0, 0, 0] base_dilation = [1, 1, 1] window_dilation = [1, 1, 1] : (tensor<4x6x8xbf16>) -> tensor<4x3x8xbf16>
  return %0 : tensor<4x3x8xbf16>
}

// -----

// A nan stays, and of equal elements the first.
// CHECK-LABEL: @padded
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>
// CHECK: %[[NEUTRAL:.*]] = arith.constant 0xFF800000 : f32
// CHECK: linalg.fill ins(%[[NEUTRAL]]
// CHECK: %[[P:.*]] = tensor.insert_slice %[[X]] into %{{.*}}[0, 1] [%{{.*}}, 8] [1, 1]
// CHECK: tensor.extract_slice %[[P]][0, 0] [%{{.*}}, 7] [1, 1]
// CHECK: tensor.extract_slice %[[P]][0, 2] [%{{.*}}, 7] [1, 1]
// CHECK: linalg.generic
// CHECK: %[[AHEAD:.*]] = arith.cmpf ogt, %[[Y:.*]], %[[B:.*]] : f32
// CHECK: %[[BEST:.*]] = arith.select %[[AHEAD]], %[[Y]], %[[B]]
// CHECK: %[[NAN:.*]] = arith.cmpf uno, %[[Y]], %[[Y]]
// CHECK: arith.select %[[NAN]], %[[Y]], %[[BEST]]
func.func @padded(%x: tensor<?x8xf32>) -> tensor<?x7xf32> {
  %0 = array.reduce_window_max %x window_dimensions = [1, 2] window_strides = [1, 1] low = [0, 1] high = [0, 0]
         base_dilation = [1, 1] window_dilation = [1, 2] : (tensor<?x8xf32>) -> tensor<?x7xf32>
  return %0 : tensor<?x7xf32>
}

// -----

// Many positions of windows that do not overlap: a reduction.
// CHECK-DAG: #[[READ:.*]] = affine_map<(d0, d1, d2, d3) -> (d0 * 5 + d2, d1 * 5 + d3)>
// CHECK-DAG: #[[SHAPE:.*]] = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
// CHECK-LABEL: @many
// CHECK: linalg.generic {indexing_maps = [#[[READ]], #[[SHAPE]], #{{.*}}], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
// CHECK-SAME: ins(%{{.*}}, %{{.*}} : tensor<20x30xi32>, tensor<5x5xi8>) outs(%{{.*}} : tensor<4x6xi32>)
func.func @many(%x: tensor<20x30xi32>) -> tensor<4x6xi32> {
  %0 = array.reduce_window_min %x window_dimensions = [5, 5] window_strides = [5, 5] low = [0, 0] high = [0, 0]
         base_dilation = [1, 1] window_dilation = [1, 1] : (tensor<20x30xi32>) -> tensor<4x6xi32>
  return %0 : tensor<4x6xi32>
}

// -----

// Windows that overlap: one dimension after the other, and a long one in factors, 16 x 2 for 32.
// CHECK-LABEL: @overlapping
// CHECK-COUNT-5: tensor.extract_slice {{.*}} : tensor<40x64xf32> to tensor<40x60xf32>
// CHECK-COUNT-5: tensor.extract_slice {{.*}} : tensor<40x60xf32> to tensor<36x60xf32>
// CHECK-COUNT-16: tensor.extract_slice {{.*}} : tensor<40x64xf32> to tensor<40x49xf32>
// CHECK-COUNT-2: tensor.extract_slice {{.*}} : tensor<40x49xf32> to tensor<40x33xf32>
func.func @overlapping(%x: tensor<40x64xf32>) -> (tensor<36x60xf32>, tensor<40x33xf32>) {
  %0 = array.reduce_window_sum %x window_dimensions = [5, 5] window_strides = [1, 1] low = [0, 0] high = [0, 0]
         base_dilation = [1, 1] window_dilation = [1, 1] : (tensor<40x64xf32>) -> tensor<36x60xf32>
  %1 = array.reduce_window_sum %x window_dimensions = [1, 32] window_strides = [1, 1] low = [0, 0] high = [0, 0]
         base_dilation = [1, 1] window_dilation = [1, 1] : (tensor<40x64xf32>) -> tensor<40x33xf32>
  return %0, %1 : tensor<36x60xf32>, tensor<40x33xf32>
}

// -----

// Windows that end, or begin, with each element.
// CHECK-LABEL: @running
// CHECK: array.runtime_call "cumulative" params = [0, 1, 0]
// CHECK: array.runtime_call "cumulative" params = [2, 1, 1]
func.func @running(%x: tensor<4x64xf32>) -> (tensor<4x64xf32>, tensor<4x64xf32>) {
  %0 = array.reduce_window_sum %x window_dimensions = [1, 64] window_strides = [1, 1] low = [0, 63] high = [0, 0]
         base_dilation = [1, 1] window_dilation = [1, 1] : (tensor<4x64xf32>) -> tensor<4x64xf32>
  %1 = array.reduce_window_max %x window_dimensions = [1, 64] window_strides = [1, 1] low = [0, 0] high = [0, 63]
         base_dilation = [1, 1] window_dilation = [1, 1] : (tensor<4x64xf32>) -> tensor<4x64xf32>
  return %0, %1 : tensor<4x64xf32>, tensor<4x64xf32>
}

// -----

// The gradient of sums over windows that do not overlap: each element is copied to all of its window.
// CHECK-DAG: #[[PLACE:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d2)>
// CHECK-LABEL: @spread
// CHECK: %[[S:.*]] = linalg.generic {indexing_maps = [#[[PLACE]], #{{.*}}]
// CHECK-SAME: ins(%{{.*}} : tensor<3x4xf32>) outs(%{{.*}} : tensor<3x2x4x2xf32>)
// CHECK: tensor.collapse_shape %[[S]] {{\[\[}}0, 1], [2, 3]] : tensor<3x2x4x2xf32> into tensor<6x8xf32>
func.func @spread(%x: tensor<3x4xf32>) -> tensor<6x8xf32> {
  %0 = array.reduce_window_sum %x window_dimensions = [2, 2] window_strides = [1, 1] low = [1, 1] high = [1, 1]
         base_dilation = [2, 2] window_dilation = [1, 1] : (tensor<3x4xf32>) -> tensor<6x8xf32>
  return %0 : tensor<6x8xf32>
}

// -----

// Windows of three, two apart: even elements are in two windows, odd ones in one. The gaps of the dilated operand are
// not added.
// CHECK-LABEL: @phases
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<5xf32>)
// CHECK: arith.addf
// CHECK: %[[E:.*]] = tensor.insert_slice %{{.*}} into %{{.*}}[0] [5] [2] : tensor<5xf32> into tensor<9xf32>
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<4xf32>)
// CHECK-NOT: arith.addf
// CHECK: tensor.insert_slice %{{.*}} into %[[E]][1] [4] [2] : tensor<4xf32> into tensor<9xf32>
func.func @phases(%x: tensor<4xf32>) -> tensor<9xf32> {
  %0 = array.reduce_window_sum %x window_dimensions = [3] window_strides = [1] low = [2] high = [2]
         base_dilation = [2] window_dilation = [1] : (tensor<4xf32>) -> tensor<9xf32>
  return %0 : tensor<9xf32>
}

// -----

// The gradient of maxima: the position of each maximum, then a comparison for each element.
// CHECK-LABEL: @scatter
// CHECK-SAME: %[[S:.*]]: tensor<3xf32>, %[[X:.*]]: tensor<6xf32>
// CHECK: %[[PLACES:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[X]] : {{.*}}) outs(%{{.*}} : tensor<3xi8>)
// CHECK: arith.cmpf ugt
// CHECK: arith.cmpf ord
// CHECK: linalg.generic {{.*}} ins(%[[S]], %[[PLACES]] : tensor<3xf32>, tensor<3xi8>) outs(%{{.*}} : tensor<3x2xf32>)
// CHECK: arith.cmpi eq
// CHECK: arith.select
func.func @scatter(%s: tensor<3xf32>, %x: tensor<6xf32>) -> tensor<6xf32> {
  %0 = array.select_and_scatter %s, %x greatest = true window_dimensions = [2] window_strides = [2] low = [0]
         high = [0] base_dilation = [1] window_dilation = [1] : (tensor<3xf32>, tensor<6xf32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}
