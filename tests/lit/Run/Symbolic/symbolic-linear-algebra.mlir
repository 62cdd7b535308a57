// UNSUPPORTED: gpu
// Code for a GPU is of fixed sizes.
// Decompositions of matrices of sizes that a call decides, over the system's LAPACK.

// DEFINE: %{exact} = --rtol=1e-5 --atol=1e-5

// RUN: array-run %s --entry=cholesky --sizes=2 --input='[[4, 2], [2, 5]]' --expect='[[2, 0], [1, 2]]' %{exact}
// RUN: array-run %s --entry=cholesky --sizes=1 --input='[[9]]' --expect='[[3]]' %{exact}
func.func @cholesky(%a: tensor<?x?xf32> {array.dims = affine_map<()[n] -> (n, n)>}) -> tensor<?x?xf32> {
  %0 = array.cholesky %a : (tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// The number of singular values is the minimum of both sizes, which bounds determine; a batch of any size.
// RUN: array-run %s --entry=singular --sizes=2,2 --input='[[[3, 0], [0, 4]], [[0, 0], [5, 0]]]' --expect='[[4, 3], [5, 0]]' %{exact}
// RUN: array-run %s --entry=singular --sizes=1,1 --input='[[[0], [2]]]' --expect='[[2]]' %{exact}
func.func @singular(%a: tensor<?x2x?xf32> {array.dims = affine_map<()[b, n] -> (b, 2, n)>}) -> tensor<?x?xf32>
    attributes {array.symbols = [{}, {min = 1 : i64, max = 2 : i64}]} {
  %0 = array.svd %a {full_matrices = false, compute_vectors = false, by_qr = false} : (tensor<?x2x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// RUN: array-run %s --entry=solved --sizes=2,1 --input='[[2, 0], [1, 4]]' --input='[[2], [9]]' --expect='[[1], [2]]' %{exact}
// RUN: array-run %s --entry=solved --sizes=1,3 --input='[[2]]' --input='[[2, 4, 6]]' --expect='[[1, 2, 3]]' %{exact}
func.func @solved(%a: tensor<?x?xf32> {array.dims = affine_map<()[m, n] -> (m, m)>},
                  %b: tensor<?x?xf32> {array.dims = affine_map<()[m, n] -> (m, n)>}) -> tensor<?x?xf32> {
  %f, %p, %q = array.lu %a : (tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?xi32>, tensor<?xi32>)
  %x = array.linear_solve %a, %f, %q, %b {transpose_a = 0 : i64}
      : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xi32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %x : tensor<?x?xf32>
}

// RUN: array-run %s --entry=swaps --sizes=2,4 --input='[2, 3]' --expect='[2, 3, 0, 1]'
// RUN: array-run %s --entry=swaps --sizes=1,1 --input='[0]' --expect='[0]'
func.func @swaps(%p: tensor<?xi32> {array.dims = affine_map<()[k, n] -> (k)>}) -> tensor<?xi32> {
  %n = array.symbol 1 : index
  %0 = array.lu_pivots_to_permutation %p sizes(%n) {permutation_size = -9223372036854775808 : i64} : (tensor<?xi32>) -> tensor<?xi32>
  return %0 : tensor<?xi32>
}

// RUN: array-run %s --entry=reduced --sizes=3 --input='[[1, 0, 0], [0, 2, 0], [0, 0, 3]]' --expect='[0, 0]' --expect='[1, 2, 3]' %{exact}
// RUN: array-run %s --entry=reduced --sizes=1 --input='[[2]]' --expect='[]' --expect='[2]' %{exact}
func.func @reduced(%a: tensor<?x?xf32> {array.dims = affine_map<()[n] -> (n, n)>}) -> (tensor<?xf32>, tensor<?xf32>)
    attributes {array.symbols = [{min = 1 : i64}]} {
  %0:2 = array.hessenberg %a : (tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>)
  %1 = array.eigh %a {lower = true, compute_vectors = false} : (tensor<?x?xf32>) -> tensor<?xf32>
  return %0#1, %1 : tensor<?xf32>, tensor<?xf32>
}
