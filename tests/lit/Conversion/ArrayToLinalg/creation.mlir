// RUN: array-opt %s --convert-array-to-linalg | FileCheck %s

// CHECK-LABEL: func @constants
// CHECK-DAG: arith.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK-DAG: arith.constant dense<[7, -1]> : tensor<2xi32>
// CHECK-DAG: arith.constant dense<[1, 0]> : tensor<2xi8>
// CHECK: return {{.*}} : tensor<2xf32>, tensor<2xi32>, tensor<2xi8>
func.func @constants() -> (tensor<2xf32>, tensor<2xui32>, tensor<2xi1>) {
  %0 = array.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %1 = array.constant dense<[7, 4294967295]> : tensor<2xui32>
  %2 = array.constant dense<[true, false]> : tensor<2xi1>
  return %0, %1, %2 : tensor<2xf32>, tensor<2xui32>, tensor<2xi1>
}

// Equal elements are no data of the program.
// CHECK-LABEL: func @splat
// CHECK: %[[TRUE:.*]] = arith.constant 1 : i8
// CHECK: %[[E:.*]] = tensor.empty() : tensor<1000x1000xi8>
// CHECK: linalg.fill ins(%[[TRUE]] : i8) outs(%[[E]] : tensor<1000x1000xi8>)
// CHECK: arith.constant dense<2.000000e+00> : tensor<f32>
func.func @splat() -> (tensor<1000x1000xi1>, tensor<f32>) {
  %0 = array.constant dense<true> : tensor<1000x1000xi1>
  %1 = array.constant dense<2.0> : tensor<f32>
  return %0, %1 : tensor<1000x1000xi1>, tensor<f32>
}

// CHECK-LABEL: func @iota
// CHECK: linalg.generic
// CHECK: linalg.index 1 : index
// CHECK: arith.index_cast %{{.*}} : index to i32
// CHECK: arith.sitofp %{{.*}} : i32 to f32
func.func @iota() -> tensor<4x8xf32> {
  %0 = array.iota dimension = 1 : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// CHECK-LABEL: func @iota_dynamic
// CHECK-SAME: (%[[N:.*]]: index) -> tensor<?x8xi32>
// CHECK: tensor.empty(%[[N]]) : tensor<?x8xi32>
// CHECK: linalg.index 0
func.func @iota_dynamic(%n: index) -> tensor<?x8xui32> {
  %0 = array.iota dimension = 0 output_dims(%n) : tensor<?x8xui32>
  return %0 : tensor<?x8xui32>
}
