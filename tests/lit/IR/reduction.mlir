// RUN: array-opt %s | array-opt | FileCheck %s
// RUN: array-opt %s --mlir-print-op-generic | array-opt | FileCheck %s

// Reductions, argmax and argmin.

// CHECK-LABEL: @reduction
func.func @reduction(%x: tensor<4x5xf32>, %b: tensor<4x5xi1>, %u: tensor<4xui8>) {
  // CHECK: %{{.*}} = array.reduce_sum %{{.*}} axes = [0] : (tensor<4x5xf32>) -> tensor<5xf32>
  %0 = array.reduce_sum %x axes = [0] : (tensor<4x5xf32>) -> tensor<5xf32>
  // CHECK: %{{.*}} = array.reduce_prod %{{.*}} axes = [0] : (tensor<4x5xf32>) -> tensor<5xf32>
  %1 = array.reduce_prod %x axes = [0] : (tensor<4x5xf32>) -> tensor<5xf32>
  // CHECK: %{{.*}} = array.reduce_max %{{.*}} axes = [0] : (tensor<4x5xf32>) -> tensor<5xf32>
  %2 = array.reduce_max %x axes = [0] : (tensor<4x5xf32>) -> tensor<5xf32>
  // CHECK: %{{.*}} = array.reduce_min %{{.*}} axes = [0] : (tensor<4x5xf32>) -> tensor<5xf32>
  %3 = array.reduce_min %x axes = [0] : (tensor<4x5xf32>) -> tensor<5xf32>
  // CHECK: %{{.*}} = array.reduce_sum %{{.*}} axes = [0, 1] : (tensor<4x5xf32>) -> tensor<f32>
  %4 = array.reduce_sum %x axes = [0, 1] : (tensor<4x5xf32>) -> tensor<f32>
  // CHECK: %{{.*}} = array.reduce_max %{{.*}} axes = [1, 0] : (tensor<4x5xf32>) -> tensor<f32>
  %unordered = array.reduce_max %x axes = [1, 0] : (tensor<4x5xf32>) -> tensor<f32>
  // CHECK: %{{.*}} = array.reduce_and %{{.*}} axes = [1] : (tensor<4x5xi1>) -> tensor<4xi1>
  %5 = array.reduce_and %b axes = [1] : (tensor<4x5xi1>) -> tensor<4xi1>
  // CHECK: %{{.*}} = array.reduce_or %{{.*}} axes = [1] : (tensor<4x5xi1>) -> tensor<4xi1>
  %6 = array.reduce_or %b axes = [1] : (tensor<4x5xi1>) -> tensor<4xi1>
  // CHECK: %{{.*}} = array.reduce_max %{{.*}} axes = [1] : (tensor<4x5xi1>) -> tensor<4xi1>
  %7 = array.reduce_max %b axes = [1] : (tensor<4x5xi1>) -> tensor<4xi1>
  // CHECK: %{{.*}} = array.reduce_min %{{.*}} axes = [1] : (tensor<4x5xi1>) -> tensor<4xi1>
  %8 = array.reduce_min %b axes = [1] : (tensor<4x5xi1>) -> tensor<4xi1>
  // CHECK: %{{.*}} = array.reduce_or %{{.*}} axes = [0] : (tensor<4xui8>) -> tensor<ui8>
  %9 = array.reduce_or %u axes = [0] : (tensor<4xui8>) -> tensor<ui8>
  // CHECK: %{{.*}} = array.argmax %{{.*}} axis = 1 index_dtype = i32 : (tensor<4x5xf32>) -> tensor<4xi32>
  %10 = array.argmax %x axis = 1 index_dtype = i32 : (tensor<4x5xf32>) -> tensor<4xi32>
  // CHECK: %{{.*}} = array.argmin %{{.*}} axis = 0 index_dtype = i64 : (tensor<4x5xi1>) -> tensor<5xi64>
  %11 = array.argmin %b axis = 0 index_dtype = i64 : (tensor<4x5xi1>) -> tensor<5xi64>
  return
}

// CHECK-LABEL: @dynamic
func.func @dynamic(%x: tensor<?x5x?xf32>) {
  // CHECK: %{{.*}} = array.reduce_sum %{{.*}} axes = [0] : (tensor<?x5x?xf32>) -> tensor<5x?xf32>
  %0 = array.reduce_sum %x axes = [0] : (tensor<?x5x?xf32>) -> tensor<5x?xf32>
  // CHECK: %{{.*}} = array.reduce_sum %{{.*}} axes = [2] : (tensor<?x5x?xf32>) -> tensor<4x5xf32>
  %1 = array.reduce_sum %x axes = [2] : (tensor<?x5x?xf32>) -> tensor<4x5xf32>
  // CHECK: %{{.*}} = array.argmax %{{.*}} axis = 0 index_dtype = i32 : (tensor<?x5x?xf32>) -> tensor<5x?xi32>
  %2 = array.argmax %x axis = 0 index_dtype = i32 : (tensor<?x5x?xf32>) -> tensor<5x?xi32>
  return
}
