// UNSUPPORTED: gpu
// Code for a GPU is of fixed sizes.
// Loops and branches over arrays of sizes that a call decides.

// RUN: array-run %s --entry=running --sizes=4 --input='[1, 2, 3, 4]' --expect='10' --expect='[1, 3, 6, 10]' --expect='[10, 9, 7, 4]'
// RUN: array-run %s --entry=running --sizes=1 --input='[5]' --expect='5' --expect='[5]' --expect='[5]'
// RUN: array-run %s --entry=running --sizes=0 --input='[]' --expect='0' --expect='[]' --expect='[]'
func.func @running(%x: tensor<?xf32>) -> (tensor<f32>, tensor<?xf32>, tensor<?xf32>) {
  %n = array.symbol 0 : index
  %zero = array.constant dense<0.0> : tensor<f32>
  %0:2 = array.scan(%zero) (%x) length = ? reverse = false sizes(%n) output_dims(%n)
      : (tensor<f32>, tensor<?xf32>, index, index) -> (tensor<f32>, tensor<?xf32>) {
  ^bb0(%c: tensor<f32>, %e: tensor<f32>):
    %d = array.add %c, %e : tensor<f32>
    array.yield %d, %d : tensor<f32>, tensor<f32>
  }
  %1:2 = array.scan(%zero) (%x) length = ? reverse = true sizes(%n) output_dims(%n)
      : (tensor<f32>, tensor<?xf32>, index, index) -> (tensor<f32>, tensor<?xf32>) {
  ^bb0(%c: tensor<f32>, %e: tensor<f32>):
    %d = array.add %c, %e : tensor<f32>
    array.yield %d, %d : tensor<f32>, tensor<f32>
  }
  return %0#0, %0#1, %1#1 : tensor<f32>, tensor<?xf32>, tensor<?xf32>
}

// Rows of a size that a call decides, and a count of iterations with nothing to scan.
// RUN: array-run %s --entry=rows --sizes=2,3 --input='[[1, 2, 3], [4, 5, 6]]' --expect='[5, 7, 9]' --expect='[[1, 2, 3], [5, 7, 9]]' --expect='[[1, 1, 1], [2, 2, 2], [4, 4, 4]]'
// RUN: array-run %s --entry=rows --sizes=1,1 --input='[[7]]' --expect='[7]' --expect='[[7]]' --expect='[[1]]'
func.func @rows(%x: tensor<?x?xf32>) -> (tensor<?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) {
  %n = array.symbol 0 : index
  %m = array.symbol 1 : index
  %scalar = array.constant dense<0.0> : tensor<f32>
  %one = array.constant dense<1.0> : tensor<f32>
  %zero = array.broadcast_in_dim %scalar broadcast_dimensions = [] output_dims(%m) : (tensor<f32>) -> tensor<?xf32>
  %ones = array.broadcast_in_dim %one broadcast_dimensions = [] output_dims(%m) : (tensor<f32>) -> tensor<?xf32>
  %0:2 = array.scan(%zero) (%x) length = ? reverse = false sizes(%n) output_dims(%n, %m)
      : (tensor<?xf32>, tensor<?x?xf32>, index, index, index) -> (tensor<?xf32>, tensor<?x?xf32>) {
  ^bb0(%c: tensor<?xf32>, %e: tensor<?xf32>):
    %d = array.add %c, %e : tensor<?xf32>
    array.yield %d, %d : tensor<?xf32>, tensor<?xf32>
  }
  %1:2 = array.scan(%ones) () length = ? reverse = false sizes(%m) output_dims(%m, %m)
      : (tensor<?xf32>, index, index, index) -> (tensor<?xf32>, tensor<?x?xf32>) {
  ^bb0(%c: tensor<?xf32>):
    %d = array.add %c, %c : tensor<?xf32>
    array.yield %d, %c : tensor<?xf32>, tensor<?xf32>
  }
  return %0#0, %0#1, %1#1 : tensor<?xf32>, tensor<?x?xf32>, tensor<?x?xf32>
}

// Doubled while the first element is below 10; then the one or the other.
// RUN: array-run %s --entry=chosen --sizes=3 --input='[1, 2, 3]' --input='0' --expect='[16, 32, 48]' --expect='[-16, -32, -48]'
// RUN: array-run %s --entry=chosen --sizes=1 --input='[20]' --input='1' --expect='[20]' --expect='[20]'
func.func @chosen(%x: tensor<?xf32>, %i: tensor<i32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %r = array.while(%x) : (tensor<?xf32>) -> tensor<?xf32> cond {
  ^bb0(%c: tensor<?xf32>):
    %first = array.slice %c start_indices = [0] limit_indices = [1] strides = [1] : (tensor<?xf32>) -> tensor<1xf32>
    %f = array.reshape %first : (tensor<1xf32>) -> tensor<f32>
    %ten = array.constant dense<10.0> : tensor<f32>
    %p = array.lt %f, %ten : (tensor<f32>, tensor<f32>) -> tensor<i1>
    array.yield %p : tensor<i1>
  } body {
  ^bb0(%c: tensor<?xf32>):
    %d = array.add %c, %c : tensor<?xf32>
    array.yield %d : tensor<?xf32>
  }
  %s = array.cond %i : (tensor<i32>) -> tensor<?xf32> {
    %y = array.neg %r : tensor<?xf32>
    array.yield %y : tensor<?xf32>
  }, {
    array.yield %r : tensor<?xf32>
  }
  return %r, %s : tensor<?xf32>, tensor<?xf32>
}

// RUN: array-run %s --entry=apart --sizes=2 --input='[1, 2]' --expect='[3, 5]'
// RUN: array-run %s --entry=apart --sizes=1 --input='[1]' --expect='[3]'
func.func @apart(%x: tensor<?xf32>) -> tensor<?xf32> {
  %n = array.symbol 0 : index
  %one = array.constant dense<1.0> : tensor<f32>
  %ones = array.broadcast_in_dim %one broadcast_dimensions = [] output_dims(%n) : (tensor<f32>) -> tensor<?xf32>
  %y = array.add %x, %x : tensor<?xf32>
  %z = array.optimization_barrier(%y) : (tensor<?xf32>) -> tensor<?xf32>
  %r = array.add %z, %ones : tensor<?xf32>
  return %r : tensor<?xf32>
}
