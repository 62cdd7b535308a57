// RUN: array-opt %s --array-expand-math | FileCheck %s

// f32: arithmetic only, on vectors and on scalars alike.
// CHECK-LABEL: func.func @formulas
// CHECK-NOT: math.{{(exp|exp2|expm1|log|log1p|tanh|erf|rsqrt|cbrt|powf|atan2) }}
// CHECK-NOT: call
// CHECK: return
func.func @formulas(%x: vector<32xf32>, %y: f32) -> (vector<32xf32>, f32) {
  %0 = math.exp %x : vector<32xf32>
  %1 = math.exp2 %0 : vector<32xf32>
  %2 = math.expm1 %1 : vector<32xf32>
  %3 = math.log %2 : vector<32xf32>
  %4 = math.log1p %3 : vector<32xf32>
  %5 = math.tanh %4 : vector<32xf32>
  %6 = math.erf %5 : vector<32xf32>
  %7 = math.rsqrt %6 : vector<32xf32>
  %8 = math.cbrt %7 : vector<32xf32>
  %9 = math.atan2 %8, %x : vector<32xf32>
  %10 = math.tanh %y : f32
  %11 = math.powf %10, %y : f32
  return %9, %11 : vector<32xf32>, f32
}

// The argument is reduced by three fused steps; a power of two is made in the exponent's bits.
// CHECK-LABEL: func.func @reduced_argument
// CHECK-COUNT-3: math.fma
// CHECK: arith.shli
// CHECK: arith.bitcast {{.*}} : i32 to f32
// CHECK: return
func.func @reduced_argument(%x: f32) -> f32 {
  %0 = math.exp %x : f32
  return %0 : f32
}

// Large angles, which are rare, go to the library: one test for the whole vector.
// CHECK-LABEL: func.func @large_angles
// CHECK: %[[BEYOND:.*]] = arith.cmpf ogt, {{.*}} : vector<16xf32>
// CHECK: %[[ANY:.*]] = vector.reduction <or>, %[[BEYOND]]
// CHECK: scf.if %[[ANY]]
// CHECK: func.call @lanes16_sinf
// CHECK: arith.select %[[BEYOND]]
func.func @large_angles(%x: vector<16xf32>) -> vector<16xf32> {
  %0 = math.sin %x : vector<16xf32>
  return %0 : vector<16xf32>
}

// f64 goes to the library; scalars are called for directly, and rsqrt needs no library.
// CHECK-LABEL: func.func @wide
// CHECK: call @lanes8_exp(
// CHECK: call @lanes8_exp(
// CHECK: call @pow(
// CHECK: math.sqrt
// CHECK: arith.divf
func.func @wide(%x: vector<8xf64>, %y: f64) -> (vector<8xf64>, f64) {
  %0 = math.exp %x : vector<8xf64>
  %1 = math.exp %0 : vector<8xf64>
  %2 = math.powf %y, %y : f64
  %3 = math.rsqrt %2 : f64
  return %1, %3 : vector<8xf64>, f64
}

// Halves are computed in f32.
// CHECK-LABEL: func.func @narrow
// CHECK: arith.extf {{.*}} : vector<16xbf16> to vector<16xf32>
// CHECK: arith.truncf {{.*}} : vector<16xf32> to vector<16xbf16>
func.func @narrow(%x: vector<16xbf16>) -> vector<16xbf16> {
  %0 = math.log %x : vector<16xbf16>
  return %0 : vector<16xbf16>
}

// What is an instruction stays.
// CHECK-LABEL: func.func @instructions
// CHECK: math.absf
// CHECK: math.roundeven
// CHECK: math.sqrt
func.func @instructions(%x: vector<16xf32>) -> vector<16xf32> {
  %0 = math.absf %x : vector<16xf32>
  %1 = math.roundeven %0 : vector<16xf32>
  %2 = math.sqrt %1 : vector<16xf32>
  return %2 : vector<16xf32>
}

// The loop over the lanes is a function: one for each callee and vector type.
// CHECK: func.func private @sinf(f32) -> f32
// CHECK: func.func private @lanes16_sinf
// CHECK: memref.alloca() {alignment = 64 : i64} : memref<16xf32>
// CHECK: scf.for
// CHECK: func.call @sinf
// CHECK: func.func private @lanes8_exp(
// CHECK-NOT: func.func private @lanes8_exp(
