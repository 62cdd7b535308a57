// RUN: array-opt %s --canonicalize --split-input-file | FileCheck %s

// Folders and canonicalizations of ops that move, slice and reduce: ops without effect are folded, two moves become one.

// CHECK-LABEL: @identities
// CHECK-SAME: (%[[X:.*]]: tensor<4x5xf32>, %[[S:.*]]: tensor<f32>, %[[I:.*]]: tensor<i32>)
func.func @identities(%x: tensor<4x5xf32>, %s: tensor<f32>, %i: tensor<i32>)
    -> (tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>) {
  %0 = array.broadcast_in_dim %x broadcast_dimensions = [0, 1] : (tensor<4x5xf32>) -> tensor<4x5xf32>
  %1 = array.reshape %x : (tensor<4x5xf32>) -> tensor<4x5xf32>
  %2 = array.transpose %x permutation = [0, 1] : (tensor<4x5xf32>) -> tensor<4x5xf32>
  %3 = array.slice %x start_indices = [0, 0] limit_indices = [4, 5] strides = [1, 1] : (tensor<4x5xf32>) -> tensor<4x5xf32>
  %4 = array.pad %x, %s low = [0, 0] high = [0, 0] interior = [0, 0] : (tensor<4x5xf32>, tensor<f32>) -> tensor<4x5xf32>
  %5 = array.concatenate %x dimension = 1 : (tensor<4x5xf32>) -> tensor<4x5xf32>
  %6 = array.reverse %x dimensions = [] : tensor<4x5xf32>
  %7 = array.dynamic_slice %x at(%i, %i) slice_sizes = [4, 5] : (tensor<4x5xf32>, tensor<i32>, tensor<i32>) -> tensor<4x5xf32>
  %8 = array.reduce_sum %x axes = [] : (tensor<4x5xf32>) -> tensor<4x5xf32>
  // CHECK-NEXT: return %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]]
  return %0, %1, %2, %3, %4, %5, %6, %7, %8 : tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>
}

// -----

