// RUN: array-opt %s --convert-array-to-linalg --split-input-file | FileCheck %s

// CHECK-DAG: #[[LHS:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[RHS:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[OUT:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func @matmul
// CHECK: %[[INIT:.*]] = linalg.fill {{.*}} outs(%{{.*}} : tensor<4x6xf32>)
// CHECK: linalg.generic {indexing_maps = [#[[LHS]], #[[RHS]], #[[OUT]]], iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK-SAME: ins(%arg0, %arg1 : tensor<4x5xf32>, tensor<5x6xf32>) outs(%[[INIT]] : tensor<4x6xf32>)
// CHECK: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %[[C:.*]]: f32):
// CHECK: %[[P:.*]] = arith.mulf %[[A]], %[[B]] fastmath<reassoc,contract> : f32
// CHECK: arith.addf %[[C]], %[[P]] fastmath<reassoc,contract> : f32
func.func @matmul(%x: tensor<4x5xf32>, %y: tensor<5x6xf32>) -> tensor<4x6xf32> {
  %0 = array.dot_general %x, %y contracting = [1] x [0] : (tensor<4x5xf32>, tensor<5x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

// The loops are batch, lhs free, rhs free, contracting, for any order in the operands.
// CHECK-DAG: affine_map<(d0, d1, d2, d3) -> (d3, d0, d1)>
// CHECK-DAG: affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
// CHECK-DAG: affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
// CHECK-LABEL: func @batch
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<8x?x6xf64>)
func.func @batch(%x: tensor<5x8x?xf64>, %y: tensor<8x6x5xf64>) -> tensor<8x?x6xf64> {
  %0 = array.dot_general %x, %y batch = [1] x [0] contracting = [0] x [2]
      : (tensor<5x8x?xf64>, tensor<8x6x5xf64>) -> tensor<8x?x6xf64>
  return %0 : tensor<8x?x6xf64>
}

// -----

// CHECK-LABEL: func @integers
// CHECK: arith.extui %{{.*}} : i8 to i32
// CHECK: arith.extui
// CHECK: arith.muli
// CHECK: arith.addi
func.func @integers(%x: tensor<5xui8>, %y: tensor<5xui8>) -> tensor<ui32> {
  %0 = array.dot_general %x, %y contracting = [0] x [0] : (tensor<5xui8>, tensor<5xui8>) -> tensor<ui32>
  return %0 : tensor<ui32>
}

// -----

// Half precision accumulates in single precision.
// CHECK-LABEL: func @half
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK: arith.truncf %{{.*}} : f32 to f16
func.func @half(%x: tensor<4x5xf16>, %y: tensor<5xf16>) -> tensor<4xf16> {
  %0 = array.dot_general %x, %y contracting = [1] x [0] : (tensor<4x5xf16>, tensor<5xf16>) -> tensor<4xf16>
  return %0 : tensor<4xf16>
}
