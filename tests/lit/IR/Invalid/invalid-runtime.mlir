// RUN: array-opt %s --split-input-file --verify-diagnostics

// The constraints C1 to C3 of runtime_call, and those of destination style; C1 of spend.

func.func @call(%x: tensor<4xf32>) {
  // expected-error @+1 {{'array.runtime_call' op calls the unknown routine "shuffle", expected one of sort}}
  %0 = array.runtime_call "shuffle" params = [] element_types = [f32, f32] ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @call(%x: memref<4xf32>, %y: tensor<4xf32>) {
  // expected-error @+1 {{'array.runtime_call' op mixes tensors and memrefs: 'memref<4xf32>', 'tensor<4xf32>' (C2)}}
  %0 = array.runtime_call "sort" params = [] element_types = [f32, f32] ins(%x : memref<4xf32>) outs(%y : tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @call(%x: tensor<4xf32>) {
  // expected-error @+1 {{'array.runtime_call' op has 1 element_types, expected 2 (C3)}}
  %0 = array.runtime_call "sort" params = [] element_types = [f32] ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @call(%x: tensor<4xi32>) {
  // expected-error @+1 {{'array.runtime_call' op element type 'ui8' is not stored in 'tensor<4xi32>' (C3)}}
  %0 = array.runtime_call "sort" params = [] element_types = [ui8, i32] ins(%x : tensor<4xi32>) outs(%x : tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @call(%x: tensor<4xf32>) {
  // expected-error @+1 {{'array.runtime_call' op expected the number of tensor results (0) to be equal to the number of output tensors (1)}}
  array.runtime_call "sort" params = [] element_types = [f32, f32] ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>)
  return
}

// -----

func.func @nothing() {
  // expected-error @+1 {{'array.spend' op attribute 'operations' failed to satisfy constraint}}
  array.spend 0
  return
}
