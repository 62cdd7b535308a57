// RUN: array-opt %s --array-check-shapes --split-input-file --verify-diagnostics

func.func @main(%a: tensor<f32>) -> tensor<4611686018427387905xf32> {
  // expected-error @+1 {{'array.broadcast_in_dim' op result #0 is 'tensor<4611686018427387905xf32>', which takes more bytes than 2**63 - 1}}
  %b = array.broadcast_in_dim %a broadcast_dimensions = [] : (tensor<f32>) -> tensor<4611686018427387905xf32>
  return %b : tensor<4611686018427387905xf32>
}

// -----

// expected-error @+1 {{argument #0 is 'tensor<4294967296x4294967296xf32>', which takes more bytes than 2**63 - 1}}
func.func @main(%a: tensor<4294967296x4294967296xf32>) {
  return
}

// -----

// Without elements, but its strides are products.
// expected-error @+1 {{argument #0 is 'tensor<0x4294967296x4294967296xf32>'}}
func.func @main(%a: tensor<0x4294967296x4294967296xf32>) {
  return
}

// -----

// The maximum.
func.func @main(%a: tensor<9223372036854775807xi8>, %b: tensor<?x2305843009213693951xf32>) {
  return
}
