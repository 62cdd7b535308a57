// RUN: array-translate --stablehlo-to-array -split-input-file -verify-diagnostics %s
// Sizes that can't be followed, and conditions that are none of sizes, are errors at their lines.

func.func @main(%x: tensor<?xf32>, %n: tensor<1xi32>) -> tensor<?xf32> {
  // expected-error @below {{stablehlo.dynamic_iota: a size of its result does not follow from the sizes of the arguments}}
  %0 = stablehlo.dynamic_iota %n, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>
  %1 = stablehlo.concatenate %x, %x, dim = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}

// -----

func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %five = stablehlo.constant dense<5> : tensor<i32>
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %0 = stablehlo.xor %n, %five : tensor<i32>
  %1 = stablehlo.reshape %0 : (tensor<i32>) -> tensor<1xi32>
  %2 = stablehlo.dynamic_iota %1, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>
  // expected-error @below {{result #0 of @main has a size that does not follow from the sizes of the arguments by sums, products, maxima, minima, and quotients by numbers and by sizes of at least 1}}
  return %2 : tensor<?xf32>
}

// -----

func.func @main(%x: tensor<?xf32>, %p: tensor<i1>) -> tensor<?xf32> {
  // expected-error @below {{stablehlo.custom_call: @shape_assertion of a condition that is no comparison of sizes of the arguments}}
  stablehlo.custom_call @shape_assertion(%p) {error_message = "no", has_side_effect = true} : (tensor<i1>) -> ()
  return %x : tensor<?xf32>
}

// -----

func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @below {{calls itself, which can't be compiled}}
  %0 = call @main(%x) : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %f = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1> : tensor<1xi32>
  %size = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %n = stablehlo.reshape %size : (tensor<i32>) -> tensor<1xi32>
  // expected-error @below {{stablehlo.dynamic_pad: expected numbers in operand #4, but it has sizes that each call decides}}
  %0 = stablehlo.dynamic_pad %x, %f, %one, %one, %n : (tensor<?xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
  return %x : tensor<?xf32>
}

// -----

// Also of sizes that are known.
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<3xf32>) -> tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %0 = stablehlo.compare LT, %n, %four, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%0) {error_message = "below 4", has_side_effect = true} : (tensor<i1>) -> ()
  %1 = stablehlo.compare GE, %n, %four, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  // expected-error @below {{stablehlo.custom_call: @shape_assertion does not hold for any sizes: at least 4}}
  stablehlo.custom_call @shape_assertion(%1) {error_message = "at least 4", has_side_effect = true} : (tensor<i1>) -> ()
  return %x : tensor<3xf32>
}

// -----

// A bound of a maximum is no bound of one symbol.
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %five = stablehlo.constant dense<5> : tensor<i32>
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %most = stablehlo.maximum %n, %five : tensor<i32>
  %eight = stablehlo.constant dense<8> : tensor<i32>
  %0 = stablehlo.compare GE, %most, %eight, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  // expected-error @below {{stablehlo.custom_call: @shape_assertion of a condition on a maximum, a minimum, or a quotient of two sizes, which can't be checked in each call}}
  stablehlo.custom_call @shape_assertion(%0) {error_message = "at least 8", has_side_effect = true} : (tensor<i1>) -> ()
  return %x : tensor<?xf32>
}
