// Values in another element type, and bits as another one; the small types too.

// Towards zero, saturating; nan becomes 0.
// RUN: array-run %s --entry=to_integers --input='[2.75, -2.75, nan, 1e10, 0]' --expect='[2, -2, 0, 2147483647, 0]' \
// RUN:   --expect='[2, 0, 0, 255, 0]' --expect='[true, true, true, true, false]'
func.func @to_integers(%x: tensor<5xf32>) -> (tensor<5xi32>, tensor<5xui8>, tensor<5xi1>) {
  %0 = array.convert %x : (tensor<5xf32>) -> tensor<5xi32>
  %1 = array.convert %x : (tensor<5xf32>) -> tensor<5xui8>
  %2 = array.convert %x : (tensor<5xf32>) -> tensor<5xi1>
  return %0, %1, %2 : tensor<5xi32>, tensor<5xui8>, tensor<5xi1>
}

// Integers wrap; to a float they are rounded.
// RUN: array-run %s --entry=of_integers --rtol=0 --atol=0 --input='[300, -1, 16777217]' --input='[true, false]' \
// RUN:   --expect='[44, -1, 1]' --expect='[300, -1, 16777216]' --expect='[1, 0]' --expect='[300, -1, 16777216]'
func.func @of_integers(%x: tensor<3xi32>, %p: tensor<2xi1>)
    -> (tensor<3xi8>, tensor<3xf32>, tensor<2xf64>, tensor<3xcomplex<f32>>) {
  %0 = array.convert %x : (tensor<3xi32>) -> tensor<3xi8>
  %1 = array.convert %x : (tensor<3xi32>) -> tensor<3xf32>
  %2 = array.convert %p : (tensor<2xi1>) -> tensor<2xf64>
  %3 = array.convert %x : (tensor<3xi32>) -> tensor<3xcomplex<f32>>
  return %0, %1, %2, %3 : tensor<3xi8>, tensor<3xf32>, tensor<2xf64>, tensor<3xcomplex<f32>>
}

// RUN: array-run %s --entry=narrow --rtol=0 --atol=0 --input='[1.0009765625, 70000, 3.140625]' \
// RUN:   --expect='[1.0009765625, inf, 3.140625]' --expect='[1, 70144, 3.140625]'
func.func @narrow(%x: tensor<3xf32>) -> (tensor<3xf16>, tensor<3xbf16>) {
  %0 = array.convert %x : (tensor<3xf32>) -> tensor<3xf16>
  %1 = array.convert %x : (tensor<3xf32>) -> tensor<3xbf16>
  return %0, %1 : tensor<3xf16>, tensor<3xbf16>
}

// Numbers that all of them hold.
// RUN: array-run %s --entry=small_floats --rtol=0 --atol=0 --input='[1.5, -2, 0, 0.5]' --expect='[1.5, -2, 0, 0.5]' \
// RUN:   --expect='[1.5, -2, 0, 0.5]' --expect='[1.5, -2, 0, 0.5]' --expect='[1.5, -2, 0, 0.5]' \
// RUN:   --expect='[1.5, -2, 0, 0.5]' --expect='[1.5, -2, 0, 0.5]' --expect='[1.5, -2, 0, 0.5]' \
// RUN:   --expect='[1.5, -2, 0, 0.5]' --expect='[1.5, -2, 0, 0.5]' --expect='[1.5, -2, 0, 0.5]'
func.func @small_floats(%x: tensor<4xf32>)
    -> (tensor<4xf8E4M3FN>, tensor<4xf8E5M2>, tensor<4xf8E3M4>, tensor<4xf8E4M3>, tensor<4xf8E4M3B11FNUZ>,
       tensor<4xf8E4M3FNUZ>, tensor<4xf8E5M2FNUZ>, tensor<4xf4E2M1FN>, tensor<4xf6E2M3FN>, tensor<4xf6E3M2FN>) {
  %0 = array.convert %x : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
  %1 = array.convert %x : (tensor<4xf32>) -> tensor<4xf8E5M2>
  %2 = array.convert %x : (tensor<4xf32>) -> tensor<4xf8E3M4>
  %3 = array.convert %x : (tensor<4xf32>) -> tensor<4xf8E4M3>
  %4 = array.convert %x : (tensor<4xf32>) -> tensor<4xf8E4M3B11FNUZ>
  %5 = array.convert %x : (tensor<4xf32>) -> tensor<4xf8E4M3FNUZ>
  %6 = array.convert %x : (tensor<4xf32>) -> tensor<4xf8E5M2FNUZ>
  %7 = array.convert %x : (tensor<4xf32>) -> tensor<4xf4E2M1FN>
  %8 = array.convert %x : (tensor<4xf32>) -> tensor<4xf6E2M3FN>
  %9 = array.convert %x : (tensor<4xf32>) -> tensor<4xf6E3M2FN>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9
      : tensor<4xf8E4M3FN>, tensor<4xf8E5M2>, tensor<4xf8E3M4>, tensor<4xf8E4M3>, tensor<4xf8E4M3B11FNUZ>,
        tensor<4xf8E4M3FNUZ>, tensor<4xf8E5M2FNUZ>, tensor<4xf4E2M1FN>, tensor<4xf6E2M3FN>, tensor<4xf6E3M2FN>
}

