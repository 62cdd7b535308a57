// RUN: array-opt %s | array-opt | FileCheck %s
// RUN: array-opt %s --mlir-print-op-generic | array-opt | FileCheck %s
// RUN: array-opt %s --emit-bytecode | array-opt | FileCheck %s

// Attributes that hold sizes have a ? for each size that is an operand.

// CHECK-LABEL: @movement
// CHECK-SAME: %[[N:[a-z0-9]+]]: index, %[[M:[a-z0-9]+]]: index
func.func @movement(%n: index, %m: index, %x: tensor<?x5xf32>, %s: tensor<f32>) {
  // CHECK: array.slice %{{.*}} start_indices = [?, 0] limit_indices = [?, 4] strides = [2, 1] sizes(%[[N]], %[[M]]) : (tensor<?x5xf32>) -> tensor<?x4xf32>
  %0 = array.slice %x start_indices = [?, 0] limit_indices = [?, 4] strides = [2, 1] sizes(%n, %m) : (tensor<?x5xf32>) -> tensor<?x4xf32>
  // CHECK: array.slice %{{.*}} start_indices = [0, ?] limit_indices = [3, ?] strides = [1, 1] sizes(%[[N]], %[[M]]) : (tensor<?x5xf32>) -> tensor<3x2xf32>
  %1 = array.slice %x start_indices = [0, ?] limit_indices = [3, ?] strides = [1, 1] sizes(%n, %m) : (tensor<?x5xf32>) -> tensor<3x2xf32>
  // CHECK: array.pad %{{.*}}, %{{.*}} low = [1, ?] high = [?, 0] interior = [0, 1] sizes(%[[M]], %[[N]]) : (tensor<?x5xf32>, tensor<f32>) -> tensor<?x?xf32>
  %2 = array.pad %x, %s low = [1, ?] high = [?, 0] interior = [0, 1] sizes(%m, %n) : (tensor<?x5xf32>, tensor<f32>) -> tensor<?x?xf32>
  return
}

// CHECK-LABEL: @indexing
// CHECK-SAME: %[[N:[a-z0-9]+]]: index
func.func @indexing(%n: index, %x: tensor<?x5xf32>, %s: tensor<f32>, %i: tensor<i32>, %v: tensor<?xi32>) {
  // CHECK: array.dynamic_slice %{{.*}} at(%{{.*}}, %{{.*}}) slice_sizes = [?, 3] sizes(%[[N]]) : (tensor<?x5xf32>, tensor<i32>, tensor<i32>, index) -> tensor<?x3xf32>
  %0 = array.dynamic_slice %x at(%i, %i) slice_sizes = [?, 3] sizes(%n) : (tensor<?x5xf32>, tensor<i32>, tensor<i32>, index) -> tensor<?x3xf32>
  // CHECK: array.gather %{{.*}} at(%{{.*}}, %{{.*}}) slice_sizes = [?, 1] sizes(%[[N]]) {collapsed_slice_dims = array<i64: 1>, mode = "fill", offset_dims = array<i64: 0>, start_index_map = array<i64: 1>} : (tensor<?x5xf32>, tensor<?xi32>, tensor<f32>, index) -> tensor<?x?xf32>
  %1 = array.gather %x at(%v, %s) slice_sizes = [?, 1] sizes(%n) {collapsed_slice_dims = array<i64: 1>, mode = "fill", offset_dims = array<i64: 0>, start_index_map = array<i64: 1>} : (tensor<?x5xf32>, tensor<?xi32>, tensor<f32>, index) -> tensor<?x?xf32>
  return
}

// CHECK-LABEL: @windows
// CHECK-SAME: %[[N:[a-z0-9]+]]: index, %[[M:[a-z0-9]+]]: index
func.func @windows(%n: index, %m: index, %x: tensor<?xf32>, %s: tensor<?xf32>, %a: tensor<2x3x?xf32>, %w: tensor<4x3x3xf32>) {
  // CHECK: array.reduce_window_max %{{.*}} window_dimensions = [?] window_strides = [1] low = [?] high = [0] base_dilation = [1] window_dilation = [1] sizes(%[[N]], %[[M]]) : (tensor<?xf32>) -> tensor<?xf32>
  %0 = array.reduce_window_max %x window_dimensions = [?] window_strides = [1] low = [?] high = [0] base_dilation = [1] window_dilation = [1] sizes(%n, %m) : (tensor<?xf32>) -> tensor<?xf32>
  // CHECK: array.select_and_gather %{{.*}}, %{{.*}} greatest = true window_dimensions = [2] window_strides = [2] low = [0] high = [?] base_dilation = [1] window_dilation = [1] sizes(%[[N]]) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %1 = array.select_and_gather %x, %x greatest = true window_dimensions = [2] window_strides = [2] low = [0] high = [?] base_dilation = [1] window_dilation = [1] sizes(%n) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  // CHECK: array.select_and_scatter %{{.*}}, %{{.*}} greatest = false window_dimensions = [2] window_strides = [2] low = [?] high = [0] base_dilation = [1] window_dilation = [1] sizes(%[[N]]) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %2 = array.select_and_scatter %s, %x greatest = false window_dimensions = [2] window_strides = [2] low = [?] high = [0] base_dilation = [1] window_dilation = [1] sizes(%n) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  // CHECK: array.conv_general_dilated %{{.*}}, %{{.*}} window_strides = [1] low = [?] high = [?] lhs_dilation = [1] rhs_dilation = [1] lhs_spec = [0, 1, 2] rhs_spec = [0, 1, 2] out_spec = [0, 1, 2] feature_group_count = 1 batch_group_count = 1 sizes(%[[N]], %[[M]]) : (tensor<2x3x?xf32>, tensor<4x3x3xf32>) -> tensor<2x4x?xf32>
  %3 = array.conv_general_dilated %a, %w window_strides = [1] low = [?] high = [?] lhs_dilation = [1] rhs_dilation = [1] lhs_spec = [0, 1, 2] rhs_spec = [0, 1, 2] out_spec = [0, 1, 2] feature_group_count = 1 batch_group_count = 1 sizes(%n, %m) : (tensor<2x3x?xf32>, tensor<4x3x3xf32>) -> tensor<2x4x?xf32>
  return
}

