// UNSUPPORTED: gpu
// Code for a GPU is of fixed sizes.
// Symbols that follow from those before them: the caller gives no sizes for them.

// The elements from 3 on, of an array that may be shorter; and the number of whole groups of m.
// RUN: array-run %s --entry=tail --sizes=5 --input='[1, 2, 3, 4, 5]' --expect='[4, 5]'
// RUN: array-run %s --entry=tail --sizes=2 --input='[1, 2]' --expect='[]'
// RUN: not array-run %s --entry=tail --sizes=5,2 --input='[1, 2, 3, 4, 5]' 2>&1 | FileCheck %s --check-prefix=SIZES
// SIZES: has 1 sizes that a call decides
func.func @tail(%x: tensor<?xf32> {array.dims = affine_map<()[n, r] -> (n)>}) -> tensor<?xf32>
    attributes {array.symbols = [{min = 0 : i64}, {maximum = affine_map<()[n] -> (n - 3, 0)>}]} {
  %n = array.symbol 0 : index
  %rest = array.symbol 1 : index
  %start = arith.subi %n, %rest : index
  %0 = array.slice %x start_indices = [?] limit_indices = [?] strides = [1] sizes(%start, %n) : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// A quotient, and a maximum of it: iota of max(2 (n floordiv m) - 3, 0).
// RUN: array-run %s --entry=groups --sizes=7,2 --input='[0, 0, 0, 0, 0, 0, 0]' --input='[0, 0]' --expect='[0, 1, 2]'
// RUN: array-run %s --entry=groups --sizes=3,4 --input='[0, 0, 0]' --input='[0, 0, 0, 0]' --expect='[]'
func.func @groups(%x: tensor<?xf32> {array.dims = affine_map<()[n, m, q, r] -> (n)>},
                  %y: tensor<?xf32> {array.dims = affine_map<()[n, m, q, r] -> (m)>}) -> tensor<?xi32>
    attributes {array.symbols = [{min = 0 : i64}, {min = 1 : i64}, {quotient = affine_map<()[n, m] -> (n, m)>},
                                 {maximum = affine_map<()[n, m, q] -> (q * 2 - 3, 0)>}]} {
  %size = array.symbol 3 : index
  %0 = array.iota dimension = 0 output_dims(%size) : tensor<?xi32>
  return %0 : tensor<?xi32>
}

// The larger and the smaller one of two sizes become such symbols.
// RUN: array-run %s --entry=larger --sizes=2,3 --input='[1, 2]' --input='[1, 2, 3]' --expect='[0, 1, 2]' --expect='[0, 1]'
// RUN: array-run %s --entry=larger --sizes=4,1 --input='[1, 2, 3, 4]' --input='[1]' --expect='[0, 1, 2, 3]' --expect='[0]'
func.func @larger(%x: tensor<?xf32> {array.dims = affine_map<()[n, m] -> (n)>},
                  %y: tensor<?xf32> {array.dims = affine_map<()[n, m] -> (m)>}) -> (tensor<?xi32>, tensor<?xi32>)
    attributes {array.symbols = [{min = 1 : i64}, {min = 1 : i64}]} {
  %n = array.symbol 0 : index
  %m = array.symbol 1 : index
  %most = arith.maxsi %n, %m : index
  %least = arith.minsi %n, %m : index
  %0 = array.iota dimension = 0 output_dims(%most) : tensor<?xi32>
  %1 = array.iota dimension = 0 output_dims(%least) : tensor<?xi32>
  return %0, %1 : tensor<?xi32>, tensor<?xi32>
}
