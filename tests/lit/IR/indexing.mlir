// RUN: array-opt %s | array-opt | FileCheck %s
// RUN: array-opt %s --mlir-print-op-generic | array-opt | FileCheck %s

// Ops whose positions are data.

// CHECK-LABEL: @indexing
func.func @indexing(%x: tensor<4x5xf32>, %b: tensor<2x3xf32>, %i: tensor<i32>, %r: tensor<7x2xi32>, %u: tensor<7x2x5xf32>, %j: tensor<i64>) {
  // CHECK: %{{.*}} = array.dynamic_slice %{{.*}} at(%{{.*}}, %{{.*}}) slice_sizes = [2, 3] : (tensor<4x5xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  %0 = array.dynamic_slice %x at(%i, %i) slice_sizes = [2, 3] : (tensor<4x5xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  // CHECK: %{{.*}} = array.dynamic_update_slice %{{.*}}, %{{.*}} at(%{{.*}}, %{{.*}}) : (tensor<4x5xf32>, tensor<2x3xf32>, tensor<i64>, tensor<i64>) -> tensor<4x5xf32>
  %1 = array.dynamic_update_slice %x, %b at(%j, %j) : (tensor<4x5xf32>, tensor<2x3xf32>, tensor<i64>, tensor<i64>) -> tensor<4x5xf32>
  // CHECK: %{{.*}} = array.gather %{{.*}} at(%{{.*}}) {collapsed_slice_dims = array<i64: 0>, mode = "clip", offset_dims = array<i64: 2>, slice_sizes = array<i64: 1, 5>, start_index_map = array<i64: 0>} : (tensor<4x5xf32>, tensor<7x2xi32>) -> tensor<7x2x5xf32>
  %2 = array.gather %x at(%r) {collapsed_slice_dims = array<i64: 0>, mode = "clip", offset_dims = array<i64: 2>, slice_sizes = array<i64: 1, 5>, start_index_map = array<i64: 0>} : (tensor<4x5xf32>, tensor<7x2xi32>) -> tensor<7x2x5xf32>
  // CHECK: %{{.*}} = array.gather %{{.*}} at(%{{.*}}) {collapsed_slice_dims = array<i64: 0>, mode = "clip", offset_dims = array<i64: 0>, slice_sizes = array<i64: 1, 5>, start_index_map = array<i64: 0>} : (tensor<4x5xf32>, tensor<i32>) -> tensor<5xf32>
  %3 = array.gather %x at(%i) {collapsed_slice_dims = array<i64: 0>, mode = "clip", offset_dims = array<i64: 0>, slice_sizes = array<i64: 1, 5>, start_index_map = array<i64: 0>} : (tensor<4x5xf32>, tensor<i32>) -> tensor<5xf32>
  // CHECK: %{{.*}} = array.scatter %{{.*}}, %{{.*}} at(%{{.*}}) {inserted_window_dims = array<i64: 0>, kind = "add", mode = "fill", scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 2>} : (tensor<4x5xf32>, tensor<7x2x5xf32>, tensor<7x2xi32>) -> tensor<4x5xf32>
  %4 = array.scatter %x, %u at(%r) {inserted_window_dims = array<i64: 0>, kind = "add", mode = "fill", scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 2>} : (tensor<4x5xf32>, tensor<7x2x5xf32>, tensor<7x2xi32>) -> tensor<4x5xf32>
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
  // CHECK: %{{.*}} = array.gather %{{.*}} at(%{{.*}}) {collapsed_slice_dims = array<i64: 0>, mode = "clip", offset_dims = array<i64: 1>, slice_sizes = array<i64: 1, 5>, start_index_map = array<i64: 0>} : (tensor<?x5xf32>, tensor<?xi32>) -> tensor<?x5xf32>
  %2 = array.gather %x at(%r) {collapsed_slice_dims = array<i64: 0>, mode = "clip", offset_dims = array<i64: 1>, slice_sizes = array<i64: 1, 5>, start_index_map = array<i64: 0>} : (tensor<?x5xf32>, tensor<?xi32>) -> tensor<?x5xf32>
  // CHECK: %{{.*}} = array.scatter %{{.*}}, %{{.*}} at(%{{.*}}) {inserted_window_dims = array<i64: 0>, kind = "add", mode = "fill", scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>} : (tensor<?x5xf32>, tensor<7x5xf32>, tensor<?xi32>) -> tensor<?x5xf32>
  %3 = array.scatter %x, %u at(%r) {inserted_window_dims = array<i64: 0>, kind = "add", mode = "fill", scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>} : (tensor<?x5xf32>, tensor<7x5xf32>, tensor<?xi32>) -> tensor<?x5xf32>
  return
}
