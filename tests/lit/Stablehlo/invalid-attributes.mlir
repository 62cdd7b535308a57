// RUN: array-translate --stablehlo-to-array -split-input-file -verify-diagnostics %s
// Attributes and operands that are missing or of another kind.

func.func @main(%x: tensor<4x5xf32>) -> tensor<5x4xf32> {
  // expected-error @below {{stablehlo.transpose: expected the attribute 'permutation', integers}}
  %0 = "stablehlo.transpose"(%x) : (tensor<4x5xf32>) -> tensor<5x4xf32>
  return %0 : tensor<5x4xf32>
}

// -----

func.func @main(%x: tensor<4x5xf32>) -> tensor<5x4xf32> {
  // expected-error @below {{stablehlo.transpose: expected the attribute 'permutation', integers, but got "yes"}}
  %0 = "stablehlo.transpose"(%x) <{permutation = "yes"}> : (tensor<4x5xf32>) -> tensor<5x4xf32>
  return %0 : tensor<5x4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{stablehlo.add: expected 2 operands, but got 1}}
  %0 = "stablehlo.add"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>, %y: tensor<5xf32>) -> tensor<4xf32> {
  // expected-error @below {{stablehlo.add: array.add does not take it: }}
  %0 = "stablehlo.add"(%x, %y) : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  // expected-error @below {{chlo.asin: array.asin does not take it: 'array.asin' op operand #0 must be tensor of floats}}
  %0 = chlo.asin %x : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xi1> {
  // expected-error @below {{stablehlo.compare: expected EQ, NE, LT, LE, GT or GE, but got 'ABOUT'}}
  %0 = stablehlo.compare ABOUT, %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{stablehlo.reduce_precision: expected a format such as e5m10, but got 'half'}}
  %0 = stablehlo.reduce_precision %x, format = half : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4x5xf32>) -> tensor<20xf32> {
  // expected-error @below {{'dims' is given twice}}
  %0 = stablehlo.transpose %x, dims = [0, 1], dims = [1, 0] : (tensor<4x5xf32>) -> tensor<20xf32>
  return %0 : tensor<20xf32>
}

// -----

func.func @main(%x: tensor<1x8x1xf32>, %w: tensor<3x1x1xf32>) -> tensor<1x6x1xf32> {
  // expected-error @below {{expected the dimensions b, f, 0, 1, ..., each of them once}}
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, b]x[0, i, o]->[b, 0, f], window = {} : (tensor<1x8x1xf32>, tensor<3x1x1xf32>) -> tensor<1x6x1xf32>
  return %0 : tensor<1x6x1xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) {
  // expected-error @below {{stablehlo.complex: expected a result}}
  stablehlo.complex %x, %x : (tensor<4xf32>, tensor<4xf32>) -> ()
  return
}

// -----

// More results than the operation has.
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{stablehlo.abs: expected 1 results, but got 2}}
  %0:2 = "stablehlo.abs"(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#1 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<f32>) -> (tensor<f32>, tensor<i32>, tensor<i32>) {
  // expected-error @below {{stablehlo.custom_call: @lapack_sgetrf_ffi: expected a matrix, but got 'tensor<f32>'}}
  %0:3 = "stablehlo.custom_call"(%x) <{call_target_name = "lapack_sgetrf_ffi"}> : (tensor<f32>) -> (tensor<f32>, tensor<i32>, tensor<i32>)
  return %0#0, %0#1, %0#2 : tensor<f32>, tensor<i32>, tensor<i32>
}

// -----

func.func @main(%x: !stablehlo.token) -> tensor<4xf32> {
  // expected-error @below {{stablehlo.if: expected a tensor that chooses, but got '!array.token'}}
  %0 = "stablehlo.if"(%x) ({
    %1 = stablehlo.constant dense<1.0> : tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }, {
    %1 = stablehlo.constant dense<1.0> : tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }) : (!stablehlo.token) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
