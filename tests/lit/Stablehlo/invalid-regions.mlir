// RUN: array-translate --stablehlo-to-array -split-input-file -verify-diagnostics %s
// Regions that are no combination, no comparison, or not elementwise.

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{stablehlo.sort: its comparator has no counterpart}}
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.abs %a : tensor<f32>
    %2 = stablehlo.compare LT, %1, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>, %i: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.reduce(%x init: %i) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
   reducer(%a: tensor<f32>, %b: tensor<f32>)  {
    // expected-error @below {{stablehlo.reshape: can't be applied to whole arrays, inside of stablehlo.reduce}}
    %1 = stablehlo.reshape %a : (tensor<f32>) -> tensor<f32>
    %2 = stablehlo.convert %1 : (tensor<f32>) -> tensor<f16>
    stablehlo.return %2 : tensor<f16>
  }
  return %0 : tensor<f32>
}

// -----

func.func @main(%x: tensor<1048577xf32>, %i: tensor<f32>) -> tensor<1xf32> {
  // expected-error @below {{stablehlo.reduce_window: a window of 1048577 elements with a region that is no single operation has no counterpart: at most 1048576}}
  %0 = "stablehlo.reduce_window"(%x, %i) <{window_dimensions = array<i64: 1048577>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.multiply %a, %b : tensor<f32>
    %2 = stablehlo.add %1, %b : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<1048577xf32>, tensor<f32>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{stablehlo.return: expected inside of a loop or a branch, but it stands in func.func}}
  stablehlo.return %x : tensor<4xf32>
}

// -----

func.func @main(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @below {{stablehlo.custom_call: @lapack_sgesdd_ffi: result #0 is used, which has no counterpart}}
  %0:5 = stablehlo.custom_call @lapack_sgesdd_ffi(%a) {mhlo.backend_config = {mode = 65 : ui8}} : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<i32>)
  return %0#0 : tensor<4x4xf32>
}

// -----

// A filler of another type: nothing that was to be made of it exists.
func.func @main(%x: tensor<4xf32>, %i: tensor<i32>) -> tensor<4xf32> {
  // expected-error @below {{stablehlo.reduce_window: array.pad does not take it: }}
  %0 = "stablehlo.reduce_window"(%x, %i) <{window_dimensions = array<i64: 3>, padding = dense<[[1, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.sine %a : tensor<f32>
    %2 = stablehlo.add %1, %b : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Inputs and results of other ranks than the windows.
func.func @main(%x: tensor<4xf32>, %y: tensor<4x4xf32>, %i: tensor<f32>) -> (tensor<4xf32>, tensor<4x4xf32>) {
  // expected-error @below {{stablehlo.reduce_window: expected arrays of 1 dimensions, but got 'tensor<4x4xf32>'}}
  %0:2 = "stablehlo.reduce_window"(%x, %y, %i, %i) <{window_dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
    %1 = stablehlo.sine %a : tensor<f32>
    stablehlo.return %1, %b : tensor<f32>, tensor<f32>
  }) : (tensor<4xf32>, tensor<4x4xf32>, tensor<f32>, tensor<f32>) -> (tensor<4xf32>, tensor<4x4xf32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4x4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>, %y: tensor<f32>, %i: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  // expected-error @below {{stablehlo.reduce: expected dimensions of 'tensor<f32>', but got 0}}
  %0:2 = "stablehlo.reduce"(%x, %y, %i, %i) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
    %1 = stablehlo.sine %a : tensor<f32>
    stablehlo.return %1, %b : tensor<f32>, tensor<f32>
  }) : (tensor<4xf32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %0#0, %0#1 : tensor<f32>, tensor<f32>
}
