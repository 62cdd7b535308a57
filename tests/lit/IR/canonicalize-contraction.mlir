// RUN: array-opt %s --canonicalize --split-input-file | FileCheck %s

// Transposes around a matmul become its dimension numbers.

// CHECK-LABEL: @of_transposes
// CHECK-SAME: (%[[X:.*]]: tensor<5x4xf32>, %[[Y:.*]]: tensor<6x5xf32>)
func.func @of_transposes(%x: tensor<5x4xf32>, %y: tensor<6x5xf32>) -> tensor<4x6xf32> {
  // CHECK-NOT: array.transpose
  // CHECK: array.dot_general %[[X]], %[[Y]] contracting = [0] x [1] : (tensor<5x4xf32>, tensor<6x5xf32>) -> tensor<4x6xf32>
  %0 = array.transpose %x permutation = [1, 0] : (tensor<5x4xf32>) -> tensor<4x5xf32>
  %1 = array.transpose %y permutation = [1, 0] : (tensor<6x5xf32>) -> tensor<5x6xf32>
  %2 = array.dot_general %0, %1 contracting = [1] x [0] : (tensor<4x5xf32>, tensor<5x6xf32>) -> tensor<4x6xf32>
  return %2 : tensor<4x6xf32>
}

// -----

// Attention: the heads move in front of the sequence, which is free.
// CHECK-LABEL: @of_batch_transposes
// CHECK-SAME: (%[[X:.*]]: tensor<2x7x3x4xf32>, %[[Y:.*]]: tensor<2x8x3x4xf32>)
func.func @of_batch_transposes(%x: tensor<2x7x3x4xf32>, %y: tensor<2x8x3x4xf32>) -> tensor<2x3x7x8xf32> {
  // CHECK-NOT: array.transpose
  // CHECK: array.dot_general %[[X]], %[[Y]] batch = [0, 2] x [0, 2] contracting = [3] x [3]
  %0 = array.transpose %x permutation = [0, 2, 1, 3] : (tensor<2x7x3x4xf32>) -> tensor<2x3x7x4xf32>
  %1 = array.transpose %y permutation = [0, 2, 3, 1] : (tensor<2x8x3x4xf32>) -> tensor<2x3x4x8xf32>
  %2 = array.dot_general %0, %1 batch = [0, 1] x [0, 1] contracting = [3] x [2] : (tensor<2x3x7x4xf32>, tensor<2x3x4x8xf32>) -> tensor<2x3x7x8xf32>
  return %2 : tensor<2x3x7x8xf32>
}

// -----

// Two free dimensions change places: the result would.
// CHECK-LABEL: @of_free_transpose
func.func @of_free_transpose(%x: tensor<4x3x5xf32>, %y: tensor<5xf32>) -> tensor<3x4xf32> {
  // CHECK: array.transpose
  %0 = array.transpose %x permutation = [1, 0, 2] : (tensor<4x3x5xf32>) -> tensor<3x4x5xf32>
  // CHECK: array.dot_general
  %1 = array.dot_general %0, %y contracting = [2] x [0] : (tensor<3x4x5xf32>, tensor<5xf32>) -> tensor<3x4xf32>
  return %1 : tensor<3x4xf32>
}

// -----

// CHECK-LABEL: @transposed
// CHECK-SAME: (%[[X:.*]]: tensor<4x5xf32>, %[[Y:.*]]: tensor<5x6xf32>)
func.func @transposed(%x: tensor<4x5xf32>, %y: tensor<5x6xf32>) -> tensor<6x4xf32> {
  // CHECK-NOT: array.transpose
  // CHECK: array.dot_general %[[Y]], %[[X]] contracting = [0] x [1] : (tensor<5x6xf32>, tensor<4x5xf32>) -> tensor<6x4xf32>
  %0 = array.dot_general %x, %y contracting = [1] x [0] : (tensor<4x5xf32>, tensor<5x6xf32>) -> tensor<4x6xf32>
  %1 = array.transpose %0 permutation = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
  return %1 : tensor<6x4xf32>
}

// -----

// CHECK-LABEL: @transposed_batch
// CHECK-SAME: (%[[X:.*]]: tensor<8x4x3x5xf32>, %[[Y:.*]]: tensor<8x5x6xf32>)
func.func @transposed_batch(%x: tensor<8x4x3x5xf32>, %y: tensor<8x5x6xf32>) -> tensor<8x6x4x3xbf16> {
  // CHECK: %[[DOT:.*]] = array.dot_general %[[Y]], %[[X]] batch = [0] x [0] contracting = [1] x [3] : (tensor<8x5x6xf32>, tensor<8x4x3x5xf32>) -> tensor<8x6x4x3xf32>
  // CHECK: array.convert %[[DOT]]
  %0 = array.dot_general %x, %y batch = [0] x [0] contracting = [3] x [1] : (tensor<8x4x3x5xf32>, tensor<8x5x6xf32>) -> tensor<8x4x3x6xf32>
  %1 = array.transpose %0 permutation = [0, 3, 1, 2] : (tensor<8x4x3x6xf32>) -> tensor<8x6x4x3xf32>
  %2 = array.convert %1 : (tensor<8x6x4x3xf32>) -> tensor<8x6x4x3xbf16>
  return %2 : tensor<8x6x4x3xbf16>
}

// -----

// Another order than that of swapped operands stays a transpose; a matmul with other uses is not computed twice.
// CHECK-LABEL: @not_transposed
func.func @not_transposed(%x: tensor<8x4x5xf32>, %y: tensor<8x5x6xf32>, %a: tensor<4x5xf32>, %b: tensor<5x6xf32>)
    -> (tensor<4x8x6xf32>, tensor<4x6xf32>, tensor<6x4xf32>) {
  // CHECK: array.transpose %{{.*}} permutation = [1, 0, 2]
  %0 = array.dot_general %x, %y batch = [0] x [0] contracting = [2] x [1] : (tensor<8x4x5xf32>, tensor<8x5x6xf32>) -> tensor<8x4x6xf32>
  %1 = array.transpose %0 permutation = [1, 0, 2] : (tensor<8x4x6xf32>) -> tensor<4x8x6xf32>
  // CHECK: array.dot_general
  // CHECK: array.transpose %{{.*}} permutation = [1, 0]
  %2 = array.dot_general %a, %b contracting = [1] x [0] : (tensor<4x5xf32>, tensor<5x6xf32>) -> tensor<4x6xf32>
  %3 = array.transpose %2 permutation = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
  return %1, %2, %3 : tensor<4x8x6xf32>, tensor<4x6xf32>, tensor<6x4xf32>
}

// -----

// The derivative of x.w by w, as transposition of the matmul gives it: x^T . g without a transpose.
// CHECK-LABEL: @gradient
// CHECK-SAME: (%[[X:.*]]: tensor<128x784xf32>, %[[G:.*]]: tensor<128x512xf32>)
func.func @gradient(%x: tensor<128x784xf32>, %g: tensor<128x512xf32>) -> tensor<784x512xf32> {
  // CHECK-NEXT: %[[DW:.*]] = array.dot_general %[[X]], %[[G]] contracting = [0] x [0] : (tensor<128x784xf32>, tensor<128x512xf32>) -> tensor<784x512xf32>
  // CHECK-NEXT: return %[[DW]]
  %0 = array.dot_general %g, %x contracting = [0] x [0] : (tensor<128x512xf32>, tensor<128x784xf32>) -> tensor<512x784xf32>
  %1 = array.transpose %0 permutation = [1, 0] : (tensor<512x784xf32>) -> tensor<784x512xf32>
  return %1 : tensor<784x512xf32>
}
