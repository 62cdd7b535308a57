// RUN: array-opt %s --split-input-file --verify-diagnostics

// The constraints of constant and iota.

// C1 of constant.
func.func @constant() {
  // expected-error @+1 {{'array.constant' op failed to verify that all of {value, result} have same type}}
  %0 = "array.constant"() {value = dense<1.0> : tensor<4xf32>} : () -> tensor<5xf32>
  return
}

// -----

// C1 of iota.
func.func @iota() {
  // expected-error @+1 {{'array.iota' op dimension is 1, expected a dimension of 'tensor<4xi32>' (C1)}}
  %0 = array.iota dimension = 1 : tensor<4xi32>
  return
}

// -----

func.func @iota() {
  // expected-error @+1 {{'array.iota' op dimension is -1, expected a dimension of 'tensor<4xi32>' (C1)}}
  %0 = array.iota dimension = -1 : tensor<4xi32>
  return
}

// -----

// C2 of iota.
func.func @iota(%n: index) {
  // expected-error @+1 {{'array.iota' op has 1 output_dims, expected 2 for 'tensor<?x?xi32>' (C2)}}
  %0 = array.iota dimension = 1 output_dims(%n) : tensor<?x?xi32>
  return
}

// -----

// C3 of iota.
func.func @iota() {
  // expected-error @+1 {{'array.iota' op result #0 must be tensor of integers (i8 to i64, ui8 to ui64) or floats (f16, bf16, f32, f64), but got 'tensor<4xi1>'}}
  %0 = array.iota dimension = 0 : tensor<4xi1>
  return
}
