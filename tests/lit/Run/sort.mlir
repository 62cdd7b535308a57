// Sorting by one key and by two, moving other operands along, and the maximum elements with their positions.

// nan comes last, and equal keys keep their order.
// RUN: array-run %s --entry=sorted --input='[2, nan, -1, 2]' --input='[0, 1, 2, 3]' --expect='[-1, 2, 2, nan]' \
// RUN:   --expect='[2, 0, 3, 1]'
func.func @sorted(%k: tensor<4xf32>, %v: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>) {
  %s:2 = array.sort %k, %v dimension = 0 num_keys = 1 is_stable = true
           : (tensor<4xf32>, tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>)
  return %s#0, %s#1 : tensor<4xf32>, tensor<4xi32>
}

// RUN: array-run %s --entry=two_keys --input='[[1, -1, 1], [0, 0, 0]]' --input='[[200, 5, 100], [3, 2, 255]]' \
// RUN:   --expect='[[-1, 1, 1], [0, 0, 0]]' --expect='[[5, 100, 200], [2, 3, 255]]'
func.func @two_keys(%k: tensor<2x3xi8>, %l: tensor<2x3xui8>) -> (tensor<2x3xi8>, tensor<2x3xui8>) {
  %s:2 = array.sort %k, %l dimension = 1 num_keys = 2 is_stable = false
           : (tensor<2x3xi8>, tensor<2x3xui8>) -> (tensor<2x3xi8>, tensor<2x3xui8>)
  return %s#0, %s#1 : tensor<2x3xi8>, tensor<2x3xui8>
}

// nan comes first; of equal ones the first.
// RUN: array-run %s --entry=greatest --input='[[1, 4, 4, 2], [nan, -1, 0, 3]]' --expect='[[4, 4], [nan, 3]]' \
// RUN:   --expect='[[1, 2], [0, 3]]'
func.func @greatest(%x: tensor<2x4xf32>) -> (tensor<2x2xf32>, tensor<2x2xi32>) {
  %v, %i = array.top_k %x k = 2 axis = 1 : (tensor<2x4xf32>) -> (tensor<2x2xf32>, tensor<2x2xi32>)
  return %v, %i : tensor<2x2xf32>, tensor<2x2xi32>
}
