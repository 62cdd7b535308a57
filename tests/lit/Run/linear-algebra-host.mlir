// UNSUPPORTED: gpu

// Decompositions that have no kernels for GPUs; on the host, over the system's LAPACK.

// A turn by a right angle: A V = V diag(w).
// RUN: array-run %s --entry=general --rtol=1e-10 --atol=1e-12 --input='[[0, -1], [1, 0]]' --expect='[1j, -1j]' \
// RUN:   --expect='fill:0'
func.func @general(%a: tensor<2x2xf64>) -> (tensor<2xcomplex<f64>>, tensor<2x2xcomplex<f64>>) {
  %w, %v = array.eig %a {compute_left = false, compute_right = true} : (tensor<2x2xf64>) -> (tensor<2xcomplex<f64>>, tensor<2x2xcomplex<f64>>)
  %z = array.convert %a : (tensor<2x2xf64>) -> tensor<2x2xcomplex<f64>>
  %l = array.dot_general %z, %v contracting = [1] x [0] : (tensor<2x2xcomplex<f64>>, tensor<2x2xcomplex<f64>>) -> tensor<2x2xcomplex<f64>>
  %b = array.broadcast_in_dim %w broadcast_dimensions = [1] : (tensor<2xcomplex<f64>>) -> tensor<2x2xcomplex<f64>>
  %r = array.mul %v, %b : tensor<2x2xcomplex<f64>>
  %d = array.sub %l, %r : tensor<2x2xcomplex<f64>>
  return %w, %d : tensor<2xcomplex<f64>>, tensor<2x2xcomplex<f64>>
}

// Z T Z^T is the matrix, and Z orthogonal.
// RUN: array-run %s --entry=schur --rtol=1e-10 --atol=1e-12 --input='[[1, 2], [3, 4]]' --expect='[[1, 2], [3, 4]]' \
// RUN:   --expect='[[1, 0], [0, 1]]'
func.func @schur(%a: tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<2x2xf64>) {
  %t, %z = array.schur %a {compute_vectors = true} : (tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<2x2xf64>)
  %zt = array.dot_general %z, %t contracting = [1] x [0] : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
  %p = array.dot_general %zt, %z contracting = [1] x [1] : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
  %i = array.dot_general %z, %z contracting = [1] x [1] : (tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
  return %p, %i : tensor<2x2xf64>, tensor<2x2xf64>
}

// With X = [[1, 2.4], [3, 4]]: A X + X B = [[4 + 3, 6.4 + 9.6], [6 + 9, 8 + 16]].
// RUN: array-run %s --entry=sylvester --rtol=1e-10 --atol=1e-12 --input='[[1, 1], [0, 2]]' \
// RUN:   --input='[[3, 0], [0, 4]]' --input='[[7, 16], [15, 24]]' --expect='[[1, 2.4], [3, 4]]'
func.func @sylvester(%a: tensor<2x2xf64>, %b: tensor<2x2xf64>, %c: tensor<2x2xf64>) -> tensor<2x2xf64> {
  %0 = array.sylvester %a, %b, %c : (tensor<2x2xf64>, tensor<2x2xf64>, tensor<2x2xf64>) -> tensor<2x2xf64>
  return %0 : tensor<2x2xf64>
}
