// RUN: array-opt %s --array-expand-math | FileCheck %s
// RUN: array-opt %s --array-expand-math=vector-bits=256 | FileCheck %s --check-prefix=AVX2
// RUN: array-opt %s --array-expand-math=has-extrema=true | FileCheck %s --check-prefix=NATIVE

// Arithmetic only, on vectors and on scalars alike.
// CHECK-LABEL: func.func @formulas
// CHECK-NOT: math.{{(a?sinh?|a?cosh?|a?tanh?|atan2|exp|exp2|expm1|log|log2|log10|log1p|erfc?|rsqrt|cbrt|powf) }}
// CHECK-NOT: call @
// CHECK: return
func.func @formulas(%x: vector<32xf32>, %y: f32) -> (vector<32xf32>, f32) {
  %0 = math.exp %x : vector<32xf32>
  %1 = math.exp2 %0 : vector<32xf32>
  %2 = math.expm1 %1 : vector<32xf32>
  %3 = math.sinh %2 : vector<32xf32>
  %4 = math.cosh %3 : vector<32xf32>
  %5 = math.tanh %4 : vector<32xf32>
  %6 = math.log %5 : vector<32xf32>
  %7 = math.log2 %6 : vector<32xf32>
  %8 = math.log10 %7 : vector<32xf32>
  %9 = math.log1p %8 : vector<32xf32>
  %10 = math.asinh %9 : vector<32xf32>
  %11 = math.acosh %10 : vector<32xf32>
  %12 = math.atanh %11 : vector<32xf32>
  %13 = math.erf %12 : vector<32xf32>
  %14 = math.erfc %13 : vector<32xf32>
  %15 = math.rsqrt %14 : vector<32xf32>
  %16 = math.cbrt %15 : vector<32xf32>
  %17 = math.asin %16 : vector<32xf32>
  %18 = math.acos %17 : vector<32xf32>
  %19 = math.atan %18 : vector<32xf32>
  %20 = math.atan2 %19, %x : vector<32xf32>
  %21 = math.powf %20, %x : vector<32xf32>
  %22 = math.tanh %y : f32
  %23 = math.powf %22, %y : f32
  return %21, %23 : vector<32xf32>, f32
}

