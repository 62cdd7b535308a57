// RUN: array-opt %s --array-expand-quotients | FileCheck %s

// 1/10 rounded toward zero, and the rest. Zero is not small: its doubled bits less 1 are the largest integer.
// CHECK-LABEL: func @tenth(
func.func @tenth(%m: memref<80xf64>) {
  %c = arith.constant dense<10.0> : vector<8xf64>
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c80 = arith.constant 80 : index
  // CHECK: scf.for
  scf.for %i = %c0 to %c80 step %c8 {
    // CHECK:     %[[X:.*]] = vector.load
    %x = vector.load %m[%i] : memref<80xf64>, vector<8xf64>
    // CHECK:     %[[LOW:.*]] = arith.constant dense<8.32{{.*}}E-18> : vector<8xf64>
    // CHECK:     %[[ERROR:.*]] = arith.mulf %[[X]], %[[LOW]]
    // CHECK:     %[[HIGH:.*]] = arith.constant dense<0.0999{{.*}}> : vector<8xf64>
    // CHECK:     %[[PRODUCT:.*]] = math.fma %[[X]], %[[HIGH]], %[[ERROR]]
    // CHECK:     %[[DOUBLED:.*]] = arith.addi
    // CHECK:     %[[LESS:.*]] = arith.subi %[[DOUBLED]]
    // CHECK:     %[[SMALL:.*]] = arith.cmpi ult, %[[LESS]]
    // CHECK:     %[[ANY:.*]] = vector.reduction <or>, %[[SMALL]]
    // CHECK:     %[[RARE:.*]] = llvm.intr.expect %[[ANY]]
    // CHECK:     %[[RESULT:.*]] = scf.if %[[RARE]]
    // CHECK:       %[[QUOTIENT:.*]] = arith.divf %[[X]]
    // CHECK:       scf.yield %[[QUOTIENT]]
    // CHECK:     else
    // CHECK:       scf.yield %[[PRODUCT]]
    %0 = arith.divf %x, %c : vector<8xf64>
    // CHECK:     vector.store %[[RESULT]]
    vector.store %0, %m[%i] : memref<80xf64>, vector<8xf64>
  }
  return
}

// CHECK-LABEL: func @single(
// CHECK:         math.fma
// CHECK:         scf.if
func.func @single(%x: vector<16xf32>, %n: index) -> vector<16xf32> {
  %c = arith.constant dense<-3.0> : vector<16xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x) -> vector<16xf32> {
    %1 = arith.divf %y, %c : vector<16xf32>
    scf.yield %1 : vector<16xf32>
  }
  return %0 : vector<16xf32>
}

// Kept: a divisor that has a quotient too close to the middle of two floats (7318992765852406 / 0.079), a power of two,
// one whose reciprocal's second part is denormal, a zero, scalars, divisors that are no constants, and divisions outside
// of loops.
// CHECK-LABEL: func @others(
// CHECK-NOT:     math.fma
// CHECK-NOT:     scf.if
// CHECK:         return
func.func @others(%m: memref<80xf64>, %n: index, %x: vector<8xf64>, %s: f64) -> vector<8xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %close = arith.constant dense<0.079> : vector<8xf64>
  %power = arith.constant dense<0.25> : vector<8xf64>
  %large = arith.constant dense<1.0e300> : vector<8xf64>
  %zero = arith.constant dense<0.0> : vector<8xf64>
  %ten = arith.constant 10.0 : f64
  scf.for %i = %c0 to %n step %c1 {
    %0 = arith.divf %x, %close : vector<8xf64>
    %1 = arith.divf %0, %power : vector<8xf64>
    %2 = arith.divf %1, %large : vector<8xf64>
    %3 = arith.divf %2, %zero : vector<8xf64>
    %4 = arith.divf %s, %ten : f64
    %5 = vector.broadcast %4 : f64 to vector<8xf64>
    %6 = arith.divf %3, %5 : vector<8xf64>
    vector.store %6, %m[%c0] : memref<80xf64>, vector<8xf64>
  }
  %tens = arith.constant dense<10.0> : vector<8xf64>
  %7 = arith.divf %x, %tens : vector<8xf64>
  return %7 : vector<8xf64>
}
