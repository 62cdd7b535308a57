// Decompositions and solvers over the system's LAPACK. Factors that are not unique are checked by their product, or the
// operand is chosen so that they are.

// RUN: array-run %s --entry=cholesky --rtol=1e-10 --atol=1e-12 --input='[[4, 2], [2, 5]]' \
// RUN:   --expect='[[2, 0], [1, 2]]'
func.func @cholesky(%a: tensor<2x2xf64>) -> tensor<2x2xf64> {
  %0 = array.cholesky %a : (tensor<2x2xf64>) -> tensor<2x2xf64>
  return %0 : tensor<2x2xf64>
}

// A matrix that is not positive definite has no factor.
// RUN: array-run %s --entry=indefinite --input='[[1, 2], [2, 1]]' --expect='[[nan, 0], [nan, nan]]'
func.func @indefinite(%a: tensor<2x2xf64>) -> tensor<2x2xf64> {
  %0 = array.cholesky %a : (tensor<2x2xf64>) -> tensor<2x2xf64>
  return %0 : tensor<2x2xf64>
}

// [[2, 0], [1, 4]] x = b, and y [[1, 1], [0, 1]] = b.
// RUN: array-run %s --entry=triangles --rtol=1e-10 --atol=1e-12 --input='[[2, 9], [1, 4]]' \
// RUN:   --input='[[2, 4], [9, 6]]' --expect='[[1, 2], [2, 1]]' --expect='[[2, 2], [9, -3]]'
func.func @triangles(%a: tensor<2x2xf64>, %b: tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<2x2xf64>) {
  %x = array.triangular_solve %a, %b {left_side = true, lower = true, transpose_a = false, conjugate_a = false,
         unit_diagonal = false} : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
  %y = array.triangular_solve %a, %b {left_side = false, lower = true, transpose_a = true, conjugate_a = false,
         unit_diagonal = true} : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
  return %x, %y : tensor<2x2xf64>, tensor<2x2xf64>
}

// The rows are swapped: 4 is the greater pivot.
// RUN: array-run %s --entry=factors --rtol=1e-10 --atol=1e-12 --input='[[1, 2], [4, 2]]' --input='[[5], [8]]' \
// RUN:   --expect='[[4, 2], [0.25, 1.5]]' --expect='[1, 1]' --expect='[1, 0]' --expect='[[1], [2]]' \
// RUN:   --expect='[1, 0]'
func.func @factors(%a: tensor<2x2xf64>, %b: tensor<2x1xf64>) -> (tensor<2x2xf64>, tensor<2xi32>, tensor<2xi32>, tensor<2x1xf64>, tensor<2xi32>) {
  %f, %s, %p = array.lu %a : (tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<2xi32>, tensor<2xi32>)
  %x = array.linear_solve %a, %f, %p, %b {transpose_a = 0}
         : (tensor<2x2xf64>, tensor<2x2xf64>, tensor<2xi32>, tensor<2x1xf64>) -> tensor<2x1xf64>
  %q = array.lu_pivots_to_permutation %s {permutation_size = 2} : (tensor<2xi32>) -> tensor<2xi32>
  return %f, %s, %p, %x, %q : tensor<2x2xf64>, tensor<2xi32>, tensor<2xi32>, tensor<2x1xf64>, tensor<2xi32>
}

// RUN: array-run %s --entry=tridiagonal_systems --rtol=1e-10 --atol=1e-12 --input='[nan, 1, 1]' --input='[2, 2, 2]' \
// RUN:   --input='[1, 1, nan]' --input='[[4], [8], [8]]' --expect='[[1], [2], [3]]'
func.func @tridiagonal_systems(%l: tensor<3xf64>, %d: tensor<3xf64>, %u: tensor<3xf64>, %b: tensor<3x1xf64>) -> tensor<3x1xf64> {
  %x = array.tridiagonal_solve %l, %d, %u, %b
         : (tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3x1xf64>) -> tensor<3x1xf64>
  return %x : tensor<3x1xf64>
}

// R^T R + w w^T.
// RUN: array-run %s --entry=updated --rtol=1e-10 --atol=1e-12 --input='[[2, 1], [0, 2]]' --input='[1, 3]' \
// RUN:   --expect='[[5, 5], [5, 14]]'
func.func @updated(%r: tensor<2x2xf64>, %w: tensor<2xf64>) -> tensor<2x2xf64> {
  %u = array.cholesky_update %r, %w : (tensor<2x2xf64>, tensor<2xf64>) -> tensor<2x2xf64>
  %p = array.dot_general %u, %u contracting = [0] x [0] : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
  return %p : tensor<2x2xf64>
}

