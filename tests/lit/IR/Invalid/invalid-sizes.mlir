// RUN: array-opt %s --split-input-file --verify-diagnostics

// The constraints on `sizes` and `output_dims`.

func.func @slice(%x: tensor<?xf32>, %n: index) {
  // expected-error @+1 {{'array.slice' op has 1 sizes, expected 2: one for each ? of its attributes (C4)}}
  %0 = array.slice %x start_indices = [?] limit_indices = [?] strides = [1] sizes(%n) : (tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @slice(%x: tensor<4xf32>, %n: index) {
  // expected-error @+1 {{'array.slice' op slices dimension 0 of 'tensor<4xf32>' from ? to 5, expected 0 <= start <= limit <= size (C2)}}
  %0 = array.slice %x start_indices = [?] limit_indices = [5] strides = [1] sizes(%n) : (tensor<4xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @slice(%x: tensor<4xf32>, %n: index) {
  // expected-error @+1 {{'array.slice' op slices dimension 0 of 'tensor<4xf32>' from 5 to ?, expected 0 <= start <= limit <= size (C2)}}
  %0 = array.slice %x start_indices = [5] limit_indices = [?] strides = [1] sizes(%n) : (tensor<4xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @pad(%x: tensor<?xf32>, %s: tensor<f32>, %n: index) {
  // expected-error @+1 {{'array.pad' op has 1 sizes, expected 0: one for each ? of its attributes (C5)}}
  %0 = array.pad %x, %s low = [1] high = [1] interior = [0] sizes(%n) : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  return
}

// -----

func.func @dynamic_slice(%x: tensor<?xf32>, %i: tensor<i32>, %n: index) {
  // expected-error @+1 {{'array.dynamic_slice' op has 2 sizes, expected 1: one for each ? of its attributes (C5)}}
  %0 = array.dynamic_slice %x at(%i) slice_sizes = [?] sizes(%n, %n) : (tensor<?xf32>, tensor<i32>, index, index) -> tensor<?xf32>
  return
}

// -----

func.func @dynamic_slice(%x: tensor<?x?xf32>, %i: tensor<i32>, %n: index) {
  // expected-error @+1 {{'array.dynamic_slice' op has 'tensor<i32>', 'index', 'tensor<i32>', expected its sizes behind all other operands (C5)}}
  %0 = array.dynamic_slice %x at(%i, %n, %i) slice_sizes = [?, 2] : (tensor<?x?xf32>, tensor<i32>, index, tensor<i32>) -> tensor<?x2xf32>
  return
}

// -----

func.func @gather(%x: tensor<?xf32>, %i: tensor<4xi32>, %n: index) {
  // expected-error @+1 {{'array.gather' op has 0 sizes, expected 1: one for each ? of its attributes (C8)}}
  %0 = array.gather %x at(%i) slice_sizes = [?] {mode = "clip", offset_dims = array<i64: 1>, start_index_map = array<i64: 0>} : (tensor<?xf32>, tensor<4xi32>) -> tensor<4x?xf32>
  return
}

// -----

// A collapsed dimension is known to be 1.
func.func @gather(%x: tensor<?xf32>, %i: tensor<4xi32>, %n: index) {
  // expected-error @+1 {{'array.gather' op slice_sizes [?] do not lie in 'tensor<?xf32>', or are not 1 in dimensions that are collapsed or batching (C4)}}
  %0 = array.gather %x at(%i) slice_sizes = [?] sizes(%n) {collapsed_slice_dims = array<i64: 0>, mode = "clip", start_index_map = array<i64: 0>} : (tensor<?xf32>, tensor<4xi32>, index) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_window(%x: tensor<?xf32>, %n: index) {
  // expected-error @+1 {{'array.reduce_window_sum' op has 1 sizes, expected 2: one for each ? of its attributes (C4)}}
  %0 = array.reduce_window_sum %x window_dimensions = [?] window_strides = [1] low = [?] high = [0] base_dilation = [1] window_dilation = [1] sizes(%n) : (tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @select(%x: tensor<?xf32>, %n: index) {
  // expected-error @+1 {{'array.select_and_gather' op has 0 sizes, expected 1: one for each ? of its attributes (C6)}}
  %0 = array.select_and_gather %x, %x greatest = true window_dimensions = [2] window_strides = [2] low = [0] high = [?] base_dilation = [1] window_dilation = [1] : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @convolution(%a: tensor<2x3x8xf32>, %w: tensor<4x3x3xf32>, %n: index) {
  // expected-error @+1 {{'array.conv_general_dilated' op has 2 sizes, expected 1: one for each ? of its attributes (C8)}}
  %0 = array.conv_general_dilated %a, %w window_strides = [1] low = [?] high = [0] lhs_dilation = [1] rhs_dilation = [1] lhs_spec = [0, 1, 2] rhs_spec = [0, 1, 2] out_spec = [0, 1, 2] feature_group_count = 1 batch_group_count = 1 sizes(%n, %n) : (tensor<2x3x8xf32>, tensor<4x3x3xf32>) -> tensor<2x4x?xf32>
  return
}

// -----

func.func @fft(%x: tensor<?xf32>) {
  // expected-error @+1 {{'array.fft' op has 0 sizes, expected 1: one for each ? of its attributes (C5)}}
  %0 = array.fft %x type = "RFFT" fft_lengths = [?] : (tensor<?xf32>) -> tensor<?xcomplex<f32>>
  return
}

// -----

func.func @top_k(%x: tensor<?xf32>, %n: index) {
  // expected-error @+1 {{'array.top_k' op has 1 sizes, expected 0: one for each ? of its attributes (C3)}}
  %0:2 = array.top_k %x k = 2 axis = 0 sizes(%n) : (tensor<?xf32>) -> (tensor<2xf32>, tensor<2xi32>)
  return
}

// -----

func.func @permutation(%p: tensor<?xi32>, %n: index) {
  // expected-error @+1 {{'array.lu_pivots_to_permutation' op has 1 sizes, expected 0: one for each ? of its attributes (C4)}}
  %0 = array.lu_pivots_to_permutation %p sizes(%n) {permutation_size = 4 : i64} : (tensor<?xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @scan(%zero: tensor<f32>, %n: index) {
  // expected-error @+1 {{'array.scan' op has 0 sizes, expected 1: one for each ? of its attributes (C6)}}
  %0 = array.scan(%zero) () length = ? reverse = false : (tensor<f32>) -> tensor<f32> {
  ^bb0(%c: tensor<f32>):
    array.yield %c : tensor<f32>
  }
  return
}

// -----

func.func @scan(%x: tensor<?x?xf32>, %n: index) {
  // expected-error @+1 {{'array.scan' op has 1 output_dims, expected 2: one for each dynamic dimension of the joined slices (C7)}}
  %0 = array.scan() (%x) length = ? reverse = false sizes(%n) output_dims(%n) : (tensor<?x?xf32>, index, index) -> tensor<?x?xf32> {
  ^bb0(%row: tensor<?xf32>):
    array.yield %row : tensor<?xf32>
  }
  return
}

// -----

func.func @host_call(%x: tensor<?xf32>) {
  // expected-error @+1 {{'array.host_call' op has 0 output_dims, expected 1: one for each dynamic dimension of its results (C5)}}
  %0 = array.host_call slot = 0 (%x) : (tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @runtime_call(%x: tensor<?xf32>, %y: tensor<?xf32>, %n: index) {
  // expected-error @+1 {{'array.runtime_call' op has 1 sizes, expected 0: one for each ? of its attributes (C4)}}
  %0 = array.runtime_call "sort" params = [0, 1, 1] element_types = [f32, f32] ins(%x : tensor<?xf32>) outs(%y : tensor<?xf32>) sizes(%n) -> tensor<?xf32>
  return
}

// -----

func.func @dim_as_value(%n: index) {
  // expected-error @+1 {{'array.dim_as_value' op result #0 must be scalar tensor of an index (i32, i64), but got 'tensor<4xi32>'}}
  %0 = array.dim_as_value sizes(%n) : tensor<4xi32>
  return
}