// A dynamic dimension hides whether anything happens.
// CHECK-LABEL: @dynamic
func.func @dynamic(%x: tensor<?xf32>, %y: tensor<?x?xf32>, %n: index, %s: tensor<f32>) -> (tensor<?xf32>, tensor<?x?xf32>, tensor<4xf32>) {
  // CHECK: array.broadcast_in_dim
  %0 = array.broadcast_in_dim %x broadcast_dimensions = [0] output_dims(%n) : (tensor<?xf32>) -> tensor<?xf32>
  // CHECK: array.reshape
  %1 = array.reshape %y output_dims(%n, %n) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  // CHECK: array.pad
  %2 = array.pad %x, %s low = [0] high = [0] interior = [0] : (tensor<?xf32>, tensor<f32>) -> tensor<4xf32>
  return %0, %1, %2 : tensor<?xf32>, tensor<?x?xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: @splats
func.func @splats() -> (tensor<4x5xf32>, tensor<20xf32>, tensor<5x4xf32>, tensor<2xf32>, tensor<20xf32>) {
  %s = array.constant dense<2.0> : tensor<f32>
  // CHECK-DAG: %[[X:.*]] = array.constant dense<2.000000e+00> : tensor<4x5xf32>
  // CHECK-DAG: %[[FLAT:.*]] = array.constant dense<2.000000e+00> : tensor<20xf32>
  // CHECK-DAG: %[[TRANSPOSED:.*]] = array.constant dense<2.000000e+00> : tensor<5x4xf32>
  // CHECK-DAG: %[[SLICE:.*]] = array.constant dense<2.000000e+00> : tensor<2xf32>
  %0 = array.broadcast_in_dim %s broadcast_dimensions = [] : (tensor<f32>) -> tensor<4x5xf32>
  %1 = array.reshape %0 : (tensor<4x5xf32>) -> tensor<20xf32>
  %2 = array.transpose %0 permutation = [1, 0] : (tensor<4x5xf32>) -> tensor<5x4xf32>
  %3 = array.slice %1 start_indices = [1] limit_indices = [3] strides = [1] : (tensor<20xf32>) -> tensor<2xf32>
  %4 = array.reverse %1 dimensions = [0] : tensor<20xf32>
  // CHECK: return %[[X]], %[[FLAT]], %[[TRANSPOSED]], %[[SLICE]], %[[FLAT]]
  return %0, %1, %2, %3, %4 : tensor<4x5xf32>, tensor<20xf32>, tensor<5x4xf32>, tensor<2xf32>, tensor<20xf32>
}

// -----

// CHECK-LABEL: @reshape_of_constant
func.func @reshape_of_constant() -> tensor<2x2xi32> {
  %x = array.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  // CHECK: array.constant dense<{{\[\[}}1, 2], [3, 4]]> : tensor<2x2xi32>
  %0 = array.reshape %x : (tensor<4xi32>) -> tensor<2x2xi32>
  return %0 : tensor<2x2xi32>
}

// -----

// CHECK-LABEL: @twice
// CHECK-SAME: (%[[X:.*]]: tensor<4x5x6xf32>, %[[V:.*]]: tensor<5xf32>)
func.func @twice(%x: tensor<4x5x6xf32>, %v: tensor<5xf32>) -> (tensor<6x4x5xf32>, tensor<4x5x6xf32>, tensor<8x15xf32>, tensor<4x5x6xf32>, tensor<4x5x6xf32>) {
  // CHECK-DAG: %[[T:.*]] = array.transpose %[[X]] permutation = [2, 0, 1] : (tensor<4x5x6xf32>) -> tensor<6x4x5xf32>
  %0 = array.transpose %x permutation = [0, 2, 1] : (tensor<4x5x6xf32>) -> tensor<4x6x5xf32>
  %1 = array.transpose %0 permutation = [1, 0, 2] : (tensor<4x6x5xf32>) -> tensor<6x4x5xf32>
  %2 = array.transpose %0 permutation = [0, 2, 1] : (tensor<4x6x5xf32>) -> tensor<4x5x6xf32>
  // CHECK-DAG: %[[R:.*]] = array.reshape %[[X]] : (tensor<4x5x6xf32>) -> tensor<8x15xf32>
  %3 = array.reshape %x : (tensor<4x5x6xf32>) -> tensor<120xf32>
  %4 = array.reshape %3 : (tensor<120xf32>) -> tensor<8x15xf32>
  // CHECK-DAG: %[[B:.*]] = array.broadcast_in_dim %[[V]] broadcast_dimensions = [1] : (tensor<5xf32>) -> tensor<4x5x6xf32>
  %5 = array.broadcast_in_dim %v broadcast_dimensions = [0] : (tensor<5xf32>) -> tensor<5x6xf32>
  %6 = array.broadcast_in_dim %5 broadcast_dimensions = [1, 2] : (tensor<5x6xf32>) -> tensor<4x5x6xf32>
  %7 = array.reverse %x dimensions = [0, 2] : tensor<4x5x6xf32>
  %8 = array.reverse %7 dimensions = [0, 2] : tensor<4x5x6xf32>
  // CHECK: return %[[T]], %[[X]], %[[R]], %[[B]], %[[X]]
  return %1, %2, %4, %6, %8 : tensor<6x4x5xf32>, tensor<4x5x6xf32>, tensor<8x15xf32>, tensor<4x5x6xf32>, tensor<4x5x6xf32>
}

// -----

// A reduction that keeps its dimensions and is broadcast again, as in softmax, needs no reshape.
// CHECK-LABEL: @keepdims
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<1x4xf32>)
func.func @keepdims(%x: tensor<4xf32>, %y: tensor<1x4xf32>) -> (tensor<4x5xf32>, tensor<3x4x5xf32>, tensor<4x5xf32>) {
  // CHECK: array.broadcast_in_dim %[[X]] broadcast_dimensions = [0] : (tensor<4xf32>) -> tensor<4x5xf32>
  %0 = array.reshape %x : (tensor<4xf32>) -> tensor<4x1xf32>
  %1 = array.broadcast_in_dim %0 broadcast_dimensions = [0, 1] : (tensor<4x1xf32>) -> tensor<4x5xf32>
  // CHECK: array.broadcast_in_dim %[[X]] broadcast_dimensions = [1] : (tensor<4xf32>) -> tensor<3x4x5xf32>
  %2 = array.reshape %x : (tensor<4xf32>) -> tensor<1x4x1xf32>
  %3 = array.broadcast_in_dim %2 broadcast_dimensions = [0, 1, 2] : (tensor<1x4x1xf32>) -> tensor<3x4x5xf32>
  // CHECK: array.reshape %[[Y]]
  %4 = array.reshape %y : (tensor<1x4xf32>) -> tensor<4x1xf32>
  %5 = array.broadcast_in_dim %4 broadcast_dimensions = [0, 1] : (tensor<4x1xf32>) -> tensor<4x5xf32>
  return %1, %3, %5 : tensor<4x5xf32>, tensor<3x4x5xf32>, tensor<4x5xf32>
}

