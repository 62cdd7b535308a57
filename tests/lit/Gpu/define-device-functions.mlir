// RUN: array-opt %s --pass-pipeline='builtin.module(gpu.module(array-define-device-functions))' | FileCheck %s

// Functions that array-expand-math calls for large arguments get a body; other external functions stay.
// Remainders of one type share a function; narrow ones are computed in f32.
// CHECK-LABEL: gpu.module @kernels {
// CHECK:         func.func private @remainder_f64(
// CHECK:           scf.while
// CHECK:             arith.remui
// CHECK:         func.func private @remainder_f32(
// CHECK:         func.func private @sinf(%[[X:.*]]: f32) -> f32 attributes {llvm.linkage = #llvm.linkage<internal>} {
// CHECK:           arith.bitcast %[[X]] : f32 to i32
// CHECK:           arith.mului_extended
// CHECK:           arith.truncf %{{.*}} : f64 to f32
// CHECK:         func.func private @tan(%{{.*}}: f64) -> f64 attributes
// CHECK:         func.func private @other(f32) -> f32
// CHECK:         gpu.func @kernel(
// CHECK-NOT:       arith.remf
// CHECK:           call @remainder_f32
// CHECK:           arith.extf %{{.*}} : f16 to f32
// CHECK:           call @remainder_f32
// CHECK:           arith.truncf %{{.*}} : f32 to f16
// CHECK:           call @remainder_f64
gpu.module @kernels {
  func.func private @sinf(f32) -> f32
  func.func private @tan(f64) -> f64
  func.func private @other(f32) -> f32
  gpu.func @kernel(%x: memref<f32>, %y: memref<f16>, %z: memref<f64>) kernel {
    %a = memref.load %x[] : memref<f32>
    %b = memref.load %y[] : memref<f16>
    %c = memref.load %z[] : memref<f64>
    %s = func.call @sinf(%a) : (f32) -> f32
    %t = func.call @tan(%c) : (f64) -> f64
    %o = func.call @other(%s) : (f32) -> f32
    %r = arith.remf %o, %a : f32
    %n = arith.remf %b, %b : f16
    %d = arith.remf %c, %t : f64
    memref.store %r, %x[] : memref<f32>
    memref.store %n, %y[] : memref<f16>
    memref.store %d, %z[] : memref<f64>
    gpu.return
  }
}
