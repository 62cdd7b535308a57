// Sums of products: matmuls, batches, inner products, and convolutions.

// RUN: array-run %s --entry=matrices --input='[[1, 2, 3], [4, 5, 6]]' --input='[[1, 0], [-1, 2], [0.5, 1]]' \
// RUN:   --expect='[[0.5, 7], [2, 16]]' --expect='[[17, 22, 27], [22, 29, 36], [27, 36, 45]]' --expect='91'
func.func @matrices(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>) -> (tensor<2x2xf32>, tensor<3x3xf32>, tensor<f32>) {
  %0 = array.dot_general %a, %b contracting = [1] x [0] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  %1 = array.dot_general %a, %a contracting = [0] x [0] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<3x3xf32>
  %2 = array.dot_general %a, %a contracting = [0, 1] x [0, 1] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<f32>
  return %0, %1, %2 : tensor<2x2xf32>, tensor<3x3xf32>, tensor<f32>
}

// RUN: array-run %s --entry=batches --input='[[[1, 2]], [[3, 4]]]' --input='[[[1], [1]], [[2], [-1]]]' \
// RUN:   --expect='[[[3]], [[2]]]'
func.func @batches(%a: tensor<2x1x2xi32>, %b: tensor<2x2x1xi32>) -> tensor<2x1x1xi32> {
  %0 = array.dot_general %a, %b batch = [0] x [0] contracting = [2] x [1] : (tensor<2x1x2xi32>, tensor<2x2x1xi32>) -> tensor<2x1x1xi32>
  return %0 : tensor<2x1x1xi32>
}

// The sum has the type of the result: 12700 is no i8, 257 no bf16.
// RUN: array-run %s --entry=wider --input='[[100, 100]]' --input='[[100], [27]]' --input='[[256, 1]]' \
// RUN:   --input='[[1], [1]]' --expect='[[12700]]' --expect='[[257]]'
func.func @wider(%a: tensor<1x2xi8>, %b: tensor<2x1xi8>, %c: tensor<1x2xbf16>, %d: tensor<2x1xbf16>)
    -> (tensor<1x1xi32>, tensor<1x1xf32>) {
  %0 = array.dot_general %a, %b contracting = [1] x [0] : (tensor<1x2xi8>, tensor<2x1xi8>) -> tensor<1x1xi32>
  %1 = array.dot_general %c, %d contracting = [1] x [0] : (tensor<1x2xbf16>, tensor<2x1xbf16>) -> tensor<1x1xf32>
  return %0, %1 : tensor<1x1xi32>, tensor<1x1xf32>
}

// By the kernels of large matrices: the elements are their row, and their column, so that element (i, j) is 70 i j.
// RUN: array-run %s --entry=large \
// RUN:   --expect='[0, 169050, 338100, 507150, 676200, 845250, 1014300, 1183350, 1352400, 1521450, 1690500, 1859550, 2028600, 2197650, 2366700, 2535750, 2704800, 2873850, 3042900, 3211950, 3381000, 3550050, 3719100, 3888150, 4057200, 4226250, 4395300, 4564350, 4733400, 4902450, 5071500, 5240550, 5409600, 5578650, 5747700, 5916750, 6085800, 6254850, 6423900, 6592950, 6762000, 6931050, 7100100, 7269150, 7438200, 7607250, 7776300, 7945350, 8114400, 8283450, 8452500, 8621550, 8790600, 8959650, 9128700, 9297750, 9466800, 9635850, 9804900, 9973950, 1.0143e+07, 1.031205e+07, 1.04811e+07, 1.065015e+07, 1.08192e+07, 1.098825e+07, 1.11573e+07, 1.132635e+07, 1.14954e+07, 1.166445e+07]' \
// RUN:   --expect='fill:0'
func.func @large() -> (tensor<70xf32>, tensor<70x70xf32>) {
  %i = array.iota dimension = 0 : tensor<70x70xf32>
  %j = array.iota dimension = 1 : tensor<70x70xf32>
  %p = array.dot_general %i, %j contracting = [1] x [0] : (tensor<70x70xf32>, tensor<70x70xf32>) -> tensor<70x70xf32>
  %d = array.reduce_sum %p axes = [1] : (tensor<70x70xf32>) -> tensor<70xf32>
  %m = array.mul %i, %j : tensor<70x70xf32>
  %c = array.constant dense<70.0> : tensor<70x70xf32>
  %e = array.mul %m, %c : tensor<70x70xf32>
  %z = array.sub %p, %e : tensor<70x70xf32>
  return %d, %z : tensor<70xf32>, tensor<70x70xf32>
}

