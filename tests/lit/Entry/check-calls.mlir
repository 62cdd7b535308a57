// RUN: array-opt %s --array-check-calls --split-input-file --verify-diagnostics

// Calls are inlined: they have an end, though @leaf is called twice.
func.func private @leaf(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = array.tanh %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = array.call @leaf(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = array.call @leaf(%y) : (tensor<4xf32>) -> tensor<4xf32>
  return %z : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{@main calls itself, directly or through other functions: recursion is not supported, because calls are inlined}}
  %y = array.call @main(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func private @even(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = array.call @odd(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @odd(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{@even calls itself}}
  %y = array.call @even(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = array.call @odd(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
