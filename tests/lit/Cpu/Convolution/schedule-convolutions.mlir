// The plan that the cost model chooses for a convolution; entries by hand stay. A matmul has none.
// RUN: array-opt %s --array-schedule-convolutions | FileCheck %s
// RUN: array-opt %s --array-schedule-convolutions=vector-bits=256 | FileCheck %s --check-prefix=AVX2
// RUN: not array-opt %s --array-schedule-convolutions=vector-bits=384 2>&1 | FileCheck %s --check-prefix=BITS
// BITS: error: array-schedule-convolutions: vector-bits is 384, not 128, 256 or 512

#x = affine_map<(n, o, h, w, c, i, j) -> (n, h + i, w + j, c)>
#k = affine_map<(n, o, h, w, c, i, j) -> (i, j, c, o)>
#y = affine_map<(n, o, h, w, c, i, j) -> (n, h, w, o)>
#loops = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]

// CHECK-LABEL: func @chosen
// CHECK: array.plan = {depth = {{[0-9]+}} : i64, rows = {{[0-9]+}} : i64, slab = {{[0-9]+}} : i64, tile_rows = 8 : i64, tile_vectors = 2 : i64}
// AVX2-LABEL: func @chosen
// AVX2: tile_rows = 6 : i64, tile_vectors = 2 : i64}
func.func @chosen(%x: memref<8x30x30x16xf32>, %k: memref<3x3x16x32xf32>, %y: memref<8x28x28x32xf32>) {
  linalg.generic {indexing_maps = [#x, #k, #y], iterator_types = #loops}
      ins(%x, %k : memref<8x30x30x16xf32>, memref<3x3x16x32xf32>) outs(%y : memref<8x28x28x32xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// CHECK-LABEL: func @by_hand
// CHECK: array.plan = {{.*}}rows = 64 : i64, slab = 65536 : i64, tile_rows = 4 : i64
func.func @by_hand(%x: memref<8x30x30x16xf32>, %k: memref<3x3x16x32xf32>, %y: memref<8x28x28x32xf32>) {
  linalg.generic {indexing_maps = [#x, #k, #y], iterator_types = #loops}
      ins(%x, %k : memref<8x30x30x16xf32>, memref<3x3x16x32xf32>) outs(%y : memref<8x28x28x32xf32>)
      attrs = {array.plan = {rows = 64, slab = 65536, tile_rows = 4}} {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// CHECK-LABEL: func @matmul
// CHECK-NOT: array.plan
func.func @matmul(%a: memref<128x784xf32>, %b: memref<784x512xf32>, %c: memref<128x512xf32>) {
  linalg.matmul ins(%a, %b : memref<128x784xf32>, memref<784x512xf32>) outs(%c : memref<128x512xf32>)
  return
}
