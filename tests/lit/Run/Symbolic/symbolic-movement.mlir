// UNSUPPORTED: gpu
// Code for a GPU is of fixed sizes.
// Ops that move elements, of sizes that a call decides: at several, at 1 and at 0.

// RUN: array-run %s --entry=slices --sizes=5 --input='[1, 2, 3, 4, 5]' --expect='[2, 3, 4, 5]' --expect='[1, 3, 5]' --expect='[4]'
// RUN: array-run %s --entry=slices --sizes=2 --input='[1, 2]' --expect='[2]' --expect='[1]' --expect='[1]'
func.func @slices(%x: tensor<?xf32> {array.dims = affine_map<()[n] -> (n)>}) -> (tensor<?xf32>, tensor<?xf32>, tensor<1xf32>)
    attributes {array.symbols = [{min = 2 : i64}]} {
  %n = array.symbol 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %last = arith.subi %n, %c1 : index
  %before = arith.subi %n, %c2 : index
  %0 = array.slice %x start_indices = [1] limit_indices = [?] strides = [1] sizes(%n) : (tensor<?xf32>) -> tensor<?xf32>
  %1 = array.slice %x start_indices = [0] limit_indices = [?] strides = [2] sizes(%n) : (tensor<?xf32>) -> tensor<?xf32>
  %2 = array.slice %x start_indices = [?] limit_indices = [?] strides = [1] sizes(%before, %last) : (tensor<?xf32>) -> tensor<1xf32>
  return %0, %1, %2 : tensor<?xf32>, tensor<?xf32>, tensor<1xf32>
}

// The second one drops the elements that the first one added in front.
// RUN: array-run %s --entry=pads --sizes=3 --input='[1, 2, 3]' --expect='[0, 0, 0, 1, 2, 3, 0]' --expect='[1, 2, 3, 0]' \
// RUN:   --expect='[1, 0, 2, 0, 3]'
// RUN: array-run %s --entry=pads --sizes=1 --input='[4]' --expect='[0, 4, 0]' --expect='[4, 0]' --expect='[4]'
func.func @pads(%x: tensor<?xf32> {array.dims = affine_map<()[n] -> (n)>}) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
    attributes {array.symbols = [{min = 1 : i64}]} {
  %n = array.symbol 0 : index
  %c0 = arith.constant 0 : index
  %zero = array.constant dense<0.0> : tensor<f32>
  %minus = arith.subi %c0, %n : index
  %0 = array.pad %x, %zero low = [?] high = [1] interior = [0] sizes(%n) : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  %1 = array.pad %0, %zero low = [?] high = [0] interior = [0] sizes(%minus) : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  %2 = array.pad %x, %zero low = [0] high = [0] interior = [1] : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  return %0, %1, %2 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}

// RUN: array-run %s --entry=joined --sizes=2,3 --input='[1, 2]' --input='[3, 4, 5]' --expect='[1, 2, 3, 4, 5, 1, 2]' --expect='[5, 4, 3]'
// RUN: array-run %s --entry=joined --sizes=1,0 --input='[1]' --input='random:normal' --expect='[1, 1]' --expect='[]'
func.func @joined(%x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %0 = array.concatenate %x, %y, %x dimension = 0 : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %1 = array.reverse %y dimensions = [0] : tensor<?xf32>
  return %0, %1 : tensor<?xf32>, tensor<?xf32>
}

// RUN: array-run %s --entry=turned --sizes=2,3 --input='[[1, 2, 3], [4, 5, 6]]' --expect='[[1, 4], [2, 5], [3, 6]]' \
// RUN:   --expect='[[[1, 2, 3], [4, 5, 6]], [[1, 2, 3], [4, 5, 6]]]'
// RUN: array-run %s --entry=turned --sizes=1,1 --input='[[7]]' --expect='[[7]]' --expect='[[[7]]]'
func.func @turned(%x: tensor<?x?xi32>) -> (tensor<?x?xi32>, tensor<?x?x?xi32>) {
  %n = array.symbol 0 : index
  %m = array.symbol 1 : index
  %0 = array.transpose %x permutation = [1, 0] : (tensor<?x?xi32>) -> tensor<?x?xi32>
  %1 = array.broadcast_in_dim %x broadcast_dimensions = [1, 2] output_dims(%n, %n, %m) : (tensor<?x?xi32>) -> tensor<?x?x?xi32>
  return %0, %1 : tensor<?x?xi32>, tensor<?x?x?xi32>
}

// Around a size that stays, and through one dimension.
// RUN: array-run %s --entry=reshaped --sizes=2,3 --input='[[1, 2, 3], [4, 5, 6]]' --input='[[1, 2, 3, 4], [5, 6, 7, 8]]' \
// RUN:   --expect='[1, 2, 3, 4, 5, 6]' --expect='[[1, 2], [3, 4], [5, 6]]' --expect='[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]' \
// RUN:   --expect='[[[1], [2], [3]], [[4], [5], [6]]]'
// RUN: array-run %s --entry=reshaped --sizes=1,1 --input='[[1]]' --input='[[1, 2, 3, 4]]' --expect='[1]' --expect='[[1]]' \
// RUN:   --expect='[[[1, 2], [3, 4]]]' --expect='[[[1]]]'
func.func @reshaped(%x: tensor<?x?xi32> {array.dims = affine_map<()[n, m] -> (n, m)>},
                    %y: tensor<?x4xi32> {array.dims = affine_map<()[n, m] -> (n, 4)>})
    -> (tensor<?xi32>, tensor<?x?xi32>, tensor<?x2x2xi32>, tensor<?x?x1xi32>) {
  %n = array.symbol 0 : index
  %m = array.symbol 1 : index
  %nm = arith.muli %n, %m : index
  %0 = array.reshape %x output_dims(%nm) : (tensor<?x?xi32>) -> tensor<?xi32>
  %1 = array.reshape %x output_dims(%m, %n) : (tensor<?x?xi32>) -> tensor<?x?xi32>
  %2 = array.reshape %y output_dims(%n) : (tensor<?x4xi32>) -> tensor<?x2x2xi32>
  %3 = array.reshape %x output_dims(%n, %m) : (tensor<?x?xi32>) -> tensor<?x?x1xi32>
  return %0, %1, %2, %3 : tensor<?xi32>, tensor<?x?xi32>, tensor<?x2x2xi32>, tensor<?x?x1xi32>
}

// RUN: array-run %s --entry=created --sizes=3 --input='[0, 0, 0]' --expect='[0, 1, 2]' --expect='3' --expect='[[0, 1, 2, 3, 4, 5, 6]]'
// RUN: array-run %s --entry=created --sizes=0 --input='[]' --expect='[]' --expect='0' --expect='[[0]]'
func.func @created(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<i32>, tensor<1x?xi32>) {
  %n = array.symbol 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %twice = arith.muli %n, %c2 : index
  %more = arith.addi %twice, %c1 : index
  %0 = array.iota dimension = 0 output_dims(%n) : tensor<?xf32>
  %1 = array.dim_as_value sizes(%n) : tensor<i32>
  %2 = array.iota dimension = 1 output_dims(%more) : tensor<1x?xi32>
  return %0, %1, %2 : tensor<?xf32>, tensor<i32>, tensor<1x?xi32>
}
