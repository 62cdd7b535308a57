// RUN: array-opt %s --split-input-file --verify-diagnostics

// The constraints C1 to C3 of call, and the types of tokens.

func.func @main(%x: tensor<4xf32>) {
  // expected-error @+1 {{'array.call' op callee @nowhere is not a function of the module (C1)}}
  %0 = array.call @nowhere(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func private @callee(tensor<4xf32>) -> tensor<4xf32>
func.func @main(%x: tensor<5xf32>) {
  // expected-error @+1 {{'array.call' op operand types are 'tensor<5xf32>', expected those of @callee: 'tensor<4xf32>' (C2)}}
  %0 = array.call @callee(%x) : (tensor<5xf32>) -> tensor<4xf32>
  return
}

// -----

func.func private @callee(tensor<4xf32>) -> tensor<4xf32>
func.func @main(%x: tensor<4xf32>) {
  // expected-error @+1 {{'array.call' op result types are 'tensor<4xf64>', expected those of @callee: 'tensor<4xf32>' (C3)}}
  %0 = array.call @callee(%x) : (tensor<4xf32>) -> tensor<4xf64>
  return
}

// -----

func.func @tokens(%x: tensor<4xf32>) {
  // expected-error @+1 {{'array.after_all' op operand #0 must be variadic of token, but got 'tensor<4xf32>'}}
  %0 = "array.after_all"(%x) : (tensor<4xf32>) -> !array.token
  return
}
