// RUN: array-opt %s --array-prepare-entry --split-input-file --verify-diagnostics

// expected-error @below {{the module has no function @main to compile}}
module {
}

// -----

// expected-error @below {{argument #0 of @main is 'tensor<?xf32>', and its sizes were not resolved: run array-resolve-sizes first}}
func.func @main(%x: tensor<?xf32>) {
  return
}

// -----

// expected-error @below {{result #1 of @main is 'index', not a ranked tensor}}
func.func @main(%x: tensor<2xf32>, %i: tensor<index>) -> (tensor<2xf32>, index) {
  %0 = tensor.extract %i[] : tensor<index>
  return %x, %0 : tensor<2xf32>, index
}

// -----

func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = call @other(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
// expected-error @below {{only @main can be compiled, but @other is still here: calls are inlined before this pass}}
func.func private @other(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}

// -----

// expected-error @below {{argument #0 of @main is 'tensor<2xvector<4xf32>>': its elements must be integers, floats or complex numbers}}
func.func @main(%x: tensor<2xvector<4xf32>>) -> tensor<2xvector<4xf32>> {
  return %x : tensor<2xvector<4xf32>>
}
