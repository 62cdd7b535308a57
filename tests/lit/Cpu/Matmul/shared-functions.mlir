// RUN: array-opt %s --split-input-file --array-lower-matmuls | FileCheck %s

// Functions that the build has compiled are declared, the others are defined.
// CHECK-LABEL: func.func @declared
// CHECK: call @matmul_pack_rows_f32_8x32(
// CHECK: call @matmul_tiles_f32_8x32(
// CHECK: func.func private @matmul_tiles_f32_8x32({{.*}}, i1)
// CHECK-NOT: {{attributes|\{$}}
// CHECK: func.func private @matmul_pack_rows_f32_8x32({{.*}}) attributes {array.unit
// CHECK: vector.maskedload
module attributes {array.built = {matmul_tiles_f32_8x32}} {
  func.func @declared(%a: memref<400x100xf32>, %b: memref<100x100xf32>, %c: memref<400x100xf32>) {
    linalg.matmul ins(%a, %b : memref<400x100xf32>, memref<100x100xf32>) outs(%c : memref<400x100xf32>)
    return
  }
}
