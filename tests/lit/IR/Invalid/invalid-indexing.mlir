// RUN: array-opt %s --split-input-file --verify-diagnostics

// The constraints of dynamic_slice, dynamic_update_slice, gather and scatter.

// C1 to C4 and C0 of dynamic_slice.
func.func @slice(%x: tensor<4x5xf32>, %i: tensor<i32>) {
  // expected-error @+1 {{'array.dynamic_slice' op has 1 start indices, expected 2 for 'tensor<4x5xf32>' (C1)}}
  %0 = array.dynamic_slice %x at(%i) slice_sizes = [2, 3] : (tensor<4x5xf32>, tensor<i32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @slice(%x: tensor<4x5xf32>, %i: tensor<i32>, %j: tensor<i64>) {
  // expected-error @+1 {{'array.dynamic_slice' op start indices differ in element type: 'tensor<i32>', 'tensor<i64>' (C2)}}
  %0 = array.dynamic_slice %x at(%i, %j) slice_sizes = [2, 3] : (tensor<4x5xf32>, tensor<i32>, tensor<i64>) -> tensor<2x3xf32>
  return
}

// -----

func.func @slice(%x: tensor<4x5xf32>, %i: tensor<i32>) {
  // expected-error @+1 {{'array.dynamic_slice' op has 1 slice_sizes, expected 2 for 'tensor<4x5xf32>' (C3)}}
  %0 = array.dynamic_slice %x at(%i, %i) slice_sizes = [2] : (tensor<4x5xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @slice(%x: tensor<4x5xf32>, %i: tensor<i32>) {
  // expected-error @+1 {{'array.dynamic_slice' op takes 6 elements of dimension 1 of 'tensor<4x5xf32>', expected 0 <= size of the slice <= size (C4)}}
  %0 = array.dynamic_slice %x at(%i, %i) slice_sizes = [2, 6] : (tensor<4x5xf32>, tensor<i32>, tensor<i32>) -> tensor<2x6xf32>
  return
}

// -----

func.func @slice(%x: tensor<?xf32>, %i: tensor<i32>) {
  // expected-error @+1 {{'array.dynamic_slice' op takes -1 elements of dimension 0 of 'tensor<?xf32>', expected 0 <= size of the slice <= size (C4)}}
  %0 = array.dynamic_slice %x at(%i) slice_sizes = [-1] : (tensor<?xf32>, tensor<i32>) -> tensor<?xf32>
  return
}

// -----

func.func @slice(%x: tensor<4xf32>, %i: tensor<i32>) {
  // expected-error @+1 {{'array.dynamic_slice' op result types are 'tensor<3xf32>', expected types compatible with 'tensor<2xf32>' (C0)}}
  %0 = array.dynamic_slice %x at(%i) slice_sizes = [2] : (tensor<4xf32>, tensor<i32>) -> tensor<3xf32>
  return
}

// -----

func.func @slice(%x: tensor<4xf32>, %i: tensor<1xi32>) {
  // expected-error @+1 {{'array.dynamic_slice' op operand #1 must be variadic of scalar tensor of an index (i32, i64), but got 'tensor<1xi32>'}}
  %0 = array.dynamic_slice %x at(%i) slice_sizes = [2] : (tensor<4xf32>, tensor<1xi32>) -> tensor<2xf32>
  return
}

// -----

// C1 to C4 and C0 of dynamic_update_slice.
func.func @update(%x: tensor<4xf32>, %u: tensor<2xf64>, %i: tensor<i32>) {
  // expected-error @+1 {{'array.dynamic_update_slice' op operand and update differ in rank or element type: 'tensor<4xf32>' and 'tensor<2xf64>' (C1)}}
  %0 = array.dynamic_update_slice %x, %u at(%i) : (tensor<4xf32>, tensor<2xf64>, tensor<i32>) -> tensor<4xf32>
  return
}

// -----

func.func @update(%x: tensor<4xf32>, %u: tensor<5xf32>, %i: tensor<i32>) {
  // expected-error @+1 {{'array.dynamic_update_slice' op update is larger than the operand in dimension 0: 'tensor<5xf32>' into 'tensor<4xf32>' (C2)}}
  %0 = array.dynamic_update_slice %x, %u at(%i) : (tensor<4xf32>, tensor<5xf32>, tensor<i32>) -> tensor<4xf32>
  return
}

// -----

func.func @update(%x: tensor<4xf32>, %u: tensor<2xf32>, %i: tensor<i32>) {
  // expected-error @+1 {{'array.dynamic_update_slice' op has 2 start indices, expected 1 for 'tensor<4xf32>' (C3)}}
  %0 = array.dynamic_update_slice %x, %u at(%i, %i) : (tensor<4xf32>, tensor<2xf32>, tensor<i32>, tensor<i32>) -> tensor<4xf32>
  return
}

// -----

func.func @update(%x: tensor<4x4xf32>, %u: tensor<2x2xf32>, %i: tensor<i32>, %j: tensor<i64>) {
  // expected-error @+1 {{'array.dynamic_update_slice' op start indices differ in element type: 'tensor<i32>', 'tensor<i64>' (C4)}}
  %0 = array.dynamic_update_slice %x, %u at(%i, %j) : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<i32>, tensor<i64>) -> tensor<4x4xf32>
  return
}

// -----

func.func @update(%x: tensor<4xf32>, %u: tensor<2xf32>, %i: tensor<i32>) {
  // expected-error @+1 {{'array.dynamic_update_slice' op result types are 'tensor<2xf32>', expected types compatible with 'tensor<4xf32>' (C0)}}
  %0 = array.dynamic_update_slice %x, %u at(%i) : (tensor<4xf32>, tensor<2xf32>, tensor<i32>) -> tensor<2xf32>
  return
}

// -----

// C0 to C7 of gather.
func.func @gather(%x: tensor<4x5xf32>, %i: tensor<3xi32>, %j: tensor<2xi32>, %f: tensor<f32>, %k: tensor<3xi8>) {
  // expected-error @+1 {{'array.gather' op has 2 indices, expected 1 (C1)}}
  %0 = array.gather %x at(%i, %i) {collapsed_slice_dims = array<i64: 0>, mode = "clip", offset_dims = array<i64: 1>, slice_sizes = array<i64: 1, 5>, start_index_map = array<i64: 0>} : (tensor<4x5xf32>, tensor<3xi32>, tensor<3xi32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @gather(%x: tensor<4x5xf32>, %i: tensor<3xi32>, %j: tensor<2xi32>, %f: tensor<f32>, %k: tensor<3xi8>) {
  // expected-error @+1 {{'array.gather' op fill is 'tensor<3xi32>', expected a scalar of the element type of 'tensor<4x5xf32>' (C1)}}
  %0 = array.gather %x at(%i) {collapsed_slice_dims = array<i64: 0>, mode = "fill", offset_dims = array<i64: 1>, slice_sizes = array<i64: 1, 5>, start_index_map = array<i64: 0>} : (tensor<4x5xf32>, tensor<3xi32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @gather(%x: tensor<4x5xf32>, %i: tensor<3xi32>, %j: tensor<2xi32>, %f: tensor<f32>, %k: tensor<3xi8>) {
  // expected-error @+1 {{'array.gather' op indices are 'tensor<3xi8>', expected i32 or i64 of compatible shapes (C2)}}
  %0 = array.gather %x at(%k) {collapsed_slice_dims = array<i64: 0>, mode = "clip", offset_dims = array<i64: 1>, slice_sizes = array<i64: 1, 5>, start_index_map = array<i64: 0>} : (tensor<4x5xf32>, tensor<3xi8>) -> tensor<3x5xf32>
  return
}

// -----

func.func @gather(%x: tensor<4x5xf32>, %i: tensor<3xi32>, %j: tensor<2xi32>, %f: tensor<f32>, %k: tensor<3xi8>) {
  // expected-error @+1 {{'array.gather' op indices are 'tensor<3xi32>', 'tensor<2xi32>', expected i32 or i64 of compatible shapes (C2)}}
  %0 = array.gather %x at(%i, %j) {collapsed_slice_dims = array<i64: 0>, mode = "clip", offset_dims = array<i64: 1>, slice_sizes = array<i64: 1, 5>, start_index_map = array<i64: 0, 1>} : (tensor<4x5xf32>, tensor<3xi32>, tensor<2xi32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @gather(%x: tensor<4x5xf32>, %i: tensor<3xi32>, %j: tensor<2xi32>, %f: tensor<f32>, %k: tensor<3xi8>) {
  // expected-error @+1 {{'array.gather' op dropped, batching and indexed dimensions [0], [0], [0] are not distinct dimensions of 'tensor<4x5xf32>' (C3)}}
  %0 = array.gather %x at(%i) {collapsed_slice_dims = array<i64: 0>, mode = "clip", offset_dims = array<i64: 1>, slice_sizes = array<i64: 1, 5>, start_index_map = array<i64: 0>, operand_batching_dims = array<i64: 0>, start_indices_batching_dims = array<i64: 0>} : (tensor<4x5xf32>, tensor<3xi32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @gather(%x: tensor<4x5xf32>, %i: tensor<3xi32>, %j: tensor<2xi32>, %f: tensor<f32>, %k: tensor<3xi8>) {
  // expected-error @+1 {{'array.gather' op slice_sizes [1, 6] do not lie in 'tensor<4x5xf32>', or are not 1 in dimensions that are collapsed or batching (C4)}}
  %0 = array.gather %x at(%i) {collapsed_slice_dims = array<i64: 0>, mode = "clip", offset_dims = array<i64: 1>, slice_sizes = array<i64: 1, 6>, start_index_map = array<i64: 0>} : (tensor<4x5xf32>, tensor<3xi32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @gather(%x: tensor<4x5xf32>, %i: tensor<3xi32>, %j: tensor<2xi32>, %f: tensor<f32>, %k: tensor<3xi8>) {
  // expected-error @+1 {{'array.gather' op offset_dims [2] are not 1 increasing dimensions of a result of rank 2 (C5)}}
  %0 = array.gather %x at(%i) {collapsed_slice_dims = array<i64: 0>, mode = "clip", offset_dims = array<i64: 2>, slice_sizes = array<i64: 1, 5>, start_index_map = array<i64: 0>} : (tensor<4x5xf32>, tensor<3xi32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @gather(%x: tensor<4x5xf32>, %i: tensor<3xi32>, %j: tensor<2xi32>, %f: tensor<f32>, %k: tensor<3xi8>) {
  // expected-error @+1 {{'array.gather' op batching dimensions [1] of 'tensor<4x5xf32>' and [0] of indices of shape [3] differ (C6)}}
  %0 = array.gather %x at(%i) {collapsed_slice_dims = array<i64: 0>, mode = "clip", offset_dims = array<i64: 1>, slice_sizes = array<i64: 1, 5>, start_index_map = array<i64: 0>, operand_batching_dims = array<i64: 1>, start_indices_batching_dims = array<i64: 0>} : (tensor<4x5xf32>, tensor<3xi32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @gather(%x: tensor<4x5xf32>, %i: tensor<3xi32>, %j: tensor<2xi32>, %f: tensor<f32>, %k: tensor<3xi8>) {
  // expected-error @+1 {{'array.gather' op mode is 'wrap', expected clip, fill or promise_in_bounds (C7)}}
  %0 = array.gather %x at(%i) {collapsed_slice_dims = array<i64: 0>, mode = "wrap", offset_dims = array<i64: 1>, slice_sizes = array<i64: 1, 5>, start_index_map = array<i64: 0>} : (tensor<4x5xf32>, tensor<3xi32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @gather(%x: tensor<4x5xf32>, %i: tensor<3xi32>, %j: tensor<2xi32>, %f: tensor<f32>, %k: tensor<3xi8>) {
  // expected-error @+1 {{'array.gather' op result types are 'tensor<3x5xf32>', expected types compatible with 'tensor<3x4xf32>' (C0)}}
  %0 = array.gather %x at(%i) {collapsed_slice_dims = array<i64: 0>, mode = "clip", offset_dims = array<i64: 1>, slice_sizes = array<i64: 1, 4>, start_index_map = array<i64: 0>} : (tensor<4x5xf32>, tensor<3xi32>) -> tensor<3x5xf32>
  return
}

// -----

// C0 to C8 of scatter.
func.func @scatter(%x: tensor<4x5xf32>, %u: tensor<3x5xf32>, %i: tensor<3xi32>, %v: tensor<3x6xf32>, %w: tensor<3x5xf64>, %j: tensor<2xi32>, %b: tensor<4x5xi1>, %c: tensor<3x5xi1>) {
  // expected-error @+1 {{'array.scatter' op has 0 indices, expected 1 (C1)}}
  %0 = array.scatter %x, %u at() {inserted_window_dims = array<i64: 0>, kind = "add", mode = "fill", scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>} : (tensor<4x5xf32>, tensor<3x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @scatter(%x: tensor<4x5xf32>, %u: tensor<3x5xf32>, %i: tensor<3xi32>, %v: tensor<3x6xf32>, %w: tensor<3x5xf64>, %j: tensor<2xi32>, %b: tensor<4x5xi1>, %c: tensor<3x5xi1>) {
  // expected-error @+1 {{'array.scatter' op indices are 'tensor<3xi32>', 'tensor<2xi32>', expected i32 or i64 of compatible shapes (C2)}}
  %0 = array.scatter %x, %u at(%i, %j) {inserted_window_dims = array<i64: 0>, kind = "add", mode = "fill", scatter_dims_to_operand_dims = array<i64: 0, 1>, update_window_dims = array<i64: 1>} : (tensor<4x5xf32>, tensor<3x5xf32>, tensor<3xi32>, tensor<2xi32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @scatter(%x: tensor<4x5xf32>, %u: tensor<3x5xf32>, %i: tensor<3xi32>, %v: tensor<3x6xf32>, %w: tensor<3x5xf64>, %j: tensor<2xi32>, %b: tensor<4x5xi1>, %c: tensor<3x5xi1>) {
  // expected-error @+1 {{'array.scatter' op dropped, batching and indexed dimensions [0], [], [2] are not distinct dimensions of 'tensor<4x5xf32>' (C3)}}
  %0 = array.scatter %x, %u at(%i) {inserted_window_dims = array<i64: 0>, kind = "add", mode = "fill", scatter_dims_to_operand_dims = array<i64: 2>, update_window_dims = array<i64: 1>} : (tensor<4x5xf32>, tensor<3x5xf32>, tensor<3xi32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @scatter(%x: tensor<4x5xf32>, %u: tensor<3x5xf32>, %i: tensor<3xi32>, %v: tensor<3x6xf32>, %w: tensor<3x5xf64>, %j: tensor<2xi32>, %b: tensor<4x5xi1>, %c: tensor<3x5xi1>) {
  // expected-error @+1 {{'array.scatter' op update_window_dims [1] of 'tensor<3x6xf32>' are no window of 'tensor<4x5xf32>' (C4)}}
  %0 = array.scatter %x, %v at(%i) {inserted_window_dims = array<i64: 0>, kind = "add", mode = "fill", scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>} : (tensor<4x5xf32>, tensor<3x6xf32>, tensor<3xi32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @scatter(%x: tensor<4x5xf32>, %u: tensor<3x5xf32>, %i: tensor<3xi32>, %v: tensor<3x6xf32>, %w: tensor<3x5xf64>, %j: tensor<2xi32>, %b: tensor<4x5xi1>, %c: tensor<3x5xi1>) {
  // expected-error @+1 {{'array.scatter' op updates are 'tensor<3x5xf32>' with the window in [1], expected the other dimensions to be those of the indices, [2] (C5)}}
  %0 = array.scatter %x, %u at(%j) {inserted_window_dims = array<i64: 0>, kind = "add", mode = "fill", scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>} : (tensor<4x5xf32>, tensor<3x5xf32>, tensor<2xi32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @scatter(%x: tensor<4x5xf32>, %u: tensor<3x5xf32>, %i: tensor<3xi32>, %v: tensor<3x6xf32>, %w: tensor<3x5xf64>, %j: tensor<2xi32>, %b: tensor<4x5xi1>, %c: tensor<3x5xi1>) {
  // expected-error @+1 {{'array.scatter' op batching dimensions [1] of 'tensor<4x5xf32>' and [0] of indices of shape [3] differ (C6)}}
  %0 = array.scatter %x, %u at(%i) {inserted_window_dims = array<i64: 0>, kind = "add", mode = "fill", scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>, operand_batching_dims = array<i64: 1>, scatter_indices_batching_dims = array<i64: 0>} : (tensor<4x5xf32>, tensor<3x5xf32>, tensor<3xi32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @scatter(%x: tensor<4x5xf32>, %u: tensor<3x5xf32>, %i: tensor<3xi32>, %v: tensor<3x6xf32>, %w: tensor<3x5xf64>, %j: tensor<2xi32>, %b: tensor<4x5xi1>, %c: tensor<3x5xi1>) {
  // expected-error @+1 {{'array.scatter' op kind is 'sub' for 'tensor<4x5xf32>', expected set, for numbers add or mul, for bools and numbers min or max (C7)}}
  %0 = array.scatter %x, %u at(%i) {inserted_window_dims = array<i64: 0>, kind = "sub", mode = "fill", scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>} : (tensor<4x5xf32>, tensor<3x5xf32>, tensor<3xi32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @scatter(%x: tensor<4x5xf32>, %u: tensor<3x5xf32>, %i: tensor<3xi32>, %v: tensor<3x6xf32>, %w: tensor<3x5xf64>, %j: tensor<2xi32>, %b: tensor<4x5xi1>, %c: tensor<3x5xi1>) {
  // expected-error @+1 {{'array.scatter' op kind is 'add' for 'tensor<4x5xi1>', expected set, for numbers add or mul, for bools and numbers min or max (C7)}}
  %0 = array.scatter %b, %c at(%i) {inserted_window_dims = array<i64: 0>, kind = "add", mode = "fill", scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>} : (tensor<4x5xi1>, tensor<3x5xi1>, tensor<3xi32>) -> tensor<4x5xi1>
  return
}

// -----

func.func @scatter(%x: tensor<4x5xf32>, %u: tensor<3x5xf32>, %i: tensor<3xi32>, %v: tensor<3x6xf32>, %w: tensor<3x5xf64>, %j: tensor<2xi32>, %b: tensor<4x5xi1>, %c: tensor<3x5xi1>) {
  // expected-error @+1 {{'array.scatter' op operand and updates differ in element type: 'tensor<4x5xf32>' and 'tensor<3x5xf64>' (C8)}}
  %0 = array.scatter %x, %w at(%i) {inserted_window_dims = array<i64: 0>, kind = "add", mode = "fill", scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>} : (tensor<4x5xf32>, tensor<3x5xf64>, tensor<3xi32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @scatter(%x: tensor<4x5xf32>, %u: tensor<3x5xf32>, %i: tensor<3xi32>, %v: tensor<3x6xf32>, %w: tensor<3x5xf64>, %j: tensor<2xi32>, %b: tensor<4x5xi1>, %c: tensor<3x5xi1>) {
  // expected-error @+1 {{'array.scatter' op result types are 'tensor<5x5xf32>', expected types compatible with 'tensor<4x5xf32>' (C0)}}
  %0 = array.scatter %x, %u at(%i) {inserted_window_dims = array<i64: 0>, kind = "add", mode = "fill", scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>} : (tensor<4x5xf32>, tensor<3x5xf32>, tensor<3xi32>) -> tensor<5x5xf32>
  return
}

// -----

// An attribute of another kind, where an absent one has a default.
func.func @gather(%x: tensor<3x8xf32>, %i: tensor<2xi32>) {
  // expected-error @+1 {{'array.gather' op attribute 'collapsed_slice_dims' failed to satisfy constraint: i64 dense array attribute}}
  %0 = array.gather %x at(%i) {collapsed_slice_dims = @main, mode = "clip", offset_dims = array<i64: 1>,
         slice_sizes = array<i64: 1, 8>, start_index_map = array<i64: 0>} : (tensor<3x8xf32>, tensor<2xi32>) -> tensor<2x8xf32>
  return
}
