// UNSUPPORTED: gpu

// Own kernels: blocks of arrays, for every index of a grid.

// Blocks of two elements, and the index along the grid.
// RUN: array-run %s --entry=blocks --input='[1, 2, 3, 4, 5, 6]' --expect='[10, 20, 31, 41, 52, 62]'
func.func @blocks(%x: tensor<6xi32>) -> tensor<6xi32> {
  %zeros = array.constant dense<0> : tensor<6xi32>
  %ten = array.constant dense<10> : tensor<i32>
  %r = array.kernel_call(%x) outs(%zeros) grid = [3] parallel = [0] overwritten = [0]
         blocks = [array<i64: 2>, array<i64: 2>] : (tensor<6xi32>, tensor<6xi32>) -> tensor<6xi32> maps {
  ^bb0(%i: tensor<i32>):
    %two = array.constant dense<2> : tensor<i32>
    %at = array.mul %i, %two : tensor<i32>
    array.kernel_yield %at, %at : tensor<i32>, tensor<i32>
  } body {
  ^bb0(%i: tensor<i32>, %a: tensor<2xi32>, %b: tensor<2xi32>):
    %tens = array.broadcast_in_dim %ten broadcast_dimensions = [] : (tensor<i32>) -> tensor<2xi32>
    %index = array.broadcast_in_dim %i broadcast_dimensions = [] : (tensor<i32>) -> tensor<2xi32>
    %c = array.mul %a, %tens : tensor<2xi32>
    %d = array.add %c, %index : tensor<2xi32>
    array.kernel_yield %d : tensor<2xi32>
  }
  return %r : tensor<6xi32>
}

// The sums of columns so far, in scratch memory that starts as zeros for each of the parallel columns.
// RUN: array-run %s --entry=sums --input='[[1, 2], [3, 4], [5, 6]]' --expect='[[1, 2], [4, 6], [9, 12]]'
func.func @sums(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %zeros = array.constant dense<0.0> : tensor<3x2xf32>
  %r = array.kernel_call(%x) outs(%zeros) grid = [3, 2] parallel = [1] overwritten = [0]
         blocks = [array<i64: 0, 0>, array<i64: 0, 0>] : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32> maps {
  ^bb0(%i: tensor<i32>, %j: tensor<i32>):
    array.kernel_yield %i, %j, %i, %j : tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>
  } body {
  ^bb0(%i: tensor<i32>, %j: tensor<i32>, %a: tensor<f32>, %b: tensor<f32>, %sum: tensor<f32>):
    %next = array.add %sum, %a : tensor<f32>
    array.kernel_yield %next, %next : tensor<f32>, tensor<f32>
  }
  return %r : tensor<3x2xf32>
}

// A block that is visited again, and elements that no block covers. An offset beyond the array is the last one inside.
// RUN: array-run %s --entry=clamped --input='[7, 8, 9]' --expect='[7, 10, 11]'
func.func @clamped(%x: tensor<3xf32>) -> tensor<3xf32> {
  %far = array.constant dense<100> : tensor<i32>
  %ones = array.constant dense<1.0> : tensor<2xf32>
  %r = array.kernel_call() outs(%x) grid = [2] parallel = [] overwritten = [] blocks = [array<i64: 2>]
         : (tensor<3xf32>) -> tensor<3xf32> maps {
  ^bb0(%i: tensor<i32>):
    array.kernel_yield %far : tensor<i32>
  } body {
  ^bb0(%i: tensor<i32>, %b: tensor<2xf32>):
    %next = array.add %b, %ones : tensor<2xf32>
    array.kernel_yield %next : tensor<2xf32>
  }
  return %r : tensor<3xf32>
}
