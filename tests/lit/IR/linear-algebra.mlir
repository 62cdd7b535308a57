// RUN: array-opt %s | array-opt | FileCheck %s

// CHECK-LABEL: func @factor
func.func @factor(%a: tensor<2x4x4xf32>, %w: tensor<3x5xf64>, %z: tensor<4x4xcomplex<f32>>) {
  // CHECK: array.cholesky %{{.*}} : (tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %0 = array.cholesky %a : (tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  // CHECK: array.lu %{{.*}} : (tensor<3x5xf64>) -> (tensor<3x5xf64>, tensor<3xi32>, tensor<3xi32>)
  %1:3 = array.lu %w : (tensor<3x5xf64>) -> (tensor<3x5xf64>, tensor<3xi32>, tensor<3xi32>)
  // CHECK: array.qr %{{.*}} {full_matrices = false, pivoting = true}
  %2:3 = array.qr %w {full_matrices = false, pivoting = true}
           : (tensor<3x5xf64>) -> (tensor<3x3xf64>, tensor<3x5xf64>, tensor<5xi32>)
  // CHECK: array.svd
  %3:3 = array.svd %z {full_matrices = true, compute_vectors = true, by_qr = false}
           : (tensor<4x4xcomplex<f32>>) -> (tensor<4xf32>, tensor<4x4xcomplex<f32>>, tensor<4x4xcomplex<f32>>)
  // CHECK: array.eig %{{.*}} {compute_left = false, compute_right = false} : (tensor<2x4x4xf32>) -> tensor<2x4xcomplex<f32>>
  %4 = array.eig %a {compute_left = false, compute_right = false} : (tensor<2x4x4xf32>) -> tensor<2x4xcomplex<f32>>
  return
}

// Dynamic sizes are compatible with all.
// CHECK-LABEL: func @dynamic
func.func @dynamic(%a: tensor<?x?xf32>, %b: tensor<4x?xf32>) -> tensor<4x7xf32> {
  %0 = array.triangular_solve %a, %b {left_side = true, lower = true, transpose_a = false, conjugate_a = false,
         unit_diagonal = false} : (tensor<?x?xf32>, tensor<4x?xf32>) -> tensor<4x7xf32>
  return %0 : tensor<4x7xf32>
}