// Plain; by steps of two, padded; spread; with a spread kernel; a group for each feature.
// RUN: array-run %s --entry=convolutions --input='[[[1, 2, 3, 4, 5]]]' --input='[[[1, 0, -1]]]' \
// RUN:   --input='[[[1, 2], [3, 4]]]' --input='[[[10]], [[100]]]' --expect='[[[-2, -2, -2]]]' \
// RUN:   --expect='[[[-2, -2, 4]]]' --expect='[[[-1, 0, -1, 0, -1, 0, -1]]]' --expect='[[[-4]]]' \
// RUN:   --expect='[[[10, 20], [300, 400]]]'
func.func @convolutions(%x: tensor<1x1x5xf32>, %w: tensor<1x1x3xf32>, %y: tensor<1x2x2xf32>, %v: tensor<2x1x1xf32>)
    -> (tensor<1x1x3xf32>, tensor<1x1x3xf32>, tensor<1x1x7xf32>, tensor<1x1x1xf32>, tensor<1x2x2xf32>) {
  %0 = array.conv_general_dilated %x, %w window_strides = [1] low = [0] high = [0] lhs_dilation = [1]
         rhs_dilation = [1] lhs_spec = [0, 1, 2] rhs_spec = [0, 1, 2] out_spec = [0, 1, 2] feature_group_count = 1
         batch_group_count = 1 : (tensor<1x1x5xf32>, tensor<1x1x3xf32>) -> tensor<1x1x3xf32>
  %1 = array.conv_general_dilated %x, %w window_strides = [2] low = [1] high = [1] lhs_dilation = [1]
         rhs_dilation = [1] lhs_spec = [0, 1, 2] rhs_spec = [0, 1, 2] out_spec = [0, 1, 2] feature_group_count = 1
         batch_group_count = 1 : (tensor<1x1x5xf32>, tensor<1x1x3xf32>) -> tensor<1x1x3xf32>
  %2 = array.conv_general_dilated %x, %w window_strides = [1] low = [0] high = [0] lhs_dilation = [2]
         rhs_dilation = [1] lhs_spec = [0, 1, 2] rhs_spec = [0, 1, 2] out_spec = [0, 1, 2] feature_group_count = 1
         batch_group_count = 1 : (tensor<1x1x5xf32>, tensor<1x1x3xf32>) -> tensor<1x1x7xf32>
  %3 = array.conv_general_dilated %x, %w window_strides = [1] low = [0] high = [0] lhs_dilation = [1]
         rhs_dilation = [2] lhs_spec = [0, 1, 2] rhs_spec = [0, 1, 2] out_spec = [0, 1, 2] feature_group_count = 1
         batch_group_count = 1 : (tensor<1x1x5xf32>, tensor<1x1x3xf32>) -> tensor<1x1x1xf32>
  %4 = array.conv_general_dilated %y, %v window_strides = [1] low = [0] high = [0] lhs_dilation = [1]
         rhs_dilation = [1] lhs_spec = [0, 1, 2] rhs_spec = [0, 1, 2] out_spec = [0, 1, 2] feature_group_count = 2
         batch_group_count = 1 : (tensor<1x2x2xf32>, tensor<2x1x1xf32>) -> tensor<1x2x2xf32>
  return %0, %1, %2, %3, %4
      : tensor<1x1x3xf32>, tensor<1x1x3xf32>, tensor<1x1x7xf32>, tensor<1x1x1xf32>, tensor<1x2x2xf32>
}
