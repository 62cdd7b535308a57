// RUN: array-opt %s | array-opt | FileCheck %s
// RUN: array-opt %s --mlir-print-op-generic | array-opt | FileCheck %s
// RUN: array-opt %s --cse --canonicalize --loop-invariant-code-motion | FileCheck %s --check-prefix=EFFECTS

// participant, all_reduce, all_gather, reduce_scatter, all_to_all, collective_permute.

// CHECK-LABEL: @collectives
func.func @collectives(%x: tensor<4x6xf32>, %b: tensor<4xi1>, %d: tensor<?x3xui8>) {
  // CHECK: array.participant : () -> tensor<i32>
  %p = array.participant : () -> tensor<i32>
  // CHECK: array.all_reduce %{{.*}} kind = "sum" groups = dense<{{\[}}[0, 1], [2, 3]]> : tensor<2x2xi64> : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %0 = array.all_reduce %x kind = "sum" groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64> : (tensor<4x6xf32>) -> tensor<4x6xf32>
  // CHECK: array.all_reduce %{{.*}} kind = "max"
  %1 = array.all_reduce %b kind = "max" groups = dense<[[1, 0]]> : tensor<1x2xi64> : (tensor<4xi1>) -> tensor<4xi1>
  // CHECK: array.all_gather %{{.*}} dimension = 0 groups = dense<{{.*}}> : tensor<1x2xi64> : (tensor<?x3xui8>) -> tensor<?x3xui8>
  %2 = array.all_gather %d dimension = 0 groups = dense<[[0, 1]]> : tensor<1x2xi64> : (tensor<?x3xui8>) -> tensor<?x3xui8>
  // CHECK: array.all_gather %{{.*}} dimension = 1 {{.*}} -> tensor<4x12xf32>
  %3 = array.all_gather %x dimension = 1 groups = dense<[[0, 1]]> : tensor<1x2xi64> : (tensor<4x6xf32>) -> tensor<4x12xf32>
  // CHECK: array.reduce_scatter %{{.*}} kind = "sum" dimension = 1 groups = dense<{{.*}}> : tensor<1x3xi64> : (tensor<4x6xf32>) -> tensor<4x2xf32>
  %4 = array.reduce_scatter %x kind = "sum" dimension = 1 groups = dense<[[0, 1, 2]]> : tensor<1x3xi64> : (tensor<4x6xf32>) -> tensor<4x2xf32>
  // CHECK: array.all_to_all %{{.*}} split_axis = 0 concat_axis = 1 groups = dense<{{.*}}> : tensor<1x2xi64> : (tensor<4x6xf32>) -> tensor<2x12xf32>
  %5 = array.all_to_all %x split_axis = 0 concat_axis = 1 groups = dense<[[0, 1]]> : tensor<1x2xi64> : (tensor<4x6xf32>) -> tensor<2x12xf32>
  // CHECK: array.collective_permute %{{.*}} pairs = [0, 1, 0, 2] groups = dense<{{.*}}> : tensor<1x3xi64> : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %6 = array.collective_permute %x pairs = [0, 1, 0, 2] groups = dense<[[0, 1, 2]]> : tensor<1x3xi64> : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// Equal ones are two, an unused one stays, and one in a loop stays there.

// EFFECTS-LABEL: @effects
// EFFECTS-COUNT-3: array.all_reduce
// EFFECTS: array.scan
// EFFECTS: array.all_reduce %arg0
// EFFECTS: array.yield
func.func @effects(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = array.all_reduce %x kind = "sum" groups = dense<[[0, 1]]> : tensor<1x2xi64> : (tensor<4xf32>) -> tensor<4xf32>
  %1 = array.all_reduce %x kind = "sum" groups = dense<[[0, 1]]> : tensor<1x2xi64> : (tensor<4xf32>) -> tensor<4xf32>
  %2 = array.all_reduce %x kind = "max" groups = dense<[[0, 1]]> : tensor<1x2xi64> : (tensor<4xf32>) -> tensor<4xf32>
  %3 = array.scan(%1) () length = 3 reverse = false : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%c: tensor<4xf32>):
    %s = array.all_reduce %x kind = "sum" groups = dense<[[0, 1]]> : tensor<1x2xi64> : (tensor<4xf32>) -> tensor<4xf32>
    %n = array.add %c, %s : tensor<4xf32>
    array.yield %n : tensor<4xf32>
  }
  return %0, %3 : tensor<4xf32>, tensor<4xf32>
}
