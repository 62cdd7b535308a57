// RUN: array-opt %s --convert-array-to-linalg | FileCheck %s

// The slot is the routine's parameter, element types complete storage types; tokens are gone, the order stays.
// CHECK-LABEL: func @calls(
// CHECK-SAME: %[[X:.*]]: tensor<4xi8>, %[[K:.*]]: tensor<2xi64>)
func.func @calls(%x: tensor<4xi1>, %k: tensor<2xui64>) -> (tensor<3xi8>, tensor<f8E4M3FN>) {
  %t0 = array.create_token : !array.token
  // CHECK: array.runtime_call "host_call" effectful params = [0] element_types = [i1] ins(%[[X]] : tensor<4xi8>)
  %t1 = array.host_call slot = 0 effectful (%t0, %x) : (!array.token, tensor<4xi1>) -> !array.token
  // CHECK-DAG: %[[A:.*]] = tensor.empty() : tensor<3xi8>
  // CHECK-DAG: %[[B:.*]] = tensor.empty() : tensor<i8>
  // CHECK: %[[Y:.*]]:2 = array.runtime_call "host_call" effectful params = [1] element_types = [ui64, i8, f8E4M3FN]
  // CHECK-SAME: ins(%[[K]] : tensor<2xi64>) outs(%[[A]], %[[B]] : tensor<3xi8>, tensor<i8>) -> tensor<3xi8>, tensor<i8>
  %t2, %y:2 = array.host_call slot = 1 effectful (%t1, %k)
      : (!array.token, tensor<2xui64>) -> (!array.token, tensor<3xi8>, tensor<f8E4M3FN>)
  // CHECK: array.runtime_call "host_call" params = [2]
  %z = array.host_call slot = 2 (%x) : (tensor<4xi1>) -> tensor<3xi8>
  // CHECK: array.runtime_call "host_call" effectful params = [3] element_types = []{{$}}
  array.host_call slot = 3 effectful () : () -> ()
  // CHECK: return %[[Y]]#0, %[[Y]]#1
  return %y#0, %y#1 : tensor<3xi8>, tensor<f8E4M3FN>
}

// Tokens are no part of a carry any more.
// CHECK-LABEL: func @carried(
// CHECK-SAME: %[[N:.*]]: tensor<i32>, %[[X:.*]]: tensor<4xf32>)
func.func @carried(%n: tensor<i32>, %x: tensor<4xf32>) -> tensor<i32> {
  %t0 = array.create_token : !array.token
  // CHECK: %[[R:.*]] = scf.while (%{{.*}} = %[[N]]) : (tensor<i32>) -> tensor<i32>
  %t1, %i = array.while(%t0, %n) : (!array.token, tensor<i32>) -> (!array.token, tensor<i32>) cond {
  ^bb0(%t: !array.token, %a: tensor<i32>):
    // CHECK: array.runtime_call "host_call" effectful params = [0]
    %u, %p = array.host_call slot = 0 effectful (%t, %a) : (!array.token, tensor<i32>) -> (!array.token, tensor<i1>)
    // CHECK: scf.condition
    array.yield %p : tensor<i1>
  } body {
  ^bb0(%t: !array.token, %a: tensor<i32>):
    // CHECK: array.runtime_call "host_call" effectful params = [1]
    %u = array.host_call slot = 1 effectful (%t, %x) : (!array.token, tensor<4xf32>) -> !array.token
    array.yield %u, %a : !array.token, tensor<i32>
  }
  // CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{[^ ]*}} {
  %t2 = array.scan(%t1) (%x) length = 4 reverse = false : (!array.token, tensor<4xf32>) -> !array.token {
  ^bb0(%t: !array.token, %e: tensor<f32>):
    // CHECK: array.runtime_call "host_call" effectful params = [2]
    %u = array.host_call slot = 2 effectful (%t, %e) : (!array.token, tensor<f32>) -> !array.token
    array.yield %u : !array.token
  }
  // CHECK: scf.if
  %t3 = array.cond %n : (tensor<i32>) -> !array.token {
    // CHECK: array.runtime_call "host_call" effectful params = [3]
    %u = array.host_call slot = 3 effectful (%t2) : (!array.token) -> !array.token
    array.yield %u : !array.token
  }, {
    // CHECK: array.runtime_call "host_call" effectful params = [4]
    %u = array.host_call slot = 4 effectful (%t2) : (!array.token) -> !array.token
    array.yield %u : !array.token
  }
  // CHECK: return %[[R]]
  return %i : tensor<i32>
}
