// RUN: array-opt %s --convert-array-to-linalg --split-input-file --verify-diagnostics | FileCheck %s

// Attributes become parameters in alphabetical order: conjugate_a, left_side, lower, transpose_a, unit_diagonal.
// CHECK-LABEL: func @solve
// CHECK-SAME: (%[[A:.*]]: tensor<2x4x4xf32>, %[[B:.*]]: tensor<2x4x3xf32>)
func.func @solve(%a: tensor<2x4x4xf32>, %b: tensor<2x4x3xf32>) -> tensor<2x4x3xf32> {
  // CHECK: %[[INIT:.*]] = tensor.empty() : tensor<2x4x3xf32>
  // CHECK: array.runtime_call "triangular_solve" params = [0, 1, 1, 0, 0] element_types = [f32, f32, f32]
  // CHECK-SAME: ins(%[[A]], %[[B]] : tensor<2x4x4xf32>, tensor<2x4x3xf32>) outs(%[[INIT]] : tensor<2x4x3xf32>)
  %0 = array.triangular_solve %a, %b {left_side = true, lower = true, transpose_a = false, conjugate_a = false,
         unit_diagonal = false} : (tensor<2x4x4xf32>, tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  return %0 : tensor<2x4x3xf32>
}

// CHECK-LABEL: func @lu
func.func @lu(%a: tensor<4x3xf64>) -> (tensor<4x3xf64>, tensor<3xi32>, tensor<4xi32>) {
  // CHECK: array.runtime_call "lu" params = [] element_types = [f64, f64, i32, i32]
  %0:3 = array.lu %a : (tensor<4x3xf64>) -> (tensor<4x3xf64>, tensor<3xi32>, tensor<4xi32>)
  return %0#0, %0#1, %0#2 : tensor<4x3xf64>, tensor<3xi32>, tensor<4xi32>
}
