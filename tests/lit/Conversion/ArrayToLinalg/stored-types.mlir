// RUN: array-opt %s --convert-array-to-linalg --split-input-file | FileCheck %s

// A complex number is an integer of twice the width, the real part in its low half: ops that move elements move it.
// CHECK-LABEL: func.func @complex
// CHECK-SAME: (%{{.*}}: tensor<2x3xf32>, %{{.*}}: tensor<2x3xf32>) -> (tensor<3x2xi64>, tensor<2x3xf32>)
// CHECK: arith.extui %{{.*}} : i32 to i64
// CHECK: arith.shli
// CHECK: arith.ori
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<2x3xi64>) outs(%{{.*}} : tensor<3x2xi64>)
// CHECK: arith.shrui
// CHECK: arith.trunci %{{.*}} : i64 to i32
// CHECK: arith.bitcast %{{.*}} : i32 to f32
func.func @complex(%re: tensor<2x3xf32>, %im: tensor<2x3xf32>) -> (tensor<3x2xcomplex<f32>>, tensor<2x3xf32>) {
  %0 = array.complex %re, %im : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xcomplex<f32>>
  %1 = array.transpose %0 permutation = [1, 0] : (tensor<2x3xcomplex<f32>>) -> tensor<3x2xcomplex<f32>>
  %2 = array.imag %0 : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>
  return %1, %2 : tensor<3x2xcomplex<f32>>, tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @constants
// CHECK-DAG: arith.constant dense<[4611686019492741120, 0]> : tensor<2xi64>
// CHECK-DAG: arith.constant dense<[56, -72]> : tensor<2xi8>
// CHECK-DAG: arith.constant dense<[15, 7]> : tensor<2xi8>
func.func @constants() -> (tensor<2xcomplex<f32>>, tensor<2xf8E4M3FN>, tensor<2xi4>) {
  %0 = array.constant dense<[(1.0, 2.0), (0.0, 0.0)]> : tensor<2xcomplex<f32>>
  %1 = array.constant dense<[1.0, -1.0]> : tensor<2xf8E4M3FN>
  %2 = array.constant dense<[-1, 7]> : tensor<2xi4>
  return %0, %1, %2 : tensor<2xcomplex<f32>>, tensor<2xf8E4M3FN>, tensor<2xi4>
}

// -----

// A small float becomes an f32 by a move of its bits and a multiplication, a small integer an i8 by shifts.
// CHECK-LABEL: func.func @small
// CHECK-SAME: (%{{.*}}: tensor<4xi8>, %{{.*}}: tensor<4xi8>)
// CHECK: arith.shli
// CHECK: arith.mulf
// CHECK: arith.shli
// CHECK: arith.shrsi
// CHECK: arith.extsi %{{.*}} : i8 to i32
func.func @small(%x: tensor<4xf8E5M2>, %y: tensor<4xi4>) -> (tensor<4xf32>, tensor<4xi32>) {
  %0 = array.convert %x : (tensor<4xf8E5M2>) -> tensor<4xf32>
  %1 = array.convert %y : (tensor<4xi4>) -> tensor<4xi32>
  return %0, %1 : tensor<4xf32>, tensor<4xi32>
}
