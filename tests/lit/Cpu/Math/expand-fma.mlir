// RUN: array-opt %s --array-expand-fma | FileCheck %s

// As a product of f64, rounded twice: that equals one rounding, except for few sums.
// CHECK-LABEL: func.func @single(
// CHECK-SAME: %[[X:.*]]: vector<4xf32>, %[[Y:.*]]: vector<4xf32>, %[[Z:.*]]: vector<4xf32>)
func.func @single(%x: vector<4xf32>, %y: vector<4xf32>, %z: vector<4xf32>) -> vector<4xf32> {
  // CHECK-DAG: %[[A:.*]] = arith.extf %[[X]] : vector<4xf32> to vector<4xf64>
  // CHECK-DAG: %[[B:.*]] = arith.extf %[[Y]] : vector<4xf32> to vector<4xf64>
  // CHECK-DAG: %[[P:.*]] = arith.mulf %[[A]], %[[B]] : vector<4xf64>
  // CHECK-DAG: %[[C:.*]] = arith.extf %[[Z]] : vector<4xf32> to vector<4xf64>
  // CHECK: %[[S:.*]] = arith.addf %[[P]], %[[C]] : vector<4xf64>
  // CHECK: %[[R:.*]] = arith.truncf %[[S]] : vector<4xf64> to vector<4xf32>
  // CHECK: return %[[R]]
  %r = math.fma %x, %y, %z : vector<4xf32>
  return %r : vector<4xf32>
}

// The errors of product and sum are added; no operation may be contracted or reordered.
// CHECK-LABEL: func.func @double(
// CHECK-SAME: %[[X:.*]]: f64, %[[Y:.*]]: f64, %[[Z:.*]]: f64)
func.func @double(%x: f64, %y: f64, %z: f64) -> f64 {
  // CHECK-NOT: fastmath
  // CHECK-NOT: math.fma
  // CHECK: %[[P:.*]] = arith.mulf %[[X]], %[[Y]] : f64
  // CHECK: %[[S:.*]] = arith.addf %[[P]], %[[Z]] : f64
  // CHECK: %[[R:.*]] = arith.addf %[[S]], %{{.*}} : f64
  // CHECK: %[[NAN:.*]] = arith.cmpf uno, %[[R]], %[[R]] : f64
  // CHECK: %[[CHOSEN:.*]] = arith.select %[[NAN]], %[[S]], %[[R]] : f64
  // CHECK: return %[[CHOSEN]]
  %r = math.fma %x, %y, %z : f64
  return %r : f64
}

// Halves are computed in f32 elsewhere.
// CHECK-LABEL: func.func @half(
// CHECK: math.fma
func.func @half(%x: f16) -> f16 {
  %r = math.fma %x, %x, %x : f16
  return %r : f16
}
