// RUN: array-opt %s | array-opt | FileCheck %s
// RUN: array-opt %s --mlir-print-op-generic | array-opt | FileCheck %s
// RUN: array-opt %s --canonicalize --cse --loop-invariant-code-motion | FileCheck %s --check-prefix=EFFECTS

// host_call of each kind. Ops with effects stay, in their number and order; ops without effects are erased if they have
// no readers, and equal ones are merged.

// CHECK-LABEL: @kinds
// EFFECTS-LABEL: @kinds
func.func @kinds(%x: tensor<4xf32>, %k: tensor<2xui64>, %b: tensor<i1>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %t0 = array.create_token : !array.token
  // CHECK: %[[FIRST:.*]]:2 = array.host_call slot = 0 effectful(%{{.*}}, %{{.*}}) : (!array.token, tensor<4xf32>) -> (!array.token, tensor<4xf32>)
  // EFFECTS: array.host_call slot = 0 effectful
  %t1, %y = array.host_call slot = 0 effectful (%t0, %x) : (!array.token, tensor<4xf32>) -> (!array.token, tensor<4xf32>)
  // CHECK: array.host_call slot = 1 effectful(%[[FIRST]]#0) : (!array.token) -> !array.token
  // EFFECTS-NEXT: array.host_call slot = 1 effectful
  %t2 = array.host_call slot = 1 effectful (%t1) : (!array.token) -> !array.token
  // CHECK: array.host_call slot = 2 effectful(%{{.*}}, %{{.*}}) : (tensor<2xui64>, tensor<i1>) -> ()
  // EFFECTS-NEXT: array.host_call slot = 2 effectful
  // EFFECTS-NEXT: array.host_call slot = 2 effectful
  array.host_call slot = 2 effectful (%k, %b) : (tensor<2xui64>, tensor<i1>) -> ()
  array.host_call slot = 2 effectful (%k, %b) : (tensor<2xui64>, tensor<i1>) -> ()
  // CHECK: array.host_call slot = 3(%{{.*}}) : (tensor<4xf32>) -> tensor<4xf32>
  // EFFECTS-NEXT: %[[PURE:.*]] = array.host_call slot = 3(
  // EFFECTS-NOT: slot = 3
  %p = array.host_call slot = 3 (%x) : (tensor<4xf32>) -> tensor<4xf32>
  %q = array.host_call slot = 3 (%x) : (tensor<4xf32>) -> tensor<4xf32>
  // EFFECTS-NOT: slot = 4
  %unread = array.host_call slot = 4 (%x) : (tensor<4xf32>) -> tensor<4xf32>
  // EFFECTS: array.host_call slot = 5 effectful
  array.host_call slot = 5 effectful () : () -> ()
  // EFFECTS: return %{{.*}}, %[[PURE]], %[[PURE]]
  return %y, %p, %q : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// Tokens are carried by loops and returned by branches. A loop whose results have no readers stays for its effects, and
// its invariant operations run in every iteration all the same.
// CHECK-LABEL: @carried
// EFFECTS-LABEL: @carried
func.func @carried(%n: tensor<i32>, %x: tensor<4xf32>) {
  %t0 = array.create_token : !array.token
  // CHECK: array.while(%{{.*}}, %{{.*}}) : (!array.token, tensor<i32>) -> (!array.token, tensor<i32>)
  // EFFECTS: array.while
  %t1, %i = array.while(%t0, %n) : (!array.token, tensor<i32>) -> (!array.token, tensor<i32>) cond {
  ^bb0(%t: !array.token, %a: tensor<i32>):
    // EFFECTS: array.host_call slot = 0 effectful
    %u, %p = array.host_call slot = 0 effectful (%t, %a) : (!array.token, tensor<i32>) -> (!array.token, tensor<i1>)
    array.yield %p : tensor<i1>
  } body {
  ^bb0(%t: !array.token, %a: tensor<i32>):
    // EFFECTS: array.host_call slot = 1 effectful
    %u = array.host_call slot = 1 effectful (%t, %x) : (!array.token, tensor<4xf32>) -> !array.token
    array.yield %u, %a : !array.token, tensor<i32>
  }
  // CHECK: array.scan(%{{.*}}) (%{{.*}}) length = 4 reverse = false : (!array.token, tensor<4xf32>) -> (!array.token, tensor<4xf32>)
  // EFFECTS: array.scan
  %t2, %ys = array.scan(%t1) (%x) length = 4 reverse = false : (!array.token, tensor<4xf32>) -> (!array.token, tensor<4xf32>) {
  ^bb0(%t: !array.token, %e: tensor<f32>):
    // EFFECTS: array.host_call slot = 2 effectful
    %u, %y = array.host_call slot = 2 effectful (%t, %e) : (!array.token, tensor<f32>) -> (!array.token, tensor<f32>)
    array.yield %u, %y : !array.token, tensor<f32>
  }
  // CHECK: array.cond %{{.*}} : (tensor<i32>) -> !array.token
  // EFFECTS: array.cond
  %t3 = array.cond %n : (tensor<i32>) -> !array.token {
    // EFFECTS: array.host_call slot = 3 effectful
    %u = array.host_call slot = 3 effectful (%t2) : (!array.token) -> !array.token
    array.yield %u : !array.token
  }, {
    array.yield %t2 : !array.token
  }
  return
}