// -----

// Only the inner broadcast has its size operand.
// CHECK-LABEL: @dynamic_broadcasts
func.func @dynamic_broadcasts(%v: tensor<1xf32>, %n: index) -> (tensor<4x?xf32>, tensor<?x?xf32>) {
  // CHECK: array.broadcast_in_dim {{.*}} -> tensor<?xf32>
  // CHECK: array.broadcast_in_dim {{.*}} : (tensor<?xf32>) -> tensor<4x?xf32>
  %0 = array.broadcast_in_dim %v broadcast_dimensions = [0] output_dims(%n) : (tensor<1xf32>) -> tensor<?xf32>
  %1 = array.broadcast_in_dim %0 broadcast_dimensions = [1] : (tensor<?xf32>) -> tensor<4x?xf32>
  // CHECK: array.broadcast_in_dim {{.*}} : (tensor<1xf32>) -> tensor<?x?xf32>
  %2 = array.broadcast_in_dim %0 broadcast_dimensions = [1] output_dims(%n, %n) : (tensor<?xf32>) -> tensor<?x?xf32>
  return %1, %2 : tensor<4x?xf32>, tensor<?x?xf32>
}

// -----

// CHECK-LABEL: @full_update
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[U:.*]]: tensor<4xf32>, %{{.*}}: tensor<i32>)
func.func @full_update(%x: tensor<4xf32>, %u: tensor<4xf32>, %i: tensor<i32>) -> tensor<4xf32> {
  %0 = array.dynamic_update_slice %x, %u at(%i) : (tensor<4xf32>, tensor<4xf32>, tensor<i32>) -> tensor<4xf32>
  // CHECK: return %[[U]]
  return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: @reduction_of_unit_dims
// CHECK-SAME: (%[[X:.*]]: tensor<1x4x1xf32>, %[[D:.*]]: tensor<?x1xf32>)
func.func @reduction_of_unit_dims(%x: tensor<1x4x1xf32>, %d: tensor<?x1xf32>) -> (tensor<4xf32>, tensor<1xf32>, tensor<?xf32>) {
  // CHECK-DAG: array.reshape %[[X]] : (tensor<1x4x1xf32>) -> tensor<4xf32>
  %0 = array.reduce_sum %x axes = [0, 2] : (tensor<1x4x1xf32>) -> tensor<4xf32>
  // CHECK-DAG: array.reduce_max
  %1 = array.reduce_max %x axes = [0, 1] : (tensor<1x4x1xf32>) -> tensor<1xf32>
  // CHECK-DAG: array.reshape %[[D]] : (tensor<?x1xf32>) -> tensor<?xf32>
  %2 = array.reduce_max %d axes = [1] : (tensor<?x1xf32>) -> tensor<?xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<1xf32>, tensor<?xf32>
}

// -----

// CHECK-LABEL: @after_all
// CHECK-SAME: (%[[T:.*]]: !array.token)
func.func @after_all(%t: !array.token) -> !array.token {
  %0 = array.after_all %t : !array.token
  // CHECK: return %[[T]]
  return %0 : !array.token
}

// -----

// Two dynamic sizes are not known to be equal: an op that may have an effect stays.
// CHECK-LABEL: @dynamic_stays
func.func @dynamic_stays(%x: tensor<?xf32>, %s: tensor<f32>, %i: tensor<i32>, %n: index, %y: tensor<?x0xf32>, %z: tensor<?x?xf32>)
    -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?x0xf32>, tensor<?x?xf32>) {
  // CHECK: array.slice
  %0 = array.slice %x start_indices = [0] limit_indices = [?] strides = [1] sizes(%n) : (tensor<?xf32>) -> tensor<?xf32>
  // CHECK: array.pad
  %1 = array.pad %x, %s low = [0] high = [?] interior = [0] sizes(%n) : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  // CHECK: array.dynamic_slice
  %2 = array.dynamic_slice %x at(%i) slice_sizes = [?] sizes(%n) : (tensor<?xf32>, tensor<i32>, index) -> tensor<?xf32>
  // CHECK: array.reshape
  %3 = array.reshape %y output_dims(%n) : (tensor<?x0xf32>) -> tensor<?x0xf32>
  // CHECK: array.reshape
  %4 = array.reshape %z output_dims(%n, %n) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0, %1, %2, %3, %4 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?x0xf32>, tensor<?x?xf32>
}

