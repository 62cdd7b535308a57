// The plans that the cost model chooses for matmuls, and a plan by hand.
// RUN: array-opt %s --array-schedule-matmuls --split-input-file | FileCheck %s
// RUN: array-opt %s --array-schedule-matmuls=vector-bits=256 --split-input-file | FileCheck %s --check-prefix=AVX2
// RUN: array-opt %s --array-schedule-matmuls=bfloat16-dot2=true --split-input-file | FileCheck %s --check-prefix=PAIRS
// RUN: not array-opt %s --array-schedule-matmuls=vector-bits=384 2>&1 | FileCheck %s --check-prefix=BITS
// BITS: error: array-schedule-matmuls: vector-bits is 384, not 128, 256 or 512

// A large matmul: tiles of accumulators, and a right operand that is read in place.
// CHECK-LABEL: func @tiles
// CHECK: linalg.matmul {array.plan = {columns = {{[0-9]+}} : i64, depth = 512 : i64, packing = "in-place", rows = {{[0-9]+}} : i64, strategy = "tiles", tile_rows = {{[68]}} : i64, tile_vectors = {{[234]}} : i64}
// AVX2-LABEL: func @tiles
// AVX2: strategy = "tiles", tile_rows = {{[56]}} : i64, tile_vectors = 2 : i64}
func.func @tiles(%a: memref<128x784xf32>, %b: memref<784x512xf32>, %c: memref<128x512xf32>) {
  linalg.matmul ins(%a, %b : memref<128x784xf32>, memref<784x512xf32>) outs(%c : memref<128x512xf32>)
  return
}

// -----

// One row: the right operand is read once.
// CHECK-LABEL: func @stream
// CHECK: linalg.matmul {array.plan = {strategy = "stream"}
func.func @stream(%a: memref<1x784xf32>, %b: memref<784x512xf32>, %c: memref<1x512xf32>) {
  linalg.matmul ins(%a, %b : memref<1x784xf32>, memref<784x512xf32>) outs(%c : memref<1x512xf32>)
  return
}

// -----

// A small one is left to loops.
// CHECK-LABEL: func @loops
// CHECK: linalg.matmul {array.plan = {strategy = "loops"}
func.func @loops(%a: memref<5x6xf32>, %b: memref<6x7xf32>, %c: memref<5x7xf32>) {
  linalg.matmul ins(%a, %b : memref<5x6xf32>, memref<6x7xf32>) outs(%c : memref<5x7xf32>)
  return
}

// -----

// Entries by hand stay; the model adds the others.
// CHECK-LABEL: func @by_hand
// CHECK: depth = 128 : i64, packing = "copied", rows = 64 : i64, strategy = "tiles", tile_rows = 4 : i64, tile_vectors = 4 : i64
func.func @by_hand(%a: memref<256x256xf32>, %b: memref<256x256xf32>, %c: memref<256x256xf32>) {
  linalg.matmul {array.plan = {depth = 128, packing = "copied", rows = 64, tile_rows = 4, tile_vectors = 4}}
      ins(%a, %b : memref<256x256xf32>, memref<256x256xf32>) outs(%c : memref<256x256xf32>)
  return
}

// -----

// Pairs of bf16, on a processor that multiplies them, have no tile to choose.
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: func @pairs
// CHECK: strategy = "loops"
// PAIRS-LABEL: func @pairs
// PAIRS: array.plan = {columns = {{[0-9]+}} : i64, depth = {{[0-9]+}} : i64, rows = {{[0-9]+}} : i64, strategy = "dot2"}
func.func @pairs(%a: memref<128x256xbf16>, %b: memref<256x512xbf16>, %c: memref<128x512xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<128x256xbf16>, memref<256x512xbf16>) outs(%c : memref<128x512xf32>) {
  ^bb0(%x: bf16, %y: bf16, %sum: f32):
    %0 = arith.extf %x : bf16 to f32
    %1 = arith.extf %y : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %sum, %2 : f32
    linalg.yield %3 : f32
  }
  return
}
