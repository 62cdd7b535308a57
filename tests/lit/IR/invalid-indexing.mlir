// RUN: array-opt %s --split-input-file --verify-diagnostics

// The constraints of dynamic_slice, dynamic_update_slice, gather_rows and scatter_add_rows.

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

// C1, C2 and C0 of gather_rows.
func.func @gather(%x: tensor<f32>, %i: tensor<3xi32>) {
  // expected-error @+1 {{'array.gather_rows' op operand is 'tensor<f32>', expected at least one dimension (C1)}}
  %0 = array.gather_rows %x, %i : (tensor<f32>, tensor<3xi32>) -> tensor<3xf32>
  return
}

// -----

func.func @gather(%x: tensor<0x5xf32>, %i: tensor<3xi32>) {
  // expected-error @+1 {{'array.gather_rows' op takes rows of 'tensor<0x5xf32>', which has none (C2)}}
  %0 = array.gather_rows %x, %i : (tensor<0x5xf32>, tensor<3xi32>) -> tensor<3x5xf32>
  return
}

// -----

func.func @gather(%x: tensor<4x5xf32>, %i: tensor<3xi32>) {
  // expected-error @+1 {{'array.gather_rows' op result types are 'tensor<5x3xf32>', expected types compatible with 'tensor<3x5xf32>' (C0)}}
  %0 = array.gather_rows %x, %i : (tensor<4x5xf32>, tensor<3xi32>) -> tensor<5x3xf32>
  return
}

// -----

// C1 to C3 and C0 of scatter_add_rows.
func.func @scatter(%x: tensor<f32>, %i: tensor<3xi32>, %u: tensor<3xf32>) {
  // expected-error @+1 {{'array.scatter_add_rows' op operand is 'tensor<f32>', expected at least one dimension (C1)}}
  %0 = array.scatter_add_rows %x, %i, %u : (tensor<f32>, tensor<3xi32>, tensor<3xf32>) -> tensor<f32>
  return
}

// -----

func.func @scatter(%x: tensor<4xf32>, %i: tensor<3xi32>, %u: tensor<3xf64>) {
  // expected-error @+1 {{'array.scatter_add_rows' op operand and updates differ in element type: 'tensor<4xf32>' and 'tensor<3xf64>' (C2)}}
  %0 = array.scatter_add_rows %x, %i, %u : (tensor<4xf32>, tensor<3xi32>, tensor<3xf64>) -> tensor<4xf32>
  return
}

// -----

func.func @scatter(%x: tensor<4x5xf32>, %i: tensor<3xi32>, %u: tensor<3x6xf32>) {
  // expected-error @+1 {{'array.scatter_add_rows' op updates are 'tensor<3x6xf32>', expected 'tensor<3x5xf32>' (C3)}}
  %0 = array.scatter_add_rows %x, %i, %u : (tensor<4x5xf32>, tensor<3xi32>, tensor<3x6xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @scatter(%x: tensor<4x5xf32>, %i: tensor<3xi32>, %u: tensor<3x5xf32>) {
  // expected-error @+1 {{'array.scatter_add_rows' op result types are 'tensor<3x5xf32>', expected types compatible with 'tensor<4x5xf32>' (C0)}}
  %0 = array.scatter_add_rows %x, %i, %u : (tensor<4x5xf32>, tensor<3xi32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  return
}
