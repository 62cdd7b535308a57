// RUN: array-opt %s --convert-array-to-linalg --split-input-file | FileCheck %s

// CHECK: #[[ROW:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func @broadcast
// CHECK: linalg.generic {indexing_maps = [#[[ROW]], #{{.*}}], iterator_types = ["parallel", "parallel"]}
// CHECK-SAME: ins(%arg0 : tensor<5xf32>) outs(%{{.*}} : tensor<4x5xf32>)
func.func @broadcast(%x: tensor<5xf32>) -> tensor<4x5xf32> {
  %0 = array.broadcast_in_dim %x broadcast_dimensions = [1] : (tensor<5xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

// -----

// A dim of size 1 is read at 0.
// CHECK: affine_map<(d0, d1) -> (d0, 0)>
// CHECK-LABEL: func @expand
// CHECK: tensor.dim %arg0
// CHECK: linalg.generic
func.func @expand(%x: tensor<?x1xf32>, %n: index) -> tensor<?x5xf32> {
  %0 = array.broadcast_in_dim %x broadcast_dimensions = [0, 1] : (tensor<?x1xf32>) -> tensor<?x5xf32>
  return %0 : tensor<?x5xf32>
}

// -----

// CHECK: affine_map<(d0) -> ()>
// CHECK-LABEL: func @scalar
// CHECK: tensor.empty(%arg1)
func.func @scalar(%x: tensor<i1>, %n: index) -> tensor<?xi1> {
  %0 = array.broadcast_in_dim %x broadcast_dimensions = [] output_dims(%n) : (tensor<i1>) -> tensor<?xi1>
  return %0 : tensor<?xi1>
}

// -----

// Result dim i is operand dim permutation[i].
// CHECK: affine_map<(d0, d1, d2) -> (d1, d2, d0)>
// CHECK-LABEL: func @transpose
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<4x2x?xf32>)
func.func @transpose(%x: tensor<2x?x4xf32>) -> tensor<4x2x?xf32> {
  %0 = array.transpose %x permutation = [2, 0, 1] : (tensor<2x?x4xf32>) -> tensor<4x2x?xf32>
  return %0 : tensor<4x2x?xf32>
}

// -----

// CHECK: affine_map<(d0, d1) -> (-d0 + 3, d1)>
// CHECK-LABEL: func @reverse
func.func @reverse(%x: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %0 = array.reverse %x dimensions = [0] : tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

// -----

// CHECK-LABEL: func @reverse_dynamic
// CHECK: %[[LAST:.*]] = arith.subi %{{.*}}, %c1
// CHECK: linalg.generic
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK: arith.subi %[[LAST]], %[[I]]
// CHECK: tensor.extract %arg0
func.func @reverse_dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = array.reverse %x dimensions = [0] : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// CHECK-LABEL: func @flatten
// CHECK-NEXT: tensor.collapse_shape %arg0 {{\[\[}}0, 1], [2]] : tensor<2x3x4xf32> into tensor<6x4xf32>
func.func @flatten(%x: tensor<2x3x4xf32>) -> tensor<6x4xf32> {
  %0 = array.reshape %x : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}

// -----

// Only the dims that change meet in one.
// CHECK-LABEL: func @regroup
// CHECK-NEXT: %[[C:.*]] = tensor.collapse_shape %arg0 {{\[\[}}0], [1, 2]] : tensor<5x4x6xf32> into tensor<5x24xf32>
// CHECK-NEXT: tensor.expand_shape %[[C]] {{\[\[}}0], [1, 2]] output_shape [5, 8, 3]
func.func @regroup(%x: tensor<5x4x6xf32>) -> tensor<5x8x3xf32> {
  %0 = array.reshape %x : (tensor<5x4x6xf32>) -> tensor<5x8x3xf32>
  return %0 : tensor<5x8x3xf32>
}

// -----

// CHECK-LABEL: func @units
// CHECK-NEXT: tensor.expand_shape %arg0 {{\[\[}}0], [1, 2]] output_shape [4, 1, 5]
// CHECK-NEXT: tensor.expand_shape %arg1 [] output_shape [1, 1]
// CHECK-NEXT: tensor.collapse_shape %arg2 [] : tensor<1x1xf32> into tensor<f32>
func.func @units(%x: tensor<4x5xf32>, %y: tensor<f32>, %z: tensor<1x1xf32>)
    -> (tensor<4x1x5xf32>, tensor<1x1xf32>, tensor<f32>) {
  %0 = array.reshape %x : (tensor<4x5xf32>) -> tensor<4x1x5xf32>
  %1 = array.reshape %y : (tensor<f32>) -> tensor<1x1xf32>
  %2 = array.reshape %z : (tensor<1x1xf32>) -> tensor<f32>
  return %0, %1, %2 : tensor<4x1x5xf32>, tensor<1x1xf32>, tensor<f32>
}

// -----

// CHECK-LABEL: func @nothing
// CHECK-NEXT: tensor.empty() : tensor<5x0xi8>
func.func @nothing(%x: tensor<0x3xi1>) -> tensor<5x0xi1> {
  %0 = array.reshape %x : (tensor<0x3xi1>) -> tensor<5x0xi1>
  return %0 : tensor<5x0xi1>
}

// -----

// Several sizes that are given: through one dimension.
// CHECK-LABEL: func @reshape_dynamic
// CHECK: %[[FLAT:.*]] = tensor.collapse_shape %arg0 {{\[\[}}0, 1]] : tensor<?x4xf32> into tensor<?xf32>
// CHECK: tensor.expand_shape %[[FLAT]] {{\[\[}}0, 1]] output_shape [%arg1, %arg2] : tensor<?xf32> into tensor<?x?xf32>
func.func @reshape_dynamic(%x: tensor<?x4xf32>, %n: index, %m: index) -> tensor<?x?xf32> {
  %0 = array.reshape %x output_dims(%n, %m) : (tensor<?x4xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

// The one unknown size follows from the number of elements.
// CHECK-LABEL: func @reshape_inferred
// CHECK: %[[N:.*]] = tensor.dim %{{.*}} : tensor<?xf32>
// CHECK: %[[ROWS:.*]] = arith.divsi %[[N]], %c8
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0, 1]] output_shape [%[[ROWS]], 8]
func.func @reshape_inferred(%x: tensor<?x4xf32>) -> tensor<?x8xf32> {
  %0 = array.reshape %x : (tensor<?x4xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// -----

// A dynamic size with equal products on either side does not change, and the others are grouped like static ones.
// CHECK-LABEL: func @reshape_around
// CHECK: %[[C:.*]] = tensor.collapse_shape %arg0 {{\[\[}}0], [1], [2, 3]] : tensor<6x?x4x5xf32> into tensor<6x?x20xf32>
// CHECK: %[[D:.*]] = tensor.dim %[[C]], %c1
// CHECK: tensor.expand_shape %[[C]] {{\[\[}}0, 1], [2], [3, 4]] output_shape [2, 3, %[[D]], 10, 2]
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0, 1], [2]] : tensor<1x?x3xf32> into tensor<?x3xf32>
// CHECK: tensor.expand_shape %arg2 {{\[\[}}0, 1]] output_shape [%arg3, 1] : tensor<?xf32> into tensor<?x1xf32>
func.func @reshape_around(%x: tensor<6x?x4x5xf32>, %y: tensor<1x?x3xf32>, %z: tensor<?xf32>, %n: index)
    -> (tensor<2x3x?x10x2xf32>, tensor<?x3xf32>, tensor<?x1xf32>) {
  %0 = array.reshape %x : (tensor<6x?x4x5xf32>) -> tensor<2x3x?x10x2xf32>
  %1 = array.reshape %y : (tensor<1x?x3xf32>) -> tensor<?x3xf32>
  %2 = array.reshape %z output_dims(%n) : (tensor<?xf32>) -> tensor<?x1xf32>
  return %0, %1, %2 : tensor<2x3x?x10x2xf32>, tensor<?x3xf32>, tensor<?x1xf32>
}

// -----

// If the products differ, so do the dynamic sizes.
// CHECK-LABEL: func @reshape_across
// CHECK: %[[FLAT:.*]] = tensor.collapse_shape %arg0 {{\[\[}}0, 1]] : tensor<4x?xf32> into tensor<?xf32>
// CHECK: tensor.expand_shape %[[FLAT]] {{\[\[}}0, 1]] output_shape [2, %arg1] : tensor<?xf32> into tensor<2x?xf32>
func.func @reshape_across(%x: tensor<4x?xf32>, %n: index) -> tensor<2x?xf32> {
  %0 = array.reshape %x output_dims(%n) : (tensor<4x?xf32>) -> tensor<2x?xf32>
  return %0 : tensor<2x?xf32>
}

// -----

// A view of no elements could have other sizes: here groups of equal products would make the first one 4 times that.
// CHECK-LABEL: func @reshape_of_nothing
// CHECK-NEXT: %[[EMPTY:.*]] = tensor.empty(%arg1) : tensor<?x0xf32>
// CHECK-NEXT: return %[[EMPTY]]
func.func @reshape_of_nothing(%x: tensor<?x4x1x0xf32>, %n: index) -> tensor<?x0xf32> {
  %0 = array.reshape %x output_dims(%n) : (tensor<?x4x1x0xf32>) -> tensor<?x0xf32>
  return %0 : tensor<?x0xf32>
}
