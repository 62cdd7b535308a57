// Several programs in one file, and the diagnostics that are expected of them.
// RUN: array-opt %s --split-input-file --verify-diagnostics
// RUN: not array-opt %s --split-input-file 2>&1 | FileCheck %s
// RUN: array-opt %s --split-input-file --verify-diagnostics --output-split-marker="@@@" | FileCheck %s --check-prefix=MARKER

// CHECK: diagnostics.mlir:[[# @LINE + 4]]:8: error: 'array.add' op
// MARKER: @@@
func.func @f(%x: tensor<4xf32>, %y: tensor<3xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{operand types differ: 'tensor<4xf32>', 'tensor<3xf32>' (C2)}}
  %0 = "array.add"(%x, %y) : (tensor<4xf32>, tensor<3xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
