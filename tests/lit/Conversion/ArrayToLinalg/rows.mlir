// RUN: array-opt %s --convert-array-to-linalg --split-input-file | FileCheck %s

// CHECK: #[[BATCH:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func @gather
// CHECK: linalg.generic {indexing_maps = [#[[BATCH]], #{{.*}}], iterator_types = ["parallel", "parallel"]}
// CHECK-SAME: ins(%arg1 : tensor<4xi32>) outs(%{{.*}} : tensor<4x8xf32>)
// CHECK: %[[I:.*]] = arith.index_cast
// CHECK: %[[LOW:.*]] = arith.minsi %[[I]], %[[LAST:.*]]
// CHECK: %[[ROW:.*]] = arith.maxsi %[[LOW]], %c0
// CHECK: %[[COLUMN:.*]] = linalg.index 1
// CHECK: tensor.extract %arg0[%[[ROW]], %[[COLUMN]]] : tensor<100x8xf32>
func.func @gather(%x: tensor<100x8xf32>, %i: tensor<4xi32>) -> tensor<4x8xf32> {
  %0 = array.gather_rows %x, %i : (tensor<100x8xf32>, tensor<4xi32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func @gather_dynamic
// CHECK-DAG: tensor.dim %arg0
// CHECK-DAG: tensor.dim %arg1
// CHECK: tensor.empty(%{{.*}}, %{{.*}}) : tensor<3x?x?xf32>
func.func @gather_dynamic(%x: tensor<?x?xf32>, %i: tensor<3x?xi64>) -> tensor<3x?x?xf32> {
  %0 = array.gather_rows %x, %i : (tensor<?x?xf32>, tensor<3x?xi64>) -> tensor<3x?x?xf32>
  return %0 : tensor<3x?x?xf32>
}

// -----

// The loop carries the tensor; each update adds to one row in place, or is dropped.
// CHECK-LABEL: func @scatter
// CHECK: scf.for %[[B:.*]] = %c0{{.*}} iter_args(%[[T:.*]] = %arg0) -> (tensor<100x8xf32>)
// CHECK: tensor.extract %arg1[%[[B]]]
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %[[ROW:.*]], %c100
// CHECK: scf.if %[[INSIDE]] -> (tensor<100x8xf32>)
// CHECK: %[[U:.*]] = tensor.extract_slice %arg2[%[[B]], 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>
// CHECK: %[[OLD:.*]] = tensor.extract_slice %[[T]][%[[ROW]], 0] [1, 8] [1, 1] : tensor<100x8xf32> to tensor<8xf32>
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[U]] : tensor<8xf32>) outs(%[[OLD]] : tensor<8xf32>)
// CHECK: tensor.insert_slice %[[SUM]] into %[[T]][%[[ROW]], 0]
// CHECK: else
// CHECK-NEXT: scf.yield %[[T]]
func.func @scatter(%x: tensor<100x8xf32>, %i: tensor<4xi32>, %u: tensor<4x8xf32>) -> tensor<100x8xf32> {
  %0 = array.scatter_add_rows %x, %i, %u
      : (tensor<100x8xf32>, tensor<4xi32>, tensor<4x8xf32>) -> tensor<100x8xf32>
  return %0 : tensor<100x8xf32>
}

// -----

// One loop for each dim of the indices.
// CHECK-LABEL: func @scatter_batch
// CHECK: scf.for
// CHECK: scf.for
// CHECK: arith.addi
func.func @scatter_batch(%x: tensor<?xi32>, %i: tensor<?x2xi64>, %u: tensor<?x2xi32>) -> tensor<?xi32> {
  %0 = array.scatter_add_rows %x, %i, %u : (tensor<?xi32>, tensor<?x2xi64>, tensor<?x2xi32>) -> tensor<?xi32>
  return %0 : tensor<?xi32>
}
