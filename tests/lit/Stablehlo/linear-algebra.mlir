// RUN: array-translate --stablehlo-to-array -split-input-file %s | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[A:.*]]: tensor<4x4xf32>)
// CHECK: array.cholesky %[[A]]
// The upper factor is read from that triangle.
// CHECK: %[[T:.*]] = array.transpose %[[A]]
// CHECK: %[[L:.*]] = array.cholesky %[[T]]
// CHECK: array.transpose %[[L]]
// CHECK: array.triangular_solve %[[A]], %{{.*}} {conjugate_a = true, left_side = true, lower = false, transpose_a = true, unit_diagonal = true}
// CHECK: array.fft %[[A]] type = "RFFT" fft_lengths = [4]
func.func @main(%a: tensor<4x4xf32>) -> tensor<4x3xcomplex<f32>> {
  %0 = stablehlo.cholesky %a, lower = true : tensor<4x4xf32>
  %1 = stablehlo.cholesky %a : tensor<4x4xf32>
  %2 = "stablehlo.triangular_solve"(%a, %0) <{left_side = true, lower = false, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = true}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = stablehlo.fft %a, type = RFFT, length = [4] : (tensor<4x4xf32>) -> tensor<4x3xcomplex<f32>>
  return %3 : tensor<4x3xcomplex<f32>>
}

// -----

// LAPACK counts pivots from 1; a failure gives nan in the results, so the status is always success.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[A:.*]]: tensor<2x4x4xf32>)
// CHECK: array.lu %[[A]]
// CHECK: %[[ONE:.*]] = array.constant dense<1> : tensor<2x4xi32>
// CHECK: array.add %{{.*}}, %[[ONE]]
// CHECK: array.constant dense<0> : tensor<2xi32>
// CHECK: array.triangular_solve %[[A]], %[[A]] {conjugate_a = false, left_side = true, lower = true, transpose_a = true, unit_diagonal = true}
// CHECK: array.svd %[[A]] {by_qr = false, compute_vectors = true, full_matrices = true}
func.func @main(%a: tensor<2x4x4xf32>) -> (tensor<2x4x4xf32>, tensor<2x4xi32>, tensor<2xi32>) {
  %0:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%a) {mhlo.backend_config = {}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k])->([i, l, m], [i, n], [i]) {i=2, j=4, k=4, l=4, m=4, n=4}, custom>} : (tensor<2x4x4xf32>) -> (tensor<2x4x4xf32>, tensor<2x4xi32>, tensor<2xi32>)
  %1 = stablehlo.custom_call @lapack_strsm_ffi(%a, %a) {mhlo.backend_config = {diag = 85 : ui8, side = 76 : ui8, trans_x = 84 : ui8, uplo = 76 : ui8}} : (tensor<2x4x4xf32>, tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %2:5 = stablehlo.custom_call @lapack_sgesdd_ffi(%a) {mhlo.backend_config = {mode = 65 : ui8}} : (tensor<2x4x4xf32>) -> (tensor<2x4x4xf32>, tensor<2x4xf32>, tensor<2x4x4xf32>, tensor<2x4x4xf32>, tensor<2xi32>)
  return %0#0, %0#1, %0#2 : tensor<2x4x4xf32>, tensor<2x4xi32>, tensor<2xi32>
}
