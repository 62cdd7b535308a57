// RUN: array-opt %s --array-contract-products | FileCheck %s

// Products that nothing else uses are added with one rounding; of two, the first.
// CHECK-LABEL: func @sums(
// CHECK-SAME:    %[[X:.*]]: vector<8xf32>, %[[Y:.*]]: vector<8xf32>, %[[Z:.*]]: vector<8xf32>)
func.func @sums(%x: vector<8xf32>, %y: vector<8xf32>, %z: vector<8xf32>)
    -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>) {
  // CHECK: %[[ADDED:.*]] = math.fma %[[X]], %[[Y]], %[[Z]]
  %0 = arith.mulf %x, %y fastmath<contract> : vector<8xf32>
  %1 = arith.addf %z, %0 fastmath<reassoc,contract> : vector<8xf32>
  // CHECK: %[[MINUS:.*]] = arith.negf %[[Z]]
  // CHECK: %[[BEFORE:.*]] = math.fma %[[X]], %[[Y]], %[[MINUS]]
  %2 = arith.mulf %x, %y fastmath<contract> : vector<8xf32>
  %3 = arith.subf %2, %z fastmath<contract> : vector<8xf32>
  // CHECK: %[[NEGATED:.*]] = arith.negf %[[X]]
  // CHECK: %[[AFTER:.*]] = math.fma %[[NEGATED]], %[[Y]], %[[Z]]
  %4 = arith.mulf %x, %y fastmath<contract> : vector<8xf32>
  %5 = arith.subf %z, %4 fastmath<contract> : vector<8xf32>
  // CHECK: %[[SECOND:.*]] = arith.mulf %[[Y]], %[[Z]]
  // CHECK: %[[TWO:.*]] = math.fma %[[X]], %[[X]], %[[SECOND]]
  %6 = arith.mulf %x, %x fastmath<contract> : vector<8xf32>
  %7 = arith.mulf %y, %z fastmath<contract> : vector<8xf32>
  %8 = arith.addf %6, %7 fastmath<contract> : vector<8xf32>
  // CHECK: return %[[ADDED]], %[[BEFORE]], %[[AFTER]], %[[TWO]]
  return %1, %3, %5, %8 : vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>
}

// Left as they are: operations without the flag, products with other uses, narrow floats, and sums with zero.
// CHECK-LABEL: func @others(
// CHECK-NOT:     math.fma
func.func @others(%x: f32, %y: f32, %z: f32, %h: f16) -> (f32, f32, f32, f32, f16, f32) {
  %0 = arith.mulf %x, %y : f32
  %1 = arith.addf %0, %z fastmath<contract> : f32
  %2 = arith.mulf %x, %y fastmath<contract> : f32
  %3 = arith.addf %2, %z : f32
  %4 = arith.mulf %x, %y fastmath<contract> : f32
  %5 = arith.addf %4, %z fastmath<contract> : f32
  %6 = arith.mulf %h, %h fastmath<contract> : f16
  %7 = arith.addf %6, %h fastmath<contract> : f16
  %zero = arith.constant 0.0 : f32
  %8 = arith.mulf %x, %x fastmath<contract> : f32
  %9 = arith.addf %8, %zero fastmath<contract> : f32
  return %1, %3, %4, %5, %7, %9 : f32, f32, f32, f32, f16, f32
}
