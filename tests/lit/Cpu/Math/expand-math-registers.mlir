// RUN: array-opt %s --array-expand-math=vector-bits=512 | FileCheck %s --check-prefix=WIDE
// RUN: array-opt %s --array-expand-math=vector-bits=256 | FileCheck %s --check-prefix=NARROW

// AVX-512 has a guess of 14 bits for reciprocals of roots. A register of f64 takes it at a time; its nan in the residual
// marks zeros, infinities and negative numbers, whose guess is the result.
// WIDE-LABEL: func.func @roots(
// WIDE-COUNT-2: llvm.call_intrinsic "llvm.x86.avx512.rsqrt14.pd.512"({{.*}}) : (vector<8xf64>, vector<8xf64>, i8) -> vector<8xf64>
// WIDE-NOT:     llvm.call_intrinsic
// WIDE-NOT:     arith.divf
// NARROW-LABEL: func.func @roots(
// NARROW-NOT:   llvm.call_intrinsic
// NARROW-NOT:   arith.divf
func.func @roots(%x: vector<16xf64>) -> vector<16xf64> {
  %result = math.rsqrt %x : vector<16xf64>
  return %result : vector<16xf64>
}

// WIDE-LABEL: func.func @singles(
// WIDE:         llvm.call_intrinsic "llvm.x86.avx512.rsqrt14.ps.512"({{.*}}) : (vector<16xf32>, vector<16xf32>, i16) -> vector<16xf32>
// WIDE:         %[[IS_NAN:.*]] = arith.cmpf uno
// WIDE:         arith.select %[[IS_NAN]]
// NARROW-LABEL: func.func @singles(
// NARROW:         arith.shrsi
func.func @singles(%x: vector<16xf32>) -> vector<16xf32> {
  %result = math.rsqrt %x : vector<16xf32>
  return %result : vector<16xf32>
}

// A number is no register.
// WIDE-LABEL: func.func @number(
// WIDE-NOT:     llvm.call_intrinsic
// WIDE:         return
func.func @number(%x: f64) -> f64 {
  %result = math.rsqrt %x : f64
  return %result : f64
}
