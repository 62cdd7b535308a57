// Elements moved by positions that are known: shapes, order, parts, borders.

// RUN: array-run %s --entry=shapes --input='[[1, 2, 3], [4, 5, 6]]' --input='[7, 8, 9]' \
// RUN:   --expect='[[1, 2], [3, 4], [5, 6]]' --expect='[[1, 4], [2, 5], [3, 6]]' --expect='[[7, 8, 9], [7, 8, 9]]' \
// RUN:   --expect='[[6, 5, 4], [3, 2, 1]]'
func.func @shapes(%x: tensor<2x3xf32>, %r: tensor<3xi32>)
    -> (tensor<3x2xf32>, tensor<3x2xf32>, tensor<2x3xi32>, tensor<2x3xf32>) {
  %0 = array.reshape %x : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = array.transpose %x permutation = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %2 = array.broadcast_in_dim %r broadcast_dimensions = [1] : (tensor<3xi32>) -> tensor<2x3xi32>
  %3 = array.reverse %x dimensions = [0, 1] : tensor<2x3xf32>
  return %0, %1, %2, %3 : tensor<3x2xf32>, tensor<3x2xf32>, tensor<2x3xi32>, tensor<2x3xf32>
}

// RUN: array-run %s --entry=parts --input='[[1, 2, 3], [4, 5, 6]]' --expect='[[2, 3], [5, 6]]' --expect='[[4, 6]]' \
// RUN:   --expect='[[1, 2, 3], [4, 5, 6], [1, 2, 3], [4, 5, 6]]' \
// RUN:   --expect='[[1, 2, 3, 1, 2, 3], [4, 5, 6, 4, 5, 6]]'
func.func @parts(%x: tensor<2x3xf32>) -> (tensor<2x2xf32>, tensor<1x2xf32>, tensor<4x3xf32>, tensor<2x6xf32>) {
  %0 = array.slice %x start_indices = [0, 1] limit_indices = [2, 3] strides = [1, 1] : (tensor<2x3xf32>) -> tensor<2x2xf32>
  %1 = array.slice %x start_indices = [1, 0] limit_indices = [2, 3] strides = [1, 2] : (tensor<2x3xf32>) -> tensor<1x2xf32>
  %2 = array.concatenate %x, %x dimension = 0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  %3 = array.concatenate %x, %x dimension = 1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  return %0, %1, %2, %3 : tensor<2x2xf32>, tensor<1x2xf32>, tensor<4x3xf32>, tensor<2x6xf32>
}

// A negative border removes elements, after interior padding was added.
// RUN: array-run %s --entry=borders --input='[1, 2, 3]' --input='-7' --expect='[-7, 1, 2, 3, -7, -7]' \
// RUN:   --expect='[1, -7, 2, -7]'
func.func @borders(%x: tensor<3xi32>, %p: tensor<i32>) -> (tensor<6xi32>, tensor<4xi32>) {
  %0 = array.pad %x, %p low = [1] high = [2] interior = [0] : (tensor<3xi32>, tensor<i32>) -> tensor<6xi32>
  %1 = array.pad %x, %p low = [0] high = [-1] interior = [1] : (tensor<3xi32>, tensor<i32>) -> tensor<4xi32>
  return %0, %1 : tensor<6xi32>, tensor<4xi32>
}

// RUN: array-run %s --entry=empty --input='fill:0' --input='[1, 2]' --expect='[[], [], []]' --expect='[0, 0, 0]' \
// RUN:   --expect='[[[1], [2]]]'
func.func @empty(%x: tensor<0x3xf32>, %y: tensor<2xf32>) -> (tensor<3x0xf32>, tensor<3xf32>, tensor<1x2x1xf32>) {
  %0 = array.reshape %x : (tensor<0x3xf32>) -> tensor<3x0xf32>
  %1 = array.reduce_sum %x axes = [0] : (tensor<0x3xf32>) -> tensor<3xf32>
  %2 = array.reshape %y : (tensor<2xf32>) -> tensor<1x2x1xf32>
  return %0, %1, %2 : tensor<3x0xf32>, tensor<3xf32>, tensor<1x2x1xf32>
}
