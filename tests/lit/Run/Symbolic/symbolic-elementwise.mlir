// UNSUPPORTED: gpu
// Code for a GPU is of fixed sizes.
// Elementwise ops on arrays of sizes that a call decides: numbers, bools, complex numbers, random bits.

// RUN: array-run %s --entry=numbers --sizes=3 --input='[1, 4, 9]' --input='[1, 2, 3]' --expect='[2, 4, 6]' --expect='[0, 0, 0]' --expect='[1, 4, 9]'
// RUN: array-run %s --entry=numbers --sizes=1 --input='[4]' --input='[3]' --expect='[5]' --expect='[1]' --expect='[4]'
// RUN: array-run %s --entry=numbers --sizes=0 --input='[]' --input='[]' --expect='[]' --expect='[]' --expect='[]'
func.func @numbers(%x: tensor<?xf32> {array.dims = affine_map<()[n] -> (n)>}, %y: tensor<?xf32> {array.dims = affine_map<()[n] -> (n)>})
    -> (tensor<?xf32>, tensor<?xi1>, tensor<?xf32>) {
  %0 = array.sqrt %x : tensor<?xf32>
  %1 = array.add %0, %y : tensor<?xf32>
  %2 = array.lt %0, %y : tensor<?xf32>
  %3 = array.select %2, %x, %y : tensor<?xf32>
  %4 = array.ne %0, %y : tensor<?xf32>
  %5 = array.max %3, %x : tensor<?xf32>
  %6 = array.select %4, %3, %5 : tensor<?xf32>
  return %1, %2, %6 : tensor<?xf32>, tensor<?xi1>, tensor<?xf32>
}

// RUN: array-run %s --entry=complex --sizes=2 --input='[3+4j, 1j]' --expect='[5, 1]' --expect='[3-4j, 0-1j]' --expect='-4+3j' --expect='3+5j' --atol=1e-6
// RUN: array-run %s --entry=complex --sizes=1 --input='[3+4j]' --expect='[5]' --expect='[3-4j]' --expect='3+4j' --expect='3+4j' --atol=1e-6
func.func @complex(%z: tensor<?xcomplex<f32>>)
    -> (tensor<?xf32>, tensor<?xcomplex<f32>>, tensor<complex<f32>>, tensor<complex<f32>>) {
  %0 = array.abs %z : (tensor<?xcomplex<f32>>) -> tensor<?xf32>
  %re = array.real %z : (tensor<?xcomplex<f32>>) -> tensor<?xf32>
  %im = array.imag %z : (tensor<?xcomplex<f32>>) -> tensor<?xf32>
  %n = array.neg %im : tensor<?xf32>
  %c = array.complex %re, %n : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xcomplex<f32>>
  %1 = array.reduce_prod %z axes = [0] : (tensor<?xcomplex<f32>>) -> tensor<complex<f32>>
  %2 = array.reduce_sum %z axes = [0] : (tensor<?xcomplex<f32>>) -> tensor<complex<f32>>
  return %0, %c, %1, %2 : tensor<?xf32>, tensor<?xcomplex<f32>>, tensor<complex<f32>>, tensor<complex<f32>>
}

// Along one of two dimensions, and the extremum by parts.
// RUN: array-run %s --entry=rows --sizes=2,2 --input='[[1+1j, 2], [3, 1j]]' --expect='[2+2j, 0+3j]' --expect='[2+0j, 3+0j]' --atol=1e-6
// RUN: array-run %s --entry=rows --sizes=1,1 --input='[[1+1j]]' --expect='[1+1j]' --expect='[1+1j]' --atol=1e-6
func.func @rows(%z: tensor<?x?xcomplex<f32>>) -> (tensor<?xcomplex<f32>>, tensor<?xcomplex<f32>>) {
  %0 = array.reduce_prod %z axes = [1] : (tensor<?x?xcomplex<f32>>) -> tensor<?xcomplex<f32>>
  %1 = array.reduce_max %z axes = [1] : (tensor<?x?xcomplex<f32>>) -> tensor<?xcomplex<f32>>
  return %0, %1 : tensor<?xcomplex<f32>>, tensor<?xcomplex<f32>>
}

// RUN: array-run %s --entry=random --sizes=3 --input='[0, 0xffffffff, 0x13198a2e]' --input='[0, 0xffffffff, 0x03707344]' \
// RUN:   --input='[0, 0xffffffff, 0x243f6a88]' --input='[0, 0xffffffff, 0x85a308d3]' \
// RUN:   --expect='[0x6b200159, 0x1cb996fc, 0xc4923a9c]' --expect='[0x99ba4efe, 0xbb002be7, 0x483df7a0]'
// RUN: array-run %s --entry=random --sizes=1 --input='[0]' --input='[0]' --input='[0]' --input='[0]' --expect='[0x6b200159]' --expect='[0x99ba4efe]'
#n = affine_map<()[n] -> (n)>
func.func @random(%k0: tensor<?xui32> {array.dims = #n}, %k1: tensor<?xui32> {array.dims = #n},
                  %x0: tensor<?xui32> {array.dims = #n}, %x1: tensor<?xui32> {array.dims = #n}) -> (tensor<?xui32>, tensor<?xui32>) {
  %y0, %y1 = array.threefry2x32 %k0, %k1, %x0, %x1 : tensor<?xui32>
  return %y0, %y1 : tensor<?xui32>, tensor<?xui32>
}
