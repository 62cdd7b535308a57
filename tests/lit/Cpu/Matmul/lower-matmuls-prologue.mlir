// RUN: array-opt %s --split-input-file --array-lower-matmuls=vector-bits=512 | FileCheck %s
// RUN: array-opt %s --split-input-file --array-schedule-matmuls --array-lower-matmuls=vector-bits=512 | FileCheck %s

// The right operand is computed panel by panel into the packing buffer: whole panels, and the remaining columns,
// between zeros. It has no other memory. The left one is packed, since its columns have unit stride.
// CHECK-LABEL: func.func @right
// CHECK-SAME: %[[X:.*]]: memref<300x200xf32>, %[[MEAN:.*]]: memref<200xf32>
// CHECK: memref.alloc() {{.*}} : memref<67200xf32>
// CHECK: %[[PACKED:.*]] = memref.alloc() {{.*}} : memref<67200xf32>
// CHECK-NOT: memref.alloc
// CHECK: scf.for
// CHECK-DAG: %[[FROM:.*]] = memref.reinterpret_cast %[[X]] {{.*}} memref<300x32xf32, strided<[200, 1], offset: ?>>
// CHECK-DAG: %[[ROW:.*]] = memref.reinterpret_cast %[[MEAN]] {{.*}} memref<32xf32, strided<[1], offset: ?>>
// CHECK-DAG: %[[PANEL:.*]] = memref.reinterpret_cast %[[PACKED]] {{.*}} memref<300x32xf32, strided<[32, 1], offset: ?>>
// CHECK: linalg.generic {{.*}} ins(%[[FROM]], %[[ROW]] : {{.*}}) outs(%[[PANEL]] :
// CHECK: arith.subf
// CHECK: scf.if
// CHECK: linalg.fill {{.*}} memref<300x32xf32
// CHECK: linalg.generic {{.*}} memref<300x8xf32
// CHECK: arith.subf
// CHECK: call @matmul_tiles_packed_f32_8x32
// CHECK-NOT: func.func private @matmul_pack_{{.*}}x32
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>
func.func @right(%x: memref<300x200xf32>, %mean: memref<200xf32>, %c: memref<200x200xf32>) {
  %t = memref.alloc() : memref<300x200xf32>
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %mean : memref<300x200xf32>, memref<200xf32>) outs(%t : memref<300x200xf32>) {
  ^bb0(%in: f32, %m: f32, %out: f32):
    %0 = arith.subf %in, %m : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d2, d1)>,
                                   affine_map<(d0, d1, d2) -> (d0, d1)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %t : memref<300x200xf32>, memref<300x200xf32>) outs(%c : memref<200x200xf32>) {
  ^bb0(%lhs: f32, %rhs: f32, %acc: f32):
    %0 = arith.mulf %lhs, %rhs : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// The left operand is widened for each block of rows and depth, and read from there.
// CHECK-LABEL: func.func @left
// CHECK-SAME: %[[X:.*]]: memref<64x300xbf16>
// CHECK: %[[BLOCK:.*]] = memref.alloc() {{.*}} : memref<19200xf32>
// CHECK: linalg.generic {{.*}} memref<64x300xbf16, {{.*}} memref<64x300xf32
// CHECK: arith.extf
// CHECK: memref.reinterpret_cast %[[BLOCK]]
// CHECK: call @matmul_tiles_f32_8x32
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @left(%x: memref<64x300xbf16>, %w: memref<300x64xf32>, %c: memref<64x64xf32>) {
  %t = memref.alloc() : memref<64x300xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<64x300xbf16>) outs(%t : memref<64x300xf32>) {
  ^bb0(%in: bf16, %out: f32):
    %0 = arith.extf %in : bf16 to f32
    linalg.yield %0 : f32
  }
  linalg.matmul ins(%t, %w : memref<64x300xf32>, memref<300x64xf32>) outs(%c : memref<64x64xf32>)
  return
}

// -----

// Not fused: an operand with other readers, one that is computed from a temporary, and one that would be computed for
// every matmul of a batch.
// CHECK-LABEL: func.func @kept
// CHECK-COUNT-3: math.absf
// CHECK-NOT: math.absf
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @kept(%x: memref<64x64xf32>, %w: memref<64x64xf32>, %c: memref<64x64xf32>, %d: memref<64x64xf32>,
                %xs: memref<9x64x64xf32>, %es: memref<9x64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %t = memref.alloc() : memref<64x64xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<64x64xf32>) outs(%t : memref<64x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.absf %in : f32
    linalg.yield %0 : f32
  }
  linalg.matmul ins(%t, %w : memref<64x64xf32>, memref<64x64xf32>) outs(%c : memref<64x64xf32>)
  memref.copy %t, %d : memref<64x64xf32> to memref<64x64xf32>
  %u = memref.alloc() : memref<64x64xf32>
  %v = memref.alloc() : memref<64x64xf32>
  linalg.fill ins(%zero : f32) outs(%u : memref<64x64xf32>)
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%u : memref<64x64xf32>) outs(%v : memref<64x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.absf %in : f32
    linalg.yield %0 : f32
  }
  linalg.matmul ins(%v, %w : memref<64x64xf32>, memref<64x64xf32>) outs(%c : memref<64x64xf32>)
  %y = memref.alloc() : memref<64x64xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%w : memref<64x64xf32>) outs(%y : memref<64x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.absf %in : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [affine_map<(b, i, j, k) -> (b, k, i)>, affine_map<(b, i, j, k) -> (k, j)>,
                                   affine_map<(b, i, j, k) -> (b, i, j)>],
                  iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%xs, %y : memref<9x64x64xf32>, memref<64x64xf32>) outs(%es : memref<9x64x64xf32>) {
  ^bb0(%lhs: f32, %rhs: f32, %acc: f32):
    %0 = arith.mulf %lhs, %rhs : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  }
  return
}
