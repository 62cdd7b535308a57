// UNSUPPORTED: gpu
// Code for a GPU is of fixed sizes.
// Library routines over arrays of sizes that a call decides.

// RUN: array-run %s --entry=ordered --sizes=4,2 --input='[3, 1, 4, 2]' --expect='[1, 2, 3, 4]' --expect='[4, 3]' --expect='[2, 0]' \
// RUN:   --expect='[3, 4, 8, 10]' --expect='[4, 4, 4, 2]'
// RUN: array-run %s --entry=ordered --sizes=1,1 --input='[3]' --expect='[3]' --expect='[3]' --expect='[0]' --expect='[3]' --expect='[3]'
// RUN: array-run %s --entry=ordered --sizes=0,0 --input='[]' --expect='[]' --expect='[]' --expect='[]' --expect='[]' --expect='[]'
func.func @ordered(%x: tensor<?xf32> {array.dims = affine_map<()[n, k] -> (n)>})
    -> (tensor<?xf32>, tensor<?xf32>, tensor<?xi32>, tensor<?xf32>, tensor<?xf32>) {
  %k = array.symbol 1 : index
  %0 = array.sort %x dimension = 0 num_keys = 1 is_stable = true : (tensor<?xf32>) -> tensor<?xf32>
  %1:2 = array.top_k %x k = ? axis = 0 sizes(%k) : (tensor<?xf32>) -> (tensor<?xf32>, tensor<?xi32>)
  %2 = array.cumsum %x axis = 0 reverse = false : (tensor<?xf32>) -> tensor<?xf32>
  %3 = array.cummax %x axis = 0 reverse = true : (tensor<?xf32>) -> tensor<?xf32>
  return %0, %1#0, %1#1, %2, %3 : tensor<?xf32>, tensor<?xf32>, tensor<?xi32>, tensor<?xf32>, tensor<?xf32>
}

// A spectrum and back, of an even and an odd length.
// RUN: array-run %s --entry=spectrum --sizes=2,4 --input='[[1, 2, 3, 4], [0, 1, 0, 1]]' --expect='[[1, 2, 3, 4], [0, 1, 0, 1]]' --atol=1e-6
// RUN: array-run %s --entry=spectrum --sizes=1,5 --input='[[1, 2, 3, 4, 5]]' --expect='[[1, 2, 3, 4, 5]]' --atol=1e-6
// RUN: array-run %s --entry=spectrum --sizes=1,1 --input='[[3]]' --expect='[[3]]'
func.func @spectrum(%x: tensor<?x?xf32>) -> tensor<?x?xf32> attributes {array.symbols = [{}, {min = 1 : i64}]} {
  %n = array.symbol 1 : index
  %0 = array.fft %x type = "RFFT" fft_lengths = [?] sizes(%n) : (tensor<?x?xf32>) -> tensor<?x?xcomplex<f32>>
  %1 = array.fft %0 type = "IRFFT" fft_lengths = [?] sizes(%n) : (tensor<?x?xcomplex<f32>>) -> tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}

// RUN: array-run %s --entry=special --sizes=3 --input='[1, 2, 5]' --expect='[0, 0, 3.178054]' --rtol=1e-6
// RUN: array-run %s --entry=special --sizes=1 --input='[1]' --expect='[0]' --atol=1e-6
func.func @special(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = array.lgamma %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}
