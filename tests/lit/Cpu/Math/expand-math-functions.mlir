// RUN: array-opt %s --array-expand-math=vector-bits=256 | FileCheck %s

// Frequent formulas are calls; the formula is in the module once for each kind of vector: of four registers, and of one.
// CHECK-LABEL: func.func @often(
// CHECK-SAME:    %[[X:[^:]*]]: vector<32xf32>, %[[Y:.*]]: vector<16xf32>
// CHECK-COUNT-6: call @math_exp_32xf32(%{{.*}}) : (vector<32xf32>) -> vector<32xf32>
// CHECK:         %[[FIRST:.*]] = vector.shuffle %[[Y]], %[[Y]] [0, 1, 2, 3, 4, 5, 6, 7] : vector<16xf32>, vector<16xf32>
// CHECK:         %[[A:.*]] = call @math_exp_8xf32(%[[FIRST]]) : (vector<8xf32>) -> vector<8xf32>
// CHECK:         %[[B:.*]] = call @math_exp_8xf32(
// CHECK:         vector.shuffle %[[A]], %[[B]] [0, 1, {{.*}}, 15] : vector<8xf32>, vector<8xf32>
// CHECK-NOT:     math.fma
// CHECK:         return
func.func @often(%x: vector<32xf32>, %y: vector<16xf32>) -> (vector<32xf32>, vector<16xf32>) {
  %0 = math.exp %x : vector<32xf32>
  %1 = math.exp %0 : vector<32xf32>
  %2 = math.exp %1 : vector<32xf32>
  %3 = math.exp %2 : vector<32xf32>
  %4 = math.exp %3 : vector<32xf32>
  %5 = math.exp %4 : vector<32xf32>
  %6 = math.exp %y : vector<16xf32>
  return %5, %6 : vector<32xf32>, vector<16xf32>
}

// Fewer lanes than a register has, scalars and halves count for the same formula. A rare formula is inline.
// CHECK-LABEL: func.func @few(
// CHECK:         vector.shuffle {{.*}} [0, 1, 2, 3, 0, 0, 0, 0] : vector<4xf32>, vector<4xf32>
// CHECK:         call @math_exp_8xf32(
// CHECK:         vector.shuffle {{.*}} [0, 1, 2, 3] : vector<8xf32>, vector<8xf32>
// CHECK:         call @math_exp_f32(
// CHECK:         arith.extf
// CHECK:         call @math_exp_8xf32(
// CHECK:         arith.truncf
// CHECK:         math.fma
// CHECK:         return
func.func @few(%x: vector<4xf32>, %y: f32, %z: vector<8xf16>) -> (vector<4xf32>, f32, vector<8xf16>, f32) {
  %0 = math.exp %x : vector<4xf32>
  %1 = math.exp %y : f32
  %2 = math.exp %z : vector<8xf16>
  %3 = math.tanh %y : f32
  return %0, %1, %2, %3 : vector<4xf32>, f32, vector<8xf16>, f32
}

// CHECK: func.func private @math_exp_32xf32(%{{.*}}: vector<32xf32>) -> vector<32xf32> attributes {array.unit, llvm.linkage = #llvm.linkage<internal>}
// CHECK:   math.fma
// CHECK: func.func private @math_exp_8xf32(
// CHECK: func.func private @math_exp_f32(%{{.*}}: f32) -> f32
