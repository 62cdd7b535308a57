// UNSUPPORTED: gpu
// Code for a GPU is of fixed sizes. Symbolic sizes that do not fit each other: an error of the run that names
// the operation, the size and the expected one. Without the checks these access memory outside of their
// buffers.

// RUN: array-run %s --entry=add --sizes=2,2 --input=fill:1 --input=fill:1 --expect='[2, 2]'
// RUN: not array-run %s --entry=add --sizes=2,3 --input=fill:1 --input=fill:1 2>&1 | FileCheck %s --check-prefix=ADD
// RUN: not array-run %s --entry=add --sizes=100000,1 --input=fill:1 --input=fill:1 2>&1 | FileCheck %s --check-prefix=LONG
// ADD: array-run: error: {{.*}}add: dimension 0 of operand #1 has the size 3, expected 2
// LONG: add: dimension 0 of operand #1 has the size 1, expected 100000
func.func @add(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %s = array.add %x, %y : tensor<?xf32>
  return %s : tensor<?xf32>
}

// A static size of one operand.
// RUN: not array-run %s --entry=known --sizes=3 --input=fill:1 --input=fill:1 2>&1 | FileCheck %s --check-prefix=KNOWN
// KNOWN: mul: dimension 0 of operand #0 has the size 3, expected 4
func.func @known(%x: tensor<?xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %s = array.mul %x, %y : (tensor<?xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %s : tensor<4xf32>
}

// The parts of a complex number, whose sums have no operation in common.
// RUN: array-run %s --entry=parts --sizes=2,2 --input=fill:1 --input=fill:1 --expect='2+2j'
// RUN: not array-run %s --entry=parts --sizes=2,3 --input=fill:1 --input=fill:1 2>&1 | FileCheck %s --check-prefix=PARTS
// PARTS: complex: dimension 0 of operand #1 has the size 3, expected 2
func.func @parts(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<complex<f32>> {
  %z = array.complex %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xcomplex<f32>>
  %s = array.reduce_sum %z axes = [0] : (tensor<?xcomplex<f32>>) -> tensor<complex<f32>>
  return %s : tensor<complex<f32>>
}

// Groups of a convolution: of the batch (the symbols are batch, features of the operand, output features and input
// features of the weights), and of the features.
// RUN: array-run %s --entry=batch_groups --sizes=2,3,4,3 --input=fill:1 --input=fill:1 --expect='12'
// RUN: not array-run %s --entry=batch_groups --sizes=3,3,4,3 --input=fill:1 --input=fill:1 2>&1 | FileCheck %s --check-prefix=BATCH
// RUN: not array-run %s --entry=batch_groups --sizes=2,3,5,3 --input=fill:1 --input=fill:1 2>&1 | FileCheck %s --check-prefix=OUTPUTS
// RUN: not array-run %s --entry=batch_groups --sizes=2,3,4,2 --input=fill:1 --input=fill:1 2>&1 | FileCheck %s --check-prefix=INPUTS
// BATCH: conv_general_dilated: dimension 0 of operand #0 has the size 3, which can't be cut into [2, 1]
// OUTPUTS: conv_general_dilated: dimension 0 of operand #1 has the size 5, which can't be cut into [2, 2]
// INPUTS: conv_general_dilated: dimension 1 of operand #0 has the size 3, expected 2
func.func @batch_groups(%x: tensor<?x?x1xf32> {array.dims = affine_map<()[n, i, o, k] -> (n, i, 1)>}, %w: tensor<?x?x1xf32> {array.dims = affine_map<()[n, i, o, k] -> (o, k, 1)>}) -> tensor<f32> {
  %r = array.conv_general_dilated %x, %w window_strides = [1] low = [0] high = [0] lhs_dilation = [1] rhs_dilation = [1] lhs_spec = [0, 1, 2] rhs_spec = [0, 1, 2] out_spec = [0, 1, 2] feature_group_count = 1 batch_group_count = 2 : (tensor<?x?x1xf32>, tensor<?x?x1xf32>) -> tensor<?x?x1xf32>
  %s = array.reduce_sum %r axes = [0, 1, 2] : (tensor<?x?x1xf32>) -> tensor<f32>
  return %s : tensor<f32>
}

// RUN: array-run %s --entry=feature_groups --sizes=1,6,4,3 --input=fill:1 --input=fill:1 --expect='12'
// RUN: not array-run %s --entry=feature_groups --sizes=1,4,4,3 --input=fill:1 --input=fill:1 2>&1 | FileCheck %s --check-prefix=FEATURES
// RUN: not array-run %s --entry=feature_groups --sizes=1,6,5,3 --input=fill:1 --input=fill:1 2>&1 | FileCheck %s --check-prefix=OUTPUTS
// FEATURES: conv_general_dilated: dimension {{[12]}} of operand #{{[01]}} has the size {{[34]}}, expected {{[26]}}
func.func @feature_groups(%x: tensor<?x?x1xf32> {array.dims = affine_map<()[n, i, o, k] -> (n, i, 1)>}, %w: tensor<?x?x1xf32> {array.dims = affine_map<()[n, i, o, k] -> (o, k, 1)>}) -> tensor<f32> {
  %r = array.conv_general_dilated %x, %w window_strides = [1] low = [0] high = [0] lhs_dilation = [1] rhs_dilation = [1] lhs_spec = [0, 1, 2] rhs_spec = [0, 1, 2] out_spec = [0, 1, 2] feature_group_count = 2 batch_group_count = 1 : (tensor<?x?x1xf32>, tensor<?x?x1xf32>) -> tensor<?x?x1xf32>
  %s = array.reduce_sum %r axes = [0, 1, 2] : (tensor<?x?x1xf32>) -> tensor<f32>
  return %s : tensor<f32>
}

// RUN: array-run %s --entry=slice --sizes=2,4 --input='[1, 2, 3, 4]' --expect='[3, 4]'
// RUN: not array-run %s --entry=slice --sizes=2,3 --input=fill:1 2>&1 | FileCheck %s --check-prefix=SLICE
// RUN: not array-run %s --entry=slice --sizes=100000000,3 --input=fill:1 2>&1 | FileCheck %s --check-prefix=BEYOND
// SLICE: slice: takes 2 elements of dimension 0 of operand #0 from 2 on with the stride 1, which do not lie within its size, 3
// BEYOND: slice: takes 100000000 elements of dimension 0
func.func @slice(%x: tensor<?xf32> {array.dims = affine_map<()[n, m] -> (m)>}) -> tensor<?xf32> {
  %n = array.symbol 0 : index
  %two = arith.constant 2 : index
  %end = arith.addi %n, %two : index
  %s = array.slice %x start_indices = [2] limit_indices = [?] strides = [1] sizes(%end) : (tensor<?xf32>) -> tensor<?xf32>
  return %s : tensor<?xf32>
}

// RUN: array-run %s --entry=dynamic_slice --sizes=2,3 --input='[1, 2, 3]' --input=9 --expect='[2, 3]'
// RUN: not array-run %s --entry=dynamic_slice --sizes=100000000,3 --input=fill:1 --input=0 2>&1 \
// RUN:   | FileCheck %s --check-prefix=DYNAMIC
// DYNAMIC: dynamic_slice: takes 100000000 elements of dimension 0
func.func @dynamic_slice(%x: tensor<?xf32> {array.dims = affine_map<()[n, m] -> (m)>}, %i: tensor<i32>) -> tensor<?xf32> {
  %n = array.symbol 0 : index
  %s = array.dynamic_slice %x at(%i) slice_sizes = [?] sizes(%n) : (tensor<?xf32>, tensor<i32>, index) -> tensor<?xf32>
  return %s : tensor<?xf32>
}

// RUN: not array-run %s --entry=update --sizes=4,3 --input=fill:1 --input=fill:2 --input=0 2>&1 \
// RUN:   | FileCheck %s --check-prefix=UPDATE
// UPDATE: dynamic_update_slice: takes 4 elements of dimension 0
func.func @update(%u: tensor<?xf32>, %x: tensor<?xf32>, %i: tensor<i32>) -> tensor<?xf32> {
  %s = array.dynamic_update_slice %x, %u at(%i) : (tensor<?xf32>, tensor<?xf32>, tensor<i32>) -> tensor<?xf32>
  return %s : tensor<?xf32>
}

// A size that is computed, and negative.
// RUN: array-run %s --entry=negative --sizes=12 --input=fill:1 --expect='[1, 2]'
// RUN: not array-run %s --entry=negative --sizes=3 --input=fill:1 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: error: {{.*}}-7
func.func @negative(%x: tensor<?xf32>) -> tensor<?xf32> {
  %n = array.symbol 0 : index
  %ten = arith.constant 10 : index
  %less = arith.subi %n, %ten : index
  %one = array.constant dense<1.0> : tensor<f32>
  %ones = array.broadcast_in_dim %one broadcast_dimensions = [] output_dims(%less) : (tensor<f32>) -> tensor<?xf32>
  %s = array.cumsum %ones axis = 0 reverse = false : (tensor<?xf32>) -> tensor<?xf32>
  return %s : tensor<?xf32>
}

// RUN: not array-run %s --entry=negative_sum --sizes=3 --input=fill:1 2>&1 | FileCheck %s --check-prefix=SUM
// SUM: iota: makes an array of the shape [-7], expected sizes of at least 0
func.func @negative_sum(%x: tensor<?xf32>) -> tensor<f32> {
  %n = array.symbol 0 : index
  %ten = arith.constant 10 : index
  %less = arith.subi %n, %ten : index
  %ones = array.iota dimension = 0 output_dims(%less) : tensor<?xf32>
  %t = array.tanh %ones : tensor<?xf32>
  %s = array.reduce_sum %t axes = [0] : (tensor<?xf32>) -> tensor<f32>
  return %s : tensor<f32>
}

// Sizes whose product wraps.
// RUN: not array-run %s --entry=wraps --sizes=4294967296,4294967296,0 --input=1 --input=fill:1 2>&1 | FileCheck %s --check-prefix=WRAPS
// WRAPS: error: {{.*(more bytes|2\*\*63)}}
func.func @wraps(%a: tensor<f32>, %e: tensor<?xf32> {array.dims = affine_map<()[n, m, k] -> (k)>}) -> tensor<f32> {
  %n = array.symbol 0 : index
  %m = array.symbol 1 : index
  %x = array.broadcast_in_dim %a broadcast_dimensions = [] output_dims(%n, %m) : (tensor<f32>) -> tensor<?x?xf32>
  %c = array.cumsum %x axis = 1 reverse = false : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %s = array.reduce_sum %c axes = [0, 1] : (tensor<?x?xf32>) -> tensor<f32>
  return %s : tensor<f32>
}

// RUN: not array-run %s --entry=product --sizes=2,3 --input=fill:1 --input=fill:1 2>&1 | FileCheck %s --check-prefix=PRODUCT
// PRODUCT: dot_general: dimension 0 of operand #1 has the size 3, expected 2
func.func @product(%x: tensor<4x?xf32>, %y: tensor<?x5xf32>) -> tensor<4x5xf32> {
  %s = array.dot_general %x, %y contracting = [1] x [0] : (tensor<4x?xf32>, tensor<?x5xf32>) -> tensor<4x5xf32>
  return %s : tensor<4x5xf32>
}

// RUN: not array-run %s --entry=gather --sizes=3 --input=fill:1 --input='[0, 1]' 2>&1 | FileCheck %s --check-prefix=GATHER
// GATHER: gather: takes 4 elements of dimension 1 of operand #0, expected 0 to 3, its size
func.func @gather(%x: tensor<5x?xf32>, %i: tensor<2xi32>) -> tensor<2x4xf32> {
  %s = array.gather %x at(%i) {collapsed_slice_dims = array<i64: 0>, mode = "clip", offset_dims = array<i64: 1>,
         slice_sizes = array<i64: 1, 4>, start_index_map = array<i64: 0>} : (tensor<5x?xf32>, tensor<2xi32>) -> tensor<2x4xf32>
  return %s : tensor<2x4xf32>
}

// RUN: not array-run %s --entry=scatter --sizes=3,4 --input=fill:1 --input=fill:1 --input='[0, 1]' 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SCATTER
// SCATTER: scatter: takes 4 elements of dimension 1 of operand #0, expected 0 to 3, its size
func.func @scatter(%x: tensor<5x?xf32>, %u: tensor<2x?xf32>, %i: tensor<2xi32>) -> tensor<5x?xf32> {
  %s = array.scatter %x, %u at(%i) {inserted_window_dims = array<i64: 0>, kind = "add", mode = "clip",
         scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>}
         : (tensor<5x?xf32>, tensor<2x?xf32>, tensor<2xi32>) -> tensor<5x?xf32>
  return %s : tensor<5x?xf32>
}

// RUN: not array-run %s --entry=scan --sizes=3,4 --input=0 --input=fill:1 2>&1 | FileCheck %s --check-prefix=SCAN
// SCAN: scan: dimension 0 of operand #1 has the size 3, expected 4
func.func @scan(%zero: tensor<f32>, %x: tensor<?xf32>) -> tensor<f32> {
  %n = array.symbol 1 : index
  %sum = array.scan(%zero) (%x) length = ? reverse = false sizes(%n) : (tensor<f32>, tensor<?xf32>, index) -> tensor<f32> {
  ^bb0(%c: tensor<f32>, %e: tensor<f32>):
    %d = array.add %c, %e : tensor<f32>
    array.yield %d : tensor<f32>
  }
  return %sum : tensor<f32>
}

// RUN: not array-run %s --entry=reshape --sizes=7 --input=fill:1 2>&1 | FileCheck %s --check-prefix=RESHAPE
// RESHAPE: reshape: {{.*}} has the size 7, which can't be cut into [3, 2]
func.func @reshape(%x: tensor<?xf32>) -> tensor<?x2xf32> {
  %y = array.reshape %x : (tensor<?xf32>) -> tensor<?x2xf32>
  return %y : tensor<?x2xf32>
}

// RUN: not array-run %s --entry=solve --sizes=3,2 --input=fill:1 --input=fill:1 2>&1 | FileCheck %s --check-prefix=SOLVE
// SOLVE: triangular_solve: dimension 0 of operand #1 has the size 2, expected 3
func.func @solve(%a: tensor<?x?xf32> {array.dims = affine_map<()[n, m] -> (n, n)>},
                 %b: tensor<?x4xf32> {array.dims = affine_map<()[n, m] -> (m, 4)>}) -> tensor<?x4xf32> {
  %y = array.triangular_solve %a, %b {left_side = true, lower = true, transpose_a = false, conjugate_a = false,
         unit_diagonal = false} : (tensor<?x?xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// Code relies on the bounds of symbols.
// RUN: not array-run %s --entry=facts --sizes=3 --input=fill:1 2>&1 | FileCheck %s --check-prefix=FACTS
// FACTS: --sizes: the size of symbol 0 is 3, but the module is for multiples of 2 from 2 to 8
func.func @facts(%x: tensor<?xf32>) -> tensor<?xf32> attributes {array.symbols = [{max = 8, min = 2, multiple_of = 2}]} {
  return %x : tensor<?xf32>
}

// A dimension of a known size that the sizes contradict.
// RUN: not array-run %s --entry=dims --sizes=2,5 --input=fill:1 2>&1 | FileCheck %s --check-prefix=DIMS
// DIMS: --sizes give dimension 1 of tensor<?x4xf32> the size 5
func.func @dims(%x: tensor<?x4xf32> {array.dims = affine_map<()[n, m] -> (n, m)>}) -> tensor<?x4xf32> {
  return %x : tensor<?x4xf32>
}
