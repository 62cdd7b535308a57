// Arithmetic by element: of floats, of integers that wrap and divide towards zero, of unsigned ones.

// A remainder has the sign of the dividend.
// RUN: array-run %s --entry=floats --input='[7, -7, 2.5, 0]' --input='[2, 2, -0.5, 4]' --expect='[9, -5, 2, 4]' \
// RUN:   --expect='[5, -9, 3, -4]' --expect='[14, -14, -1.25, 0]' --expect='[3.5, -3.5, -5, 0]' \
// RUN:   --expect='[1, -1, 0, 0]' --expect='[7, 2, 2.5, 4]' --expect='[2, -7, -0.5, 0]' \
// RUN:   --expect='[49, 49, 0.6324555, 0]' --expect='[1.292497, -1.292497, 1.768192, 0]'
func.func @floats(%x: tensor<4xf32>, %y: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>,
       tensor<4xf32>, tensor<4xf32>) {
  %0 = array.add %x, %y : tensor<4xf32>
  %1 = array.sub %x, %y : tensor<4xf32>
  %2 = array.mul %x, %y : tensor<4xf32>
  %3 = array.div %x, %y : tensor<4xf32>
  %4 = array.rem %x, %y : tensor<4xf32>
  %5 = array.max %x, %y : tensor<4xf32>
  %6 = array.min %x, %y : tensor<4xf32>
  %7 = array.pow %x, %y : tensor<4xf32>
  %8 = array.atan2 %x, %y : tensor<4xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8
      : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>,
        tensor<4xf32>, tensor<4xf32>
}

