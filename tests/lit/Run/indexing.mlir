// Positions that are data: blocks, gathered and scattered windows; beyond the ends they are moved inside, replaced or
// dropped.

// The start is moved so that the block is inside.
// RUN: array-run %s --entry=blocks --input='[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]' --input='[[-1, -2]]' \
// RUN:   --input='2' --input='-1' --expect='[[4, 5], [8, 9]]' \
// RUN:   --expect='[[0, 1, 2, 3], [4, 5, 6, 7], [-1, -2, 10, 11]]'
func.func @blocks(%x: tensor<3x4xf32>, %u: tensor<1x2xf32>, %i: tensor<i32>, %j: tensor<i32>)
    -> (tensor<2x2xf32>, tensor<3x4xf32>) {
  %0 = array.dynamic_slice %x at(%i, %j) slice_sizes = [2, 2] : (tensor<3x4xf32>, tensor<i32>, tensor<i32>) -> tensor<2x2xf32>
  %1 = array.dynamic_update_slice %x, %u at(%i, %j) : (tensor<3x4xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<3x4xf32>
  return %0, %1 : tensor<2x2xf32>, tensor<3x4xf32>
}

// RUN: array-run %s --entry=gathered --input='[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]' --input='[2, 5, -1]' \
// RUN:   --input='-9' --expect='[[8, 9, 10, 11], [8, 9, 10, 11], [0, 1, 2, 3]]' \
// RUN:   --expect='[[8, 9, 10, 11], [-9, -9, -9, -9], [-9, -9, -9, -9]]'
func.func @gathered(%x: tensor<3x4xf32>, %i: tensor<3xi32>, %f: tensor<f32>) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %0 = array.gather %x at(%i) {collapsed_slice_dims = array<i64: 0>, mode = "clip", offset_dims = array<i64: 1>,
         slice_sizes = array<i64: 1, 4>, start_index_map = array<i64: 0>}
         : (tensor<3x4xf32>, tensor<3xi32>) -> tensor<3x4xf32>
  %1 = array.gather %x at(%i, %f) {collapsed_slice_dims = array<i64: 0>, mode = "fill", offset_dims = array<i64: 1>,
         slice_sizes = array<i64: 1, 4>, start_index_map = array<i64: 0>}
         : (tensor<3x4xf32>, tensor<3xi32>, tensor<f32>) -> tensor<3x4xf32>
  return %0, %1 : tensor<3x4xf32>, tensor<3x4xf32>
}

// The last update of an element stays; updates outside are dropped, or moved inside.
// RUN: array-run %s --entry=scattered --input='[1, 2, 3, 4]' --input='[5, -6, 7]' --input='[1, 1, 9]' \
// RUN:   --expect='[1, -6, 3, 4]' --expect='[1, 1, 3, 4]' --expect='[1, -60, 3, 4]' --expect='[1, -6, 3, 4]' \
// RUN:   --expect='[1, 5, 3, 4]' --expect='[1, 1, 3, 11]'
func.func @scattered(%x: tensor<4xi32>, %u: tensor<3xi32>, %i: tensor<3xi64>)
    -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) {
  %0 = array.scatter %x, %u at(%i) {inserted_window_dims = array<i64: 0>, kind = "set", mode = "fill",
         scatter_dims_to_operand_dims = array<i64: 0>} : (tensor<4xi32>, tensor<3xi32>, tensor<3xi64>) -> tensor<4xi32>
  %1 = array.scatter %x, %u at(%i) {inserted_window_dims = array<i64: 0>, kind = "add", mode = "fill",
         scatter_dims_to_operand_dims = array<i64: 0>} : (tensor<4xi32>, tensor<3xi32>, tensor<3xi64>) -> tensor<4xi32>
  %2 = array.scatter %x, %u at(%i) {inserted_window_dims = array<i64: 0>, kind = "mul", mode = "fill",
         scatter_dims_to_operand_dims = array<i64: 0>} : (tensor<4xi32>, tensor<3xi32>, tensor<3xi64>) -> tensor<4xi32>
  %3 = array.scatter %x, %u at(%i) {inserted_window_dims = array<i64: 0>, kind = "min", mode = "fill",
         scatter_dims_to_operand_dims = array<i64: 0>} : (tensor<4xi32>, tensor<3xi32>, tensor<3xi64>) -> tensor<4xi32>
  %4 = array.scatter %x, %u at(%i) {inserted_window_dims = array<i64: 0>, kind = "max", mode = "fill",
         scatter_dims_to_operand_dims = array<i64: 0>} : (tensor<4xi32>, tensor<3xi32>, tensor<3xi64>) -> tensor<4xi32>
  %5 = array.scatter %x, %u at(%i) {inserted_window_dims = array<i64: 0>, kind = "add", mode = "clip",
         scatter_dims_to_operand_dims = array<i64: 0>} : (tensor<4xi32>, tensor<3xi32>, tensor<3xi64>) -> tensor<4xi32>
  return %0, %1, %2, %3, %4, %5
      : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
}
