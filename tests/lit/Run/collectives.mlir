// UNSUPPORTED: gpu

// Two participants run the same function: the operands of each are its number plus one, and twice that.

// RUN: array-run %s --participants=2 --expect='0=[3, 6]' --expect='1=[1, 2, 2, 4]' --print=short | FileCheck %s
func.func @main() -> (tensor<2xi32>, tensor<4xi32>, tensor<i32>, tensor<1xi32>, tensor<2xi32>, tensor<2xi32>) {
  %p = array.participant : () -> tensor<i32>
  %one = array.constant dense<1> : tensor<i32>
  %q = array.add %p, %one : tensor<i32>
  %b = array.broadcast_in_dim %q broadcast_dimensions = [] : (tensor<i32>) -> tensor<2xi32>
  %f = array.constant dense<[1, 2]> : tensor<2xi32>
  %x = array.mul %b, %f : tensor<2xi32>
  %0 = array.all_reduce %x kind = "sum" groups = dense<[[0, 1]]> : tensor<1x2xi64> : (tensor<2xi32>) -> tensor<2xi32>
  %1 = array.all_gather %x dimension = 0 groups = dense<[[0, 1]]> : tensor<1x2xi64> : (tensor<2xi32>) -> tensor<4xi32>
  %2 = array.reduce_scatter %x kind = "max" dimension = 0 groups = dense<[[0, 1]]> : tensor<1x2xi64>
         : (tensor<2xi32>) -> tensor<1xi32>
  %3 = array.all_to_all %x split_axis = 0 concat_axis = 0 groups = dense<[[0, 1]]> : tensor<1x2xi64>
         : (tensor<2xi32>) -> tensor<2xi32>
  %4 = array.collective_permute %x pairs = [0, 1] groups = dense<[[0, 1]]> : tensor<1x2xi64>
         : (tensor<2xi32>) -> tensor<2xi32>
  return %0, %1, %p, %2, %3, %4 : tensor<2xi32>, tensor<4xi32>, tensor<i32>, tensor<1xi32>, tensor<2xi32>, tensor<2xi32>
}

// The first has [1, 2], the second [2, 4].
// CHECK: participant 0: result 0: tensor<2xi32> = [3, 6]
// CHECK: participant 0: result 1: tensor<4xi32> = [1, 2, 2, 4]
// CHECK: participant 0: result 2: tensor<i32> = 0
// CHECK: participant 0: result 3: tensor<1xi32> = [2]
// CHECK: participant 0: result 4: tensor<2xi32> = [1, 2]
// The first one receives nothing.
// CHECK: participant 0: result 5: tensor<2xi32> = [0, 0]
// CHECK: participant 1: result 0: tensor<2xi32> = [3, 6]
// CHECK: participant 1: result 1: tensor<4xi32> = [1, 2, 2, 4]
// CHECK: participant 1: result 2: tensor<i32> = 1
// CHECK: participant 1: result 3: tensor<1xi32> = [4]
// CHECK: participant 1: result 4: tensor<2xi32> = [2, 4]
// CHECK: participant 1: result 5: tensor<2xi32> = [1, 2]
