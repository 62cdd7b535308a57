// RUN: array-translate --stablehlo-to-array -split-input-file %s | FileCheck %s

// A program that is the part of one of two devices.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
// CHECK: array.all_reduce %[[X]] kind = "sum" groups = dense<{{\[\[}}0, 1]]>
// CHECK: array.all_gather %[[X]] dimension = 0 groups = dense<{{\[\[}}0, 1]]> {{.*}} -> tensor<8xf32>
// CHECK: array.reduce_scatter %[[X]] kind = "max" dimension = 0 {{.*}} -> tensor<2xf32>
// CHECK: array.all_to_all %[[X]] split_axis = 0 concat_axis = 0
// CHECK: array.collective_permute %[[X]] pairs = [0, 1, 1, 0]
// CHECK: array.participant
module attributes {pycompiler.participants = 2 : i32} {
  func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<8xf32>, tensor<2xf32>, tensor<4xf32>, tensor<4xf32>, tensor<ui32>) {
    %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %6 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %6 : tensor<f32>
    }) : (tensor<4xf32>) -> tensor<4xf32>
    %1 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}>
           : (tensor<4xf32>) -> tensor<8xf32>
    %2 = "stablehlo.reduce_scatter"(%x) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %6 = stablehlo.maximum %a, %b : tensor<f32>
      stablehlo.return %6 : tensor<f32>
    }) : (tensor<4xf32>) -> tensor<2xf32>
    %3 = "stablehlo.all_to_all"(%x) <{split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64,
                                      replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
    %4 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}>
           : (tensor<4xf32>) -> tensor<4xf32>
    %5 = stablehlo.partition_id : tensor<ui32>
    return %0, %1, %2, %3, %4, %5 : tensor<4xf32>, tensor<8xf32>, tensor<2xf32>, tensor<4xf32>, tensor<4xf32>, tensor<ui32>
  }
}

// -----

// Groups of one size are reduced together, in a branch that their members take.
// CHECK-LABEL: func.func @main
// CHECK: array.constant dense<[1, 0, 0, 1]>
// CHECK: array.participant
// CHECK: array.cond
// CHECK: array.all_reduce %{{.*}} groups = dense<{{\[\[}}1], [2]]>
// CHECK: array.all_reduce %{{.*}} groups = dense<{{\[\[}}0, 3]]>
module attributes {pycompiler.participants = 4 : i32} {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 3], [1, -1], [2, -1]]> : tensor<3x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %6 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %6 : tensor<f32>
    }) : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// Alone, the number of the device is 0.
// CHECK-LABEL: func.func @main
// CHECK-NOT: array.participant
// CHECK: array.constant dense<0>
func.func @main() -> tensor<ui32> {
  %0 = stablehlo.partition_id : tensor<ui32>
  return %0 : tensor<ui32>
}

// -----

// And a collective of one member is its operand; who receives nothing gets zeros.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
// CHECK-NOT: array.all_reduce
// CHECK: %[[Z:.*]] = array.constant dense<0.000000e+00> : tensor<4xf32>
// CHECK: return %[[X]], %[[X]], %[[X]], %[[Z]]
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0]]> : tensor<1x1xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %6 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %6 : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0]]> : tensor<1x1xi64>}>
         : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0, 0]]> : tensor<1x2xi64>}>
         : (tensor<4xf32>) -> tensor<4xf32>
  %3 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<> : tensor<0x2xi64>}>
         : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
