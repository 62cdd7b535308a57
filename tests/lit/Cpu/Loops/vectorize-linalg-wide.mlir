// RUN: array-opt %s --pass-pipeline='builtin.module(one-shot-bufferize{bufferize-function-boundaries=true},func.func(array-vectorize-linalg))' | FileCheck %s

// An element that is wider than all registers has no vectors, and no cost of them is computed.
// CHECK-LABEL: func.func @main
// CHECK-NOT:     vector
// CHECK:         arith.addi %{{.*}} : i16777215
func.func @main(%x: tensor<4xi16777215>, %y: tensor<4xi16777215>) -> tensor<4xi16777215> {
  %init = tensor.empty() : tensor<4xi16777215>
  %s = linalg.add ins(%x, %y : tensor<4xi16777215>, tensor<4xi16777215>) outs(%init : tensor<4xi16777215>) -> tensor<4xi16777215>
  return %s : tensor<4xi16777215>
}
