// RUN: array-opt %s --split-input-file --verify-diagnostics

// The constraints C1 to C4 of host_call.

func.func @call(%x: tensor<4xf32>) {
  // expected-error @+1 {{'array.host_call' op slot is -1, expected at least 0 (C1)}}
  array.host_call slot = -1 effectful (%x) : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @call(%t: !array.token, %x: tensor<4xf32>) {
  // expected-error @+1 {{'array.host_call' op takes '!array.token', 'tensor<4xf32>' and gives 'tensor<4xf32>', expected a token first in both, or tensors only (C2)}}
  %y = array.host_call slot = 0 effectful (%t, %x) : (!array.token, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @call(%t: !array.token, %x: tensor<4xf32>) {
  // expected-error @+1 {{expected a token first in both, or tensors only (C2)}}
  %u = array.host_call slot = 0 effectful (%x, %t) : (tensor<4xf32>, !array.token) -> !array.token
  return
}

// -----

func.func @call(%t: !array.token, %x: tensor<4xf32>) {
  // expected-error @+1 {{expected a token first in both, or tensors only (C2)}}
  %u = array.host_call slot = 0 effectful (%t, %t) : (!array.token, !array.token) -> !array.token
  return
}

// -----

func.func @call(%t: !array.token) {
  // expected-error @+1 {{'array.host_call' op has a token, expected effectful (C3)}}
  %u = array.host_call slot = 0 (%t) : (!array.token) -> !array.token
  return
}

// -----

func.func @call(%x: tensor<4xf32>) {
  // expected-error @+1 {{'array.host_call' op without effects has no results, expected at least one (C4)}}
  array.host_call slot = 0 (%x) : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @call(%x: f32) {
  // expected-error @+1 {{'array.host_call' op operand #0 must be variadic of}}
  array.host_call slot = 0 effectful (%x) : (f32) -> ()
  return
}
