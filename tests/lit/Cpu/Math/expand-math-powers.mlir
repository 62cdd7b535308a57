// RUN: array-opt %s --array-expand-math | FileCheck %s

// Powers with small constant exponents are products and roots, without a logarithm; others are the general formula.
// CHECK-LABEL: func.func @powers(
// CHECK-SAME:      %[[X:.*]]: vector<8xf64>)
// CHECK:         %[[SQUARE:.*]] = arith.mulf %[[X]], %[[X]] : vector<8xf64>
// CHECK:         math.sqrt %[[SQUARE]] : vector<8xf64>
// CHECK-NOT:     math.fma
// CHECK-NOT:     arith.sitofp
// CHECK:         return
func.func @powers(%x: vector<8xf64>) -> vector<8xf64> {
  %two = arith.constant dense<2.0> : vector<8xf64>
  %half = arith.constant dense<1.5> : vector<8xf64>
  %square = math.powf %x, %two : vector<8xf64>
  %result = math.powf %square, %half : vector<8xf64>
  return %result : vector<8xf64>
}

// CHECK-LABEL: func.func @third(
// CHECK:         math.fma
func.func @third(%x: f64) -> f64 {
  %third = arith.constant 0.3333333333333333 : f64
  %result = math.powf %x, %third : f64
  return %result : f64
}
