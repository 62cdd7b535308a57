// UNSUPPORTED: gpu
// Code for a GPU is of fixed sizes.
// Windows and convolutions over arrays of sizes that a call decides.

// Running sums by a window as long as the array, with padding that is: then every second maximum.
// RUN: array-run %s --entry=windows --sizes=4 --input='[3, 1, 4, 2]' --expect='[3, 4, 8, 10]' --expect='[3, 4]' --expect='[3, 0, 4, 0]'
// RUN: array-run %s --entry=windows --sizes=2 --input='[3, 5]' --expect='[3, 8]' --expect='[5]' --expect='[0, 5]'
func.func @windows(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
    attributes {array.symbols = [{min = 2 : i64, multiple_of = 2 : i64}]} {
  %n = array.symbol 0 : index
  %c1 = arith.constant 1 : index
  %before = arith.subi %n, %c1 : index
  %0 = array.reduce_window_sum %x window_dimensions = [?] window_strides = [1] low = [?] high = [0] base_dilation = [1]
         window_dilation = [1] sizes(%n, %before) : (tensor<?xf32>) -> tensor<?xf32>
  %1 = array.reduce_window_max %x window_dimensions = [2] window_strides = [2] low = [0] high = [0] base_dilation = [1]
         window_dilation = [1] : (tensor<?xf32>) -> tensor<?xf32>
  %2 = array.select_and_scatter %1, %x greatest = true window_dimensions = [2] window_strides = [2] low = [0] high = [0]
         base_dilation = [1] window_dilation = [1] : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %0, %1, %2 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}

// Only the number of rows is unknown, so these are loops.
// RUN: array-run %s --entry=rows --sizes=2 --input='[[3, 1, 4, 2], [5, 9, 2, 6]]' --expect='[[3, 4, 2], [5, 9, 6]]' \
// RUN:   --expect='[[3, 0, 4, 2], [5, 9, 0, 6]]'
// RUN: array-run %s --entry=rows --sizes=1 --input='[[7, 7, 8, 1]]' --expect='[[7, 8, 1]]' --expect='[[7, 0, 8, 1]]'
func.func @rows(%x: tensor<?x4xf32> {array.dims = affine_map<()[n] -> (n, 4)>}) -> (tensor<?x3xf32>, tensor<?x4xf32>)
    attributes {array.symbols = [{min = 1 : i64}]} {
  %0 = array.reduce_window_max %x window_dimensions = [1, 2] window_strides = [1, 2] low = [0, 1] high = [0, 1]
         base_dilation = [1, 1] window_dilation = [1, 1] : (tensor<?x4xf32>) -> tensor<?x3xf32>
  %1 = array.select_and_scatter %0, %x greatest = true window_dimensions = [1, 2] window_strides = [1, 2] low = [0, 1]
         high = [0, 1] base_dilation = [1, 1] window_dilation = [1, 1]
         : (tensor<?x3xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %0, %1 : tensor<?x3xf32>, tensor<?x4xf32>
}

// RUN: array-run %s --entry=gathered --sizes=4 --input='[10, 20, 30, 40]' --input='[3, 1, 4, 2]' --expect='[10, 30, 30]'
// RUN: array-run %s --entry=gathered --sizes=2 --input='[10, 20]' --input='[3, 5]' --expect='[20]'
func.func @gathered(%s: tensor<?xf32> {array.dims = affine_map<()[n] -> (n)>}, %x: tensor<?xf32> {array.dims = affine_map<()[n] -> (n)>})
    -> tensor<?xf32> attributes {array.symbols = [{min = 2 : i64}]} {
  %0 = array.select_and_gather %s, %x greatest = true window_dimensions = [2] window_strides = [1] low = [0] high = [0]
         base_dilation = [1] window_dilation = [1] : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// A batch and a length that a call decides; the padding keeps the length.
// RUN: array-run %s --entry=convolved --sizes=2,4 --input='[[[1, 2, 3, 4]], [[0, 1, 0, 1]]]' --input='[[[1, 1, 1]], [[0, 1, 0]]]' \
// RUN:   --expect='[[[3, 6, 9, 7], [1, 2, 3, 4]], [[1, 1, 2, 1], [0, 1, 0, 1]]]'
// RUN: array-run %s --entry=convolved --sizes=1,1 --input='[[[5]]]' --input='[[[1, 1, 1]], [[0, 1, 0]]]' --expect='[[[5], [5]]]'
func.func @convolved(%x: tensor<?x1x?xf32>, %w: tensor<2x1x3xf32>) -> tensor<?x2x?xf32>
    attributes {array.symbols = [{min = 1 : i64}, {min = 1 : i64}]} {
  %0 = array.conv_general_dilated %x, %w window_strides = [1] low = [1] high = [1] lhs_dilation = [1] rhs_dilation = [1]
      lhs_spec = [0, 1, 2] rhs_spec = [0, 1, 2] out_spec = [0, 1, 2] feature_group_count = 1 batch_group_count = 1
      : (tensor<?x1x?xf32>, tensor<2x1x3xf32>) -> tensor<?x2x?xf32>
  return %0 : tensor<?x2x?xf32>
}

// Groups of features, and a window as long as the operand with padding that is: the derivative of a convolution.
// RUN: array-run %s --entry=grouped --sizes=1,2 --input='[[[1, 2], [3, 4]]]' --input='[[[1, 1]], [[1, 2]]]' --expect='[[[1, 3, 2], [6, 11, 4]]]'
// RUN: array-run %s --entry=grouped --sizes=2,1 --input='[[[1], [3]], [[2], [5]]]' --input='[[[2]], [[3]]]' --expect='[[[2], [9]], [[4], [15]]]'
func.func @grouped(%x: tensor<?x2x?xf32> {array.dims = affine_map<()[b, n] -> (b, 2, n)>},
                   %w: tensor<2x1x?xf32> {array.dims = affine_map<()[b, n] -> (2, 1, n)>}) -> tensor<?x2x?xf32>
    attributes {array.symbols = [{min = 1 : i64}, {min = 1 : i64}]} {
  %n = array.symbol 1 : index
  %c1 = arith.constant 1 : index
  %pad = arith.subi %n, %c1 : index
  %0 = array.conv_general_dilated %x, %w window_strides = [1] low = [?] high = [?] lhs_dilation = [1] rhs_dilation = [1]
      lhs_spec = [0, 1, 2] rhs_spec = [0, 1, 2] out_spec = [0, 1, 2] feature_group_count = 2 batch_group_count = 1
      sizes(%pad, %pad) : (tensor<?x2x?xf32>, tensor<2x1x?xf32>) -> tensor<?x2x?xf32>
  return %0 : tensor<?x2x?xf32>
}

// The size of the source alone is unknown: it is that of the operand, or refused.
// RUN: array-run %s --entry=source --sizes=3 --input='[3, 9, 4]' --input='[10, 20, 30]' --expect='[20]'
// RUN: not array-run %s --entry=source --sizes=2 --input='[3, 9, 4]' --input='[10, 20]' 2>&1 | FileCheck %s --check-prefix=SOURCE
// SOURCE: select_and_gather: dimension 0 of operand #0 has the size 2, expected 3
func.func @source(%x: tensor<3xf32>, %t: tensor<?xf32>) -> tensor<1xf32> {
  %r = array.select_and_gather %t, %x greatest = true window_dimensions = [3] window_strides = [1] low = [0] high = [0]
         base_dilation = [1] window_dilation = [1] : (tensor<?xf32>, tensor<3xf32>) -> tensor<1xf32>
  return %r : tensor<1xf32>
}

// A window of a size below 1 is refused by the name of the operation.
// RUN: not array-run %s --entry=negative --sizes=1,1 --input='[1]' 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: reduce_window_sum: {{.*}} of dimension 0 of operand #0
func.func @negative(%x: tensor<?xf32> {array.dims = affine_map<()[s0, s1] -> (s0)>}) -> tensor<f32> {
  %m = array.symbol 1 : index
  %zero = arith.constant 0 : index
  %n = arith.subi %zero, %m : index
  %0 = array.reduce_window_sum %x window_dimensions = [?] window_strides = [1] low = [1] high = [-1] base_dilation = [1]
         window_dilation = [2] sizes(%n) : (tensor<?xf32>) -> tensor<?xf32>
  %1 = array.reduce_sum %0 axes = [0] : (tensor<?xf32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// A symbol whose only use is folded is still given.
// RUN: array-run %s --entry=folded --sizes=3 --input=fill:1 --input=fill:1 --expect=0
func.func @folded(%rows: tensor<3x0xf32>, %x: tensor<0xf32>) -> tensor<f32> {
  %n = array.symbol 0 : index
  %0 = array.scan(%x) (%rows) length = ? reverse = false sizes(%n) : (tensor<0xf32>, tensor<3x0xf32>, index) -> tensor<0xf32> {
  ^bb0(%c: tensor<0xf32>, %e: tensor<0xf32>):
    %s = array.add %c, %e : (tensor<0xf32>, tensor<0xf32>) -> tensor<0xf32>
    array.yield %s : tensor<0xf32>
  }
  %1 = array.reduce_sum %0 axes = [0] : (tensor<0xf32>) -> tensor<f32>
  return %1 : tensor<f32>
}
