// Arrays out of nothing.

// RUN: array-run %s --entry=made --expect='[[1.5, -2], [0, 3]]' --expect='[7, 7, 7]' --expect='[true, false]' \
// RUN:   --expect='1-2j' --expect='[0, 1, 2, 3]' --expect='[[0, 1, 2], [0, 1, 2]]'
func.func @made()
    -> (tensor<2x2xf32>, tensor<3xi8>, tensor<2xi1>, tensor<complex<f32>>, tensor<4xi32>, tensor<2x3xf64>) {
  %0 = array.constant dense<[[1.5, -2.0], [0.0, 3.0]]> : tensor<2x2xf32>
  %1 = array.constant dense<7> : tensor<3xi8>
  %2 = array.constant dense<[true, false]> : tensor<2xi1>
  %3 = array.constant dense<(1.0, -2.0)> : tensor<complex<f32>>
  %4 = array.iota dimension = 0 : tensor<4xi32>
  %5 = array.iota dimension = 1 : tensor<2x3xf64>
  return %0, %1, %2, %3, %4, %5
      : tensor<2x2xf32>, tensor<3xi8>, tensor<2xi1>, tensor<complex<f32>>, tensor<4xi32>, tensor<2x3xf64>
}
