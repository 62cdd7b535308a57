// RUN: array-translate --stablehlo-to-array -split-input-file %s | FileCheck %s
// Sizes that are not known: what a program computes from them becomes arithmetic on the symbols of @main.

// The sizes that JAX's export names are the symbols, in the order of their names; what it asserts of them are their
// bounds, the dimensions of later arguments, and the conditions of the function.
// CHECK-DAG: #[[SUM:.*]] = affine_map<()[s0, s1] -> (s0 + s1)>
// CHECK-DAG: #[[EQUAL:.*]] = affine_map<(d0, d1, d2) -> (d2, d0 + d1, d2)>
// CHECK-DAG: #[[LEAST:.*]] = affine_map<(d0, d1, d2) -> (d0, 2, d0)>
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<?x?xf32> {array.dims = affine_map<()[s0, s1] -> (s1, s0)>}, %[[Y:.*]]: tensor<?xf32> {array.dims = #[[SUM]]})
// CHECK-SAME: -> (tensor<?xf32> {array.dims = #[[SUM]]})
// CHECK-SAME: array.requires = [{condition = "at_least", message = "at least 2: {0}", sizes = #[[LEAST]]}, {condition = "equal", message = "a sum", sizes = #[[EQUAL]]}]
// CHECK-SAME: array.symbols = [{min = 0 : i64, name = "a"}, {min = 2 : i64, name = "z"}]
func.func public @main(%x: tensor<?x?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %two = stablehlo.constant dense<2> : tensor<i32>
  %z = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
  %a = stablehlo.get_dimension_size %x, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
  %b = stablehlo.get_dimension_size %y, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %0 = stablehlo.compare GE, %z, %two, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%0, %z) {api_version = 2 : i32, error_message = "at least 2: {0}", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
  %1 = stablehlo.add %z, %a : tensor<i32>
  %2 = stablehlo.compare EQ, %b, %1, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%2, %b) {api_version = 2 : i32, error_message = "a sum", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
  // CHECK: array.call @inner
  %3 = call @inner(%a, %z, %y) : (tensor<i32>, tensor<i32>, tensor<?xf32>) -> tensor<?xf32>
  return %3 : tensor<?xf32>
}
// CHECK-LABEL: func.func private @inner
// CHECK-DAG: %[[S0:.*]] = array.symbol 0 : index
// CHECK-DAG: %[[S1:.*]] = array.symbol 1 : index
// CHECK: %[[N:.*]] = arith.addi %[[S0]], %[[S1]] : index
// CHECK: array.iota dimension = 0 output_dims(%[[N]]) : tensor<?xf32>
func.func private @inner(%a: tensor<i32> {jax.global_constant = "a"}, %z: tensor<i32> {jax.global_constant = "z"}, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = stablehlo.add %a, %z : tensor<i32>
  %1 = stablehlo.reshape %0 : (tensor<i32>) -> tensor<1xi32>
  %2 = stablehlo.dynamic_iota %1, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>
  %3 = stablehlo.add %2, %y : tensor<?xf32>
  return %3 : tensor<?xf32>
}

// -----

// A size that is a multiple is written by its factor: `2*n`.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%{{.*}}: tensor<?xf32> {array.dims = affine_map<()[s0] -> (s0 * 2)>})
// CHECK-SAME: name = "n"
// CHECK-LABEL: func.func private @pairs
// CHECK: %[[N:.*]] = array.symbol 0 : index
// CHECK: array.reshape %{{.*}} output_dims(%[[N]]) : (tensor<?xf32>) -> tensor<?x2xf32>
func.func @main(%x: tensor<?xf32>) -> tensor<?x2xf32> {
  %two = stablehlo.constant dense<2> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %rest = stablehlo.remainder %n, %two : tensor<i32>
  %0 = stablehlo.compare EQ, %rest, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%0) {error_message = "even", has_side_effect = true} : (tensor<i1>) -> ()
  %half = stablehlo.divide %n, %two : tensor<i32>
  %1 = call @pairs(%half, %x) : (tensor<i32>, tensor<?xf32>) -> tensor<?x2xf32>
  return %1 : tensor<?x2xf32>
}
func.func private @pairs(%n: tensor<i32> {jax.global_constant = "n"}, %x: tensor<?xf32>) -> tensor<?x2xf32> {
  %two = stablehlo.constant dense<2> : tensor<1xi32>
  %0 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %1 = stablehlo.concatenate %0, %two, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %2 = stablehlo.dynamic_reshape %x, %1 : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x2xf32>
  return %2 : tensor<?x2xf32>
}

// -----

// A function that is called with two sizes is copied.
// CHECK-LABEL: func.func @main
// CHECK: array.call @fill(
// CHECK: array.call @fill_0(
// CHECK: array.call @fill(
// CHECK: func.func private @fill(
// CHECK: func.func private @fill_0(
func.func @main(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %m = stablehlo.add %n, %one : tensor<i32>
  %0 = call @fill(%n) : (tensor<i32>) -> tensor<?xf32>
  %1 = call @fill(%m) : (tensor<i32>) -> tensor<?xf32>
  %2 = call @fill(%n) : (tensor<i32>) -> tensor<?xf32>
  return %0, %1, %2 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}
func.func private @fill(%n: tensor<i32>) -> tensor<?xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %1 = stablehlo.dynamic_broadcast_in_dim %zero, %0, dims = [] : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}

// -----

