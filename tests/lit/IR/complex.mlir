// RUN: array-opt %s --canonicalize --split-input-file | FileCheck %s

// Parts of a value that was just joined, and a value that is joined from its own parts.
// CHECK-LABEL: func.func @parts
// CHECK-SAME: (%[[RE:.*]]: tensor<4xf32>, %[[IM:.*]]: tensor<4xf32>, %[[Z:.*]]: tensor<4xcomplex<f32>>)
// CHECK-NEXT: return %[[RE]], %[[IM]], %[[Z]]
func.func @parts(%re: tensor<4xf32>, %im: tensor<4xf32>, %z: tensor<4xcomplex<f32>>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xcomplex<f32>>) {
  %0 = array.complex %re, %im : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xcomplex<f32>>
  %1 = array.real %0 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %2 = array.imag %0 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %3 = array.real %z : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %4 = array.imag %z : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %5 = array.complex %3, %4 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xcomplex<f32>>
  return %1, %2, %5 : tensor<4xf32>, tensor<4xf32>, tensor<4xcomplex<f32>>
}

// -----

// Conversions of the small types are left to the lowering, which handles their special cases.
// CHECK-LABEL: func.func @small
// CHECK: array.convert %{{.*}} : (tensor<2xf8E4M3FN>) -> tensor<2xf32>
// CHECK: array.convert %{{.*}} : (tensor<2xf32>) -> tensor<2xf64>
func.func @small(%x: tensor<2xf8E4M3FN>) -> tensor<2xf64> {
  %0 = array.convert %x : (tensor<2xf8E4M3FN>) -> tensor<2xf32>
  %1 = array.convert %0 : (tensor<2xf32>) -> tensor<2xf64>
  return %1 : tensor<2xf64>
}
