// RUN: array-translate --stablehlo-to-array -split-input-file %s | FileCheck %s

// Starts are i32 or i64.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<4x5xf32>, %[[I:.*]]: tensor<i32>, %[[J:.*]]: tensor<ui8>)
// CHECK: %[[K:.*]] = array.convert %[[J]] : (tensor<ui8>) -> tensor<i32>
// CHECK: %[[S:.*]] = array.dynamic_slice %[[X]] at(%[[I]], %[[K]]) slice_sizes = [2, 3]
// CHECK: array.dynamic_update_slice %[[X]], %[[S]] at(%[[I]], %[[I]])
func.func @main(%x: tensor<4x5xf32>, %i: tensor<i32>, %j: tensor<ui8>) -> tensor<4x5xf32> {
  %0 = stablehlo.dynamic_slice %x, %i, %j, sizes = [2, 3] : (tensor<4x5xf32>, tensor<i32>, tensor<ui8>) -> tensor<2x3xf32>
  %1 = stablehlo.dynamic_update_slice %x, %0, %i, %i : (tensor<4x5xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<4x5xf32>
  return %1 : tensor<4x5xf32>
}

// -----

// Each component of the index vectors becomes an operand; the batching dimensions of the indices are counted without them.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<3x4x5xf32>, %[[I:.*]]: tensor<2x3x7xi32>)
// CHECK: %[[A:.*]] = array.slice %[[I]] start_indices = [0, 0, 0] limit_indices = [1, 3, 7]
// CHECK: %[[B:.*]] = array.reshape %[[A]] : (tensor<1x3x7xi32>) -> tensor<3x7xi32>
// CHECK: %[[C:.*]] = array.slice %[[I]] start_indices = [1, 0, 0] limit_indices = [2, 3, 7]
// CHECK: %[[D:.*]] = array.reshape %[[C]]
// CHECK: array.gather %[[X]] at(%[[B]], %[[D]]) {collapsed_slice_dims = array<i64: 1>, mode = "clip", offset_dims = array<i64: 2>, operand_batching_dims = array<i64: 0>, slice_sizes = array<i64: 1, 1, 2>, start_index_map = array<i64: 1, 2>, start_indices_batching_dims = array<i64: 0>
func.func @main(%x: tensor<3x4x5xf32>, %i: tensor<2x3x7xi32>) -> tensor<3x7x2xf32> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [1], start_index_map = [1, 2], index_vector_dim = 0>, slice_sizes = array<i64: 1, 1, 2>}> : (tensor<3x4x5xf32>, tensor<2x3x7xi32>) -> tensor<3x7x2xf32>
  return %0 : tensor<3x7x2xf32>
}

// -----

// The region combines updates; updates outside are dropped.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<4x5xf32>, %[[I:.*]]: tensor<2x1xi32>, %[[U:.*]]: tensor<2x5xf32>)
// CHECK: array.scatter %[[X]], %[[U]] at(%{{.*}}) {{.*}}kind = "set", mode = "fill"
// CHECK: %[[N:.*]] = array.neg %[[U]]
// CHECK: array.scatter %{{.*}}, %[[N]] at(%{{.*}}) {{.*}}kind = "add", mode = "fill"
func.func @main(%x: tensor<4x5xf32>, %i: tensor<2x1xi32>, %u: tensor<2x5xf32>) -> tensor<4x5xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<4x5xf32>, tensor<2x1xi32>, tensor<2x5xf32>) -> tensor<4x5xf32>
  %1 = "stablehlo.scatter"(%0, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %2 = stablehlo.subtract %a, %b : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<4x5xf32>, tensor<2x1xi32>, tensor<2x5xf32>) -> tensor<4x5xf32>
  return %1 : tensor<4x5xf32>
}

// -----

// Any other computation of an update runs window by window; a window outside of the operand changes nothing.
// CHECK-LABEL: func.func @main
// CHECK: array.scan
// CHECK: array.ge
// CHECK: array.le
// CHECK: %[[OLD:.*]] = array.dynamic_slice
// CHECK: array.sin
// CHECK: array.select
// CHECK: array.dynamic_update_slice
func.func @main(%x: tensor<4xf32>, %i: tensor<2x1xi32>, %u: tensor<2xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.sine %a : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
