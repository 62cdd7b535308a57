// MLIR's own reduction by passes, alone and after the other one.
// RUN: array-reduce %s --opt-reduction-pass="opt-pass=symbol-dce test=%S/Inputs/has-tanh.sh" | FileCheck %s
// RUN: array-reduce %s -o %t.mlir \
// RUN:   --pass-pipeline="builtin.module(array-reduction{test=%S/Inputs/has-tanh.sh},opt-reduction-pass{opt-pass=cse test=%S/Inputs/has-tanh.sh})"
// RUN: FileCheck %s < %t.mlir
// CHECK-NOT: @unused
// CHECK:     array.tanh
func.func private @unused(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = array.tanh %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}
