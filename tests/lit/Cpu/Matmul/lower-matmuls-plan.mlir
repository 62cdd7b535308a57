// The emitted code follows array.plan, as far as the layout of the operands allows it.
// RUN: array-opt %s --split-input-file --array-lower-matmuls | FileCheck %s

// The tile, and the blocks of depth, rows and columns.
// CHECK-LABEL: func.func @tiled
// CHECK: memref.alloc() {{.*}} : memref<16384xf32>
// CHECK-DAG: arith.constant 128 : index
// CHECK-DAG: arith.constant 64 : index
// CHECK: func.call @matmul_pack_rows_f32_4x64
// CHECK: func.call @matmul_tiles_f32_4x64
func.func @tiled(%a: memref<256x256xf32>, %b: memref<256x256xf32>, %c: memref<256x256xf32>) {
  linalg.matmul {array.plan = {columns = 128, depth = 128, packing = "copied", rows = 64, tile_rows = 4, tile_vectors = 4}}
      ins(%a, %b : memref<256x256xf32>, memref<256x256xf32>) outs(%c : memref<256x256xf32>)
  return
}

// -----

// CHECK-LABEL: func.func @streamed
// CHECK: call @matmul_stream_f32_12x16
func.func @streamed(%a: memref<12x256xf32>, %b: memref<256x256xf32>, %c: memref<12x256xf32>) {
  linalg.matmul {array.plan = {strategy = "stream"}} ins(%a, %b : memref<12x256xf32>, memref<256x256xf32>) outs(%c : memref<12x256xf32>)
  return
}

// -----

// CHECK-LABEL: func.func @once
// CHECK-NOT: memref.alloc()
// CHECK: call @matmul_{{.*}}once{{.*}}_f32_8x32
func.func @once(%a: memref<64x64xf32>, %b: memref<64x64xf32>, %c: memref<64x64xf32>) {
  linalg.matmul {array.plan = {packing = "once"}} ins(%a, %b : memref<64x64xf32>, memref<64x64xf32>) outs(%c : memref<64x64xf32>)
  return
}

// -----

// CHECK-LABEL: func.func @looped
// CHECK: linalg.matmul
// CHECK-NOT: call
func.func @looped(%a: memref<64x64xf32>, %b: memref<64x64xf32>, %c: memref<64x64xf32>) {
  linalg.matmul {array.plan = {strategy = "loops"}} ins(%a, %b : memref<64x64xf32>, memref<64x64xf32>) outs(%c : memref<64x64xf32>)
  return
}

// -----

// Rows of the right operand that are not a multiple of the tile's are not read in place, nor are so many rows streamed.
// CHECK-LABEL: func.func @impossible
// CHECK: call @matmul_tiles_once_f32_8x32
func.func @impossible(%a: memref<64x64xf32>, %b: memref<64x70xf32>, %c: memref<64x70xf32>) {
  linalg.matmul {array.plan = {packing = "in-place", strategy = "stream"}} ins(%a, %b : memref<64x64xf32>, memref<64x70xf32>) outs(%c : memref<64x70xf32>)
  return
}

// -----

// A transposed right operand is copied to panels, not transposed to the stack.
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: func.func @copied
// CHECK: memref.alloc() {alignment = 64 : i64} : memref<4096xf32>
// CHECK: call @matmul_pack_columns_f32_8x32
// CHECK: func.call @matmul_tiles_f32_8x32
func.func @copied(%a: memref<64x64xf32>, %b: memref<64x64xf32>, %c: memref<64x64xf32>) {
  linalg.generic {array.plan = {packing = "copied"}, indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %b : memref<64x64xf32>, memref<64x64xf32>) outs(%c : memref<64x64xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %product = arith.mulf %x, %y : f32
    %sum = arith.addf %acc, %product : f32
    linalg.yield %sum : f32
  }
  return
}

// -----

// 128 rows stay in the cache: one block of them, whose threads share the 16 panels.
// CHECK-LABEL: func.func @few_rows
// CHECK-NOT: memref.alloc()
// CHECK: scf.for
// CHECK: call @matmul_tiles_once_f32_6x64
// CHECK: array.parallel
func.func @few_rows(%a: memref<128x1024xf32>, %b: memref<1024x1024xf32>, %c: memref<128x1024xf32>) {
  linalg.matmul ins(%a, %b : memref<128x1024xf32>, memref<1024x1024xf32>) outs(%c : memref<128x1024xf32>)
  return
}
