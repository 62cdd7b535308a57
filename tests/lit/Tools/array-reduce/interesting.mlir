// A module is reduced while a script finds it interesting: unnecessary parts are removed, such as a function, a result,
// an argument, or an operation that others use, in loops too.
// RUN: array-reduce %s --array-reduction="test=%S/Inputs/has-tanh.sh" | FileCheck %s
// RUN: array-reduce %s --array-reduction="test=%S/Inputs/has-tanh.sh test-arg=ignored" -o %t.mlir && FileCheck %s < %t.mlir
// CHECK-NOT: @unused
// CHECK:      func.func @main(%[[X:.*]]: tensor<8xf32>) -> tensor<8xf32> {
// CHECK-NEXT:   %[[Y:.*]] = array.tanh %[[X]] : tensor<8xf32>
// CHECK-NEXT:   return %[[Y]] : tensor<8xf32>
// CHECK-NEXT: }
func.func @unused(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>, %n: tensor<i32>) -> (tensor<i1>, tensor<8xf32>) {
  %0 = array.add %x, %y : tensor<8xf32>
  %1 = array.exp %0 : tensor<8xf32>
  %2 = array.tanh %1 : tensor<8xf32>
  %3 = array.mul %2, %y : tensor<8xf32>
  %4 = array.lt %n, %n : tensor<i32>
  return %4, %3 : tensor<i1>, tensor<8xf32>
}
