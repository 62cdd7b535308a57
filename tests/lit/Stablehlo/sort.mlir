// RUN: array-translate --stablehlo-to-array -split-input-file %s | FileCheck %s

// The second input is the key, and moves to the front; its selections give zeros one sign.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<4x5xf32>, %[[K:.*]]: tensor<4x5xf32>)
// CHECK: %[[S:.*]]:2 = array.sort %[[K]], %[[X]] dimension = 1 num_keys = 1 is_stable = true
// CHECK: return %[[S]]#1, %[[S]]#0
func.func @main(%x: tensor<4x5xf32>, %k: tensor<4x5xf32>) -> (tensor<4x5xf32>, tensor<4x5xf32>) {
  %0:2 = "stablehlo.sort"(%x, %k) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %1 = stablehlo.compare EQ, %c, %z, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %2 = stablehlo.select %1, %z, %c : tensor<i1>, tensor<f32>
    %3 = stablehlo.compare LT, %2, %d, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %3 : tensor<i1>
  }) : (tensor<4x5xf32>, tensor<4x5xf32>) -> (tensor<4x5xf32>, tensor<4x5xf32>)
  return %0#0, %0#1 : tensor<4x5xf32>, tensor<4x5xf32>
}

// -----

// Descending: backwards, sorted, and backwards again, so that equal ones keep their order.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<4xi32>)
// CHECK: %[[R:.*]] = array.reverse %[[X]] dimensions = [0]
// CHECK: %[[S:.*]] = array.sort %[[R]] dimension = 0 num_keys = 1 is_stable = true
// CHECK: array.reverse %[[S]] dimensions = [0]
func.func @main(%x: tensor<4xi32>) -> tensor<4xi32> {
  %0 = "stablehlo.sort"(%x) <{dimension = -1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = stablehlo.compare GT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<4x5xf32>)
// CHECK: array.top_k %[[X]] k = 2 axis = 1
func.func @main(%x: tensor<4x5xf32>) -> tensor<4x2xi32> {
  %v, %i = chlo.top_k(%x, k = 2) : tensor<4x5xf32> -> (tensor<4x2xf32>, tensor<4x2xi32>)
  return %i : tensor<4x2xi32>
}
