// Bits of integers and bools, formats of floats, and products with a logarithm.

// RUN: array-run %s --entry=logic --input='[12, -1, 255, 0]' --input='[10, 15, -256, 7]' --expect='[8, 15, 0, 0]' \
// RUN:   --expect='[14, -1, -1, 7]' --expect='[6, -16, -1, 7]' --expect='[-13, 0, -256, -1]'
func.func @logic(%x: tensor<4xi32>, %y: tensor<4xi32>)
    -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) {
  %0 = array.and %x, %y : tensor<4xi32>
  %1 = array.or %x, %y : tensor<4xi32>
  %2 = array.xor %x, %y : tensor<4xi32>
  %3 = array.not %x : tensor<4xi32>
  return %0, %1, %2, %3 : tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>
}

// RUN: array-run %s --entry=bools --input='[true, true]' --input='[false, true]' --expect='[false, true]' \
// RUN:   --expect='[true, true]' --expect='[true, false]' --expect='[true, true]' --expect='[false, true]' \
// RUN:   --expect='[false, false]'
func.func @bools(%x: tensor<2xi1>, %y: tensor<2xi1>)
    -> (tensor<2xi1>, tensor<2xi1>, tensor<2xi1>, tensor<2xi1>, tensor<2xi1>, tensor<2xi1>) {
  %0 = array.and %x, %y : tensor<2xi1>
  %1 = array.or %x, %y : tensor<2xi1>
  %2 = array.xor %x, %y : tensor<2xi1>
  %3 = array.max %x, %y : tensor<2xi1>
  %4 = array.min %x, %y : tensor<2xi1>
  %5 = array.not %x : tensor<2xi1>
  return %0, %1, %2, %3, %4, %5 : tensor<2xi1>, tensor<2xi1>, tensor<2xi1>, tensor<2xi1>, tensor<2xi1>, tensor<2xi1>
}

// By the width or more, only the sign stays, or nothing.
// RUN: array-run %s --entry=shifts --input='[3, -128, 65, -1]' --input='[2, 3, 1, 8]' --expect='[12, 0, -126, 0]' \
// RUN:   --expect='[0, -16, 32, -1]' --expect='[0, 16, 32, 0]'
func.func @shifts(%x: tensor<4xi8>, %y: tensor<4xi8>) -> (tensor<4xi8>, tensor<4xi8>, tensor<4xi8>) {
  %0 = array.shift_left %x, %y : tensor<4xi8>
  %1 = array.shift_right_arithmetic %x, %y : tensor<4xi8>
  %2 = array.shift_right_logical %x, %y : tensor<4xi8>
  return %0, %1, %2 : tensor<4xi8>, tensor<4xi8>, tensor<4xi8>
}

// RUN: array-run %s --entry=counts --input='[0, 1, 255, 65535]' --expect='[16, 15, 8, 0]' --expect='[0, 1, 8, 16]'
func.func @counts(%x: tensor<4xui16>) -> (tensor<4xui16>, tensor<4xui16>) {
  %0 = array.clz %x : tensor<4xui16>
  %1 = array.population_count %x : tensor<4xui16>
  return %0, %1 : tensor<4xui16>, tensor<4xui16>
}

// RUN: array-run %s --entry=upper_half --input='[-65536, 1000000]' --input='[255, 16]' --expect='[1, 232]' \
// RUN:   --expect='[254, 1]'
func.func @upper_half(%x: tensor<2xi32>, %u: tensor<2xui8>) -> (tensor<2xi32>, tensor<2xui8>) {
  %0 = array.mulhi %x, %x : tensor<2xi32>
  %1 = array.mulhi %u, %u : tensor<2xui8>
  return %0, %1 : tensor<2xi32>, tensor<2xui8>
}

// An ulp above 1, the minimum number below 0.
// RUN: array-run %s --entry=neighbours --rtol=0 --atol=0 --input='[1, 0, 2]' --input='[2, -1, 2]' \
// RUN:   --expect='[1.00000012, -1.40129846e-45, 2]'
func.func @neighbours(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
  %0 = array.nextafter %x, %y : tensor<3xf32>
  return %0 : tensor<3xf32>
}

// As a half has them, but that its subnormals are zero.
// RUN: array-run %s --entry=formats --rtol=0 --atol=0 --input='[1.0001, 65520, -0.1, 1e-6]' \
// RUN:   --expect='[1, inf, -0.0999755859375, 0]'
func.func @formats(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = array.reduce_precision %x exponent_bits = 5 mantissa_bits = 10 : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// RUN: array-run %s --entry=entropies --input='[2, 0, 0]' --input='[3, 0, nan]' --expect='[2.197225, 0, nan]' \
// RUN:   --expect='[2.772589, 0, nan]'
func.func @entropies(%x: tensor<3xf32>, %y: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %0 = array.xlogy %x, %y : tensor<3xf32>
  %1 = array.xlog1py %x, %y : tensor<3xf32>
  return %0, %1 : tensor<3xf32>, tensor<3xf32>
}
