// RUN: array-opt %s | array-opt | FileCheck %s
// RUN: array-opt %s --mlir-print-op-generic | array-opt | FileCheck %s

// sort.

// CHECK-LABEL: @sort
func.func @sort(%x: tensor<4x5xf32>, %y: tensor<4x5xi32>, %d: tensor<?xf32>) {
  // CHECK: %{{.*}} = array.sort %{{.*}} dimension = 1 num_keys = 1 is_stable = false : (tensor<4x5xf32>) -> tensor<4x5xf32>
  %0 = array.sort %x dimension = 1 num_keys = 1 is_stable = false : (tensor<4x5xf32>) -> tensor<4x5xf32>
  // CHECK: %{{.*}} = array.sort %{{.*}}, %{{.*}} dimension = 0 num_keys = 2 is_stable = true : (tensor<4x5xf32>, tensor<4x5xi32>) -> (tensor<4x5xf32>, tensor<4x5xi32>)
  %1:2 = array.sort %x, %y dimension = 0 num_keys = 2 is_stable = true : (tensor<4x5xf32>, tensor<4x5xi32>) -> (tensor<4x5xf32>, tensor<4x5xi32>)
  // CHECK: %{{.*}} = array.sort %{{.*}} dimension = 0 num_keys = 1 is_stable = true : (tensor<?xf32>) -> tensor<?xf32>
  %2 = array.sort %d dimension = 0 num_keys = 1 is_stable = true : (tensor<?xf32>) -> tensor<?xf32>
  return
}