// CHECK-LABEL: func.func @wide_formulas
// CHECK-NOT: math.{{(a?sinh?|a?cosh?|a?tanh?|atan2|exp|exp2|expm1|log|log2|log10|log1p|erfc?|rsqrt|cbrt|powf) }}
// CHECK-NOT: call @
// CHECK: return
func.func @wide_formulas(%x: vector<8xf64>, %y: f64) -> (vector<8xf64>, f64) {
  %0 = math.exp %x : vector<8xf64>
  %1 = math.exp2 %0 : vector<8xf64>
  %2 = math.expm1 %1 : vector<8xf64>
  %3 = math.sinh %2 : vector<8xf64>
  %4 = math.cosh %3 : vector<8xf64>
  %5 = math.tanh %4 : vector<8xf64>
  %6 = math.log %5 : vector<8xf64>
  %7 = math.log2 %6 : vector<8xf64>
  %8 = math.log10 %7 : vector<8xf64>
  %9 = math.log1p %8 : vector<8xf64>
  %10 = math.asinh %9 : vector<8xf64>
  %11 = math.acosh %10 : vector<8xf64>
  %12 = math.atanh %11 : vector<8xf64>
  %13 = math.erf %12 : vector<8xf64>
  %14 = math.erfc %13 : vector<8xf64>
  %15 = math.rsqrt %14 : vector<8xf64>
  %16 = math.cbrt %15 : vector<8xf64>
  %17 = math.asin %16 : vector<8xf64>
  %18 = math.acos %17 : vector<8xf64>
  %19 = math.atan %18 : vector<8xf64>
  %20 = math.atan2 %19, %x : vector<8xf64>
  %21 = math.powf %20, %x : vector<8xf64>
  %22 = math.tanh %y : f64
  %23 = math.powf %22, %y : f64
  return %21, %23 : vector<8xf64>, f64
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

// f64 has its own constants and its own place for the exponent.
// CHECK-LABEL: func.func @wide_reduced_argument
// CHECK: arith.constant 0x4338000000000000 : f64
// CHECK-COUNT-3: math.fma {{.*}} : f64
// CHECK: %[[PLACES:.*]] = arith.constant 52 : i64
// CHECK: arith.shli {{.*}}, %[[PLACES]]
// CHECK: arith.bitcast {{.*}} : i64 to f64
// CHECK: return
func.func @wide_reduced_argument(%x: f64) -> f64 {
  %0 = math.exp %x : f64
  return %0 : f64
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

// CHECK-LABEL: func.func @large_wide_angles
// CHECK: arith.constant dense<0x41D0000000000000> : vector<8xf64>
// CHECK: %[[BEYOND:.*]] = arith.cmpf ogt, {{.*}} : vector<8xf64>
// CHECK: scf.if
// CHECK: func.call @lanes8_cos(
func.func @large_wide_angles(%x: vector<8xf64>, %y: f64) -> (vector<8xf64>, f64) {
  %0 = math.cos %x : vector<8xf64>
  %1 = math.cos %0 : vector<8xf64>
  %2 = math.cos %y : f64
  return %1, %2 : vector<8xf64>, f64
}

// Halves are computed in f32.
// CHECK-LABEL: func.func @narrow
// CHECK: arith.extf {{.*}} : vector<16xbf16> to vector<16xf32>
// CHECK: arith.truncf {{.*}} : vector<16xf32> to vector<16xbf16>
func.func @narrow(%x: vector<16xbf16>) -> vector<16xbf16> {
  %0 = math.log %x : vector<16xbf16>
  return %0 : vector<16xbf16>
}

// Operations with an instruction stay.
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

// A vector of f32 is scaled by the instruction of AVX-512, or else by two multiplications; the second one rounds.
// CHECK-LABEL: func.func @scaled(
// CHECK: llvm.call_intrinsic "llvm.ldexp"(%{{.*}}, %{{.*}}) : (vector<16xf32>, vector<16xi32>) -> vector<16xf32>
// AVX2-LABEL: func.func @scaled(
// AVX2-NOT: llvm.call_intrinsic
// AVX2-COUNT-2: arith.shli
// AVX2: %[[ONCE:.*]] = arith.mulf
// AVX2-NEXT: arith.mulf %[[ONCE]]
func.func @scaled(%x: vector<16xf32>) -> vector<16xf32> {
  %0 = math.exp %x : vector<16xf32>
  return %0 : vector<16xf32>
}

// A remainder is one multiplication and addition; quotients beyond 2^53 call the C library.
// CHECK-LABEL: func.func @remainder
// CHECK-NOT: arith.remf
// CHECK:     arith.divf {{.*}} : vector<8xf64>
// CHECK:     math.trunc
// CHECK:     math.fma
// CHECK:     scf.if
// CHECK:       func.call @lanes8_fmodf
func.func @remainder(%x: vector<8xf32>, %y: vector<8xf32>) -> vector<8xf32> {
  %0 = arith.remf %x, %y : vector<8xf32>
  return %0 : vector<8xf32>
}

// The instructions return the second operand if one is nan or both are zeros: both orders are computed. Constants and
// extrema without nan stay, and so do all if the machine has such instructions.
// CHECK-LABEL: func.func @extrema
// CHECK-SAME:    %[[X:.*]]: vector<16xf32>, %[[Y:.*]]: vector<16xf32>)
// CHECK:         %[[LESS:.*]] = arith.cmpf olt, %[[X]], %[[Y]]
// CHECK:         arith.select %[[LESS]], %[[X]], %[[Y]]
// CHECK:         %[[MORE:.*]] = arith.cmpf olt, %[[Y]], %[[X]]
// CHECK:         arith.select %[[MORE]], %[[Y]], %[[X]]
// CHECK:         arith.ori
// CHECK:         arith.andi
// CHECK:         arith.cmpf uno
// CHECK:         arith.maximumf {{.*}} fastmath<nnan>
// CHECK:         arith.maximumf
// NATIVE-LABEL: func.func @extrema
// NATIVE:         arith.minimumf
// NATIVE:         arith.maximumf
func.func @extrema(%x: vector<16xf32>, %y: vector<16xf32>) -> vector<16xf32> {
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %0 = arith.minimumf %x, %y : vector<16xf32>
  %1 = arith.maximumf %0, %y : vector<16xf32>
  %2 = arith.maximumf %1, %x fastmath<nnan> : vector<16xf32>
  %3 = arith.maximumf %2, %zero : vector<16xf32>
  return %3 : vector<16xf32>
}

// The loop over the lanes is a function: one for each callee and vector type.
// CHECK: func.func private @sinf(f32) -> f32
// CHECK: func.func private @lanes16_sinf
// CHECK: memref.alloca() {alignment = 64 : i64} : memref<16xf32>
// CHECK: scf.for
// CHECK: func.call @sinf
// CHECK: func.func private @lanes8_cos(
// CHECK-NOT: func.func private @lanes8_cos(
