// RUN: array-opt %s --split-input-file --verify-diagnostics

// The constraints of broadcast_in_dim, reshape, transpose, slice, pad, concatenate and reverse.

// C1 to C5 of broadcast_in_dim.
func.func @broadcast(%x: tensor<5xf32>) {
  // expected-error @+1 {{'array.broadcast_in_dim' op element types of operand and result differ: 'tensor<5xf32>' and 'tensor<4x5xf64>' (C1)}}
  %0 = array.broadcast_in_dim %x broadcast_dimensions = [1] : (tensor<5xf32>) -> tensor<4x5xf64>
  return
}

// -----

func.func @broadcast(%x: tensor<5xf32>) {
  // expected-error @+1 {{'array.broadcast_in_dim' op has 2 broadcast_dimensions, expected 1 for 'tensor<5xf32>' (C2)}}
  %0 = array.broadcast_in_dim %x broadcast_dimensions = [0, 1] : (tensor<5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @broadcast(%x: tensor<5x4xf32>) {
  // expected-error @+1 {{'array.broadcast_in_dim' op broadcast_dimensions are [1, 0], expected strictly increasing dimensions of 'tensor<4x5xf32>' (C3)}}
  %0 = array.broadcast_in_dim %x broadcast_dimensions = [1, 0] : (tensor<5x4xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @broadcast(%x: tensor<5xf32>) {
  // expected-error @+1 {{'array.broadcast_in_dim' op broadcast_dimensions are [2], expected strictly increasing dimensions of 'tensor<4x5xf32>' (C3)}}
  %0 = array.broadcast_in_dim %x broadcast_dimensions = [2] : (tensor<5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @broadcast(%x: tensor<5xf32>) {
  // expected-error @+1 {{'array.broadcast_in_dim' op broadcasts dimension 0 of 'tensor<5xf32>' to dimension 0 of 'tensor<4x5xf32>' (C4)}}
  %0 = array.broadcast_in_dim %x broadcast_dimensions = [0] : (tensor<5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @broadcast(%x: tensor<?xf32>, %n: index) {
  // expected-error @+1 {{'array.broadcast_in_dim' op has 1 output_dims, expected 2 for 'tensor<?x?xf32>' (C5)}}
  %0 = array.broadcast_in_dim %x broadcast_dimensions = [1] output_dims(%n) : (tensor<?xf32>) -> tensor<?x?xf32>
  return
}

// -----

// The size of a new dimension, or of one that was 1, does not follow from the operand.
func.func @broadcast(%x: tensor<5xf32>) {
  // expected-error @+1 {{'array.broadcast_in_dim' op has 0 output_dims, expected 1 for 'tensor<?x5xf32>' (C5)}}
  %0 = array.broadcast_in_dim %x broadcast_dimensions = [1] : (tensor<5xf32>) -> tensor<?x5xf32>
  return
}

// -----

func.func @broadcast(%x: tensor<1xf32>) {
  // expected-error @+1 {{'array.broadcast_in_dim' op has 0 output_dims, expected 1 for 'tensor<?xf32>' (C5)}}
  %0 = array.broadcast_in_dim %x broadcast_dimensions = [0] : (tensor<1xf32>) -> tensor<?xf32>
  return
}

// -----

// C1 to C3 of reshape.
func.func @reshape(%x: tensor<4xf32>) {
  // expected-error @+1 {{'array.reshape' op element types of operand and result differ: 'tensor<4xf32>' and 'tensor<2x2xi32>' (C1)}}
  %0 = array.reshape %x : (tensor<4xf32>) -> tensor<2x2xi32>
  return
}

// -----

func.func @reshape(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{'array.reshape' op reshapes 20 elements of 'tensor<4x5xf32>' to 18 of 'tensor<3x6xf32>' (C2)}}
  %0 = array.reshape %x : (tensor<4x5xf32>) -> tensor<3x6xf32>
  return
}

// -----

func.func @reshape(%x: tensor<?xf32>) {
  // expected-error @+1 {{'array.reshape' op has 0 output_dims, expected 2 for 'tensor<?x?xf32>' (C3)}}
  %0 = array.reshape %x : (tensor<?xf32>) -> tensor<?x?xf32>
  return
}

// -----

func.func @reshape(%x: tensor<4xf32>, %n: index) {
  // expected-error @+1 {{'array.reshape' op has 1 output_dims, expected 0 for 'tensor<2x2xf32>' (C3)}}
  %0 = array.reshape %x output_dims(%n) : (tensor<4xf32>) -> tensor<2x2xf32>
  return
}

// -----

// C1 and C0 of transpose.
func.func @transpose(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{'array.transpose' op permutation is [1, 1], expected a permutation of the dimensions of 'tensor<4x5xf32>' (C1)}}
  %0 = array.transpose %x permutation = [1, 1] : (tensor<4x5xf32>) -> tensor<5x5xf32>
  return
}

// -----

func.func @transpose(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{'array.transpose' op permutation is [0], expected a permutation of the dimensions of 'tensor<4x5xf32>' (C1)}}
  %0 = array.transpose %x permutation = [0] : (tensor<4x5xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @transpose(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{'array.transpose' op result types are 'tensor<4x5xf32>', expected types compatible with 'tensor<5x4xf32>' (C0)}}
  %0 = array.transpose %x permutation = [1, 0] : (tensor<4x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

// C1 to C3 and C0 of slice.
func.func @slice(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{'array.slice' op has 1 start_indices, 2 limit_indices and 2 strides, expected 2 of each for 'tensor<4x5xf32>' (C1)}}
  %0 = array.slice %x start_indices = [0] limit_indices = [4, 5] strides = [1, 1] : (tensor<4x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @slice(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{'array.slice' op slices dimension 1 of 'tensor<4x5xf32>' from 0 to 6, expected 0 <= start <= limit <= size (C2)}}
  %0 = array.slice %x start_indices = [0, 0] limit_indices = [4, 6] strides = [1, 1] : (tensor<4x5xf32>) -> tensor<4x6xf32>
  return
}

// -----

func.func @slice(%x: tensor<?xf32>) {
  // expected-error @+1 {{'array.slice' op slices dimension 0 of 'tensor<?xf32>' from 3 to 2, expected 0 <= start <= limit <= size (C2)}}
  %0 = array.slice %x start_indices = [3] limit_indices = [2] strides = [1] : (tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @slice(%x: tensor<4xf32>) {
  // expected-error @+1 {{'array.slice' op slices dimension 0 of 'tensor<4xf32>' from -1 to 2, expected 0 <= start <= limit <= size (C2)}}
  %0 = array.slice %x start_indices = [-1] limit_indices = [2] strides = [1] : (tensor<4xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @slice(%x: tensor<4xf32>) {
  // expected-error @+1 {{'array.slice' op stride of dimension 0 is 0, expected at least 1 (C3)}}
  %0 = array.slice %x start_indices = [0] limit_indices = [2] strides = [0] : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @slice(%x: tensor<4xf32>) {
  // expected-error @+1 {{'array.slice' op result types are 'tensor<3xf32>', expected types compatible with 'tensor<2xf32>' (C0)}}
  %0 = array.slice %x start_indices = [0] limit_indices = [3] strides = [2] : (tensor<4xf32>) -> tensor<3xf32>
  return
}

// -----

// C1 to C4 and C0 of pad.
func.func @pad(%x: tensor<4xf32>, %p: tensor<1xf32>) {
  // expected-error @+1 {{'array.pad' op padding_value is 'tensor<1xf32>', expected a scalar of the element type of 'tensor<4xf32>' (C1)}}
  %0 = array.pad %x, %p low = [1] high = [0] interior = [0] : (tensor<4xf32>, tensor<1xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @pad(%x: tensor<4xf32>, %p: tensor<f64>) {
  // expected-error @+1 {{'array.pad' op padding_value is 'tensor<f64>', expected a scalar of the element type of 'tensor<4xf32>' (C1)}}
  %0 = array.pad %x, %p low = [1] high = [0] interior = [0] : (tensor<4xf32>, tensor<f64>) -> tensor<5xf32>
  return
}

// -----

func.func @pad(%x: tensor<4xf32>, %p: tensor<f32>) {
  // expected-error @+1 {{'array.pad' op has 1 low, 2 high and 1 interior, expected 1 of each for 'tensor<4xf32>' (C2)}}
  %0 = array.pad %x, %p low = [1] high = [0, 0] interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<5xf32>
  return
}

// -----

func.func @pad(%x: tensor<4xf32>, %p: tensor<f32>) {
  // expected-error @+1 {{'array.pad' op interior padding of dimension 0 is -1, expected at least 0 (C3)}}
  %0 = array.pad %x, %p low = [1] high = [0] interior = [-1] : (tensor<4xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @pad(%x: tensor<4xf32>, %p: tensor<f32>) {
  // expected-error @+1 {{'array.pad' op result gets the size -1 in dimension 0, expected at least 0 (C4)}}
  %0 = array.pad %x, %p low = [-3] high = [-2] interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<0xf32>
  return
}

// -----

func.func @pad(%x: tensor<4xf32>, %p: tensor<f32>) {
  // expected-error @+1 {{'array.pad' op result types are 'tensor<8xf32>', expected types compatible with 'tensor<7xf32>' (C0)}}
  %0 = array.pad %x, %p low = [0] high = [0] interior = [1] : (tensor<4xf32>, tensor<f32>) -> tensor<8xf32>
  return
}

// -----

// C1 to C4 and C0 of concatenate.
func.func @concatenate() {
  // expected-error @+1 {{'array.concatenate' op has no inputs, expected at least one (C1)}}
  %0 = array.concatenate dimension = 0 : () -> tensor<4xf32>
  return
}

// -----

func.func @concatenate(%x: tensor<4xf32>, %y: tensor<4x1xf32>) {
  // expected-error @+1 {{'array.concatenate' op inputs differ in rank or element type: 'tensor<4xf32>' and 'tensor<4x1xf32>' (C2)}}
  %0 = array.concatenate %x, %y dimension = 0 : (tensor<4xf32>, tensor<4x1xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @concatenate(%x: tensor<4xf32>) {
  // expected-error @+1 {{'array.concatenate' op dimension is 1, expected a dimension of 'tensor<4xf32>' (C3)}}
  %0 = array.concatenate %x, %x dimension = 1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @concatenate(%x: tensor<?x5xf32>, %y: tensor<4x6xf32>) {
  // expected-error @+1 {{'array.concatenate' op inputs differ in dimension 1: 'tensor<?x5xf32>' and 'tensor<4x6xf32>' (C4)}}
  %0 = array.concatenate %x, %y dimension = 0 : (tensor<?x5xf32>, tensor<4x6xf32>) -> tensor<?x5xf32>
  return
}

// -----

func.func @concatenate(%x: tensor<4xf32>) {
  // expected-error @+1 {{'array.concatenate' op result types are 'tensor<9xf32>', expected types compatible with 'tensor<8xf32>' (C0)}}
  %0 = array.concatenate %x, %x dimension = 0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<9xf32>
  return
}

// -----

// C1 and C0 of reverse.
func.func @reverse(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{'array.reverse' op dimensions are [1, 1], expected distinct dimensions of 'tensor<4x5xf32>' (C1)}}
  %0 = array.reverse %x dimensions = [1, 1] : tensor<4x5xf32>
  return
}

// -----

func.func @reverse(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{'array.reverse' op result types are 'tensor<5x4xf32>', expected types compatible with 'tensor<4x5xf32>' (C0)}}
  %0 = array.reverse %x dimensions = [1] : (tensor<4x5xf32>) -> tensor<5x4xf32>
  return
}

// -----

// Sizes whose product exceeds 64 bits are not equal to its wrapped value.
func.func @reshape(%x: tensor<4294967296x4294967296xi8>) {
  // expected-error @+1 {{'array.reshape' op reshapes 'tensor<4294967296x4294967296xi8>' to 'tensor<0xi8>', which has more elements than 2**63 - 1 (C2)}}
  %0 = array.reshape %x : (tensor<4294967296x4294967296xi8>) -> tensor<0xi8>
  return
}

// -----

func.func @pad(%x: tensor<4xi8>, %p: tensor<i8>) {
  // expected-error @+1 {{result types are 'tensor<3xi8>', expected types compatible with 'tensor<9223372036854775807xi8>' (C0)}}
  %0 = array.pad %x, %p low = [9223372036854775807] high = [9223372036854775807] interior = [1] : (tensor<4xi8>, tensor<i8>) -> tensor<3xi8>
  return
}
