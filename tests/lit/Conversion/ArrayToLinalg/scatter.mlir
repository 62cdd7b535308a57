// RUN: array-opt %s --convert-array-to-linalg --split-input-file | FileCheck %s

// The loop carries the tensor; each update adds to one row in place, or is dropped.
// CHECK-LABEL: func @rows
// CHECK: scf.for %[[B:.*]] = %c0{{.*}} iter_args(%[[T:.*]] = %arg0) -> (tensor<100x8xf32>)
// CHECK: tensor.extract %arg2[%[[B]]]
// CHECK: %[[INSIDE:.*]] = arith.cmpi ule, %[[ROW:.*]], %{{.*}}
// CHECK: %[[ONCE:.*]] = arith.index_castui %[[INSIDE]] : i1 to index
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %[[ONCE]] step %{{.*}} iter_args(%[[V:.*]] = %[[T]]) -> (tensor<100x8xf32>)
// CHECK: %[[U:.*]] = tensor.extract_slice %arg1[%[[B]], 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>
// CHECK: %[[OLD:.*]] = tensor.extract_slice %[[V]][%[[ROW]], 0] [1, 8] [1, 1] : tensor<100x8xf32> to tensor<8xf32>
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[U]] : tensor<8xf32>) outs(%[[OLD]] : tensor<8xf32>)
// CHECK: tensor.insert_slice %[[SUM]] into %[[V]][%[[ROW]], 0]
func.func @rows(%x: tensor<100x8xf32>, %u: tensor<4x8xf32>, %i: tensor<4xi32>) -> tensor<100x8xf32> {
  %0 = array.scatter %x, %u at(%i) {inserted_window_dims = array<i64: 0>, kind = "add", mode = "fill", scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>}
      : (tensor<100x8xf32>, tensor<4x8xf32>, tensor<4xi32>) -> tensor<100x8xf32>
  return %0 : tensor<100x8xf32>
}