// JAX's divisions, rounded down: (n - 1) // 2, and (-1) mod n, which is n - 1.
// CHECK-DAG: #[[HALF:.*]] = affine_map<()[s0] -> ((s0 - 1) floordiv 2)>
// CHECK-DAG: #[[LESS:.*]] = affine_map<()[s0] -> (s0 - 1)>
// CHECK-LABEL: func.func @main
// CHECK-SAME: -> (tensor<?xi32> {array.dims = #[[HALF]]}, tensor<?xi32> {array.dims = #[[LESS]]})
func.func @main(%x: tensor<?xf32>) -> (tensor<?xi32>, tensor<?xi32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %minus = stablehlo.constant dense<-1> : tensor<i32>
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %ok = stablehlo.compare GE, %n, %one, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%ok) {error_message = "one", has_side_effect = true} : (tensor<i1>) -> ()
  %less = stablehlo.add %n, %minus : tensor<i32>
  %q = stablehlo.divide %less, %two : tensor<i32>
  %s = stablehlo.sign %less : tensor<i32>
  %t = stablehlo.sign %two : tensor<i32>
  %differ = stablehlo.compare NE, %s, %t, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %r = stablehlo.remainder %less, %two : tensor<i32>
  %uneven = stablehlo.compare NE, %r, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %r1 = stablehlo.remainder %minus, %n : tensor<i32>
  %low = stablehlo.compare LT, %r1, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %low1 = stablehlo.compare LT, %n, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %signs = stablehlo.compare NE, %low, %low1, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>
  %some = stablehlo.compare NE, %r1, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %both = stablehlo.and %signs, %some : tensor<i1>
  %moved = stablehlo.add %r1, %n : tensor<i32>
  %mod = stablehlo.select %both, %moved, %r1 : tensor<i1>, tensor<i32>
  %q1 = stablehlo.reshape %q : (tensor<i32>) -> tensor<1xi32>
  %m1 = stablehlo.reshape %mod : (tensor<i32>) -> tensor<1xi32>
  %0 = stablehlo.dynamic_iota %q1, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
  %1 = stablehlo.dynamic_iota %m1, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
  return %0, %1 : tensor<?xi32>, tensor<?xi32>
}

// -----

// Loops and branches keep sizes, and a size that a loop passes on is one inside.
// CHECK-LABEL: func.func @main
// CHECK: array.while
// CHECK: array.broadcast_in_dim %{{.*}} output_dims(%{{.*}}) : (tensor<f32>) -> tensor<?xf32>
// CHECK: array.cond
func.func @main(%x: tensor<?xf32>, %p: tensor<i1>) -> tensor<?xf32> {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %c = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %f = stablehlo.constant dense<1.0> : tensor<f32>
  %0:3 = stablehlo.while(%i = %c, %a = %x, %m = %n) : tensor<i32>, tensor<?xf32>, tensor<i32>
  cond {
    %1 = stablehlo.compare LT, %i, %m, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.reshape %m : (tensor<i32>) -> tensor<1xi32>
    %2 = stablehlo.dynamic_broadcast_in_dim %f, %1, dims = [] : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
    %3 = stablehlo.add %a, %2 : tensor<?xf32>
    %4 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %4, %3, %m : tensor<i32>, tensor<?xf32>, tensor<i32>
  }
  %5 = "stablehlo.if"(%p) ({
    stablehlo.return %0#1 : tensor<?xf32>
  }, {
    %6 = stablehlo.negate %0#1 : tensor<?xf32>
    stablehlo.return %6 : tensor<?xf32>
  }) : (tensor<i1>) -> tensor<?xf32>
  return %5 : tensor<?xf32>
}

// -----

// Maxima, minima, quotients and remainders of sizes are symbols that follow from others, behind those of the arguments.
// CHECK-DAG: #[[REST:.*]] = affine_map<()[s0, s1] -> (s0 - 5, 0)>
// CHECK-DAG: #[[QUOTIENT:.*]] = affine_map<()[s0, s1, s2] -> (s0, s1)>
// CHECK-DAG: #[[LEAST:.*]] = affine_map<()[s0, s1, s2, s3] -> (s0 - s2)>
// CHECK-DAG: #[[LEFT:.*]] = affine_map<()[s0, s1, s2, s3] -> (s0 - s1 * s3)>
// CHECK-LABEL: func.func @main
// CHECK-SAME: -> (tensor<?xi32> {array.dims = #[[LEAST]]}, tensor<?xi32> {array.dims = #[[LEFT]]})
// CHECK-SAME: array.symbols = [{min = 1 : i64, name = "x0_0"}, {min = 1 : i64, name = "x1_0"}, {maximum = #[[REST]]}, {quotient = #[[QUOTIENT]]}]
func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<?xi32>, tensor<?xi32>) {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %five = stablehlo.constant dense<5> : tensor<i32>
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %m = stablehlo.get_dimension_size %y, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %0 = stablehlo.compare GE, %n, %one, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%0) {error_message = "some", has_side_effect = true} : (tensor<i1>) -> ()
  %1 = stablehlo.compare GE, %m, %one, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%1) {error_message = "some", has_side_effect = true} : (tensor<i1>) -> ()
  %least = stablehlo.minimum %n, %five : tensor<i32>
  %left = stablehlo.remainder %n, %m : tensor<i32>
  %2 = stablehlo.reshape %least : (tensor<i32>) -> tensor<1xi32>
  %3 = stablehlo.dynamic_iota %2, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
  %4 = stablehlo.reshape %left : (tensor<i32>) -> tensor<1xi32>
  %5 = stablehlo.dynamic_iota %4, dim = 0 : (tensor<1xi32>) -> tensor<?xi32>
  return %3, %5 : tensor<?xi32>, tensor<?xi32>
}
