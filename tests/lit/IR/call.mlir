// RUN: array-opt %s | array-opt | FileCheck %s
// RUN: array-opt %s --mlir-print-op-generic | array-opt | FileCheck %s
// RUN: array-opt %s --inline | FileCheck %s --check-prefix=INLINED

// Calls and tokens. The inliner supports array.call.

// CHECK-LABEL: @main
// INLINED-LABEL: @main
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, !array.token) {
  // CHECK: %[[TOKEN:.*]] = array.create_token : !array.token
  %t = array.create_token : !array.token
  // CHECK: array.after_all %[[TOKEN]], %[[TOKEN]] : !array.token
  %u = array.after_all %t, %t : !array.token
  // CHECK: array.after_all : !array.token
  %none = array.after_all : !array.token
  // CHECK: array.call @callee(%{{.*}}, %{{.*}}) : (tensor<4xf32>, !array.token) -> (tensor<4xf32>, !array.token)
  // INLINED-NOT: array.call
  // INLINED: array.neg
  %y, %v = array.call @callee(%x, %u) : (tensor<4xf32>, !array.token) -> (tensor<4xf32>, !array.token)
  // CHECK: array.call @nothing() : () -> ()
  array.call @nothing() : () -> ()
  return %y, %v : tensor<4xf32>, !array.token
}

func.func private @callee(%x: tensor<4xf32>, %t: !array.token) -> (tensor<4xf32>, !array.token) {
  %y = array.neg %x : tensor<4xf32>
  return %y, %t : tensor<4xf32>, !array.token
}

func.func private @nothing() {
  return
}

// A call in the region of a loop is inlined there.
// CHECK-LABEL: @loop
// INLINED-LABEL: @loop
func.func @loop(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = array.while(%x) : (tensor<4xf32>) -> tensor<4xf32> cond {
  ^bb0(%a: tensor<4xf32>):
    %stop = array.constant dense<false> : tensor<i1>
    array.yield %stop : tensor<i1>
  } body {
  ^bb0(%a: tensor<4xf32>):
    // INLINED-NOT: array.call
    // INLINED: array.sin
    %z = array.call @step(%a) : (tensor<4xf32>) -> tensor<4xf32>
    array.yield %z : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

func.func private @step(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = array.sin %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