// RUN: array-run %s --entry=powers_of_two --rtol=0 --atol=0 --input='[1, 0.25, 64]' --expect='[1, 0.25, 64]'
func.func @powers_of_two(%x: tensor<3xf32>) -> tensor<3xf8E8M0FNU> {
  %0 = array.convert %x : (tensor<3xf32>) -> tensor<3xf8E8M0FNU>
  return %0 : tensor<3xf8E8M0FNU>
}

// The low bits stay.
// RUN: array-run %s --entry=small_integers --input='[1, 7, -1]' --expect='[1, 7, -1]' --expect='[1, 7, 15]' \
// RUN:   --expect='[1, -1, -1]' --expect='[1, 3, 3]' --expect='[-1, -1, -1]' --expect='[1, 1, 1]'
func.func @small_integers(%x: tensor<3xi32>)
    -> (tensor<3xi4>, tensor<3xui4>, tensor<3xi2>, tensor<3xui2>, tensor<3xsi1>, tensor<3xui1>) {
  %0 = array.convert %x : (tensor<3xi32>) -> tensor<3xi4>
  %1 = array.convert %x : (tensor<3xi32>) -> tensor<3xui4>
  %2 = array.convert %x : (tensor<3xi32>) -> tensor<3xi2>
  %3 = array.convert %x : (tensor<3xi32>) -> tensor<3xui2>
  %4 = array.convert %x : (tensor<3xi32>) -> tensor<3xsi1>
  %5 = array.convert %x : (tensor<3xi32>) -> tensor<3xui1>
  return %0, %1, %2, %3, %4, %5
      : tensor<3xi4>, tensor<3xui4>, tensor<3xi2>, tensor<3xui2>, tensor<3xsi1>, tensor<3xui1>
}

// RUN: array-run %s --entry=of_small --rtol=0 --atol=0 --input='[-8, 7]' --input='[0, 15]' --input='[-2, 1]' \
// RUN:   --input='[0, 3]' --input='[-1, 0]' --input='[0, 1]' --input='[448, -0.015625]' --input='[-57344, nan]' \
// RUN:   --input='[6, -0.5]' --input='[2, 0.5]' --expect='[-8, 7]' --expect='[0, 15]' --expect='[-2, 1]' \
// RUN:   --expect='[0, 3]' --expect='[-1, 0]' --expect='[0, 1]' --expect='[448, -0.015625]' \
// RUN:   --expect='[-57344, nan]' --expect='[6, -0.5]' --expect='[2, 0.5]'
func.func @of_small(%x0: tensor<2xi4>, %x1: tensor<2xui4>, %x2: tensor<2xi2>, %x3: tensor<2xui2>, %x4: tensor<2xsi1>, %x5: tensor<2xui1>, %x6: tensor<2xf8E4M3FN>, %x7: tensor<2xf8E5M2>, %x8: tensor<2xf4E2M1FN>, %x9: tensor<2xf8E8M0FNU>)
    -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>,
       tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %0 = array.convert %x0 : (tensor<2xi4>) -> tensor<2xf32>
  %1 = array.convert %x1 : (tensor<2xui4>) -> tensor<2xf32>
  %2 = array.convert %x2 : (tensor<2xi2>) -> tensor<2xf32>
  %3 = array.convert %x3 : (tensor<2xui2>) -> tensor<2xf32>
  %4 = array.convert %x4 : (tensor<2xsi1>) -> tensor<2xf32>
  %5 = array.convert %x5 : (tensor<2xui1>) -> tensor<2xf32>
  %6 = array.convert %x6 : (tensor<2xf8E4M3FN>) -> tensor<2xf32>
  %7 = array.convert %x7 : (tensor<2xf8E5M2>) -> tensor<2xf32>
  %8 = array.convert %x8 : (tensor<2xf4E2M1FN>) -> tensor<2xf32>
  %9 = array.convert %x9 : (tensor<2xf8E8M0FNU>) -> tensor<2xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9
      : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>,
        tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// RUN: array-run %s --entry=bits --input='[1, -2, inf]' --input='[15360, -16384]' \
// RUN:   --expect='[0x3f800000, 0xc0000000, 0x7f800000]' --expect='[1, -2]'
func.func @bits(%x: tensor<3xf32>, %n: tensor<2xi16>) -> (tensor<3xui32>, tensor<2xf16>) {
  %0 = array.bitcast %x : (tensor<3xf32>) -> tensor<3xui32>
  %1 = array.bitcast %n : (tensor<2xi16>) -> tensor<2xf16>
  return %0, %1 : tensor<3xui32>, tensor<2xf16>
}
