// RUN: array-opt %s | array-opt | FileCheck %s
// RUN: array-opt %s --mlir-print-op-generic | array-opt | FileCheck %s

// dot_general, printed without an empty batch.

// CHECK-LABEL: @contraction
func.func @contraction(%x: tensor<4x5xf32>, %y: tensor<5x6xf32>, %u: tensor<8x4x5xbf16>, %w: tensor<8x5x6xbf16>, %i: tensor<3xi8>) {
  // CHECK: %{{.*}} = array.dot_general %{{.*}}, %{{.*}} contracting = [1] x [0] : (tensor<4x5xf32>, tensor<5x6xf32>) -> tensor<4x6xf32>
  %0 = array.dot_general %x, %y contracting = [1] x [0] : (tensor<4x5xf32>, tensor<5x6xf32>) -> tensor<4x6xf32>
  // CHECK: %{{.*}} = array.dot_general %{{.*}}, %{{.*}} batch = [0] x [0] contracting = [2] x [1] : (tensor<8x4x5xbf16>, tensor<8x5x6xbf16>) -> tensor<8x4x6xf32>
  %1 = array.dot_general %u, %w batch = [0] x [0] contracting = [2] x [1] : (tensor<8x4x5xbf16>, tensor<8x5x6xbf16>) -> tensor<8x4x6xf32>
  // CHECK: %{{.*}} = array.dot_general %{{.*}}, %{{.*}} contracting = [0] x [0] : (tensor<3xi8>, tensor<3xi8>) -> tensor<i32>
  %2 = array.dot_general %i, %i contracting = [0] x [0] : (tensor<3xi8>, tensor<3xi8>) -> tensor<i32>
  // CHECK: %{{.*}} = array.dot_general %{{.*}}, %{{.*}} contracting = [] x [] : (tensor<3xi8>, tensor<3xi8>) -> tensor<3x3xi8>
  %3 = array.dot_general %i, %i contracting = [] x [] : (tensor<3xi8>, tensor<3xi8>) -> tensor<3x3xi8>
  return
}

// CHECK-LABEL: @dynamic
func.func @dynamic(%x: tensor<?x5xf32>, %y: tensor<?x6xf32>) {
  // CHECK: %{{.*}} = array.dot_general %{{.*}}, %{{.*}} contracting = [1] x [0] : (tensor<?x5xf32>, tensor<?x6xf32>) -> tensor<?x6xf32>
  %0 = array.dot_general %x, %y contracting = [1] x [0] : (tensor<?x5xf32>, tensor<?x6xf32>) -> tensor<?x6xf32>
  // CHECK: %{{.*}} = array.dot_general %{{.*}}, %{{.*}} batch = [0] x [0] contracting = [] x [] : (tensor<?x5xf32>, tensor<?x6xf32>) -> tensor<2x5x6xf32>
  %1 = array.dot_general %x, %y batch = [0] x [0] contracting = [] x [] : (tensor<?x5xf32>, tensor<?x6xf32>) -> tensor<2x5x6xf32>
  return
}
