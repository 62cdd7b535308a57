// RUN: array-opt %s | array-opt | FileCheck %s
// RUN: array-opt %s --mlir-print-op-generic | array-opt | FileCheck %s
// RUN: array-opt %s --canonicalize | FileCheck %s --check-prefix=CLEAN

// CHECK-LABEL: @twice
// CLEAN-LABEL: @twice
func.func @twice(%x: tensor<6x3xf32>, %zeros: tensor<6x3xf32>) -> tensor<6x3xf32> {
  // CHECK: %[[R:.*]] = array.kernel_call(%{{.*}}) outs(%{{.*}}) grid = [3] parallel = [0] overwritten = [0]
  // CHECK-SAME: blocks = [array<i64: 2, 3>, array<i64: 2, 3>] : (tensor<6x3xf32>, tensor<6x3xf32>) -> tensor<6x3xf32> maps {
  // CHECK-NEXT: ^bb0(%[[I:.*]]: tensor<i32>):
  // CHECK: array.kernel_yield %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>
  // CHECK: } body {
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<i32>, %[[A:.*]]: tensor<2x3xf32>, %{{.*}}: tensor<2x3xf32>):
  // CHECK-NEXT: %[[B:.*]] = array.add %[[A]], %[[A]] : tensor<2x3xf32>
  // CHECK-NEXT: array.kernel_yield %[[B]] : tensor<2x3xf32>
  // CHECK: return %[[R]]
  %r = array.kernel_call(%x) outs(%zeros) grid = [3] parallel = [0] overwritten = [0]
         blocks = [array<i64: 2, 3>, array<i64: 2, 3>] : (tensor<6x3xf32>, tensor<6x3xf32>) -> tensor<6x3xf32> maps {
  ^bb0(%i: tensor<i32>):
    %two = array.constant dense<2> : tensor<i32>
    %zero = array.constant dense<0> : tensor<i32>
    %row = array.mul %i, %two : tensor<i32>
    array.kernel_yield %row, %zero, %row, %zero : tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>
  } body {
  ^bb0(%i: tensor<i32>, %a: tensor<2x3xf32>, %b: tensor<2x3xf32>):
    %d = array.add %a, %a : tensor<2x3xf32>
    array.kernel_yield %d : tensor<2x3xf32>
  }
  return %r : tensor<6x3xf32>
}

// A kernel without readers is erased: it has no effects.
// CLEAN-LABEL: @unread
func.func @unread(%x: tensor<4xf32>) {
  // CLEAN-NOT: kernel_call
  %r = array.kernel_call() outs(%x) grid = [] parallel = [] overwritten = [] blocks = [array<i64: 0>]
         : (tensor<4xf32>) -> tensor<4xf32> maps {
    %zero = array.constant dense<0> : tensor<i32>
    array.kernel_yield %zero : tensor<i32>
  } body {
  ^bb0(%b: tensor<f32>):
    array.kernel_yield %b : tensor<f32>
  }
  return
}
