// RUN: array-opt %s --pass-pipeline='builtin.module(func.func(array-resolve-sizes))' --split-input-file --verify-diagnostics

// expected-error @below {{argument #0 of @main is 'tensor<?x4xf32>', but its array.dims is affine_map<()[s0] -> (s0)>: a map from the symbols to each dimension is expected}}
func.func @main(%x: tensor<?x4xf32> {array.dims = affine_map<()[n] -> (n)>}) {
  return
}

// -----

// expected-error @below {{'func.func' op 'array.symbols' must be an array, got 3 : i64}}
func.func @main(%x: tensor<?x4xf32>) attributes {array.symbols = 3 : i64} {
  return
}

// -----

func.func @main(%x: tensor<?xf32>, %i: tensor<index>) -> index {
  %c0 = arith.constant 0 : index
  %n = tensor.extract %i[] : tensor<index>
  %e = tensor.empty(%n) : tensor<?xf32>
  // expected-error @below {{the size of a dimension of 'tensor<?xf32>' does not follow from the sizes of the arguments of the call}}
  %d = tensor.dim %e, %c0 : tensor<?xf32>
  return %d : index
}

// -----

func.func @main(%x: tensor<?xf32>) -> index {
  %c1 = arith.constant 1 : index
  // expected-error @below {{the size of a dimension of 'tensor<?xf32>' does not follow from the sizes of the arguments of the call}}
  %d = tensor.dim %x, %c1 : tensor<?xf32>
  return %d : index
}

// -----

func.func @main(%x: tensor<?xf32>) -> index {
  %less = arith.constant -1 : index
  // expected-error @below {{the size of a dimension of 'tensor<?xf32>' does not follow from the sizes of the arguments of the call}}
  %d = tensor.dim %x, %less : tensor<?xf32>
  return %d : index
}
