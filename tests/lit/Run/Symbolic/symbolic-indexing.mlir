// UNSUPPORTED: gpu
// Code for a GPU is of fixed sizes.
// Ops whose positions are data, of symbolic sizes.

// A start is moved inside: at 4 of 5 a block of 2 begins at 3.
// RUN: array-run %s --entry=blocks --sizes=5,2 --input='[1, 2, 3, 4, 5]' --input='[8, 9]' --input='4' --expect='[4, 5]' --expect='[1, 2, 3, 8, 9]'
// RUN: array-run %s --entry=blocks --sizes=1,1 --input='[1]' --input='[8]' --input='4' --expect='[1]' --expect='[8]'
// RUN: array-run %s --entry=blocks --sizes=3,0 --input='[1, 2, 3]' --input='[]' --input='4' --expect='[]' --expect='[1, 2, 3]'
func.func @blocks(%x: tensor<?xf32>, %u: tensor<?xf32>, %i: tensor<i32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %m = array.symbol 1 : index
  %0 = array.dynamic_slice %x at(%i) slice_sizes = [?] sizes(%m) : (tensor<?xf32>, tensor<i32>, index) -> tensor<?xf32>
  %1 = array.dynamic_update_slice %x, %u at(%i) : (tensor<?xf32>, tensor<?xf32>, tensor<i32>) -> tensor<?xf32>
  return %0, %1 : tensor<?xf32>, tensor<?xf32>
}

// RUN: array-run %s --entry=rows --sizes=3,2,4 --input='[[1, 2], [3, 4], [5, 6]]' --input='[2, 0, 7, -1]' \
// RUN:   --expect='[[5, 6], [1, 2], [5, 6], [1, 2]]' --expect='[[5, 6], [1, 2], [0, 0], [0, 0]]'
// RUN: array-run %s --entry=rows --sizes=1,1,1 --input='[[1]]' --input='[3]' --expect='[[1]]' --expect='[[0]]'
func.func @rows(%x: tensor<?x?xf32>, %i: tensor<?xi32>) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %m = array.symbol 1 : index
  %zero = array.constant dense<0.0> : tensor<f32>
  %0 = array.gather %x at(%i) slice_sizes = [1, ?] sizes(%m) {collapsed_slice_dims = array<i64: 0>, mode = "clip",
         offset_dims = array<i64: 1>, start_index_map = array<i64: 0>}
         : (tensor<?x?xf32>, tensor<?xi32>, index) -> tensor<?x?xf32>
  %1 = array.gather %x at(%i, %zero) {collapsed_slice_dims = array<i64: 0>, mode = "fill", offset_dims = array<i64: 1>,
         slice_sizes = array<i64: 1, -1>, start_index_map = array<i64: 0>}
         : (tensor<?x?xf32>, tensor<?xi32>, tensor<f32>) -> tensor<?x?xf32>
  return %0, %1 : tensor<?x?xf32>, tensor<?x?xf32>
}

// RUN: array-run %s --entry=added --sizes=3,2,4 --input='[[1, 2], [3, 4], [5, 6]]' --input='[2, 0, 7, 2]' \
// RUN:   --input='[[10, 20], [30, 40], [50, 60], [70, 80]]' --expect='[[31, 42], [3, 4], [85, 106]]' --expect='[[30, 40], [3, 4], [70, 80]]'
// RUN: array-run %s --entry=added --sizes=1,1,1 --input='[[1]]' --input='[0]' --input='[[4]]' --expect='[[5]]' --expect='[[4]]'
// RUN: array-run %s --entry=added --sizes=1,1,0 --input='[[1]]' --input='[]' --input='random:normal' --expect='[[1]]' --expect='[[1]]'
func.func @added(%x: tensor<?x?xf32> {array.dims = affine_map<()[n, m, k] -> (n, m)>},
                 %i: tensor<?xi32> {array.dims = affine_map<()[n, m, k] -> (k)>},
                 %u: tensor<?x?xf32> {array.dims = affine_map<()[n, m, k] -> (k, m)>}) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %0 = array.scatter %x, %u at(%i) {inserted_window_dims = array<i64: 0>, kind = "add", mode = "fill",
         scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>}
         : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xi32>) -> tensor<?x?xf32>
  %1 = array.scatter %x, %u at(%i) {inserted_window_dims = array<i64: 0>, kind = "set", mode = "fill",
         scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>}
         : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xi32>) -> tensor<?x?xf32>
  return %0, %1 : tensor<?x?xf32>, tensor<?x?xf32>
}
