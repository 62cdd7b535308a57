// UNSUPPORTED: gpu
// Code for a GPU is of fixed sizes.
// Sizes that don't fit, of operands that are computed in the memory of a result, and of routines.

// RUN: array-run %s --entry=branches --sizes=2,2 --input=1 --input=fill:1 --input=fill:1 --expect='[-1, -1]'
// RUN: not array-run %s --entry=branches --sizes=1,100000000 --input=1 --input=fill:1 --input=fill:1 2>&1 \
// RUN:   | FileCheck %s --check-prefix=BRANCHES
// RUN: array-run %s --entry=branches --sizes=2,3 --input=0 --input=fill:1 --input=fill:1 --expect='[-1, -1]'
// BRANCHES: cond: dimension 0 of operand #0 has the size 100000000, expected 1
func.func @branches(%i: tensor<i32>, %x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %r = array.cond %i : (tensor<i32>) -> tensor<?xf32> {
    %a = array.neg %x : tensor<?xf32>
    array.yield %a : tensor<?xf32>
  }, {
    %b = array.neg %y : tensor<?xf32>
    array.yield %b : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// RUN: not array-run %s --entry=carried --sizes=2,1000000 --input=fill:1 --input=fill:1 2>&1 | FileCheck %s --check-prefix=CARRIED
// CARRIED: while: dimension 0 of operand #0 has the size 1000002, expected 2
func.func @carried(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %r = array.while(%x) : (tensor<?xf32>) -> tensor<?xf32> cond {
  ^bb0(%c: tensor<?xf32>):
    %five = array.constant dense<5.0> : tensor<f32>
    %s = array.reduce_sum %c axes = [0] : (tensor<?xf32>) -> tensor<f32>
    %p = array.lt %s, %five : (tensor<f32>, tensor<f32>) -> tensor<i1>
    array.yield %p : tensor<i1>
  } body {
  ^bb0(%c: tensor<?xf32>):
    %d = array.concatenate %c, %y dimension = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    array.yield %d : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// RUN: array-run %s --entry=joined --sizes=1,2,1,2 --input=fill:1 --input=fill:1 --expect='[[1, 1], [-1, -1]]'
// RUN: not array-run %s --entry=joined --sizes=2,3,2,100000 --input=fill:1 --input=fill:1 2>&1 | FileCheck %s --check-prefix=WIDE
// RUN: not array-run %s --entry=joined --sizes=2,3,2,1 --input=fill:1 --input=fill:1 2>&1 | FileCheck %s --check-prefix=NARROW
// WIDE: concatenate: dimension 1 of operand #1 has the size 100000, expected 3
// NARROW: concatenate: dimension 1 of operand #1 has the size 1, expected 3
func.func @joined(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %n = array.neg %y : tensor<?x?xf32>
  %r = array.concatenate %x, %n dimension = 0 : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// RUN: array-run %s --entry=flat --sizes=2,3,6 --input=fill:1 --input=fill:1 --print=type
// RUN: not array-run %s --entry=flat --sizes=2,3,7 --input=fill:1 --input=fill:1 2>&1 | FileCheck %s --check-prefix=FLAT
// FLAT: reshape: operand #0 has the shape [2, 3], which can't be reshaped to [7]
func.func @flat(%x: tensor<?x?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %n = array.symbol 2 : index
  %r = array.reshape %x output_dims(%n) : (tensor<?x?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// RUN: not array-run %s --entry=sorted --sizes=3,2 --input=fill:1 --input=fill:1 2>&1 | FileCheck %s --check-prefix=SORTED
// SORTED: sort: dimension 0 of operand #1 has the size 2, expected 3
func.func @sorted(%x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %r:2 = array.sort %x, %y dimension = 0 num_keys = 1 is_stable = true : (tensor<?xf32>, tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>)
  return %r#0, %r#1 : tensor<?xf32>, tensor<?xf32>
}

// RUN: not array-run %s --entry=spectrum --sizes=4,5 --input=fill:1 --input=fill:1 2>&1 | FileCheck %s --check-prefix=SPECTRUM
// SPECTRUM: fft: dimension 0 of operand #0 has the size 4, expected 5
func.func @spectrum(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xcomplex<f32>> {
  %n = array.symbol 1 : index
  %r = array.fft %x type = "RFFT" fft_lengths = [?] sizes(%n) : (tensor<?xf32>) -> tensor<?xcomplex<f32>>
  return %r : tensor<?xcomplex<f32>>
}

// RUN: array-run %s --entry=selected --sizes=4,2 --input=fill:1 --input=fill:1 --print=type
// RUN: not array-run %s --entry=selected --sizes=4,3 --input=fill:1 --input=fill:1 2>&1 | FileCheck %s --check-prefix=SELECTED
// SELECTED: select_and_scatter: dimension 0 of operand #0 has the size 3, expected 2
func.func @selected(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %r = array.select_and_scatter %y, %x greatest = true window_dimensions = [2] window_strides = [2] low = [0] high = [0]
         base_dilation = [1] window_dilation = [1] : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// The cropping leaves nothing, or exceeds the array.
// RUN: array-run %s --entry=cut --sizes=4,5 --input=fill:1 --input=fill:1 --expect=0
// RUN: not array-run %s --entry=cut --sizes=4,6 --input=fill:1 --input=fill:1 2>&1 | FileCheck %s --check-prefix=CUT
// CUT: pad: makes an array of the shape [-1], expected sizes of at least 0
func.func @cut(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<f32> {
  %zero = array.constant dense<0.0> : tensor<f32>
  %n = array.symbol 1 : index
  %c0 = arith.constant 0 : index
  %less = arith.subi %c0, %n : index
  %p = array.pad %x, %zero low = [1] high = [?] interior = [0] sizes(%less) : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  %t = array.tanh %p : tensor<?xf32>
  %r = array.reduce_sum %t axes = [0] : (tensor<?xf32>) -> tensor<f32>
  return %r : tensor<f32>
}

// The number of reflectors is that of the matrix's columns, which are no more than its rows.
// RUN: array-run %s --entry=product --sizes=3,2,2 --input=fill:0 --input=fill:0 --print=type
// RUN: not array-run %s --entry=product --sizes=3,2,100000 --input=fill:0 --input=fill:0 2>&1 | FileCheck %s --check-prefix=REFLECTORS
// RUN: not array-run %s --entry=product --sizes=2,3,1 --input=fill:0 --input=fill:0 2>&1 | FileCheck %s --check-prefix=ROWS
// REFLECTORS: householder_product: takes 100000 elements of dimension 0 of operand #1, expected 0 to 2, its size
// ROWS: householder_product: takes 3 elements of dimension 1 of operand #0, expected 0 to 2, its size
func.func @product(%a: tensor<?x?xf32>, %t: tensor<?xf32>) -> tensor<?x?xf32> {
  %q = array.householder_product %a, %t : (tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
  return %q : tensor<?x?xf32>
}

// RUN: not array-run %s --entry=turned --sizes=3,2,3,3,2 --input=fill:0 --input=fill:0 --input=fill:0 2>&1 | FileCheck %s --check-prefix=TURNED
// TURNED: ormqr: takes 3 elements of dimension 0 of operand #1, expected 0 to 2, its size
func.func @turned(%a: tensor<?x?xf32>, %t: tensor<?xf32>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %q = array.ormqr %a, %t, %c {left = true, transpose = false}
      : (tensor<?x?xf32>, tensor<?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %q : tensor<?x?xf32>
}

// The negative padding exceeds the array.
// RUN: not array-run %s --entry=windows --sizes=4,0,5 --input=fill:1 --input=fill:1 2>&1 | FileCheck %s --check-prefix=WINDOWS
// WINDOWS: select_and_scatter: makes an array of the shape [-1], expected sizes of at least 0
func.func @windows(%x: tensor<?xf32> {array.dims = affine_map<()[n, m, k] -> (n)>},
                   %y: tensor<?xf32> {array.dims = affine_map<()[n, m, k] -> (m)>}) -> tensor<?xf32> {
  %k = array.symbol 2 : index
  %c0 = arith.constant 0 : index
  %less = arith.subi %c0, %k : index
  %r = array.select_and_scatter %y, %x greatest = true window_dimensions = [2] window_strides = [2] low = [0] high = [?]
         base_dilation = [1] window_dilation = [1] sizes(%less) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// The module gives another size of a result than the run.
// RUN: array-run %s --entry=turnedround --sizes=3 --input='[1, 2, 3]' --expect='[3, 2, 1]'
// RUN: not array-run %s --entry=turnedround --sizes=2 --input='[1, 2]' 2>&1 | FileCheck %s --check-prefix=RESULT
// RESULT: reverse: dimension 0 of operand #0 has the size 2, expected 3
func.func @turnedround(%x: tensor<?xf32>) -> tensor<3xf32> {
  %y = array.reverse %x dimensions = [0] : (tensor<?xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}

// RUN: not array-run %s --entry=factored --sizes=2,2 --input=fill:1 2>&1 | FileCheck %s --check-prefix=FACTORED
// FACTORED: cholesky: dimension 0 of the result has the size 2, expected 3
func.func @factored(%x: tensor<?x?xf32>) -> tensor<3x3xf32> {
  %y = array.cholesky %x : (tensor<?x?xf32>) -> tensor<3x3xf32>
  return %y : tensor<3x3xf32>
}

// A permutation that is none: nan, and nothing is read or written elsewhere.
// RUN: array-run %s --entry=permuted --input='[1, 0]' --expect='[[3], [2]]'
// RUN: array-run %s --entry=permuted --input='[0, 1000000000]' --expect='[[nan], [nan]]'
// RUN: array-run %s --entry=permuted --input='[-7, 0]' --expect='[[nan], [nan]]'
// RUN: array-run %s --entry=permuted --input='[1, 1]' --expect='[[nan], [nan]]'
func.func @permuted(%p: tensor<2xi32>) -> tensor<2x1xf32> {
  %a = array.constant dense<[[1.0, 0.0], [0.0, 1.0]]> : tensor<2x2xf32>
  %b = array.constant dense<[[2.0], [3.0]]> : tensor<2x1xf32>
  %x = array.linear_solve %a, %a, %p, %b {transpose_a = 0 : i64}
      : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2xi32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  return %x : tensor<2x1xf32>
}