// nan wins in max and min; one to any power is one, and anything to the power of zero.
// RUN: array-run %s --entry=nans --input='[nan, 1, -0, inf]' --input='[1, nan, 0, -inf]' \
// RUN:   --expect='[nan, nan, 0, inf]' --expect='[nan, nan, 0, -inf]' --expect='[nan, nan, 0, nan]' \
// RUN:   --expect='[nan, 1, 1, 0]'
func.func @nans(%x: tensor<4xf32>, %y: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = array.max %x, %y : tensor<4xf32>
  %1 = array.min %x, %y : tensor<4xf32>
  %2 = array.add %x, %y : tensor<4xf32>
  %3 = array.pow %x, %y : tensor<4xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Division by zero gives all bits set, the lowest by -1 itself, and the remainder by zero is the dividend.
// RUN: array-run %s --entry=integers --input='[7, -7, 2147483647, -2147483648, 5]' --input='[2, 2, 1, -1, 0]' \
// RUN:   --expect='[9, -5, -2147483648, 2147483647, 5]' --expect='[5, -9, 2147483646, -2147483647, 5]' \
// RUN:   --expect='[14, -14, 2147483647, -2147483648, 0]' --expect='[3, -3, 2147483647, -2147483648, -1]' \
// RUN:   --expect='[1, -1, 0, 0, 5]' --expect='[7, 2, 2147483647, -1, 5]' --expect='[2, -7, 1, -2147483648, 0]'
func.func @integers(%x: tensor<5xi32>, %y: tensor<5xi32>)
    -> (tensor<5xi32>, tensor<5xi32>, tensor<5xi32>, tensor<5xi32>, tensor<5xi32>, tensor<5xi32>, tensor<5xi32>) {
  %0 = array.add %x, %y : tensor<5xi32>
  %1 = array.sub %x, %y : tensor<5xi32>
  %2 = array.mul %x, %y : tensor<5xi32>
  %3 = array.div %x, %y : tensor<5xi32>
  %4 = array.rem %x, %y : tensor<5xi32>
  %5 = array.max %x, %y : tensor<5xi32>
  %6 = array.min %x, %y : tensor<5xi32>
  return %0, %1, %2, %3, %4, %5, %6
      : tensor<5xi32>, tensor<5xi32>, tensor<5xi32>, tensor<5xi32>, tensor<5xi32>, tensor<5xi32>, tensor<5xi32>
}

// RUN: array-run %s --entry=unsigned --input='[250, 3, 200]' --input='[10, 5, 0]' --expect='[4, 8, 200]' \
// RUN:   --expect='[240, 254, 200]' --expect='[196, 15, 0]' --expect='[25, 0, 255]' --expect='[0, 3, 200]' \
// RUN:   --expect='[250, 5, 200]' --expect='[10, 3, 0]'
func.func @unsigned(%x: tensor<3xui8>, %y: tensor<3xui8>)
    -> (tensor<3xui8>, tensor<3xui8>, tensor<3xui8>, tensor<3xui8>, tensor<3xui8>, tensor<3xui8>, tensor<3xui8>) {
  %0 = array.add %x, %y : tensor<3xui8>
  %1 = array.sub %x, %y : tensor<3xui8>
  %2 = array.mul %x, %y : tensor<3xui8>
  %3 = array.div %x, %y : tensor<3xui8>
  %4 = array.rem %x, %y : tensor<3xui8>
  %5 = array.max %x, %y : tensor<3xui8>
  %6 = array.min %x, %y : tensor<3xui8>
  return %0, %1, %2, %3, %4, %5, %6
      : tensor<3xui8>, tensor<3xui8>, tensor<3xui8>, tensor<3xui8>, tensor<3xui8>, tensor<3xui8>, tensor<3xui8>
}

// RUN: array-run %s --entry=powers --input='[3, -2, 0, 10]' --input='[4, 3, 0, 18]' \
// RUN:   --expect='[81, -8, 1, 1000000000000000000]'
func.func @powers(%x: tensor<4xi64>, %y: tensor<4xi64>) -> tensor<4xi64> {
  %0 = array.pow %x, %y : tensor<4xi64>
  return %0 : tensor<4xi64>
}

// Ties are rounded to even.
// RUN: array-run %s --entry=unary --input='[-2.5, -0.5, 0.5, 1.5, 2.5]' --expect='[2.5, 0.5, 0.5, 1.5, 2.5]' \
// RUN:   --expect='[2.5, 0.5, -0.5, -1.5, -2.5]' --expect='[-1, -1, 1, 1, 1]' --expect='[-3, -1, 0, 1, 2]' \
// RUN:   --expect='[-2, -0, 1, 2, 3]' --expect='[-2, -0, 0, 2, 2]' --expect='[-2.5, -0.5, 0.5, 1.5, 2.5]'
func.func @unary(%x: tensor<5xf32>)
    -> (tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>) {
  %0 = array.abs %x : tensor<5xf32>
  %1 = array.neg %x : tensor<5xf32>
  %2 = array.sign %x : tensor<5xf32>
  %3 = array.floor %x : tensor<5xf32>
  %4 = array.ceil %x : tensor<5xf32>
  %5 = array.round %x : tensor<5xf32>
  %6 = array.stop_gradient %x : tensor<5xf32>
  return %0, %1, %2, %3, %4, %5, %6
      : tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>
}

// The lowest integer stays itself.
// RUN: array-run %s --entry=unary_integers --input='[-128, -3, 0, 5]' --expect='[-128, 3, 0, 5]' \
// RUN:   --expect='[-128, 3, 0, -5]' --expect='[-1, -1, 0, 1]'
func.func @unary_integers(%x: tensor<4xi8>) -> (tensor<4xi8>, tensor<4xi8>, tensor<4xi8>) {
  %0 = array.abs %x : tensor<4xi8>
  %1 = array.neg %x : tensor<4xi8>
  %2 = array.sign %x : tensor<4xi8>
  return %0, %1, %2 : tensor<4xi8>, tensor<4xi8>, tensor<4xi8>
}

// 256 squared is beyond a half.
// RUN: array-run %s --entry=narrow --input='[1, 0.5, 3]' --input='[256, 0.25, 2]' --expect='[2, 1, 6]' \
// RUN:   --expect='[inf, 0.0625, 4]'
func.func @narrow(%x: tensor<3xbf16>, %y: tensor<3xf16>) -> (tensor<3xbf16>, tensor<3xf16>) {
  %0 = array.add %x, %x : tensor<3xbf16>
  %1 = array.mul %y, %y : tensor<3xf16>
  return %0, %1 : tensor<3xbf16>, tensor<3xf16>
}
