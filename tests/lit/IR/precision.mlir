// Rewrites of a matmul keep its precision, and so does the lowering to linalg.
// RUN: array-opt %s | array-opt | FileCheck %s
// RUN: array-opt %s --canonicalize | FileCheck %s --check-prefix=CANONICAL
// RUN: array-opt %s --array-to-linalg | FileCheck %s --check-prefix=LINALG

// CHECK-LABEL: func.func @product
// CHECK: array.dot_general {{.*}} {array.precision = "tf32"}
// CANONICAL-LABEL: func.func @product
// CANONICAL-NOT: array.transpose
// CANONICAL: array.dot_general {{.*}} contracting = [0] x [0] {array.precision = "tf32"}
// LINALG-LABEL: func.func @product
// LINALG: linalg.generic
// LINALG-SAME: array.precision = "tf32"
func.func @product(%x: tensor<512x64xf32>, %y: tensor<512x32xf32>) -> tensor<64x32xf32> {
  %t = array.transpose %x permutation = [1, 0] : (tensor<512x64xf32>) -> tensor<64x512xf32>
  %0 = array.dot_general %t, %y contracting = [1] x [0] {array.precision = "tf32"} : (tensor<64x512xf32>, tensor<512x32xf32>) -> tensor<64x32xf32>
  return %0 : tensor<64x32xf32>
}

// The transpose of a matmul is a matmul of the same precision.
// CANONICAL-LABEL: func.func @transposed
// CANONICAL-NOT: array.transpose
// CANONICAL: array.dot_general %arg1, %arg0 {{.*}} {array.precision = "tf32"}
func.func @transposed(%x: tensor<64x512xf32>, %y: tensor<512x32xf32>) -> tensor<32x64xf32> {
  %0 = array.dot_general %x, %y contracting = [1] x [0] {array.precision = "tf32"} : (tensor<64x512xf32>, tensor<512x32xf32>) -> tensor<64x32xf32>
  %1 = array.transpose %0 permutation = [1, 0] : (tensor<64x32xf32>) -> tensor<32x64xf32>
  return %1 : tensor<32x64xf32>
}

// For an operand that is padded first.
// CHECK-LABEL: func.func @convolution
// CHECK: array.precision = "tf32"
// LINALG-LABEL: func.func @convolution
// LINALG: array.precision = "tf32"
func.func @convolution(%x: tensor<2x8x16x8xf32>, %w: tensor<3x3x8x16xf32>) -> tensor<2x8x16x16xf32> {
  %0 = array.conv_general_dilated %x, %w window_strides = [1, 1] low = [1, 1] high = [1, 1] lhs_dilation = [1, 1]
         rhs_dilation = [1, 1] lhs_spec = [0, 3, 1, 2] rhs_spec = [3, 2, 0, 1] out_spec = [0, 3, 1, 2]
         feature_group_count = 1 batch_group_count = 1 {array.precision = "tf32"}
         : (tensor<2x8x16x8xf32>, tensor<3x3x8x16xf32>) -> tensor<2x8x16x16xf32>
  return %0 : tensor<2x8x16x16xf32>
}
