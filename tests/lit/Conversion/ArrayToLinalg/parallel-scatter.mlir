// RUN: array-opt %s --convert-array-to-linalg=has-threads --split-input-file | FileCheck %s

// The target of each row of the updates is computed first: none, if it is not inside. One op has all updates.
// CHECK-DAG:   #[[POSITION:.*]] = affine_map<(d0, d1, d2) -> (d2)>
// CHECK-DAG:   #[[UPDATE:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG:   #[[OPERAND:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func @rows(
// CHECK-SAME:    %[[X:.*]]: tensor<100x8xf32>, %[[U:.*]]: tensor<4x8xf32>, %[[I:.*]]: tensor<4xi32>
// CHECK:         %[[KEYS:.*]] = linalg.generic {{.*}} ins(%[[I]] : tensor<4xi32>)
// CHECK:           %[[INSIDE:.*]] = arith.cmpi ule
// CHECK:           %[[NONE:.*]] = arith.constant -1 : i64
// CHECK:           arith.select %[[INSIDE]], %{{.*}}, %[[NONE]] : i64
// CHECK:         linalg.generic {indexing_maps = [#[[POSITION]], #[[UPDATE]], #[[OPERAND]]], iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK-SAME:      ins(%[[KEYS]], %[[U]] : tensor<4xi64>, tensor<4x8xf32>) outs(%[[X]] : tensor<100x8xf32>) attrs = {array.scatter = {element = f32, kind = "add"}}
// CHECK:         ^bb0(%[[KEY:.*]]: i64, %[[UPDATE:.*]]: f32, %[[OLD:.*]]: f32):
// CHECK:           %[[ROW:.*]] = linalg.index 0
// CHECK:           %[[NUMBER:.*]] = arith.index_cast %[[ROW]] : index to i64
// CHECK:           %[[HERE:.*]] = arith.cmpi eq, %[[KEY]], %[[NUMBER]]
// CHECK:           %[[SUM:.*]] = arith.addf %[[OLD]], %[[UPDATE]]
// CHECK:           arith.select %[[HERE]], %[[SUM]], %[[OLD]]
func.func @rows(%x: tensor<100x8xf32>, %u: tensor<4x8xf32>, %i: tensor<4xi32>) -> tensor<100x8xf32> {
  %0 = array.scatter %x, %u at(%i) {inserted_window_dims = array<i64: 0>, kind = "add", mode = "fill", scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>}
      : (tensor<100x8xf32>, tensor<4x8xf32>, tensor<4xi32>) -> tensor<100x8xf32>
  return %0 : tensor<100x8xf32>
}

// -----

// In columns each element is a separate row. Two clipped columns may be the same, in spite of the hint "unique".
// CHECK-LABEL: func @columns(
// CHECK:         arith.maxsi
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
// CHECK-SAME:      ins(%{{.*}}, %{{.*}} : tensor<6x3xi64>, tensor<6x3xi8>) outs(%{{.*}} : tensor<6x9xi8>) attrs = {array.scatter = {element = i1, kind = "set"}}
func.func @columns(%x: tensor<6x9xi1>, %u: tensor<6x3xi1>, %i: tensor<3xi32>) -> tensor<6x9xi1> {
  %0 = array.scatter %x, %u at(%i) {inserted_window_dims = array<i64: 1>, kind = "set", mode = "clip", scatter_dims_to_operand_dims = array<i64: 1>, unique_indices = true, update_window_dims = array<i64: 0>}
      : (tensor<6x9xi1>, tensor<6x3xi1>, tensor<3xi32>) -> tensor<6x9xi1>
  return %0 : tensor<6x9xi1>
}

// -----

// Blocks may overlap: their updates of an element come in the order of the indices, which are the updates' second
// dimension.
// CHECK-LABEL: func @blocks(
// CHECK-SAME:    %{{.*}}: tensor<7x8xf32>, %[[U:.*]]: tensor<2x5x3xf32>
// CHECK:         %[[ORDERED:.*]] = linalg.generic {{.*}} ins(%[[U]] : tensor<2x5x3xf32>) outs(%{{.*}} : tensor<5x2x3xf32>)
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %[[ORDERED]] : tensor<5x2x3xi64>, tensor<5x2x3xf32>)
// CHECK-SAME:      attrs = {array.scatter = {element = f32, kind = "set"}}
func.func @blocks(%x: tensor<7x8xf32>, %u: tensor<2x5x3xf32>, %i: tensor<5xi32>, %j: tensor<5xi32>) -> tensor<7x8xf32> {
  %0 = array.scatter %x, %u at(%i, %j) {kind = "set", mode = "fill", scatter_dims_to_operand_dims = array<i64: 0, 1>, unique_indices = true, update_window_dims = array<i64: 0, 2>}
      : (tensor<7x8xf32>, tensor<2x5x3xf32>, tensor<5xi32>, tensor<5xi32>) -> tensor<7x8xf32>
  return %0 : tensor<7x8xf32>
}

// -----

// Hints are passed on.
// CHECK-LABEL: func @promises(
// CHECK:         attrs = {array.scatter = {element = ui8, grouped, kind = "max", unique}}
func.func @promises(%x: tensor<100xui8>, %u: tensor<40xui8>, %i: tensor<40xi64>) -> tensor<100xui8> {
  %0 = array.scatter %x, %u at(%i) {indices_are_sorted = true, inserted_window_dims = array<i64: 0>, kind = "max", mode = "fill", scatter_dims_to_operand_dims = array<i64: 0>, unique_indices = true}
      : (tensor<100xui8>, tensor<40xui8>, tensor<40xi64>) -> tensor<100xui8>
  return %0 : tensor<100xui8>
}

// -----

// A few elements are a loop, and so is a scatter of unknown sizes.
// CHECK-LABEL: func @few(
// CHECK:         scf.for
func.func @few(%x: tensor<100xf32>, %u: tensor<16xf32>, %i: tensor<16xi64>) -> tensor<100xf32> {
  %0 = array.scatter %x, %u at(%i) {inserted_window_dims = array<i64: 0>, kind = "add", mode = "fill", scatter_dims_to_operand_dims = array<i64: 0>}
      : (tensor<100xf32>, tensor<16xf32>, tensor<16xi64>) -> tensor<100xf32>
  return %0 : tensor<100xf32>
}
// CHECK-LABEL: func @sizes(
// CHECK:         scf.for
func.func @sizes(%x: tensor<?xf32>, %u: tensor<99xf32>, %i: tensor<99xi64>) -> tensor<?xf32> {
  %0 = array.scatter %x, %u at(%i) {inserted_window_dims = array<i64: 0>, kind = "add", mode = "fill", scatter_dims_to_operand_dims = array<i64: 0>}
      : (tensor<?xf32>, tensor<99xf32>, tensor<99xi64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
