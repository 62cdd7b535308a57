// RUN: array-opt %s --split-input-file --array-lower-contractions | FileCheck %s

// What the build has compiled is declared, the rest is defined.
// CHECK-LABEL: func.func @declared
// CHECK: call @gemm_pack_rows_f32_8x32(
// CHECK: call @gemm_tiles_f32_8x32(
// CHECK: func.func private @gemm_tiles_f32_8x32({{.*}}, i1)
// CHECK-NOT: {{attributes|\{$}}
// CHECK: func.func private @gemm_pack_rows_f32_8x32({{.*}}) attributes {array.unit
// CHECK: vector.maskedload
module attributes {array.built = {gemm_tiles_f32_8x32}} {
  func.func @declared(%a: memref<400x100xf32>, %b: memref<100x100xf32>, %c: memref<400x100xf32>) {
    linalg.matmul ins(%a, %b : memref<400x100xf32>, memref<100x100xf32>) outs(%c : memref<400x100xf32>)
    return
  }
}
