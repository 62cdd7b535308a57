// RUN: array-opt %s --convert-array-to-linalg | FileCheck %s

// Bools are bytes in the carry too; the condition becomes an i1.
// CHECK-LABEL: func @while(
// CHECK-SAME: %[[P:.*]]: tensor<i8>, %[[X:.*]]: tensor<4xi32>)
func.func @while(%p: tensor<i1>, %x: tensor<4xui32>) -> (tensor<i1>, tensor<4xui32>) {
  // CHECK: %[[R:.*]]:2 = scf.while (%[[Q:.*]] = %[[P]], %[[Y:.*]] = %[[X]]) : (tensor<i8>, tensor<4xi32>) -> (tensor<i8>, tensor<4xi32>) {
  // CHECK-NEXT: %[[BYTE:.*]] = tensor.extract %[[Q]][] : tensor<i8>
  // CHECK-NEXT: %[[HOLDS:.*]] = arith.trunci %[[BYTE]] : i8 to i1
  // CHECK-NEXT: scf.condition(%[[HOLDS]]) %[[Q]], %[[Y]]
  // CHECK: } do {
  // CHECK-NEXT: ^bb0(%[[Q:.*]]: tensor<i8>, %[[Y:.*]]: tensor<4xi32>):
  // CHECK: linalg.generic
  // CHECK: arith.xori
  // CHECK: %[[Z:.*]] = linalg.generic
  // CHECK-SAME: ins(%[[Y]], %[[Y]]
  // CHECK: scf.yield %{{.*}}, %[[Z]] : tensor<i8>, tensor<4xi32>
  // CHECK: return %[[R]]#0, %[[R]]#1
  %r:2 = array.while(%p, %x) : (tensor<i1>, tensor<4xui32>) -> (tensor<i1>, tensor<4xui32>) cond {
  ^bb0(%q: tensor<i1>, %y: tensor<4xui32>):
    array.yield %q : tensor<i1>
  } body {
  ^bb0(%q: tensor<i1>, %y: tensor<4xui32>):
    %n = array.not %q : tensor<i1>
    %z = array.add %y, %y : tensor<4xui32>
    array.yield %n, %z : tensor<i1>, tensor<4xui32>
  }
  return %r#0, %r#1 : tensor<i1>, tensor<4xui32>
}
