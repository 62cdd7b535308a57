// RUN: array-opt %s | array-opt | FileCheck %s
// RUN: array-opt %s --mlir-print-op-generic | array-opt | FileCheck %s

// Ops whose positions are data.

// CHECK-LABEL: @indexing
func.func @indexing(%x: tensor<4x5xf32>, %b: tensor<2x3xf32>, %i: tensor<i32>, %r: tensor<7x2xi32>, %u: tensor<7x2x5xf32>, %j: tensor<i64>) {
  // CHECK: %{{.*}} = array.dynamic_slice %{{.*}} at(%{{.*}}, %{{.*}}) slice_sizes = [2, 3] : (tensor<4x5xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  %0 = array.dynamic_slice %x at(%i, %i) slice_sizes = [2, 3] : (tensor<4x5xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  // CHECK: %{{.*}} = array.dynamic_update_slice %{{.*}}, %{{.*}} at(%{{.*}}, %{{.*}}) : (tensor<4x5xf32>, tensor<2x3xf32>, tensor<i64>, tensor<i64>) -> tensor<4x5xf32>
  %1 = array.dynamic_update_slice %x, %b at(%j, %j) : (tensor<4x5xf32>, tensor<2x3xf32>, tensor<i64>, tensor<i64>) -> tensor<4x5xf32>
  // CHECK: %{{.*}} = array.gather_rows %{{.*}}, %{{.*}} : (tensor<4x5xf32>, tensor<7x2xi32>) -> tensor<7x2x5xf32>
  %2 = array.gather_rows %x, %r : (tensor<4x5xf32>, tensor<7x2xi32>) -> tensor<7x2x5xf32>
  // CHECK: %{{.*}} = array.gather_rows %{{.*}}, %{{.*}} : (tensor<4x5xf32>, tensor<i32>) -> tensor<5xf32>
  %3 = array.gather_rows %x, %i : (tensor<4x5xf32>, tensor<i32>) -> tensor<5xf32>
  // CHECK: %{{.*}} = array.scatter_add_rows %{{.*}}, %{{.*}}, %{{.*}} : (tensor<4x5xf32>, tensor<7x2xi32>, tensor<7x2x5xf32>) -> tensor<4x5xf32>
  %4 = array.scatter_add_rows %x, %r, %u : (tensor<4x5xf32>, tensor<7x2xi32>, tensor<7x2x5xf32>) -> tensor<4x5xf32>
  return
}

// CHECK-LABEL: @scalar
func.func @scalar(%x: tensor<f32>) {
  // CHECK: %{{.*}} = array.dynamic_slice %{{.*}} at() slice_sizes = [] : (tensor<f32>) -> tensor<f32>
  %0 = array.dynamic_slice %x at() slice_sizes = [] : (tensor<f32>) -> tensor<f32>
  // CHECK: %{{.*}} = array.dynamic_update_slice %{{.*}}, %{{.*}} at() : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %1 = array.dynamic_update_slice %x, %x at() : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return
}

// CHECK-LABEL: @dynamic
func.func @dynamic(%x: tensor<?x5xf32>, %b: tensor<?x3xf32>, %i: tensor<i32>, %r: tensor<?xi32>, %u: tensor<7x5xf32>) {
  // CHECK: %{{.*}} = array.dynamic_slice %{{.*}} at(%{{.*}}, %{{.*}}) slice_sizes = [2, 3] : (tensor<?x5xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  %0 = array.dynamic_slice %x at(%i, %i) slice_sizes = [2, 3] : (tensor<?x5xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  // CHECK: %{{.*}} = array.dynamic_update_slice %{{.*}}, %{{.*}} at(%{{.*}}, %{{.*}}) : (tensor<?x5xf32>, tensor<?x3xf32>, tensor<i32>, tensor<i32>) -> tensor<?x5xf32>
  %1 = array.dynamic_update_slice %x, %b at(%i, %i) : (tensor<?x5xf32>, tensor<?x3xf32>, tensor<i32>, tensor<i32>) -> tensor<?x5xf32>
  // CHECK: %{{.*}} = array.gather_rows %{{.*}}, %{{.*}} : (tensor<?x5xf32>, tensor<?xi32>) -> tensor<?x5xf32>
  %2 = array.gather_rows %x, %r : (tensor<?x5xf32>, tensor<?xi32>) -> tensor<?x5xf32>
  // CHECK: %{{.*}} = array.scatter_add_rows %{{.*}}, %{{.*}}, %{{.*}} : (tensor<?x5xf32>, tensor<?xi32>, tensor<7x5xf32>) -> tensor<?x5xf32>
  %3 = array.scatter_add_rows %x, %r, %u : (tensor<?x5xf32>, tensor<?xi32>, tensor<7x5xf32>) -> tensor<?x5xf32>
  return
}
