// RUN: array-opt %s --array-lower-masks | FileCheck %s

// CHECK-LABEL: func.func @first(
// CHECK-SAME:    %[[N:.*]]: index)
// CHECK-DAG:     %[[LANES:.*]] = arith.constant dense<[0, 1, 2, 3]> : vector<4xi32>
// CHECK:         %[[BOUND:.*]] = vector.broadcast %{{.*}} : i32 to vector<4xi32>
// CHECK:         %[[MASK:.*]] = arith.cmpi slt, %[[LANES]], %[[BOUND]] : vector<4xi32>
// CHECK:         return %[[MASK]]
func.func @first(%n: index) -> vector<4xi1> {
  %mask = vector.create_mask %n : vector<4xi1>
  return %mask : vector<4xi1>
}

// CHECK-LABEL: func.func @constant(
// CHECK:         %[[MASK:.*]] = arith.constant dense<[true, true, true, false]> : vector<4xi1>
// CHECK:         return %[[MASK]]
func.func @constant() -> vector<4xi1> {
  %mask = vector.constant_mask [3] : vector<4xi1>
  return %mask : vector<4xi1>
}
