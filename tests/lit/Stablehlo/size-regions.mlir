// RUN: array-translate --stablehlo-to-array -split-input-file %s | FileCheck %s
// Regions that are no single operation, over sizes that are not known.

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<?x?xf32>
// CHECK: array.reshape %{{.*}} output_dims(%{{.*}}, %{{.*}}) : (tensor<?x?xf32>) -> tensor<?x?xf32>
// CHECK: array.broadcast_in_dim %{{.*}} output_dims(%{{.*}}) : (tensor<f32>) -> tensor<?xf32>
// CHECK: array.scan
// CHECK: array.sqrt
func.func @main(%x: tensor<?x?xf32>) -> tensor<?xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) across dimensions = [0] : (tensor<?x?xf32>, tensor<f32>) -> tensor<?xf32>
   reducer(%a: tensor<f32>, %b: tensor<f32>) {
    %1 = stablehlo.multiply %a, %a : tensor<f32>
    %2 = stablehlo.add %1, %b : tensor<f32>
    %3 = stablehlo.sqrt %2 : tensor<f32>
    stablehlo.return %3 : tensor<f32>
  }
  return %0 : tensor<?xf32>
}

// -----

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<?x4xf32>
// CHECK-COUNT-2: array.slice %{{.*}} limit_indices = [?, {{[34]}}]
// CHECK: array.scan
// CHECK: array.dynamic_slice %{{.*}} slice_sizes = [1, 2]
// CHECK: array.sqrt
// CHECK: array.dynamic_update_slice
func.func @main(%x: tensor<?x4xf32>, %i: tensor<3x1xi32>, %u: tensor<3x2xf32>) -> (tensor<?x3xf32>, tensor<?x4xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 1, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %2 = stablehlo.multiply %a, %a : tensor<f32>
    %3 = stablehlo.add %2, %b : tensor<f32>
    stablehlo.return %3 : tensor<f32>
  }) : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x3xf32>
  %1 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %2 = stablehlo.add %a, %b : tensor<f32>
    %3 = stablehlo.sqrt %2 : tensor<f32>
    stablehlo.return %3 : tensor<f32>
  }) : (tensor<?x4xf32>, tensor<3x1xi32>, tensor<3x2xf32>) -> tensor<?x4xf32>
  return %0, %1 : tensor<?x3xf32>, tensor<?x4xf32>
}
