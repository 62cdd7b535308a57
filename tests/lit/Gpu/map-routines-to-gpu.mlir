// RUN: array-opt %s --array-map-routines-to-gpu | FileCheck %s

// A special function is called for each element; f32 is computed in f64.
// CHECK:       llvm.func @special_zeta(f64, f64) -> f64
// CHECK-LABEL: func.func @special(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:           arith.extf %{{.*}} : f32 to f64
// CHECK:           arith.extf %{{.*}} : f32 to f64
// CHECK:           %[[VALUE:.*]] = llvm.call @special_zeta(%{{.*}}, %{{.*}}) : (f64, f64) -> f64
// CHECK:           arith.truncf %[[VALUE]] : f64 to f32
// CHECK-NOT:     array.runtime_call
func.func @special(%s: memref<3x4xf32>, %q: memref<3x4xf32>, %out: memref<3x4xf32>) {
  array.runtime_call "special" params = [4] element_types = [f32, f32, f32]
    ins(%s, %q : memref<3x4xf32>, memref<3x4xf32>) outs(%out : memref<3x4xf32>)
  return
}

// What has no kernel stays.
// CHECK-LABEL: func.func @host(
// CHECK:         array.runtime_call "host_call"
func.func @host(%out: memref<4xf32>) {
  array.runtime_call "host_call" params = [0] element_types = [f32] outs(%out : memref<4xf32>)
  return
}
