// RUN: array-opt %s | array-opt | FileCheck %s
// RUN: array-opt %s --mlir-print-op-generic | array-opt | FileCheck %s

// Ops that move elements by static positions.

// CHECK-LABEL: @movement
func.func @movement(%x: tensor<4x5xf32>, %v: tensor<5xf32>, %s: tensor<f32>, %b: tensor<4xi1>) {
  // CHECK: %{{.*}} = array.broadcast_in_dim %{{.*}} broadcast_dimensions = [1] : (tensor<5xf32>) -> tensor<4x5xf32>
  %0 = array.broadcast_in_dim %v broadcast_dimensions = [1] : (tensor<5xf32>) -> tensor<4x5xf32>
  // CHECK: %{{.*}} = array.broadcast_in_dim %{{.*}} broadcast_dimensions = [] : (tensor<f32>) -> tensor<4x5xf32>
  %1 = array.broadcast_in_dim %s broadcast_dimensions = [] : (tensor<f32>) -> tensor<4x5xf32>
  // CHECK: %{{.*}} = array.reshape %{{.*}} : (tensor<4x5xf32>) -> tensor<20xf32>
  %2 = array.reshape %x : (tensor<4x5xf32>) -> tensor<20xf32>
  // CHECK: %{{.*}} = array.transpose %{{.*}} permutation = [1, 0] : (tensor<4x5xf32>) -> tensor<5x4xf32>
  %3 = array.transpose %x permutation = [1, 0] : (tensor<4x5xf32>) -> tensor<5x4xf32>
  // CHECK: %{{.*}} = array.slice %{{.*}} start_indices = [0, 1] limit_indices = [4, 5] strides = [1, 2] : (tensor<4x5xf32>) -> tensor<4x2xf32>
  %4 = array.slice %x start_indices = [0, 1] limit_indices = [4, 5] strides = [1, 2] : (tensor<4x5xf32>) -> tensor<4x2xf32>
  // CHECK: %{{.*}} = array.pad %{{.*}}, %{{.*}} low = [1, -1] high = [0, 2] interior = [0, 1] : (tensor<4x5xf32>, tensor<f32>) -> tensor<5x10xf32>
  %5 = array.pad %x, %s low = [1, -1] high = [0, 2] interior = [0, 1] : (tensor<4x5xf32>, tensor<f32>) -> tensor<5x10xf32>
  // CHECK: %{{.*}} = array.concatenate %{{.*}}, %{{.*}}, %{{.*}} dimension = 1 : (tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x15xf32>
  %6 = array.concatenate %x, %x, %x dimension = 1 : (tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x15xf32>
  // CHECK: %{{.*}} = array.reverse %{{.*}} dimensions = [0, 1] : tensor<4x5xf32>
  %7 = array.reverse %x dimensions = [0, 1] : tensor<4x5xf32>
  // CHECK: %{{.*}} = array.reverse %{{.*}} dimensions = [0] : tensor<4xi1>
  %8 = array.reverse %b dimensions = [0] : tensor<4xi1>
  return
}

// CHECK-LABEL: @dynamic
func.func @dynamic(%x: tensor<?x5xf32>, %y: tensor<4x?xf32>, %v: tensor<?xf32>, %s: tensor<f32>, %n: index) {
  // CHECK: %{{.*}} = array.broadcast_in_dim %{{.*}} broadcast_dimensions = [1] : (tensor<?xf32>) -> tensor<4x?xf32>
  %0 = array.broadcast_in_dim %v broadcast_dimensions = [1] : (tensor<?xf32>) -> tensor<4x?xf32>
  // CHECK: %{{.*}} = array.broadcast_in_dim %{{.*}} broadcast_dimensions = [1] output_dims(%{{.*}}, %{{.*}}) : (tensor<?xf32>) -> tensor<?x?xf32>
  %1 = array.broadcast_in_dim %v broadcast_dimensions = [1] output_dims(%n, %n) : (tensor<?xf32>) -> tensor<?x?xf32>
  // CHECK: %{{.*}} = array.reshape %{{.*}} : (tensor<?xf32>) -> tensor<4x?xf32>
  %2 = array.reshape %v : (tensor<?xf32>) -> tensor<4x?xf32>
  // CHECK: %{{.*}} = array.reshape %{{.*}} output_dims(%{{.*}}, %{{.*}}) : (tensor<?xf32>) -> tensor<?x?xf32>
  %3 = array.reshape %v output_dims(%n, %n) : (tensor<?xf32>) -> tensor<?x?xf32>
  // CHECK: %{{.*}} = array.reshape %{{.*}} : (tensor<?xf32>) -> tensor<2x2xf32>
  %4 = array.reshape %v : (tensor<?xf32>) -> tensor<2x2xf32>
  // CHECK: %{{.*}} = array.transpose %{{.*}} permutation = [1, 0] : (tensor<?x5xf32>) -> tensor<5x?xf32>
  %5 = array.transpose %x permutation = [1, 0] : (tensor<?x5xf32>) -> tensor<5x?xf32>
  // CHECK: %{{.*}} = array.slice %{{.*}} start_indices = [1, 0] limit_indices = [3, 5] strides = [1, 1] : (tensor<?x5xf32>) -> tensor<2x5xf32>
  %6 = array.slice %x start_indices = [1, 0] limit_indices = [3, 5] strides = [1, 1] : (tensor<?x5xf32>) -> tensor<2x5xf32>
  // CHECK: %{{.*}} = array.pad %{{.*}}, %{{.*}} low = [1, 1] high = [0, 0] interior = [0, 0] : (tensor<?x5xf32>, tensor<f32>) -> tensor<?x6xf32>
  %7 = array.pad %x, %s low = [1, 1] high = [0, 0] interior = [0, 0] : (tensor<?x5xf32>, tensor<f32>) -> tensor<?x6xf32>
  // CHECK: %{{.*}} = array.concatenate %{{.*}}, %{{.*}} dimension = 0 : (tensor<?x5xf32>, tensor<4x?xf32>) -> tensor<?x5xf32>
  %8 = array.concatenate %x, %y dimension = 0 : (tensor<?x5xf32>, tensor<4x?xf32>) -> tensor<?x5xf32>
  // CHECK: %{{.*}} = array.reverse %{{.*}} dimensions = [0] : (tensor<?x5xf32>) -> tensor<4x5xf32>
  %9 = array.reverse %x dimensions = [0] : (tensor<?x5xf32>) -> tensor<4x5xf32>
  return
}
