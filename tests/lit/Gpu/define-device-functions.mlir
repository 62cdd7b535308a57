// RUN: array-opt %s --pass-pipeline='builtin.module(gpu.module(array-define-device-functions))' | FileCheck %s

// Functions that array-expand-math calls for large arguments and quotients get a body; other external functions stay.
// CHECK-LABEL: gpu.module @kernels {
// CHECK:         func.func private @sinf(%[[X:.*]]: f32) -> f32 attributes {llvm.linkage = #llvm.linkage<internal>} {
// CHECK:           arith.bitcast %[[X]] : f32 to i32
// CHECK:           arith.mului_extended
// CHECK:           arith.truncf %{{.*}} : f64 to f32
// CHECK:         func.func private @tan(%{{.*}}: f64) -> f64 attributes
// CHECK:         func.func private @fmodf(%[[X:.*]]: f32, %{{.*}}: f32) -> f32 attributes {llvm.linkage = #llvm.linkage<internal>} {
// CHECK:           scf.while
// CHECK:             arith.remui
// CHECK:         func.func private @fmod(%{{.*}}: f64, %{{.*}}: f64) -> f64 attributes
// CHECK:         func.func private @other(f32) -> f32
gpu.module @kernels {
  func.func private @sinf(f32) -> f32
  func.func private @tan(f64) -> f64
  func.func private @fmodf(f32, f32) -> f32
  func.func private @fmod(f64, f64) -> f64
  func.func private @other(f32) -> f32
  gpu.func @kernel(%x: memref<f32>, %z: memref<f64>) kernel {
    %a = memref.load %x[] : memref<f32>
    %c = memref.load %z[] : memref<f64>
    %s = func.call @sinf(%a) : (f32) -> f32
    %t = func.call @tan(%c) : (f64) -> f64
    %o = func.call @other(%s) : (f32) -> f32
    %r = func.call @fmodf(%o, %a) : (f32, f32) -> f32
    %d = func.call @fmod(%c, %t) : (f64, f64) -> f64
    memref.store %r, %x[] : memref<f32>
    memref.store %d, %z[] : memref<f64>
    gpu.return
  }
}
