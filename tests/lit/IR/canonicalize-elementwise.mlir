// RUN: array-opt %s --canonicalize --split-input-file | FileCheck %s

// Folders and canonicalizations of the elementwise ops. Identities hold bit for bit: those of floats respect -0 and nan.

// CHECK-LABEL: @unary
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<4xi1>)
func.func @unary(%x: tensor<4xf32>, %b: tensor<4xi1>) -> (tensor<4xf32>, tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) {
  %0 = array.neg %x : tensor<4xf32>
  %1 = array.neg %0 : tensor<4xf32>
  %2 = array.not %b : tensor<4xi1>
  %3 = array.not %2 : tensor<4xi1>
  %4 = array.stop_gradient %x : tensor<4xf32>
  // CHECK: %[[ABS:.*]] = array.abs %[[X]]
  // CHECK-NOT: array.abs
  %5 = array.abs %x : tensor<4xf32>
  %6 = array.abs %5 : tensor<4xf32>
  // CHECK: return %[[X]], %[[B]], %[[X]], %[[ABS]]
  return %1, %3, %4, %6 : tensor<4xf32>, tensor<4xi1>, tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: @unary_splat
func.func @unary_splat() -> (tensor<4xf32>, tensor<4xf32>, tensor<2xi8>, tensor<2xi8>, tensor<2xui8>, tensor<i1>) {
  %x = array.constant dense<-0.0> : tensor<4xf32>
  %i = array.constant dense<-128> : tensor<2xi8>
  %u = array.constant dense<1> : tensor<2xui8>
  %b = array.constant dense<true> : tensor<i1>
  // CHECK-DAG: %[[ZERO:.*]] = array.constant dense<0.000000e+00> : tensor<4xf32>
  // CHECK-DAG: %[[LOWEST:.*]] = array.constant dense<-128> : tensor<2xi8>
  // CHECK-DAG: %[[U:.*]] = array.constant dense<254> : tensor<2xui8>
  // CHECK-DAG: %[[FALSE:.*]] = array.constant dense<false> : tensor<i1>
  %0 = array.neg %x : tensor<4xf32>
  %1 = array.abs %x : tensor<4xf32>
  %2 = array.neg %i : tensor<2xi8>
  %3 = array.abs %i : tensor<2xi8>
  %4 = array.not %u : tensor<2xui8>
  %5 = array.not %b : tensor<i1>
  // CHECK: return %[[ZERO]], %[[ZERO]], %[[LOWEST]], %[[LOWEST]], %[[U]], %[[FALSE]]
  return %0, %1, %2, %3, %4, %5 : tensor<4xf32>, tensor<4xf32>, tensor<2xi8>, tensor<2xi8>, tensor<2xui8>, tensor<i1>
}

// -----

// CHECK-LABEL: @float_identities
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
func.func @float_identities(%x: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %one = array.constant dense<1.0> : tensor<4xf32>
  %zero = array.constant dense<0.0> : tensor<4xf32>
  %minus_zero = array.constant dense<-0.0> : tensor<4xf32>
  %0 = array.mul %one, %x : tensor<4xf32>
  %1 = array.div %x, %one : tensor<4xf32>
  %2 = array.sub %x, %zero : tensor<4xf32>
  %3 = array.add %minus_zero, %x : tensor<4xf32>
  %4 = array.max %x, %x : tensor<4xf32>
  %5 = array.min %x, %x : tensor<4xf32>
  // CHECK: return %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]]
  return %0, %1, %2, %3, %4, %5 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// -0 + 0 is 0, nan * 0 is nan, inf - inf is nan.
// CHECK-LABEL: @no_float_identities
func.func @no_float_identities(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = array.constant dense<0.0> : tensor<4xf32>
  %minus_zero = array.constant dense<-0.0> : tensor<4xf32>
  // CHECK: array.add
  %0 = array.add %x, %zero : tensor<4xf32>
  // CHECK: array.mul
  %1 = array.mul %x, %zero : tensor<4xf32>
  // CHECK: array.sub
  %2 = array.sub %x, %x : tensor<4xf32>
  // CHECK: array.sub
  %3 = array.sub %x, %minus_zero : tensor<4xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: @int_identities
// CHECK-SAME: (%[[X:.*]]: tensor<4xui32>)
func.func @int_identities(%x: tensor<4xui32>)
    -> (tensor<4xui32>, tensor<4xui32>, tensor<4xui32>, tensor<4xui32>, tensor<4xui32>, tensor<4xui32>, tensor<4xui32>, tensor<4xui32>, tensor<4xui32>) {
  %zero = array.constant dense<0> : tensor<4xui32>
  %one = array.constant dense<1> : tensor<4xui32>
  %ones = array.constant dense<4294967295> : tensor<4xui32>
  // CHECK-DAG: %[[ZERO:.*]] = array.constant dense<0> : tensor<4xui32>
  // CHECK-DAG: %[[ONES:.*]] = array.constant dense<4294967295> : tensor<4xui32>
  %0 = array.add %x, %zero : tensor<4xui32>
  %1 = array.sub %x, %zero : tensor<4xui32>
  %2 = array.mul %x, %one : tensor<4xui32>
  %3 = array.mul %x, %zero : tensor<4xui32>
  %4 = array.and %x, %ones : tensor<4xui32>
  %5 = array.and %x, %zero : tensor<4xui32>
  %6 = array.or %x, %zero : tensor<4xui32>
  %7 = array.or %x, %ones : tensor<4xui32>
  %8 = array.xor %x, %zero : tensor<4xui32>
  // CHECK: return %[[X]], %[[X]], %[[X]], %[[ZERO]], %[[X]], %[[ZERO]], %[[X]], %[[ONES]], %[[X]]
  return %0, %1, %2, %3, %4, %5, %6, %7, %8 : tensor<4xui32>, tensor<4xui32>, tensor<4xui32>, tensor<4xui32>, tensor<4xui32>, tensor<4xui32>, tensor<4xui32>, tensor<4xui32>, tensor<4xui32>
}

// -----

// An op whose type differs by a dynamic dimension is no identity.
// CHECK-LABEL: @types_differ
func.func @types_differ(%x: tensor<?xf32>) -> tensor<4xf32> {
  %one = array.constant dense<1.0> : tensor<4xf32>
  // CHECK: array.mul
  %0 = array.mul %x, %one : (tensor<?xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: @float_splats
func.func @float_splats() -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  %x = array.constant dense<7.5> : tensor<f32>
  %y = array.constant dense<-2.0> : tensor<f32>
  // CHECK-DAG: %[[ADD:.*]] = array.constant dense<5.500000e+00>
  // CHECK-DAG: %[[SUB:.*]] = array.constant dense<9.500000e+00>
  // CHECK-DAG: %[[MUL:.*]] = array.constant dense<-1.500000e+01>
  // CHECK-DAG: %[[DIV:.*]] = array.constant dense<-3.750000e+00>
  // CHECK-DAG: %[[REM:.*]] = array.constant dense<1.500000e+00>
  // CHECK-DAG: %[[MAX:.*]] = array.constant dense<7.500000e+00>
  // CHECK-DAG: %[[MIN:.*]] = array.constant dense<-2.000000e+00>
  %0 = array.add %x, %y : tensor<f32>
  %1 = array.sub %x, %y : tensor<f32>
  %2 = array.mul %x, %y : tensor<f32>
  %3 = array.div %x, %y : tensor<f32>
  %4 = array.rem %x, %y : tensor<f32>
  %5 = array.max %x, %y : tensor<f32>
  %6 = array.min %x, %y : tensor<f32>
  // CHECK: return %[[ADD]], %[[SUB]], %[[MUL]], %[[DIV]], %[[REM]], %[[MAX]], %[[MIN]]
  return %0, %1, %2, %3, %4, %5, %6 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}

// -----

// The bits of a nan are the machine's to choose: it is not folded.
// CHECK-LABEL: @nan
func.func @nan() -> tensor<f32> {
  %x = array.constant dense<0x7F800000> : tensor<f32>
  // CHECK: array.sub
  %0 = array.sub %x, %x : tensor<f32>
  return %0 : tensor<f32>
}

// -----

// Integer division truncates; by zero it gives all bits set, and the remainder the dividend; the lowest by -1 wraps.
// CHECK-LABEL: @integer_division
func.func @integer_division()
    -> (tensor<i8>, tensor<i8>, tensor<i8>, tensor<i8>, tensor<i8>, tensor<i8>, tensor<ui8>, tensor<ui8>, tensor<ui8>) {
  %x = array.constant dense<-7> : tensor<i8>
  %y = array.constant dense<2> : tensor<i8>
  %zero = array.constant dense<0> : tensor<i8>
  %lowest = array.constant dense<-128> : tensor<i8>
  %minus_one = array.constant dense<-1> : tensor<i8>
  %u = array.constant dense<249> : tensor<ui8>
  %v = array.constant dense<2> : tensor<ui8>
  %w = array.constant dense<0> : tensor<ui8>
  // CHECK-DAG: %[[DIV:.*]] = array.constant dense<-3> : tensor<i8>
  // CHECK-DAG: %[[MINUS_ONE:.*]] = array.constant dense<-1> : tensor<i8>
  // CHECK-DAG: %[[X:.*]] = array.constant dense<-7> : tensor<i8>
  // CHECK-DAG: %[[LOWEST:.*]] = array.constant dense<-128> : tensor<i8>
  // CHECK-DAG: %[[ZERO:.*]] = array.constant dense<0> : tensor<i8>
  // CHECK-DAG: %[[UDIV:.*]] = array.constant dense<124> : tensor<ui8>
  // CHECK-DAG: %[[UREM:.*]] = array.constant dense<1> : tensor<ui8>
  // CHECK-DAG: %[[UMAX:.*]] = array.constant dense<255> : tensor<ui8>
  %0 = array.div %x, %y : tensor<i8>
  %1 = array.rem %x, %y : tensor<i8>
  %2 = array.div %x, %zero : tensor<i8>
  %3 = array.rem %x, %zero : tensor<i8>
  %4 = array.div %lowest, %minus_one : tensor<i8>
  %5 = array.rem %lowest, %minus_one : tensor<i8>
  %6 = array.div %u, %v : tensor<ui8>
  %7 = array.rem %u, %v : tensor<ui8>
  %8 = array.div %u, %w : tensor<ui8>
  // CHECK: return %[[DIV]], %[[MINUS_ONE]], %[[MINUS_ONE]], %[[X]], %[[LOWEST]], %[[ZERO]], %[[UDIV]], %[[UREM]], %[[UMAX]]
  return %0, %1, %2, %3, %4, %5, %6, %7, %8 : tensor<i8>, tensor<i8>, tensor<i8>, tensor<i8>, tensor<i8>, tensor<i8>, tensor<ui8>, tensor<ui8>, tensor<ui8>
}

// -----

// Order is signed or unsigned by type; nan is unequal to itself.
// CHECK-LABEL: @compare_splats
func.func @compare_splats()
    -> (tensor<i1>, tensor<i1>, tensor<i1>, tensor<i1>, tensor<i1>, tensor<i1>, tensor<i1>, tensor<i1>, tensor<ui8>, tensor<i8>) {
  %i = array.constant dense<-1> : tensor<i8>
  %j = array.constant dense<1> : tensor<i8>
  %u = array.constant dense<255> : tensor<ui8>
  %v = array.constant dense<1> : tensor<ui8>
  %nan = array.constant dense<0x7FC00000> : tensor<f32>
  // CHECK-DAG: %[[FALSE:.*]] = array.constant dense<false> : tensor<i1>
  // CHECK-DAG: %[[TRUE:.*]] = array.constant dense<true> : tensor<i1>
  // CHECK-DAG: %[[U:.*]] = array.constant dense<255> : tensor<ui8>
  // CHECK-DAG: %[[I:.*]] = array.constant dense<-1> : tensor<i8>
  %0 = array.lt %i, %j : tensor<i8>
  %1 = array.lt %u, %v : tensor<ui8>
  %2 = array.ge %i, %j : tensor<i8>
  %3 = array.gt %u, %v : tensor<ui8>
  %4 = array.eq %nan, %nan : tensor<f32>
  %5 = array.ne %nan, %nan : tensor<f32>
  %6 = array.le %nan, %nan : tensor<f32>
  %7 = array.le %j, %j : tensor<i8>
  %8 = array.max %u, %v : tensor<ui8>
  %9 = array.min %i, %j : tensor<i8>
  // CHECK: return %[[TRUE]], %[[FALSE]], %[[FALSE]], %[[TRUE]], %[[FALSE]], %[[TRUE]], %[[FALSE]], %[[TRUE]], %[[U]], %[[I]]
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9 : tensor<i1>, tensor<i1>, tensor<i1>, tensor<i1>, tensor<i1>, tensor<i1>, tensor<i1>, tensor<i1>, tensor<ui8>, tensor<i8>
}

// -----

// Constants move to the right of commutative ops.
// CHECK-LABEL: @commutative
func.func @commutative(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[C:.*]] = array.constant
  %c = array.constant dense<2.0> : tensor<4xf32>
  // CHECK: array.mul %{{.*}}, %[[C]]
  %0 = array.mul %c, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: @division_by_power_of_two
func.func @division_by_power_of_two(%x: tensor<4xf32>, %y: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xi32>) {
  // CHECK-DAG: %[[RECIPROCAL:.*]] = array.constant dense<7.812500e-03> : tensor<4xf32>
  // CHECK-DAG: %[[THREE:.*]] = array.constant dense<3.000000e+00> : tensor<4xf32>
  %a = array.constant dense<128.0> : tensor<4xf32>
  %b = array.constant dense<3.0> : tensor<4xf32>
  %c = array.constant dense<2> : tensor<4xi32>
  // CHECK: array.mul %{{.*}}, %[[RECIPROCAL]]
  %0 = array.div %x, %a : tensor<4xf32>
  // CHECK: array.div %{{.*}}, %[[THREE]]
  %1 = array.div %x, %b : tensor<4xf32>
  // CHECK: array.div
  %2 = array.div %y, %c : tensor<4xi32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xi32>
}

// -----

// CHECK-LABEL: @select
// CHECK-SAME: (%[[P:.*]]: tensor<4xi1>, %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>)
func.func @select(%p: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi1>) {
  %true = array.constant dense<true> : tensor<4xi1>
  %false = array.constant dense<false> : tensor<4xi1>
  %0 = array.select %true, %x, %y : tensor<4xf32>
  %1 = array.select %false, %x, %y : tensor<4xf32>
  %2 = array.select %p, %x, %x : tensor<4xf32>
  %3 = array.select %p, %true, %false : tensor<4xi1>
  // CHECK: return %[[X]], %[[Y]], %[[X]], %[[P]]
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi1>
}

// -----

// CHECK-LABEL: @convert_splats
func.func @convert_splats() -> (tensor<i8>, tensor<ui8>, tensor<i32>, tensor<i32>, tensor<i1>, tensor<i1>, tensor<i8>, tensor<f32>, tensor<f32>, tensor<bf16>) {
  %x = array.constant dense<300.5> : tensor<f32>
  %negative = array.constant dense<-1.5> : tensor<f32>
  %nan = array.constant dense<0x7FC00000> : tensor<f32>
  %i = array.constant dense<384> : tensor<i32>
  %u = array.constant dense<4294967295> : tensor<ui32>
  %b = array.constant dense<true> : tensor<i1>
  // CHECK-DAG: %[[SATURATED:.*]] = array.constant dense<127> : tensor<i8>
  // CHECK-DAG: %[[UNSIGNED:.*]] = array.constant dense<0> : tensor<ui8>
  // CHECK-DAG: %[[TRUNCATED:.*]] = array.constant dense<-1> : tensor<i32>
  // CHECK-DAG: %[[ZERO:.*]] = array.constant dense<0> : tensor<i32>
  // CHECK-DAG: %[[TRUE:.*]] = array.constant dense<true> : tensor<i1>
  // CHECK-DAG: %[[WRAPPED:.*]] = array.constant dense<-128> : tensor<i8>
  // CHECK-DAG: %[[ROUNDED:.*]] = array.constant dense<4.2949673E+9> : tensor<f32>
  // CHECK-DAG: %[[ONE:.*]] = array.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-DAG: %[[HALF:.*]] = array.constant dense<3.000000e+02> : tensor<bf16>
  %0 = array.convert %x : (tensor<f32>) -> tensor<i8>
  %1 = array.convert %negative : (tensor<f32>) -> tensor<ui8>
  %2 = array.convert %negative : (tensor<f32>) -> tensor<i32>
  %3 = array.convert %nan : (tensor<f32>) -> tensor<i32>
  %4 = array.convert %nan : (tensor<f32>) -> tensor<i1>
  %5 = array.convert %i : (tensor<i32>) -> tensor<i1>
  %6 = array.convert %i : (tensor<i32>) -> tensor<i8>
  %7 = array.convert %u : (tensor<ui32>) -> tensor<f32>
  %8 = array.convert %b : (tensor<i1>) -> tensor<f32>
  %9 = array.convert %x : (tensor<f32>) -> tensor<bf16>
  // CHECK: return %[[SATURATED]], %[[UNSIGNED]], %[[TRUNCATED]], %[[ZERO]], %[[TRUE]], %[[TRUE]], %[[WRAPPED]], %[[ROUNDED]], %[[ONE]], %[[HALF]]
  return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9 : tensor<i8>, tensor<ui8>, tensor<i32>, tensor<i32>, tensor<i1>, tensor<i1>, tensor<i8>, tensor<f32>, tensor<f32>, tensor<bf16>
}

// -----

// CHECK-LABEL: @convert_of_exact_convert
// CHECK-SAME: (%[[H:.*]]: tensor<4xbf16>, %[[I:.*]]: tensor<4xi32>, %[[B:.*]]: tensor<4xi1>)
func.func @convert_of_exact_convert(%h: tensor<4xbf16>, %i: tensor<4xi32>, %b: tensor<4xi1>)
    -> (tensor<4xbf16>, tensor<4xi32>, tensor<4xi8>, tensor<4xf32>, tensor<4xi32>) {
  %0 = array.convert %h : (tensor<4xbf16>) -> tensor<4xf32>
  %1 = array.convert %0 : (tensor<4xf32>) -> tensor<4xbf16>
  %2 = array.convert %i : (tensor<4xi32>) -> tensor<4xf64>
  %3 = array.convert %2 : (tensor<4xf64>) -> tensor<4xi32>
  // CHECK-DAG: %[[WRAPS:.*]] = array.convert %[[I]] : (tensor<4xi32>) -> tensor<4xi8>
  %4 = array.convert %i : (tensor<4xi32>) -> tensor<4xi64>
  %5 = array.convert %4 : (tensor<4xi64>) -> tensor<4xi8>
  // CHECK-DAG: %[[F:.*]] = array.convert %[[B]] : (tensor<4xi1>) -> tensor<4xf32>
  %6 = array.convert %b : (tensor<4xi1>) -> tensor<4xi32>
  %7 = array.convert %6 : (tensor<4xi32>) -> tensor<4xf32>
  // CHECK-DAG: %[[C:.*]] = array.convert %[[B]] : (tensor<4xi1>) -> tensor<4xi32>
  %8 = array.convert %b : (tensor<4xi1>) -> tensor<4xf16>
  %9 = array.convert %8 : (tensor<4xf16>) -> tensor<4xi32>
  // CHECK: return %[[H]], %[[I]], %[[WRAPS]], %[[F]], %[[C]]
  return %1, %3, %5, %7, %9 : tensor<4xbf16>, tensor<4xi32>, tensor<4xi8>, tensor<4xf32>, tensor<4xi32>
}

// -----

// Through a narrower type, an unsigned one or another kind of half, values are lost; from a float an integer saturates, from an
// integer it wraps.
// CHECK-LABEL: @convert_of_inexact_convert
func.func @convert_of_inexact_convert(%x: tensor<4xf32>, %i: tensor<4xi32>, %h: tensor<4xf16>)
    -> (tensor<4xf32>, tensor<4xi64>, tensor<4xf32>, tensor<4xi8>, tensor<4xf32>) {
  // CHECK-COUNT-10: array.convert
  %0 = array.convert %x : (tensor<4xf32>) -> tensor<4xf16>
  %1 = array.convert %0 : (tensor<4xf16>) -> tensor<4xf32>
  %2 = array.convert %i : (tensor<4xi32>) -> tensor<4xui32>
  %3 = array.convert %2 : (tensor<4xui32>) -> tensor<4xi64>
  %4 = array.convert %h : (tensor<4xf16>) -> tensor<4xbf16>
  %5 = array.convert %4 : (tensor<4xbf16>) -> tensor<4xf32>
  %6 = array.convert %i : (tensor<4xi32>) -> tensor<4xf64>
  %7 = array.convert %6 : (tensor<4xf64>) -> tensor<4xi8>
  %8 = array.convert %i : (tensor<4xi32>) -> tensor<4xi1>
  %9 = array.convert %8 : (tensor<4xi1>) -> tensor<4xf32>
  return %1, %3, %5, %7, %9 : tensor<4xf32>, tensor<4xi64>, tensor<4xf32>, tensor<4xi8>, tensor<4xf32>
}

// -----

// CHECK-LABEL: @bitcast
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
func.func @bitcast(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi32>) {
  // CHECK: %[[BITS:.*]] = array.bitcast %[[X]] : (tensor<4xf32>) -> tensor<4xi32>
  %0 = array.bitcast %x : (tensor<4xf32>) -> tensor<4xui32>
  %1 = array.bitcast %0 : (tensor<4xui32>) -> tensor<4xf32>
  %2 = array.bitcast %0 : (tensor<4xui32>) -> tensor<4xi32>
  // CHECK: return %[[X]], %[[BITS]]
  return %1, %2 : tensor<4xf32>, tensor<4xi32>
}
