// UNSUPPORTED: gpu
// Code for a GPU is of fixed sizes.
// One compilation for several sizes: each run gives the sizes of the symbols.
// RUN: array-run %s --entry=rows --sizes=1 --input='[[1, 2]]' --input='[10, 20]' --expect='[[11, 22]]' --expect=1
// RUN: array-run %s --entry=rows --sizes=3 --input='[[1, 2], [3, 4], [5, 6]]' --input='[10, 20]' \
// RUN:   --expect='[[11, 22], [13, 24], [15, 26]]' --expect=3
// RUN: array-run %s --entry=rows --sizes=0 --input=fill:0 --input='[10, 20]' --print=type | FileCheck %s --check-prefix=EMPTY
// EMPTY: result 0: tensor<0x2xf32>
func.func @rows(%x: tensor<?x2xf32>, %b: tensor<2xf32>) -> (tensor<?x2xf32>, tensor<i32>) {
  %n = array.symbol 0 : index
  %c = array.broadcast_in_dim %b broadcast_dimensions = [1] output_dims(%n) : (tensor<2xf32>) -> tensor<?x2xf32>
  %y = array.add %x, %c : tensor<?x2xf32>
  %k = array.dim_as_value sizes(%n) : tensor<i32>
  return %y, %k : tensor<?x2xf32>, tensor<i32>
}

// A temporary of symbolic size: the sum of squares of earlier results.
// RUN: array-run %s --entry=temporaries --sizes=2,3 --input=fill:2 --input=fill:3 --expect='[[18, 18, 18], [18, 18, 18]]'
// RUN: array-run %s --entry=temporaries --sizes=1,1 --input=fill:2 --input=fill:3 --expect='[[6]]'
func.func @temporaries(%x: tensor<?x?xf32> {array.dims = affine_map<()[n, m] -> (n, m)>},
                       %y: tensor<?x?xf32> {array.dims = affine_map<()[n, m] -> (m, n)>}) -> tensor<?x?xf32> {
  %n = array.symbol 0 : index
  %m = array.symbol 1 : index
  %t = array.transpose %y permutation = [1, 0] : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = array.mul %x, %t : tensor<?x?xf32>
  %s = array.reduce_sum %p axes = [1] : (tensor<?x?xf32>) -> tensor<?xf32>
  %b = array.broadcast_in_dim %s broadcast_dimensions = [0] output_dims(%n, %m) : (tensor<?xf32>) -> tensor<?x?xf32>
  return %b : tensor<?x?xf32>
}

// RUN: not array-run %s --entry=rows --input=fill:1 --input=fill:1 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT: array-run: error: @rows has 1 sizes that a call decides: give all by --sizes, in the order of their symbols
// RUN: not array-run %s --entry=rows --sizes=-1 --input=fill:1 --input=fill:1 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: array-run: error: --sizes: a size is not negative
