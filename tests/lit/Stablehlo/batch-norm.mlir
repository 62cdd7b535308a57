// RUN: array-translate --stablehlo-to-array %s | FileCheck %s

// (x - mean) / sqrt(variance + epsilon) * scale + offset, for each feature.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<2x3x4xf32>, %[[S:.*]]: tensor<3xf32>, %[[O:.*]]: tensor<3xf32>, %[[M:.*]]: tensor<3xf32>, %[[V:.*]]: tensor<3xf32>)
// CHECK-DAG: %[[MB:.*]] = array.broadcast_in_dim %[[M]] broadcast_dimensions = [1]
// CHECK-DAG: %[[C:.*]] = array.sub %[[X]], %[[MB]]
// CHECK-DAG: %[[E:.*]] = array.constant dense<1.000000e-03> : tensor<3xf32>
// CHECK-DAG: %[[W:.*]] = array.add %[[V]], %[[E]]
// CHECK-DAG: %[[D:.*]] = array.sqrt %[[W]]
// CHECK-DAG: %[[DB:.*]] = array.broadcast_in_dim %[[D]] broadcast_dimensions = [1]
// CHECK: array.div %[[C]], %[[DB]]
func.func @main(%x: tensor<2x3x4xf32>, %s: tensor<3xf32>, %o: tensor<3xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>) -> tensor<2x3x4xf32> {
  %0 = "stablehlo.batch_norm_inference"(%x, %s, %o, %m, %v) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}