// A window at a known place inside needs no check, and its elements are an operand of the change.
// CHECK-LABEL: func.func @known_place(
// CHECK-NOT:     scf.for
// CHECK:         %[[OLD:.*]] = tensor.extract_slice %arg0[0, 1] [4, 2] [1, 1]
// CHECK:         %[[E:.*]] = tensor.empty() : tensor<4x2xf32>
// CHECK:         %[[NEW:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %[[OLD]] : {{.*}}) outs(%[[E]] :
// CHECK:         tensor.insert_slice %[[NEW]] into %arg0[0, 1] [4, 2] [1, 1]
func.func @known_place(%x: tensor<4x4xf32>, %u: tensor<4x2xf32>) -> tensor<4x4xf32> {
  %i = array.constant dense<1> : tensor<i32>
  %0 = array.scatter %x, %u at(%i) {indices_are_sorted = true, kind = "add", mode = "fill", scatter_dims_to_operand_dims = array<i64: 1>, unique_indices = true, update_window_dims = array<i64: 0, 1>} : (tensor<4x4xf32>, tensor<4x2xf32>, tensor<i32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// Beyond the end, nothing changes.
// CHECK-LABEL: func.func @place_outside(
// CHECK-NOT:     linalg.generic
// CHECK:         return %arg0
func.func @place_outside(%x: tensor<4x4xf32>, %u: tensor<4x2xf32>) -> tensor<4x4xf32> {
  %i = array.constant dense<3> : tensor<i32>
  %0 = array.scatter %x, %u at(%i) {indices_are_sorted = true, kind = "add", mode = "fill", scatter_dims_to_operand_dims = array<i64: 1>, unique_indices = true, update_window_dims = array<i64: 0, 1>} : (tensor<4x4xf32>, tensor<4x2xf32>, tensor<i32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// One loop for each dim of the indices; single elements are no slices.
// CHECK-LABEL: func @elements
// CHECK: scf.for
// CHECK: scf.for
// CHECK: %[[OLD:.*]] = tensor.extract %arg6
// CHECK: %[[MOST:.*]] = arith.maxui %[[OLD]], %{{.*}}
// CHECK: %[[NEW:.*]] = arith.select %{{.*}}, %[[MOST]], %{{.*}} : i32
// CHECK: tensor.insert %[[NEW]]
func.func @elements(%x: tensor<?xui32>, %u: tensor<?x2xui32>, %i: tensor<?x2xi64>) -> tensor<?xui32> {
  %0 = array.scatter %x, %u at(%i) {inserted_window_dims = array<i64: 0>, kind = "max", mode = "fill", scatter_dims_to_operand_dims = array<i64: 0>}
      : (tensor<?xui32>, tensor<?x2xui32>, tensor<?x2xi64>) -> tensor<?xui32>
  return %0 : tensor<?xui32>
}

// -----

// Columns: the loop over the rows is the outer one. With clip there is no check.
// CHECK-LABEL: func @columns
// CHECK: scf.for %[[ROW:.*]] = %c0{{.*}} to %c6
// CHECK: scf.for %[[B:.*]] = %c0{{.*}} to %c3
// CHECK: arith.maxsi
// CHECK-NOT: scf.if
// CHECK: %[[U:.*]] = tensor.extract %arg1[%[[ROW]], %[[B]]]
// CHECK: tensor.insert %[[U]] into %{{.*}}[%[[ROW]], %{{.*}}]
func.func @columns(%x: tensor<6x9xf32>, %u: tensor<6x3xf32>, %i: tensor<3xi32>) -> tensor<6x9xf32> {
  %0 = array.scatter %x, %u at(%i) {inserted_window_dims = array<i64: 1>, kind = "set", mode = "clip", scatter_dims_to_operand_dims = array<i64: 1>, update_window_dims = array<i64: 0>}
      : (tensor<6x9xf32>, tensor<6x3xf32>, tensor<3xi32>) -> tensor<6x9xf32>
  return %0 : tensor<6x9xf32>
}

// -----

// Threads share the rows of the target: each part looks at all indices, and changes its own rows.
// CHECK-LABEL: func @shared_rows
// CHECK: %[[THREADS:.*]] = array.threads : index
// CHECK: scf.for %[[PART:.*]] = %c0{{.*}} to %[[THREADS]] step %{{.*}} iter_args(%[[X:.*]] = %arg0) -> (tensor<1000x64xf32>)
// CHECK: %[[SIZE:.*]] = arith.ceildivui %{{.*}}, %[[THREADS]]
// CHECK: %[[FIRST:.*]] = arith.muli %[[PART]], %[[SIZE]]
// CHECK: %[[END:.*]] = arith.addi %[[FIRST]], %[[SIZE]]
// CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %[[X]])
// CHECK: %[[INSIDE:.*]] = arith.cmpi ule, %[[ROW:.*]], %{{.*}}
// CHECK-DAG: %[[AFTER:.*]] = arith.cmpi sge, %[[ROW]], %[[FIRST]]
// CHECK-DAG: %[[BEFORE:.*]] = arith.cmpi slt, %[[ROW]], %[[END]]
// CHECK: %[[OWN:.*]] = arith.andi %[[AFTER]], %[[BEFORE]]
// CHECK: arith.andi %[[INSIDE]], %[[OWN]]
// CHECK: } {array.parts}
func.func @shared_rows(%x: tensor<1000x64xf32>, %u: tensor<20000x64xf32>, %i: tensor<20000xi32>) -> tensor<1000x64xf32> {
  %0 = array.scatter %x, %u at(%i) {inserted_window_dims = array<i64: 0>, kind = "add", mode = "fill", scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>}
      : (tensor<1000x64xf32>, tensor<20000x64xf32>, tensor<20000xi32>) -> tensor<1000x64xf32>
  return %0 : tensor<1000x64xf32>
}

// -----

// Numbers are not shared: to look at an index takes as long as the change.
// CHECK-LABEL: func @numbers
// CHECK-NOT: array.threads
func.func @numbers(%x: tensor<1000xf32>, %u: tensor<200000xf32>, %i: tensor<200000xi32>) -> tensor<1000xf32> {
  %0 = array.scatter %x, %u at(%i) {inserted_window_dims = array<i64: 0>, kind = "add", mode = "fill", scatter_dims_to_operand_dims = array<i64: 0>}
      : (tensor<1000xf32>, tensor<200000xf32>, tensor<200000xi32>) -> tensor<1000xf32>
  return %0 : tensor<1000xf32>
}

// -----

// Rows of a window before the indexed dimension are independent.
// CHECK-LABEL: func @shared_columns
// CHECK-NOT: array.threads
// CHECK: } {array.independent}
func.func @shared_columns(%x: tensor<500x1000xf32>, %u: tensor<500x600xf32>, %i: tensor<600xi32>) -> tensor<500x1000xf32> {
  %0 = array.scatter %x, %u at(%i) {inserted_window_dims = array<i64: 1>, kind = "set", mode = "clip", scatter_dims_to_operand_dims = array<i64: 1>, update_window_dims = array<i64: 0>}
      : (tensor<500x1000xf32>, tensor<500x600xf32>, tensor<600xi32>) -> tensor<500x1000xf32>
  return %0 : tensor<500x1000xf32>
}
