// RUN: array-opt %s --split-input-file --verify-diagnostics

func.func @batch(%a: tensor<2x4x4xf32>) {
  // expected-error @+1 {{result #0 is 'tensor<3x4x4xf32>', whose leading dimensions differ from the others' (C1)}}
  %0 = array.cholesky %a : (tensor<2x4x4xf32>) -> tensor<3x4x4xf32>
  return
}

// -----

func.func @rank(%a: tensor<4xf32>) {
  // expected-error @+1 {{operand #0 is 'tensor<4xf32>', whose leading dimensions differ from the others' (C1)}}
  %0 = array.cholesky %a : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @square(%a: tensor<4x3xf32>) {
  // expected-error @+1 {{operand #0 is 'tensor<4x3xf32>', where a size of 4 is expected instead of 3 (C2)}}
  %0 = array.cholesky %a : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @lesser(%a: tensor<4x3xf32>) {
  // expected-error @+1 {{result #1 is 'tensor<4xi32>', where a size of 3 is expected instead of 4 (C2)}}
  %0:3 = array.lu %a : (tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<4xi32>, tensor<4xi32>)
  return
}

// -----

func.func @results(%a: tensor<3x3xf32>) {
  // expected-error @+1 {{has 2 results, expected 1 (C2)}}
  %0:2 = array.eigh %a {lower = true, compute_vectors = false} : (tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @kind(%a: tensor<3x3xcomplex<f32>>) {
  // expected-error @+1 {{result #1 has elements 'complex<f32>', expected 'f32' (C3)}}
  %0:2 = array.eigh %a {lower = true, compute_vectors = true}
           : (tensor<3x3xcomplex<f32>>) -> (tensor<3x3xcomplex<f32>>, tensor<3xcomplex<f32>>)
  return
}

// -----

func.func @reflectors(%a: tensor<3x3xf32>, %t: tensor<4xf32>) {
  // expected-error @+1 {{has k = 4 and n = 3, expected k <= n (C2)}}
  %0 = array.householder_product %a, %t : (tensor<3x3xf32>, tensor<4xf32>) -> tensor<3x3xf32>
  return
}

// -----

func.func @rows(%a: tensor<2x3xf32>, %t: tensor<2xf32>) {
  // expected-error @+1 {{has n = 3 and m = 2, expected n <= m (C2)}}
  %0 = array.householder_product %a, %t : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @turned(%a: tensor<3x2xf32>, %t: tensor<3xf32>, %c: tensor<3x3xf32>) {
  // expected-error @+1 {{has k = 3 and q = 2, expected k <= q (C2)}}
  %0 = array.ormqr %a, %t, %c {left = true, transpose = false} : (tensor<3x2xf32>, tensor<3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  return
}