// Q R is the matrix, Q^T Q the identity; the first column is the longer one, so that pivoting changes nothing.
// RUN: array-run %s --entry=orthogonal --rtol=1e-10 --atol=1e-12 --input='[[3, 1], [4, 2], [0, 2]]' \
// RUN:   --expect='[[3, 1], [4, 2], [0, 2]]' --expect='[[1, 0], [0, 1]]' --expect='[[3, 1], [4, 2], [0, 2]]' \
// RUN:   --expect='[0, 1]' --expect='[[-0.6, 0.156892908111], [-0.8, -0.117669681083], [-0, -0.980580675691]]' \
// RUN:   --expect='[[-5, -2.2], [0, -2.03960780544], [0, 0]]'
func.func @orthogonal(%a: tensor<3x2xf64>) -> (tensor<3x2xf64>, tensor<2x2xf64>, tensor<3x2xf64>, tensor<2xi32>, tensor<3x2xf64>, tensor<3x2xf64>) {
  %q, %r = array.qr %a {pivoting = false, full_matrices = false} : (tensor<3x2xf64>) -> (tensor<3x2xf64>, tensor<2x2xf64>)
  %a0 = array.dot_general %q, %r contracting = [1] x [0] : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
  %i = array.dot_general %q, %q contracting = [0] x [0] : (tensor<3x2xf64>, tensor<3x2xf64>) -> tensor<2x2xf64>
  %s, %t, %p = array.qr %a {pivoting = true, full_matrices = false} : (tensor<3x2xf64>) -> (tensor<3x2xf64>, tensor<2x2xf64>, tensor<2xi32>)
  %a1 = array.dot_general %s, %t contracting = [1] x [0] : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
  %c, %taus = array.geqrf %a : (tensor<3x2xf64>) -> (tensor<3x2xf64>, tensor<2xf64>)
  %h = array.householder_product %c, %taus : (tensor<3x2xf64>, tensor<2xf64>) -> tensor<3x2xf64>
  %o = array.ormqr %c, %taus, %a {left = true, transpose = true} : (tensor<3x2xf64>, tensor<2xf64>, tensor<3x2xf64>) -> tensor<3x2xf64>
  return %a0, %i, %a1, %p, %h, %o : tensor<3x2xf64>, tensor<2x2xf64>, tensor<3x2xf64>, tensor<2xi32>, tensor<3x2xf64>, tensor<3x2xf64>
}

