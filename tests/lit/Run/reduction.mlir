// Elements combined along axes; of nothing the neutral one; the first of several extremes.

// RUN: array-run %s --entry=floats --input='[[1, -2, 3], [0.5, 4, -1]]' --expect='[2, 3.5]' --expect='[-6, -2]' \
// RUN:   --expect='[3, 4]' --expect='[-2, -1]' --expect='[1.5, 2, 2]' --expect='4'
func.func @floats(%x: tensor<2x3xf32>)
    -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<3xf32>, tensor<f32>) {
  %0 = array.reduce_sum %x axes = [1] : (tensor<2x3xf32>) -> tensor<2xf32>
  %1 = array.reduce_prod %x axes = [1] : (tensor<2x3xf32>) -> tensor<2xf32>
  %2 = array.reduce_max %x axes = [1] : (tensor<2x3xf32>) -> tensor<2xf32>
  %3 = array.reduce_min %x axes = [1] : (tensor<2x3xf32>) -> tensor<2xf32>
  %4 = array.reduce_sum %x axes = [0] : (tensor<2x3xf32>) -> tensor<3xf32>
  %5 = array.reduce_max %x axes = [0, 1] : (tensor<2x3xf32>) -> tensor<f32>
  return %0, %1, %2, %3, %4, %5
      : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<3xf32>, tensor<f32>
}

// RUN: array-run %s --entry=integers --input='[12, 10, -7]' --expect='15' --expect='-840' --expect='12' \
// RUN:   --expect='-7' --expect='8' --expect='-1' --expect='-1'
func.func @integers(%x: tensor<3xi32>)
    -> (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) {
  %0 = array.reduce_sum %x axes = [0] : (tensor<3xi32>) -> tensor<i32>
  %1 = array.reduce_prod %x axes = [0] : (tensor<3xi32>) -> tensor<i32>
  %2 = array.reduce_max %x axes = [0] : (tensor<3xi32>) -> tensor<i32>
  %3 = array.reduce_min %x axes = [0] : (tensor<3xi32>) -> tensor<i32>
  %4 = array.reduce_and %x axes = [0] : (tensor<3xi32>) -> tensor<i32>
  %5 = array.reduce_or %x axes = [0] : (tensor<3xi32>) -> tensor<i32>
  %6 = array.reduce_xor %x axes = [0] : (tensor<3xi32>) -> tensor<i32>
  return %0, %1, %2, %3, %4, %5, %6
      : tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>
}

// RUN: array-run %s --entry=bools --input='[[true, false], [true, true]]' --expect='[false, true]' \
// RUN:   --expect='[true, true]' --expect='[true, false]'
func.func @bools(%x: tensor<2x2xi1>) -> (tensor<2xi1>, tensor<2xi1>, tensor<2xi1>) {
  %0 = array.reduce_and %x axes = [1] : (tensor<2x2xi1>) -> tensor<2xi1>
  %1 = array.reduce_or %x axes = [1] : (tensor<2x2xi1>) -> tensor<2xi1>
  %2 = array.reduce_xor %x axes = [1] : (tensor<2x2xi1>) -> tensor<2xi1>
  return %0, %1, %2 : tensor<2xi1>, tensor<2xi1>, tensor<2xi1>
}

// RUN: array-run %s --entry=nothing --input='[]' --expect='0' --expect='1' --expect='-inf' --expect='inf'
func.func @nothing(%x: tensor<0xf32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  %0 = array.reduce_sum %x axes = [0] : (tensor<0xf32>) -> tensor<f32>
  %1 = array.reduce_prod %x axes = [0] : (tensor<0xf32>) -> tensor<f32>
  %2 = array.reduce_max %x axes = [0] : (tensor<0xf32>) -> tensor<f32>
  %3 = array.reduce_min %x axes = [0] : (tensor<0xf32>) -> tensor<f32>
  return %0, %1, %2, %3 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}

// A nan wins, the first one.
// RUN: array-run %s --entry=nans --input='[1, nan, 3, nan]' --expect='nan' --expect='nan' --expect='1' --expect='1'
func.func @nans(%x: tensor<4xf32>) -> (tensor<f32>, tensor<f32>, tensor<i32>, tensor<i32>) {
  %0 = array.reduce_max %x axes = [0] : (tensor<4xf32>) -> tensor<f32>
  %1 = array.reduce_min %x axes = [0] : (tensor<4xf32>) -> tensor<f32>
  %2 = array.argmax %x axis = 0 index_dtype = i32 : (tensor<4xf32>) -> tensor<i32>
  %3 = array.argmin %x axis = 0 index_dtype = i32 : (tensor<4xf32>) -> tensor<i32>
  return %0, %1, %2, %3 : tensor<f32>, tensor<f32>, tensor<i32>, tensor<i32>
}

// RUN: array-run %s --entry=positions --input='[[1, 5, 5, 2], [3, 3, -1, 2]]' --expect='[1, 0]' \
// RUN:   --expect='[0, 1, 1, 0]'
func.func @positions(%x: tensor<2x4xf32>) -> (tensor<2xi32>, tensor<4xi64>) {
  %0 = array.argmax %x axis = 1 index_dtype = i32 : (tensor<2x4xf32>) -> tensor<2xi32>
  %1 = array.argmin %x axis = 0 index_dtype = i64 : (tensor<2x4xf32>) -> tensor<4xi64>
  return %0, %1 : tensor<2xi32>, tensor<4xi64>
}
