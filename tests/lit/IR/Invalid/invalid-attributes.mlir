// RUN: array-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{has an attribute 'array.plann' that the dialect does not know; the nearest is 'array.plan'}}
func.func @unknown(%x: tensor<4xf32>) attributes {array.plann = {}} {
  return
}

// -----

func.func @unknown_on_an_operation(%x: tensor<4xf32>) {
  // expected-error @below {{has an attribute 'array.presicion' that the dialect does not know; the nearest is 'array.precision'}}
  %0 = arith.addf %x, %x {array.presicion = "tf32"} : tensor<4xf32>
  return
}

// -----

// expected-error @below {{'array.dims' stands on arguments and results, not on functions}}
func.func @elsewhere(%x: tensor<4xf32>) attributes {array.dims = affine_map<() -> (4)>} {
  return
}

// -----

// expected-error @below {{'array.plan' stands on operations, not on arguments}}
func.func @on_an_argument(%x: tensor<4xf32> {array.plan = {}}) {
  return
}

// -----

// expected-error @below {{'array.role' stands on arguments, not on results}}
func.func private @on_a_result(tensor<4xf32>) -> (tensor<4xf32> {array.role = "result"})

// -----

// expected-error @below {{'array.donated' must be array<i64>, got "x"}}
func.func @of_another_kind(%x: tensor<4xf32>) attributes {array.donated = "x"} {
  return
}

// -----

// Attributes of the table are accepted.
func.func @known(%x: tensor<?xf32> {array.dims = affine_map<()[n] -> (n)>}) attributes {array.symbols = [{min = 1 : i64}]} {
  return
}
