// RUN: array-opt %s --convert-array-to-linalg | FileCheck %s

// The parallel dimensions are one outer loop; scratch memory is in it; the other dimension is an inner loop. Offsets are
// clamped, and bools are bytes.
// CHECK-LABEL: func.func @kernel(
// CHECK-SAME: %[[X:.*]]: tensor<8x6xi8>, %[[Y:.*]]: tensor<8xi8>)
func.func @kernel(%x: tensor<8x6xi1>, %y: tensor<8xi1>) -> tensor<8xi1> {
  // CHECK: %[[EMPTY:.*]] = tensor.empty() : tensor<8xi8>
  // CHECK: %[[R:.*]] = scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[OUT:.*]] = %[[EMPTY]]) -> (tensor<8xi8>)
  // CHECK: %[[SCRATCH:.*]] = linalg.fill
  // CHECK: %[[INNER:.*]]:2 = scf.for %{{.*}} iter_args(%[[O:.*]] = %[[OUT]], %[[S:.*]] = %[[SCRATCH]]) -> (tensor<8xi8>, tensor<2xf32>)
  // CHECK: arith.maxsi
  // CHECK: %[[ROW:.*]] = arith.minsi
  // CHECK: tensor.extract_slice %[[X]][%[[ROW]], %{{.*}}] [2, 1] [1, 1] : tensor<8x6xi8> to tensor<2xi8>
  // CHECK: %[[BLOCK:.*]] = tensor.extract_slice %[[O]][%[[AT:.*]]] [2] [1] : tensor<8xi8> to tensor<2xi8>
  // CHECK: %[[NEW:.*]] = linalg.generic
  // CHECK: %[[NEXT:.*]] = tensor.insert_slice %[[NEW]] into %[[O]][%[[AT]]] [2] [1]
  // CHECK: scf.yield %[[NEXT]], %[[S]]
  // CHECK: } {array.control_flow}
  // CHECK: scf.yield %[[INNER]]#0
  // CHECK: } {array.control_flow, array.grid}
  // CHECK: return %[[R]]
  %r = array.kernel_call(%x) outs(%y) grid = [4, 6] parallel = [0] overwritten = [0]
         blocks = [array<i64: 2, 0>, array<i64: 2>] : (tensor<8x6xi1>, tensor<8xi1>) -> tensor<8xi1> maps {
  ^bb0(%i: tensor<i32>, %j: tensor<i32>):
    %two = array.constant dense<2> : tensor<i32>
    %row = array.mul %i, %two : tensor<i32>
    array.kernel_yield %row, %j, %row : tensor<i32>, tensor<i32>, tensor<i32>
  } body {
  ^bb0(%i: tensor<i32>, %j: tensor<i32>, %a: tensor<2xi1>, %b: tensor<2xi1>, %s: tensor<2xf32>):
    %c = array.xor %a, %b : tensor<2xi1>
    array.kernel_yield %c, %s : tensor<2xi1>, tensor<2xf32>
  }
  return %r : tensor<8xi1>
}
