// RUN: array-opt %s --convert-array-to-linalg --split-input-file | FileCheck %s

// CHECK-LABEL: func @functions
// CHECK: math.exp %{{.*}} : f64
// CHECK: math.log1p
// CHECK: math.tanh
// CHECK: math.roundeven
// CHECK: math.powf
func.func @functions(%x: tensor<4xf64>) -> tensor<4xf64> {
  %0 = array.exp %x : tensor<4xf64>
  %1 = array.log1p %0 : tensor<4xf64>
  %2 = array.tanh %1 : tensor<4xf64>
  %3 = array.round %2 : tensor<4xf64>
  %4 = array.pow %3, %x : tensor<4xf64>
  return %4 : tensor<4xf64>
}

// -----

// CHECK-LABEL: func @angles_and_logarithms
// CHECK: math.erfc
// CHECK: math.log2
// CHECK: math.log10
// CHECK: math.asin
// CHECK: math.acos
// CHECK: math.atan
// CHECK: math.sinh
// CHECK: math.cosh
// CHECK: math.asinh
// CHECK: math.acosh
// CHECK: math.atanh
func.func @angles_and_logarithms(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = array.erfc %x : tensor<4xf32>
  %1 = array.log2 %0 : tensor<4xf32>
  %2 = array.log10 %1 : tensor<4xf32>
  %3 = array.asin %2 : tensor<4xf32>
  %4 = array.acos %3 : tensor<4xf32>
  %5 = array.atan %4 : tensor<4xf32>
  %6 = array.sinh %5 : tensor<4xf32>
  %7 = array.cosh %6 : tensor<4xf32>
  %8 = array.asinh %7 : tensor<4xf32>
  %9 = array.acosh %8 : tensor<4xf32>
  %10 = array.atanh %9 : tensor<4xf32>
  return %10 : tensor<4xf32>
}

// -----

// Half precision computes in single precision.
// CHECK-LABEL: func @half
// CHECK: %[[WIDE:.*]] = arith.extf %{{.*}} : bf16 to f32
// CHECK: %[[SIN:.*]] = math.sin %[[WIDE]] : f32
// CHECK: arith.truncf %[[SIN]] : f32 to bf16
func.func @half(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  %0 = array.sin %x : tensor<4xbf16>
  return %0 : tensor<4xbf16>
}

// -----

// By the exponential that is at most 1, so that tiny results are as accurate as others.
// CHECK-LABEL: func @logistic
// CHECK: %[[ABS:.*]] = math.absf
// CHECK: %[[NEG:.*]] = arith.negf %[[ABS]]
// CHECK: %[[EXP:.*]] = math.exp %[[NEG]]
// CHECK: %[[NUMERATOR:.*]] = arith.select %{{.*}}, %[[EXP]], %[[ONE:.*]] : f32
// CHECK: %[[SUM:.*]] = arith.addf %[[ONE]], %[[EXP]]
// CHECK: arith.divf %[[NUMERATOR]], %[[SUM]]
func.func @logistic(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = array.logistic %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func @erf_inv
// CHECK: math.log1p
// CHECK-COUNT-16: arith.mulf {{.*}} fastmath<contract>
// CHECK: arith.select
// CHECK-NOT: array.
func.func @erf_inv(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = array.erf_inv %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// One step for each bit of the exponent that is not its sign.
// CHECK-LABEL: func @integer_power
// CHECK-COUNT-13: arith.muli
// CHECK-NOT: arith.muli
// CHECK: arith.cmpi slt, %{{.*}}, %c0_i8
func.func @integer_power(%x: tensor<4xi8>, %y: tensor<4xi8>) -> tensor<4xi8> {
  %0 = array.pow %x, %y : tensor<4xi8>
  return %0 : tensor<4xi8>
}
