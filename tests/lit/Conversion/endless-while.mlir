// A loop that returns its initial values is not removed: it may have no end.

// RUN: array-opt %s --pass-pipeline='builtin.module(array-to-linalg)' | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK:         scf.while
// CHECK-NEXT:      array.spend
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %zero = array.constant dense<0.0> : tensor<f32>
  %y = array.while(%x) : (tensor<f32>) -> tensor<f32> cond {
  ^bb0(%c: tensor<f32>):
    %t = array.ge %c, %zero : (tensor<f32>, tensor<f32>) -> tensor<i1>
    array.yield %t : tensor<i1>
  } body {
  ^bb0(%c: tensor<f32>):
    array.yield %c : tensor<f32>
  }
  return %y : tensor<f32>
}
