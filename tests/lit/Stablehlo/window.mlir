// RUN: array-translate --stablehlo-to-array -split-input-file %s | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<4x6xf32>)
// CHECK: array.reduce_window_max %[[X]] window_dimensions = [2, 3] window_strides = [2, 1] low = [0, 1] high = [0, 1] base_dilation = [1, 1] window_dilation = [1, 1]
func.func @main(%x: tensor<4x6xf32>) -> tensor<2x6xf32> {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %low) <{padding = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>, window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 2, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<2x6xf32>
  return %0 : tensor<2x6xf32>
}

// -----

// A window over all that came before.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<4x6xf32>)
// CHECK: array.cumsum %[[X]] axis = 1 reverse = true
func.func @main(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %z) <{padding = dense<[[0, 0], [0, 5]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 6>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

// An init that changes something counts once for each window, and not for the padding.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<5xf32>, %[[I:.*]]: tensor<f32>)
// CHECK: %[[W:.*]] = array.reduce_window_sum %[[X]] window_dimensions = [3] window_strides = [1] low = [1] high = [1]
// CHECK: %[[B:.*]] = array.broadcast_in_dim %[[I]]
// CHECK: array.add %[[W]], %[[B]]
func.func @main(%x: tensor<5xf32>, %i: tensor<f32>) -> tensor<5xf32> {
  %0 = "stablehlo.reduce_window"(%x, %i) <{padding = dense<[[1, 1]]> : tensor<1x2xi64>, window_dimensions = array<i64: 3>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<5xf32>, tensor<f32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

// A region that is no single operation: the array, shifted, for each place of the window, but for its padding.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<5xf32>, %[[I:.*]]: tensor<f32>)
// CHECK: %[[P:.*]] = array.pad %[[X]], %[[I]] low = [1] high = [0] interior = [0]
// CHECK: %[[S:.*]] = array.broadcast_in_dim %[[I]]
// CHECK: %[[M:.*]] = array.pad %{{.*}}, %{{.*}} low = [1] high = [0] interior = [0] : {{.*}}tensor<6xi1>
// CHECK: %[[A:.*]] = array.slice %[[P]] start_indices = [0] limit_indices = [5] strides = [1]
// CHECK: %[[MA:.*]] = array.slice %[[M]] start_indices = [0] limit_indices = [5] strides = [1]
// CHECK: array.mul %[[S]], %[[A]]
// CHECK: %[[FIRST:.*]] = array.select %[[MA]], %{{.*}}, %[[S]]
// CHECK: %[[B:.*]] = array.slice %[[P]] start_indices = [1] limit_indices = [6] strides = [1]
// CHECK: %[[MB:.*]] = array.slice %[[M]] start_indices = [1] limit_indices = [6] strides = [1]
// CHECK: array.mul %[[FIRST]], %[[B]]
// CHECK: array.select %[[MB]], %{{.*}}, %[[FIRST]]
// CHECK-NOT: array.mul
func.func @main(%x: tensor<5xf32>, %i: tensor<f32>) -> tensor<5xf32> {
  %0 = "stablehlo.reduce_window"(%x, %i) <{padding = dense<[[1, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.multiply %a, %b : tensor<f32>
    %2 = stablehlo.add %1, %b : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<5xf32>, tensor<f32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[S:.*]]: tensor<2xf32>)
// CHECK: array.select_and_scatter %[[S]], %[[X]] greatest = true window_dimensions = [2] window_strides = [2]
func.func @main(%x: tensor<4xf32>, %s: tensor<2xf32>) -> tensor<4xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.select_and_scatter"(%x, %s, %z) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4xf32>, tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Many places of a window are combined by a loop.
// CHECK-LABEL: func.func @main
// CHECK: array.scan
// CHECK: array.dynamic_slice
func.func @main(%x: tensor<4096xf32>, %i: tensor<f32>) -> tensor<1xf32> {
  %0 = "stablehlo.reduce_window"(%x, %i) <{window_dimensions = array<i64: 4096>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.multiply %a, %b : tensor<f32>
    %2 = stablehlo.add %1, %b : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<4096xf32>, tensor<f32>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}
