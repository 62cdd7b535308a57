// RUN: array-translate --stablehlo-to-array -split-input-file %s | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<4x5xf32>, %[[I:.*]]: tensor<f32>)
// A neutral init is left out, another one is combined.
// CHECK: %[[S:.*]] = array.reduce_sum %[[X]] axes = [0, 1]
// CHECK-NOT: array.add
// CHECK: %[[M:.*]] = array.reduce_max %[[X]] axes = [1]
// CHECK: %[[W:.*]] = array.broadcast_in_dim %[[I]]
// CHECK: array.max %[[W]], %[[M]]
func.func @main(%x: tensor<4x5xf32>, %i: tensor<f32>) -> (tensor<f32>, tensor<4xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x5xf32>, tensor<f32>) -> tensor<f32>
  %1 = "stablehlo.reduce"(%x, %i) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %2 = stablehlo.maximum %b, %a : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<4x5xf32>, tensor<f32>) -> tensor<4xf32>
  return %0, %1 : tensor<f32>, tensor<4xf32>
}

// -----

// JAX's argmax.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<4x5xf32>)
// CHECK: array.argmax %[[X]] axis = 1 index_dtype = i32
// CHECK-NOT: array.scan
func.func @main(%x: tensor<4x5xf32>) -> tensor<4xi32> {
  %i = stablehlo.iota dim = 1 : tensor<4x5xi32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.reduce(%x init: %low), (%i init: %z) across dimensions = [1] : (tensor<4x5xf32>, tensor<4x5xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
   reducer(%a: tensor<f32>, %b: tensor<f32>) (%j: tensor<i32>, %k: tensor<i32>)  {
    %1 = stablehlo.compare GT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %2 = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %3 = stablehlo.or %1, %2 : tensor<i1>
    %4 = stablehlo.compare EQ, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %5 = stablehlo.compare LT, %j, %k, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %6 = stablehlo.and %4, %5 : tensor<i1>
    %7 = stablehlo.or %3, %6 : tensor<i1>
    %8 = stablehlo.select %3, %a, %b : tensor<i1>, tensor<f32>
    %9 = stablehlo.select %7, %j, %k : tensor<i1>, tensor<i32>
    stablehlo.return %8, %9 : tensor<f32>, tensor<i32>
  }
  return %0#1 : tensor<4xi32>
}

// -----

// Any other reducer is applied to the slices; its operations then are those of whole arrays.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<4x5x6xf32>, %[[I:.*]]: tensor<f32>)
// CHECK: %[[C:.*]] = array.broadcast_in_dim %[[I]] broadcast_dimensions = [] : (tensor<f32>) -> tensor<4xf32>
// CHECK: array.scan(%[[C]]) (%{{.*}}) length = 30 reverse = false : (tensor<4xf32>, tensor<30x4xf32>) -> tensor<4xf32>
// CHECK: ^bb0(%[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<4xf32>):
// CHECK: %[[P:.*]] = array.mul %[[A]], %[[B]] : tensor<4xf32>
// CHECK: array.yield %[[S:.*]] : tensor<4xf32>
func.func @main(%x: tensor<4x5x6xf32>, %i: tensor<f32>) -> tensor<4xf32> {
  %0 = stablehlo.reduce(%x init: %i) across dimensions = [1, 2] : (tensor<4x5x6xf32>, tensor<f32>) -> tensor<4xf32>
   reducer(%a: tensor<f32>, %b: tensor<f32>)  {
    %one = stablehlo.constant dense<1.0> : tensor<f32>
    %1 = stablehlo.multiply %a, %b : tensor<f32>
    %2 = stablehlo.add %1, %one : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }
  return %0 : tensor<4xf32>
}

// -----

// A map is its region on whole arrays.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
// CHECK: %[[S:.*]] = array.sin %[[X]] : tensor<4xf32>
// CHECK: array.mul %[[S]], %[[X]] : tensor<4xf32>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.map"(%x, %x) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.sine %a : tensor<f32>
    %2 = stablehlo.multiply %1, %b : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A computation may call functions, and these other ones.
// CHECK-LABEL: func.func @main
// CHECK: array.reduce_max
// CHECK-NOT: func.func
func.func @main(%x: tensor<4xf32>) -> tensor<f32> {
  %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %i) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
   reducer(%a: tensor<f32>, %b: tensor<f32>)  {
    %1 = func.call @larger(%b, %a) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }
  return %0 : tensor<f32>
}
func.func private @larger(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %0 = func.call @other(%b, %a) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @other(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.maximum %a, %b : tensor<f32>
  return %0 : tensor<f32>
}

// -----

// What is not elementwise is computed for one element after the other.
// CHECK-LABEL: func.func @main
// CHECK: array.scan
// CHECK: array.scan
// CHECK-NOT: array.scan
// CHECK: array.cond
func.func @main(%x: tensor<4x3xf32>, %i: tensor<f32>) -> tensor<3xf32> {
  %0 = stablehlo.reduce(%x init: %i) across dimensions = [0] : (tensor<4x3xf32>, tensor<f32>) -> tensor<3xf32>
   reducer(%a: tensor<f32>, %b: tensor<f32>)  {
    %1 = stablehlo.compare GT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %2 = "stablehlo.if"(%1) ({
      stablehlo.return %a : tensor<f32>
    }, {
      %3 = stablehlo.sine %b : tensor<f32>
      stablehlo.return %3 : tensor<f32>
    }) : (tensor<i1>) -> tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }
  return %0 : tensor<3xf32>
}

// -----

// A function that calls itself stays a function: the compiler refuses it.
// CHECK-LABEL: func.func @main
// CHECK: array.call @again
func.func @main(%x: tensor<4xf32>, %i: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.reduce(%x init: %i) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
   reducer(%a: tensor<f32>, %b: tensor<f32>)  {
    %1 = func.call @again(%a) : (tensor<f32>) -> tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }
  return %0 : tensor<f32>
}
func.func private @again(%a: tensor<f32>) -> tensor<f32> {
  %0 = func.call @again(%a) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
