// RUN: array-opt %s --split-input-file --verify-diagnostics

// The constraints of the reductions, argmax and argmin.

// C1, C2 and C0 of the reductions.
func.func @reduce(%x: tensor<4xi1>) {
  // expected-error @+1 {{'array.reduce_sum' op operand #0 must be tensor of integers (i8 to i64, ui8 to ui64), floats (f16, bf16, f32, f64) or complex numbers, but got 'tensor<4xi1>'}}
  %0 = array.reduce_sum %x axes = [0] : (tensor<4xi1>) -> tensor<i1>
  return
}

// -----

func.func @reduce(%x: tensor<4xf32>) {
  // expected-error @+1 {{'array.reduce_and' op operand #0 must be tensor of bools (i1) or integers (i8 to i64, ui8 to ui64), but got 'tensor<4xf32>'}}
  %0 = array.reduce_and %x axes = [0] : (tensor<4xf32>) -> tensor<f32>
  return
}

// -----

func.func @reduce(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{'array.reduce_max' op axes are [1, 1], expected distinct dimensions of 'tensor<4x5xf32>' (C2)}}
  %0 = array.reduce_max %x axes = [1, 1] : (tensor<4x5xf32>) -> tensor<f32>
  return
}

// -----

func.func @reduce(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{'array.reduce_max' op axes are [2], expected distinct dimensions of 'tensor<4x5xf32>' (C2)}}
  %0 = array.reduce_max %x axes = [2] : (tensor<4x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @reduce(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{'array.reduce_sum' op result types are 'tensor<4xf32>', expected types compatible with 'tensor<5xf32>' (C0)}}
  %0 = array.reduce_sum %x axes = [0] : (tensor<4x5xf32>) -> tensor<4xf32>
  return
}

// -----

// C1 to C3 and C0 of argmax and argmin.
func.func @argmax(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{'array.argmax' op axis is 2, expected a dimension of 'tensor<4x5xf32>' (C1)}}
  %0 = array.argmax %x axis = 2 index_dtype = i32 : (tensor<4x5xf32>) -> tensor<4xi32>
  return
}

// -----

func.func @argmin(%x: tensor<4x0xf32>) {
  // expected-error @+1 {{'array.argmin' op dimension 1 of 'tensor<4x0xf32>' is empty (C2)}}
  %0 = array.argmin %x axis = 1 index_dtype = i32 : (tensor<4x0xf32>) -> tensor<4xi32>
  return
}

// -----

func.func @argmin(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{'array.argmin' op index_dtype is 'f32', expected an integer type (C3)}}
  %0 = array.argmin %x axis = 1 index_dtype = f32 : (tensor<4x5xf32>) -> tensor<4xi32>
  return
}

// -----

func.func @argmin(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{'array.argmin' op result types are 'tensor<4xi64>', expected types compatible with 'tensor<4xi32>' (C0)}}
  %0 = array.argmin %x axis = 1 index_dtype = i32 : (tensor<4x5xf32>) -> tensor<4xi64>
  return
}
