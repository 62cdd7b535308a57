// RUN: array-opt %s --convert-array-to-linalg --split-input-file | FileCheck %s

// CHECK: #[[BATCH:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func @rows
// CHECK: linalg.generic {indexing_maps = [#[[BATCH]], #{{.*}}], iterator_types = ["parallel", "parallel"]}
// CHECK-SAME: ins(%arg1 : tensor<4xi32>) outs(%{{.*}} : tensor<4x8xf32>)
// CHECK: %[[I:.*]] = arith.index_cast
// CHECK: %[[LOW:.*]] = arith.minsi %[[I]], %[[LAST:.*]]
// CHECK: %[[ROW:.*]] = arith.maxsi %[[LOW]], %c0
// CHECK: %[[COLUMN:.*]] = linalg.index 1
// CHECK: tensor.extract %arg0[%[[ROW]], %[[COLUMN]]] : tensor<100x8xf32>
func.func @rows(%x: tensor<100x8xf32>, %i: tensor<4xi32>) -> tensor<4x8xf32> {
  %0 = array.gather %x at(%i) {collapsed_slice_dims = array<i64: 0>, mode = "clip", offset_dims = array<i64: 1>, slice_sizes = array<i64: 1, 8>, start_index_map = array<i64: 0>}
      : (tensor<100x8xf32>, tensor<4xi32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func @dynamic
// CHECK-DAG: tensor.dim %arg0
// CHECK-DAG: tensor.dim %arg1
// CHECK: tensor.empty(%{{.*}}, %{{.*}}) : tensor<3x?x?xf32>
func.func @dynamic(%x: tensor<?x?xf32>, %i: tensor<3x?xi64>) -> tensor<3x?x?xf32> {
  %0 = array.gather %x at(%i) {collapsed_slice_dims = array<i64: 0>, mode = "clip", offset_dims = array<i64: 2>, slice_sizes = array<i64: 1, -1>, start_index_map = array<i64: 0>}
      : (tensor<?x?xf32>, tensor<3x?xi64>) -> tensor<3x?x?xf32>
  return %0 : tensor<3x?x?xf32>
}

// -----

// Blocks of 2 x 3 at two indices, each for its own row of the batch; elements outside are the fill.
// CHECK-LABEL: func @blocks
// CHECK: %[[FILL:.*]] = tensor.extract %arg3[]
// CHECK: linalg.generic
// CHECK: %[[I:.*]] = arith.index_cast
// CHECK: %[[FITS:.*]] = arith.cmpi ule, %[[I]]
// CHECK: %[[J:.*]] = arith.index_cast
// CHECK: %[[ALSO:.*]] = arith.cmpi ule, %[[J]]
// CHECK: %[[INSIDE:.*]] = arith.andi %[[FITS]], %[[ALSO]]
// CHECK: %[[EXAMPLE:.*]] = linalg.index 0
// CHECK: %[[ELEMENT:.*]] = tensor.extract %arg0[%[[EXAMPLE]], %{{.*}}, %{{.*}}]
// CHECK: arith.select %[[INSIDE]], %[[ELEMENT]], %[[FILL]]
func.func @blocks(%x: tensor<4x5x7xf32>, %i: tensor<4xi32>, %j: tensor<4xi32>, %f: tensor<f32>) -> tensor<4x2x3xf32> {
  %0 = array.gather %x at(%i, %j, %f) {mode = "fill", offset_dims = array<i64: 1, 2>, operand_batching_dims = array<i64: 0>, slice_sizes = array<i64: 1, 2, 3>, start_index_map = array<i64: 1, 2>, start_indices_batching_dims = array<i64: 0>}
      : (tensor<4x5x7xf32>, tensor<4xi32>, tensor<4xi32>, tensor<f32>) -> tensor<4x2x3xf32>
  return %0 : tensor<4x2x3xf32>
}
