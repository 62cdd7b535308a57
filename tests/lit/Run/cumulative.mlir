// Running results along an axis, from either end.

// RUN: array-run %s --entry=forward --input='[[1, 3, 2], [-1, 0.5, 4]]' --expect='[[1, 4, 6], [-1, -0.5, 3.5]]' \
// RUN:   --expect='[[1, 3, 6], [-1, -0.5, -2]]' --expect='[[1, 3, 3], [-1, 0.5, 4]]' \
// RUN:   --expect='[[1, 1, 1], [-1, -1, -1]]' --expect='[[1, 3.126928, 3.407606], [-1, 0.7014133, 4.03627]]'
func.func @forward(%x: tensor<2x3xf32>)
    -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = array.cumsum %x axis = 1 reverse = false : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = array.cumprod %x axis = 1 reverse = false : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = array.cummax %x axis = 1 reverse = false : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = array.cummin %x axis = 1 reverse = false : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = array.cumlogsumexp %x axis = 1 reverse = false : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0, %1, %2, %3, %4 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// RUN: array-run %s --entry=backward --input='[[1, 3, 2], [-1, 0.5, 4]]' --expect='[[6, 5, 2], [3.5, 4.5, 4]]' \
// RUN:   --expect='[[1, 3, 4], [-1, 0.5, 4]]'
func.func @backward(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = array.cumsum %x axis = 1 reverse = true : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = array.cummax %x axis = 0 reverse = true : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32>
}