// The second column is longer and goes first.
// RUN: array-run %s --entry=pivoted --rtol=1e-10 --atol=1e-12 --input='[[1, 3], [0, 4]]' --expect='[1, 0]' \
// RUN:   --expect='[[3, 1], [4, 0]]'
func.func @pivoted(%a: tensor<2x2xf64>) -> (tensor<2xi32>, tensor<2x2xf64>) {
  %c, %taus, %p = array.geqp3 %a : (tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<2xf64>, tensor<2xi32>)
  %q = array.householder_product %c, %taus : (tensor<2x2xf64>, tensor<2xf64>) -> tensor<2x2xf64>
  %r = array.reverse %a dimensions = [1] : tensor<2x2xf64>
  %o = array.ormqr %c, %taus, %r {left = true, transpose = true} : (tensor<2x2xf64>, tensor<2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
  %b = array.dot_general %q, %o contracting = [1] x [0] : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
  return %p, %b : tensor<2xi32>, tensor<2x2xf64>
}

// As LAPACK's gehrd: the reflector of (3, 4) is (1, 0.5), its factor 1.6.
// RUN: array-run %s --entry=hessenberg --rtol=1e-10 --atol=1e-12 --input='[[1, 2, 3], [3, 1, 0], [4, 0, 2]]' \
// RUN:   --expect='[[1, -3.6, 0.2], [-5, 1.64, -0.48], [0.5, -0.48, 1.36]]' --expect='[1.6, 0]'
func.func @hessenberg(%a: tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<2xf64>) {
  %c, %taus = array.hessenberg %a : (tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<2xf64>)
  return %c, %taus : tensor<3x3xf64>, tensor<2xf64>
}

// The first off-diagonal element is the length of (3, 4), with LAPACK's sign.
// RUN: array-run %s --entry=tridiagonal --rtol=1e-10 --atol=1e-12 --input='[[2, 3, 4], [3, 1, 0], [4, 0, 5]]' \
// RUN:   --expect='[2, 3.56, 2.44]' --expect='[-5, -1.92]'
func.func @tridiagonal(%a: tensor<3x3xf64>) -> (tensor<3xf64>, tensor<2xf64>) {
  %c, %d, %e, %taus = array.tridiagonal %a {lower = true} : (tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3xf64>, tensor<2xf64>, tensor<2xf64>)
  return %d, %e : tensor<3xf64>, tensor<2xf64>
}

// V diag(w) V^T is the matrix.
// RUN: array-run %s --entry=symmetric --rtol=1e-10 --atol=1e-12 --input='[[2, 1], [1, 2]]' --expect='[1, 3]' \
// RUN:   --expect='[[2, 1], [1, 2]]' --expect='[1, 3]'
func.func @symmetric(%a: tensor<2x2xf64>) -> (tensor<2xf64>, tensor<2x2xf64>, tensor<2xf64>) {
  %v, %w = array.eigh %a {lower = true, compute_vectors = true} : (tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<2xf64>)
  %b = array.broadcast_in_dim %w broadcast_dimensions = [1] : (tensor<2xf64>) -> tensor<2x2xf64>
  %s = array.mul %v, %b : tensor<2x2xf64>
  %p = array.dot_general %s, %v contracting = [1] x [1] : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
  %only = array.eigh %a {lower = true, compute_vectors = false} : (tensor<2x2xf64>) -> tensor<2xf64>
  return %w, %p, %only : tensor<2xf64>, tensor<2x2xf64>, tensor<2xf64>
}

// U diag(s) V^T is the matrix.
// RUN: array-run %s --entry=singular --rtol=1e-10 --atol=1e-12 --input='[[0, 2], [-3, 0], [0, 0]]' \
// RUN:   --expect='[3, 2]' --expect='[[0, 2], [-3, 0], [0, 0]]' --expect='[3, 2]'
func.func @singular(%a: tensor<3x2xf64>) -> (tensor<2xf64>, tensor<3x2xf64>, tensor<2xf64>) {
  %s, %u, %vt = array.svd %a {full_matrices = false, compute_vectors = true, by_qr = false}
                  : (tensor<3x2xf64>) -> (tensor<2xf64>, tensor<3x2xf64>, tensor<2x2xf64>)
  %b = array.broadcast_in_dim %s broadcast_dimensions = [1] : (tensor<2xf64>) -> tensor<3x2xf64>
  %us = array.mul %u, %b : tensor<3x2xf64>
  %p = array.dot_general %us, %vt contracting = [1] x [0] : (tensor<3x2xf64>, tensor<2x2xf64>) -> tensor<3x2xf64>
  %only = array.svd %a {full_matrices = false, compute_vectors = false, by_qr = true} : (tensor<3x2xf64>) -> tensor<2xf64>
  return %s, %p, %only : tensor<2xf64>, tensor<3x2xf64>, tensor<2xf64>
}

// The exponential of t J is a turn by t; in the direction J its derivative is J times it.
// RUN: array-run %s --entry=exponential --rtol=1e-10 --atol=1e-12 --input='[[0, -1], [1, 0]]' \
// RUN:   --input='[[0, -1], [1, 0]]' \
// RUN:   --expect='[[0.540302305868, -0.841470984808], [0.841470984808, 0.540302305868]]' \
// RUN:   --expect='[[-0.841470984808, -0.540302305868], [0.540302305868, -0.841470984808]]'
func.func @exponential(%a: tensor<2x2xf64>, %e: tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<2x2xf64>) {
  %0 = array.expm %a {max_squarings = 16} : (tensor<2x2xf64>) -> tensor<2x2xf64>
  %1 = array.expm_frechet %a, %e {max_squarings = 16} : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
  return %0, %1 : tensor<2x2xf64>, tensor<2x2xf64>
}

// RUN: array-run %s --entry=single --input='[[4, 2], [2, 5]]' --input='[[4, -2j], [2j, 5]]' \
// RUN:   --expect='[[2, 0], [1, 2]]' --expect='[[2, 0], [1j, 2]]'
func.func @single(%a: tensor<2x2xf32>, %z: tensor<2x2xcomplex<f32>>) -> (tensor<2x2xf32>, tensor<2x2xcomplex<f32>>) {
  %0 = array.cholesky %a : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = array.cholesky %z : (tensor<2x2xcomplex<f32>>) -> tensor<2x2xcomplex<f32>>
  return %0, %1 : tensor<2x2xf32>, tensor<2x2xcomplex<f32>>
}
