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

// If LLVM 22 turns the masked store of one lane into a store, it may write more than the lane.
// CHECK-LABEL: func.func @one_lane(
// CHECK-SAME:    %[[BUFFER:.*]]: memref<16xi16>, %[[VALUE:.*]]: vector<4xi16>, %[[AT:.*]]: index)
// CHECK:         %[[NUMBER:.*]] = vector.extract %[[VALUE]][0]
// CHECK-NEXT:    memref.store %[[NUMBER]], %[[BUFFER]][%[[AT]]]
// CHECK:         %[[NUMBER:.*]] = vector.extract %[[VALUE]][0]
// CHECK-NEXT:    memref.store %[[NUMBER]], %[[BUFFER]][%[[AT]]]
// CHECK:         vector.maskedstore
// CHECK:         vector.maskedstore
// CHECK-NOT:     memref.store
func.func @one_lane(%buffer: memref<16xi16>, %value: vector<4xi16>, %at: index) {
  %first = arith.constant dense<[true, false, false, false]> : vector<4xi1>
  vector.maskedstore %buffer[%at], %first, %value : memref<16xi16>, vector<4xi1>, vector<4xi16>
  %one = vector.constant_mask [1] : vector<4xi1>
  vector.maskedstore %buffer[%at], %one, %value : memref<16xi16>, vector<4xi1>, vector<4xi16>
  %two = vector.constant_mask [2] : vector<4xi1>
  vector.maskedstore %buffer[%at], %two, %value : memref<16xi16>, vector<4xi1>, vector<4xi16>
  %second = arith.constant dense<[false, true, false, false]> : vector<4xi1>
  vector.maskedstore %buffer[%at], %second, %value : memref<16xi16>, vector<4xi1>, vector<4xi16>
  return
}