// -----

// keepdims of one dynamic size is a broadcast; with several, their correspondence is not known.
// CHECK-LABEL: @dynamic_keepdims
// CHECK-SAME: (%[[X:.*]]: tensor<?x3xf32>, %[[N:.*]]: index
func.func @dynamic_keepdims(%x: tensor<?x3xf32>, %n: index, %y: tensor<?x?xf32>, %z: tensor<?xf32>)
    -> (tensor<?x3x4xf32>, tensor<?x?x4xf32>, tensor<?x2x4xf32>) {
  // CHECK: array.broadcast_in_dim %[[X]] broadcast_dimensions = [0, 1] output_dims(%[[N]]) : (tensor<?x3xf32>) -> tensor<?x3x4xf32>
  %0 = array.reshape %x output_dims(%n) : (tensor<?x3xf32>) -> tensor<?x3x1xf32>
  %1 = array.broadcast_in_dim %0 broadcast_dimensions = [0, 1, 2] output_dims(%n) : (tensor<?x3x1xf32>) -> tensor<?x3x4xf32>
  // CHECK: array.reshape
  %2 = array.reshape %y output_dims(%n, %n) : (tensor<?x?xf32>) -> tensor<?x?x1xf32>
  %3 = array.broadcast_in_dim %2 broadcast_dimensions = [0, 1, 2] output_dims(%n, %n) : (tensor<?x?x1xf32>) -> tensor<?x?x4xf32>
  // CHECK: array.reshape
  %4 = array.reshape %z output_dims(%n) : (tensor<?xf32>) -> tensor<?x2x1xf32>
  %5 = array.broadcast_in_dim %4 broadcast_dimensions = [0, 1, 2] output_dims(%n) : (tensor<?x2x1xf32>) -> tensor<?x2x4xf32>
  return %1, %3, %5 : tensor<?x3x4xf32>, tensor<?x?x4xf32>, tensor<?x2x4xf32>
}

// -----

// The components of a transposed array are rows of the array, and the transpose of stacked columns is a stack of rows.
// CHECK-LABEL: @components
// CHECK-SAME: (%[[X:.*]]: tensor<2x9xf32>)
// CHECK-NOT: array.transpose
func.func @components(%x: tensor<2x9xf32>) -> tensor<2x9xf32> {
  // CHECK-DAG: %[[A:.*]] = array.slice %[[X]] start_indices = [0, 0] limit_indices = [1, 9] strides = [1, 1]
  // CHECK-DAG: %[[B:.*]] = array.slice %[[X]] start_indices = [1, 0] limit_indices = [2, 9] strides = [1, 1]
  // CHECK: array.concatenate {{.*}} dimension = 0 : (tensor<1x9xf32>, tensor<1x9xf32>) -> tensor<2x9xf32>
  %0 = array.transpose %x permutation = [1, 0] : (tensor<2x9xf32>) -> tensor<9x2xf32>
  %1 = array.slice %0 start_indices = [0, 0] limit_indices = [9, 1] strides = [1, 1] : (tensor<9x2xf32>) -> tensor<9x1xf32>
  %2 = array.slice %0 start_indices = [0, 1] limit_indices = [9, 2] strides = [1, 1] : (tensor<9x2xf32>) -> tensor<9x1xf32>
  %3 = array.concatenate %2, %1 dimension = 1 : (tensor<9x1xf32>, tensor<9x1xf32>) -> tensor<9x2xf32>
  %4 = array.transpose %3 permutation = [1, 0] : (tensor<9x2xf32>) -> tensor<2x9xf32>
  return %4 : tensor<2x9xf32>
}

// -----

// Slices of several columns keep the transpose; so do stacks of matrices.
// CHECK-LABEL: @wide_parts
func.func @wide_parts(%x: tensor<4x9xf32>, %y: tensor<3x2xf32>) -> (tensor<9x2xf32>, tensor<4x3xf32>) {
  // CHECK-COUNT-2: array.transpose
  %0 = array.transpose %x permutation = [1, 0] : (tensor<4x9xf32>) -> tensor<9x4xf32>
  %1 = array.slice %0 start_indices = [0, 1] limit_indices = [9, 3] strides = [1, 1] : (tensor<9x4xf32>) -> tensor<9x2xf32>
  %2 = array.concatenate %y, %y dimension = 1 : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x4xf32>
  %3 = array.transpose %2 permutation = [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
  return %1, %3 : tensor<9x2xf32>, tensor<4x3xf32>
}