// CHECK-LABEL: @routines
// CHECK-SAME: %[[N:[a-z0-9]+]]: index
func.func @routines(%n: index, %x: tensor<3x?xf32>, %z: tensor<?x?xcomplex<f32>>, %p: tensor<?xi32>, %i: tensor<?xf32>, %o: tensor<?xf32>) {
  // CHECK: array.fft %{{.*}} type = "RFFT" fft_lengths = [3, ?] sizes(%[[N]]) : (tensor<3x?xf32>) -> tensor<3x?xcomplex<f32>>
  %0 = array.fft %x type = "RFFT" fft_lengths = [3, ?] sizes(%n) : (tensor<3x?xf32>) -> tensor<3x?xcomplex<f32>>
  // CHECK: array.fft %{{.*}} type = "IRFFT" fft_lengths = [?] sizes(%[[N]]) : (tensor<?x?xcomplex<f32>>) -> tensor<?x?xf32>
  %1 = array.fft %z type = "IRFFT" fft_lengths = [?] sizes(%n) : (tensor<?x?xcomplex<f32>>) -> tensor<?x?xf32>
  // CHECK: array.top_k %{{.*}} k = ? axis = 1 sizes(%[[N]]) : (tensor<3x?xf32>) -> (tensor<3x?xf32>, tensor<3x?xi32>)
  %2:2 = array.top_k %x k = ? axis = 1 sizes(%n) : (tensor<3x?xf32>) -> (tensor<3x?xf32>, tensor<3x?xi32>)
  // CHECK: array.lu_pivots_to_permutation %{{.*}} sizes(%[[N]]) {permutation_size = -9223372036854775808 : i64} : (tensor<?xi32>) -> tensor<?xi32>
  %3 = array.lu_pivots_to_permutation %p sizes(%n) {permutation_size = -9223372036854775808 : i64} : (tensor<?xi32>) -> tensor<?xi32>
  // CHECK: array.runtime_call "sort" params = [0, ?, 1] element_types = [f32, f32] ins(%{{.*}} : tensor<?xf32>) outs(%{{.*}} : tensor<?xf32>) sizes(%[[N]]) -> tensor<?xf32>
  %4 = array.runtime_call "sort" params = [0, ?, 1] element_types = [f32, f32] ins(%i : tensor<?xf32>) outs(%o : tensor<?xf32>) sizes(%n) -> tensor<?xf32>
  return
}

// CHECK-LABEL: @control
// CHECK-SAME: %[[N:[a-z0-9]+]]: index, %[[M:[a-z0-9]+]]: index
func.func @control(%n: index, %m: index, %zero: tensor<f32>, %x: tensor<?x?xf32>) {
  // CHECK: array.dim_as_value sizes(%[[N]]) : tensor<i64>
  %0 = array.dim_as_value sizes(%n) : tensor<i64>
  // CHECK: array.scan(%{{.*}}) () length = ? reverse = false sizes(%[[N]]) : (tensor<f32>, index) -> tensor<f32>
  %1 = array.scan(%zero) () length = ? reverse = false sizes(%n) : (tensor<f32>, index) -> tensor<f32> {
  ^bb0(%c: tensor<f32>):
    array.yield %c : tensor<f32>
  }
  // CHECK: array.scan() (%{{.*}}) length = ? reverse = true sizes(%[[N]]) output_dims(%[[N]], %[[M]]) : (tensor<?x?xf32>, index, index, index) -> tensor<?x?xf32>
  %2 = array.scan() (%x) length = ? reverse = true sizes(%n) output_dims(%n, %m) : (tensor<?x?xf32>, index, index, index) -> tensor<?x?xf32> {
  ^bb0(%row: tensor<?xf32>):
    array.yield %row : tensor<?xf32>
  }
  // CHECK: array.scan() (%{{.*}}) length = 5 reverse = false output_dims(%[[M]]) : (tensor<?x?xf32>, index) -> tensor<5x?xf32>
  %3 = array.scan() (%x) length = 5 reverse = false output_dims(%m) : (tensor<?x?xf32>, index) -> tensor<5x?xf32> {
  ^bb0(%row: tensor<?xf32>):
    array.yield %row : tensor<?xf32>
  }
  // CHECK: array.host_call slot = 3(%{{.*}}) output_dims(%[[N]], %[[M]]) : (tensor<?x?xf32>, index, index) -> (tensor<?xf32>, tensor<4x?xi32>)
  %4:2 = array.host_call slot = 3 (%x) output_dims(%n, %m) : (tensor<?x?xf32>, index, index) -> (tensor<?xf32>, tensor<4x?xi32>)
  return
}
