// RUN: array-opt %s --split-input-file --array-lower-matmuls | FileCheck %s
// RUN: array-opt %s --split-input-file --array-schedule-matmuls --array-lower-matmuls | FileCheck %s
// RUN: array-opt %s --split-input-file --array-lower-matmuls=vector-bits=256 | FileCheck %s --check-prefix=AVX2
// RUN: array-opt %s --split-input-file --array-lower-matmuls=bfloat16-dot2=true | FileCheck %s --check-prefix=PAIRS

// A matmul whose zero fill is folded away: the sums start at zero. The right operand is read in place, and k is divided
// into two even blocks, of which the second adds to the first.
// CHECK-LABEL: func.func @in_place
// CHECK-SAME: %[[A:.*]]: memref<128x784xf32>, %[[B:.*]]: memref<784x512xf32>, %[[C:.*]]: memref<128x512xf32>
// CHECK-NOT: linalg
// CHECK-NOT: memref.alloc
// CHECK: %[[INITIAL:.*]] = arith.constant false
// CHECK: %[[STEP:.*]] = arith.constant 392 : index
// CHECK: scf.for %[[DEPTH:.*]] = {{.*}} step %[[STEP]]
// CHECK: memref.reinterpret_cast %[[A]]
// CHECK: %[[LATER:.*]] = arith.cmpi sgt, %[[DEPTH]]
// CHECK: scf.for
// CHECK-DAG: %[[RESULT:.*]] = memref.reinterpret_cast %[[C]]
// CHECK-DAG: memref.reinterpret_cast %[[B]]
// CHECK: %[[ACCUMULATE:.*]] = arith.ori %[[INITIAL]], %[[LATER]]
// CHECK: func.call @matmul_tiles_f32_6x64({{.*}}, %[[RESULT]], %[[RESULT]], %[[ACCUMULATE]], %{{[a-z_0-9]*}})
// CHECK-NOT: linalg
// CHECK: return

// The tile: accumulators stay in registers over k, the left operand is broadcast, columns are masked. The sums do not
// wait: d is prefetched at the start, and added at the end if requested. Only one row for all rows is different: the
// sums start with it. A last tile of fewer rows clamps them.
// CHECK: func.func private @matmul_tiles_f32_6x64(%[[LHS:[a-z0-9]+]]: memref<?x?xf32, strided<[?, ?], offset: ?>>
// CHECK-SAME: %[[SUM:[a-z0-9]+]]: i1, %[[RECTIFIES:[a-z0-9]+]]: i1) attributes {array.unit, llvm.linkage = #llvm.linkage<internal>
// CHECK: arith.cmpi eq
// CHECK: %[[ROW:.*]] = arith.andi %[[SUM]]
// CHECK: arith.cmpi ne
// CHECK: %[[MATRIX:.*]] = arith.andi %[[SUM]]
// CHECK: vector.create_mask
// CHECK: scf.for
// CHECK: %[[ROWS:.*]] = memref.subview %[[LHS]]
// CHECK-NOT: arith.minsi
// CHECK: scf.if %[[MATRIX]]
// CHECK-COUNT-24: memref.prefetch {{.*}}, read
// CHECK: scf.if %[[ROW]]
// CHECK-COUNT-4: vector.maskedload
// CHECK-NOT: vector.maskedload
// CHECK: scf.for {{.*}} iter_args
// CHECK-COUNT-4: vector.load
// CHECK: memref.load %[[ROWS]]
// CHECK: vector.broadcast
// CHECK-COUNT-24: vector.fma
// CHECK: scf.if %[[MATRIX]]
// CHECK-COUNT-24: vector.maskedload
// CHECK: else
// CHECK: scf.if %[[RECTIFIES]]
// CHECK-COUNT-24: arith.select
// CHECK: else
// CHECK: scf.if
// CHECK-COUNT-24: vector.store
// CHECK: else
// CHECK-COUNT-24: vector.maskedstore
// CHECK: scf.for
// CHECK: memref.subview %[[LHS]]
// CHECK: arith.minsi
// CHECK-COUNT-24: vector.fma
// CHECK-NOT: func.func

// AVX2: func.func private @matmul_tiles_f32_6x16
// AVX2-COUNT-24: vector.fma
// AVX2-NOT: vector.fma
// AVX2: return
func.func @in_place(%a: memref<128x784xf32>, %b: memref<784x512xf32>, %c: memref<128x512xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<128x512xf32>)
  linalg.matmul ins(%a, %b : memref<128x784xf32>, memref<784x512xf32>) outs(%c : memref<128x512xf32>)
  return
}

// -----

// Two matmuls share the functions. c is not known to be zero, so it is added to.
// CHECK-LABEL: func.func @shared
// CHECK: %[[TRUE:.*]] = arith.constant true
// CHECK: call @matmul_pack_rows_f32_8x32(
// CHECK: call @matmul_tiles_f32_8x32({{.*}}, %[[TRUE]], %{{[a-z_0-9]*}})
// CHECK: call @matmul_pack_rows_f32_8x32(
// CHECK: call @matmul_tiles_f32_8x32(
// CHECK: func.func private @matmul_tiles_f32_8x32
// CHECK: func.func private @matmul_pack_rows_f32_8x32
// CHECK-NOT: func.func
func.func @shared(%a: memref<400x100xf32>, %b: memref<100x70xf32>, %c: memref<400x70xf32>, %d: memref<400x70xf32>) {
  linalg.matmul ins(%a, %b : memref<400x100xf32>, memref<100x70xf32>) outs(%c : memref<400x70xf32>)
  linalg.matmul ins(%a, %b : memref<400x100xf32>, memref<100x70xf32>) outs(%d : memref<400x70xf32>)
  return
}

// -----

// A panel of a transposed right operand, which one block of rows needs, is transposed to the stack by the function of
// its tiles: by squares of whole vectors, or of 8 with fewer terms. The batch is a loop around the call.
#a = affine_map<(b, m, n, k) -> (b, m, k)>
#b = affine_map<(b, m, n, k) -> (b, n, k)>
#c = affine_map<(b, m, n, k) -> (b, m, n)>
// CHECK-LABEL: func.func @batch
// CHECK-NOT: memref.alloc
// CHECK: scf.for
// CHECK: func.call @matmul_tiles_turned_f32_8x32
// CHECK: func.func private @matmul_tiles_turned_f32_8x32
// CHECK: memref.alloca() {alignment = 64 : i64} : memref<1x512x32xf32>
// CHECK: scf.if
// CHECK-COUNT-64: vector.shuffle {{.*}} : vector<16xf32>
// CHECK: else
// CHECK-COUNT-24: vector.shuffle {{.*}} : vector<8xf32>
// CHECK: vector.fma
func.func @batch(%a: memref<7x48x32xf32>, %b: memref<7x50x32xf32>, %c: memref<7x48x50xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%a, %b : memref<7x48x32xf32>, memref<7x50x32xf32>) outs(%c : memref<7x48x50xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %product = arith.mulf %x, %y : f32
    %sum = arith.addf %acc, %product : f32
    linalg.yield %sum : f32
  }
  return
}

// -----

// A batch of small matmuls: each term of each tile prefetches a piece of the next one's right operand and result, which
// are 4096 elements further on. The left operand is the same for all of them, and is in the cache.
#a = affine_map<(b, m, n, k) -> (m, k)>
#b = affine_map<(b, m, n, k) -> (b, k, n)>
#c = affine_map<(b, m, n, k) -> (b, m, n)>
// CHECK-LABEL: func.func @ahead
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %c9
// CHECK: %[[B:.*]] = arith.muli %[[I]], %c4096
// CHECK: %[[C:.*]] = arith.muli %[[I]], %c4096
// CHECK: arith.addi %{{.*}}, %c4096
// CHECK: arith.addi %{{.*}}, %c4096
// CHECK: scf.for
// CHECK: %[[A:.*]] = memref.reinterpret_cast %arg0 {{.*}} strides: [%c0{{.*}}] {{.*}} to memref<?xf32, strided<[?], offset: ?>>
// CHECK: %[[NEXT_B:.*]] = memref.reinterpret_cast %arg1 {{.*}} strides: [%c4{{.*}}] {{.*}} to memref<?xf32, strided<[?], offset: ?>>
// CHECK: %[[NEXT_C:.*]] = memref.reinterpret_cast %arg2 {{.*}} strides: [%c4{{.*}}] {{.*}} to memref<?xf32, strided<[?], offset: ?>>
// CHECK: call @matmul_tiles_ahead_f32_8x32({{.*}}, %[[A]], %[[NEXT_B]], %[[NEXT_C]])
// CHECK: func.func private @matmul_tiles_ahead_f32_8x32
// CHECK: scf.for %[[K:[a-z0-9]+]] = {{.*}} iter_args
// CHECK: %[[AT:.*]] = arith.addi %{{.*}}, %[[K]]
// CHECK: memref.prefetch %arg6[%[[AT]]], read
// CHECK: memref.prefetch %arg7[%[[AT]]], read
// CHECK: memref.prefetch %arg8[%[[AT]]], write
// CHECK: vector.fma
func.func @ahead(%a: memref<64x64xf32>, %b: memref<9x64x64xf32>, %c: memref<9x64x64xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%a, %b : memref<64x64xf32>, memref<9x64x64xf32>) outs(%c : memref<9x64x64xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %product = arith.mulf %x, %y : f32
    %sum = arith.addf %acc, %product : f32
    linalg.yield %sum : f32
  }
  return
}

// -----

// A result with unit stride along m: the operands change roles, so that it has it along n.
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (n, m)>
// CHECK-LABEL: func.func @transposed_result
// CHECK-SAME: %[[A:.*]]: memref<64x96xf64>, %[[B:.*]]: memref<96x32xf64>
// CHECK: %[[LEFT:.*]] = memref.reinterpret_cast %[[B]]
// CHECK: %[[PANEL:.*]] = memref.reinterpret_cast %[[A]]
// CHECK: call @matmul_tiles_turned_f64_8x16(%[[LEFT]], %[[PANEL]],
func.func @transposed_result(%a: memref<64x96xf64>, %b: memref<96x32xf64>, %c: memref<32x64xf64>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %b : memref<64x96xf64>, memref<96x32xf64>) outs(%c : memref<32x64xf64>) {
  ^bb0(%x: f64, %y: f64, %acc: f64):
    %product = arith.mulf %y, %x : f64
    %sum = arith.addf %product, %acc : f64
    linalg.yield %sum : f64
  }
  return
}

// -----

// A vector times a matrix: rows of the matrix are read in order, eight together. Threads share blocks of them, 16 of up
// to 128, each with separate sums, which are added up at the end as a matmul with ones.
// CHECK-LABEL: func.func @streamed
// CHECK-SAME: %[[A:[a-z0-9]+]]: memref<2001xf32>, %[[B:[a-z0-9]+]]: memref<2001x2500xf32>, %[[C:[a-z0-9]+]]: memref<2500xf32>
// CHECK-NOT: linalg
// CHECK: %[[PARTS:.*]] = memref.alloc() {{.*}} : memref<40016xf32>
// CHECK: scf.for %[[PART:.*]] = %{{.*}} to %c16
// CHECK: %[[TERM:.*]] = arith.muli %[[PART]], %[[STEP:.*]] : index
// CHECK: %[[FIRST:.*]] = arith.minsi %[[TERM]]
// CHECK: %[[REST:.*]] = arith.subi %{{.*}}, %[[FIRST]]
// CHECK: %[[TERMS:.*]] = arith.minsi %[[REST]], %[[STEP]]
// CHECK: %[[LEFT:.*]] = memref.reinterpret_cast %[[A]] to offset: {{.*}} sizes: [%{{.*}}, %[[TERMS]]]
// CHECK: %[[RIGHT:.*]] = memref.reinterpret_cast %[[B]] to offset: {{.*}} sizes: [%[[TERMS]], %{{.*}}]
// CHECK: %[[SUM:.*]] = memref.reinterpret_cast %[[PARTS]]
// CHECK: func.call @matmul_stream_f32_1x16(%[[LEFT]], %[[RIGHT]], %[[SUM]],
// CHECK: {array.parallel
// CHECK: %[[ONE:.*]] = arith.constant 1.0{{.*}} : f32
// CHECK: memref.store %[[ONE]], %[[PARTS]]
// CHECK: %[[ONES:.*]] = memref.reinterpret_cast %[[PARTS]] to offset: {{.*}}, strides: [%c0{{.*}}, %c0{{.*}}]
// CHECK: %[[ALL:.*]] = memref.reinterpret_cast %[[PARTS]]
// CHECK: %[[RESULT:.*]] = memref.reinterpret_cast %[[C]]
// CHECK: func.call @matmul_stream_f32_1x16(%[[ONES]], %[[ALL]], %[[RESULT]],
// CHECK: func.func private @matmul_stream_f32_1x16({{.*}}, %[[ISFAR:[a-z0-9]+]]: i1)
// The sums are kept half a page from the rows of the matrix. They start at zero, unless they are added to.
// CHECK: %[[SUMS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<1x7696xf32>
// CHECK: %[[OWN:.*]] = memref.extract_aligned_pointer_as_index %[[SUMS]]
// CHECK: %[[HALF:.*]] = arith.constant 2048 : index
// CHECK: %[[APART:.*]] = arith.addi %{{.*}}, %[[HALF]] : index
// CHECK: arith.subi %[[APART]], %[[OWN]]
// CHECK: scf.for
// CHECK: %[[MASK:.*]] = arith.andi %{{.*}} : vector<16xi1>
// CHECK: vector.maskedload %{{.*}}, %[[MASK]],
// CHECK: vector.store %{{.*}}, %[[SUMS]]
// For a matrix that exceeds all caches, the next rows are prefetched to the second one.
// CHECK: %[[FAR:.*]] = arith.select %[[ISFAR]], %{{.*}}, %[[NONE:.*]] : index
// CHECK: scf.for %{{.*}} = %[[NONE]] to %[[FAR]] step %c8
// CHECK-COUNT-8: memref.load
// CHECK: scf.for
// CHECK-COUNT-8: memref.prefetch {{.*}}, read, locality<2>
// CHECK: scf.for %{{.*}} = %[[FAR]] to %{{.*}} step %c8
// CHECK-COUNT-8: memref.load
// No masks but for the last vector; before the end of the rows the next ones are announced, and the pages within them.
// CHECK: scf.for
// CHECK-COUNT-9: vector.load
// CHECK-NOT: masked
// CHECK: vector.store
// CHECK-COUNT-32: memref.prefetch
// CHECK: scf.for
// CHECK-COUNT-9: vector.load
// CHECK-NOT: masked
// CHECK: vector.store
// CHECK: scf.for
// CHECK: vector.load %[[SUMS]]
// CHECK-COUNT-8: vector.maskedload
// CHECK: vector.store
// The rows that are left, one at a time.
// CHECK: scf.for
// CHECK-COUNT-2: vector.load
// CHECK: vector.load %[[SUMS]]
// CHECK: vector.maskedload
// CHECK-NOT: vector.maskedload
// CHECK: vector.load %[[SUMS]]
// CHECK-NEXT: vector.maskedstore
// CHECK: return
#v = affine_map<(n, k) -> (k)>
#m = affine_map<(n, k) -> (k, n)>
#r = affine_map<(n, k) -> (n)>
func.func @streamed(%a: memref<2001xf32>, %b: memref<2001x2500xf32>, %c: memref<2500xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<2500xf32>)
  linalg.generic {indexing_maps = [#v, #m, #r], iterator_types = ["parallel", "reduction"]}
    ins(%a, %b : memref<2001xf32>, memref<2001x2500xf32>) outs(%c : memref<2500xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %product = arith.mulf %x, %y : f32
    %sum = arith.addf %acc, %product : f32
    linalg.yield %sum : f32
  }
  return
}

// -----

// Rows that are longer than sums in the first cache: two blocks of columns, the second of which begins with a page and
// has the rest. A matrix of less than two blocks of half a MiB is not divided along its depth.
// CHECK-LABEL: func.func @streamed_columns
// CHECK-SAME: %[[B:[a-z0-9]+]]: memref<20x9001xf32>
// CHECK-NOT: memref.alloc
// CHECK: memref.extract_aligned_pointer_as_index %[[B]]
// CHECK: %[[SHIFT:.*]] = arith.select
// CHECK: %[[COUNT:.*]] = arith.maxsi
// CHECK: scf.for %[[NUMBER:.*]] = %{{.*}} to %
// CHECK: %[[BLOCK:.*]] = arith.remui %[[NUMBER]], %[[COUNT]]
// CHECK: %[[BEGIN:.*]] = arith.addi %{{.*}}, %[[SHIFT]] : index
// CHECK: %[[FIRST:.*]] = arith.select %{{.*}}, %{{.*}}, %[[BEGIN]] : index
// CHECK: %[[LAST:.*]] = arith.select
// CHECK: arith.subi %[[LAST]], %[[FIRST]]
// CHECK: func.call @matmul_stream_f32_1x16(
// CHECK-NOT: call
// CHECK: return
#v = affine_map<(n, k) -> (k)>
#m = affine_map<(n, k) -> (k, n)>
#r = affine_map<(n, k) -> (n)>
func.func @streamed_columns(%a: memref<20xf32>, %b: memref<20x9001xf32>, %c: memref<9001xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<9001xf32>)
  linalg.generic {indexing_maps = [#v, #m, #r], iterator_types = ["parallel", "reduction"]}
    ins(%a, %b : memref<20xf32>, memref<20x9001xf32>) outs(%c : memref<9001xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %term = arith.mulf %x, %y : f32
    %next = arith.addf %out, %term : f32
    linalg.yield %next : f32
  }
  return
}

// -----

// Six rows: streamed if the matrix exceeds the cache, else in a tile of as many.
// CHECK-LABEL: func.func @few_rows
// CHECK: call @matmul_tiles_f32_6x64(
// CHECK: call @matmul_stream_f32_6x16(
func.func @few_rows(%a: memref<6x64xf32>, %b: memref<64x64xf32>, %c: memref<6x64xf32>,
                    %d: memref<6x1024xf32>, %e: memref<1024x512xf32>, %f: memref<6x512xf32>) {
  linalg.matmul ins(%a, %b : memref<6x64xf32>, memref<64x64xf32>) outs(%c : memref<6x64xf32>)
  linalg.matmul ins(%d, %e : memref<6x1024xf32>, memref<1024x512xf32>) outs(%f : memref<6x512xf32>)
  return
}

// -----

// Three columns: the loops take vectors along k of both factors, for which the narrow one is transposed.
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
// CHECK-DAG: #[[$TURNED:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-LABEL: func.func @narrow
// CHECK: %[[BUFFER:.*]] = memref.alloc() {{.*}} : memref<3x900xf32>
// CHECK: linalg.transpose ins({{.*}}) outs(%[[BUFFER]]
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #[[$TURNED]], #
// CHECK-SAME: ins(%{{.*}}, %[[BUFFER]]
func.func @narrow(%a: memref<100x900xf32>, %b: memref<900x3xf32>, %c: memref<100x3xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %b : memref<100x900xf32>, memref<900x3xf32>) outs(%c : memref<100x3xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %product = arith.mulf %x, %y : f32
    %sum = arith.addf %acc, %product : f32
    linalg.yield %sum : f32
  }
  return
}

// -----

// A matrix whose rows are contiguous times a vector, a tiny matmul, a matmul of integers: lowered to loops.
// CHECK-LABEL: func.func @left_alone
// CHECK-COUNT-3: linalg.
// CHECK-NOT: matmul_
func.func @left_alone(%a: memref<128x128xf32>, %x: memref<128xf32>, %y: memref<128xf32>, %s: memref<8x8xf32>,
                      %t: memref<8x8xf32>, %i: memref<64x64xi32>, %j: memref<64x64xi32>) {
  linalg.matvec ins(%a, %x : memref<128x128xf32>, memref<128xf32>) outs(%y : memref<128xf32>)
  linalg.matmul ins(%s, %s : memref<8x8xf32>, memref<8x8xf32>) outs(%t : memref<8x8xf32>)
  linalg.matmul ins(%i, %i : memref<64x64xi32>, memref<64x64xi32>) outs(%j : memref<64x64xi32>)
  return
}

// -----

// Another op reads the fill first: it stays, and the matmul adds to it.
// CHECK-LABEL: func.func @fill_is_used
// CHECK: linalg.fill
// CHECK: memref.copy
// CHECK: arith.constant true
func.func @fill_is_used(%a: memref<64x64xf32>, %b: memref<64x64xf32>, %c: memref<64x64xf32>, %d: memref<64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<64x64xf32>)
  memref.copy %c, %d : memref<64x64xf32> to memref<64x64xf32>
  linalg.matmul ins(%a, %b : memref<64x64xf32>, memref<64x64xf32>) outs(%c : memref<64x64xf32>)
  return
}

// -----

// Both fills come first: the matmuls before c's do not touch it, so its fill is erased too.
// CHECK-LABEL: func.func @fills_first
// CHECK-NOT: linalg.fill
// CHECK-NOT: arith.constant true
// CHECK: return
func.func @fills_first(%a: memref<64x64xf32>, %b: memref<64x64xf32>, %c: memref<64x64xf32>, %d: memref<64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<64x64xf32>)
  linalg.fill ins(%zero : f32) outs(%d : memref<64x64xf32>)
  linalg.matmul ins(%a, %b : memref<64x64xf32>, memref<64x64xf32>) outs(%d : memref<64x64xf32>)
  linalg.matmul ins(%a, %b : memref<64x64xf32>, memref<64x64xf32>) outs(%c : memref<64x64xf32>)
  return
}

// -----

// The epilogue is computed in the result's memory, each block of rows after its last block of depth; the temporary is
// erased.
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
// CHECK-LABEL: func.func @epilogue
// CHECK-SAME: %[[BIAS:[a-z0-9]+]]: memref<200xf32>, %[[RESULT:[a-z0-9]+]]: memref<300x200xf32>
// CHECK-NOT: memref.alloc() {{.*}} : memref<300x200xf32>
// CHECK-NOT: linalg.fill
// CHECK: scf.for %[[DEPTH:.*]] =
// CHECK: scf.for %[[ROW:.*]] =
// CHECK: func.call @matmul_tiles
// CHECK: arith.cmpi eq
// CHECK: scf.if
// CHECK-DAG: memref.subview %[[BIAS]][0] [200] [1]
// CHECK-DAG: memref.subview %[[RESULT]][%[[ROW]], 0]
// CHECK: linalg.generic
// CHECK: return
func.func @epilogue(%a: memref<300x900xf32>, %b: memref<900x200xf32>, %bias: memref<200xf32>, %r: memref<300x200xf32>) {
  %zero = arith.constant 0.0 : f32
  %c = memref.alloc() : memref<300x200xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<300x200xf32>)
  linalg.matmul ins(%a, %b : memref<300x900xf32>, memref<900x200xf32>) outs(%c : memref<300x200xf32>)
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
    ins(%c, %bias : memref<300x200xf32>, memref<200xf32>) outs(%r : memref<300x200xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %scaled = arith.mulf %x, %y : f32
    linalg.yield %scaled : f32
  }
  return
}

// -----

// A bias and a maximum with zero run in the tiles, before they store: the first block of depth starts with the bias,
// the other one adds to its sums, and rectifies because it is the last.
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
// CHECK-LABEL: func.func @bias_and_relu
// CHECK-SAME: %[[BIAS:[a-z0-9]+]]: memref<200xf32>, %[[RESULT:[a-z0-9]+]]: memref<300x200xf32>
// CHECK-NOT: memref.alloc() {{.*}} : memref<300x200xf32>
// CHECK-NOT: linalg
// CHECK: scf.for %[[DEPTH:.*]] =
// CHECK: %[[LATER:.*]] = arith.cmpi sgt, %[[DEPTH]]
// CHECK: %[[LAST:.*]] = arith.cmpi eq
// CHECK: %[[SUMS:.*]] = memref.reinterpret_cast %[[RESULT]]
// CHECK: scf.if %[[LATER]]
// CHECK: func.call @matmul_tiles{{.*}}, %[[SUMS]], %[[SUMS]], %{{[a-z_0-9]*}}, %[[LAST]])
// CHECK: else
// CHECK: %[[ROW:.*]] = memref.reinterpret_cast %[[BIAS]]
// CHECK: func.call @matmul_tiles{{.*}}, %[[SUMS]], %[[ROW]], %{{[a-z_0-9]*}}, %[[LAST]])
// CHECK-NOT: linalg
// CHECK: return
func.func @bias_and_relu(%a: memref<300x900xf32>, %b: memref<900x200xf32>, %bias: memref<200xf32>, %r: memref<300x200xf32>) {
  %zero = arith.constant 0.0 : f32
  %c = memref.alloc() : memref<300x200xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<300x200xf32>)
  linalg.matmul ins(%a, %b : memref<300x900xf32>, memref<900x200xf32>) outs(%c : memref<300x200xf32>)
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
    ins(%c, %bias : memref<300x200xf32>, memref<200xf32>) outs(%r : memref<300x200xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %sum = arith.addf %y, %x : f32
    %rectified = arith.maximumf %zero, %sum : f32
    linalg.yield %rectified : f32
  }
  return
}

// -----

// A residual of a batch, and a choice that is a maximum: NaN stays. The other choice makes 0 of NaN, and is no maximum.
#left = affine_map<(b, i, j, k) -> (b, i, k)>
#right = affine_map<(b, i, j, k) -> (b, k, j)>
#sum = affine_map<(b, i, j, k) -> (b, i, j)>
#id = affine_map<(b, i, j) -> (b, i, j)>
// CHECK-LABEL: func.func @residuals
// CHECK-NOT: linalg
// CHECK: %[[PART:.*]] = memref.reinterpret_cast %arg2 to {{.*}} memref<?x?xf32, strided<[?, 1], offset: ?>>
// CHECK: call @matmul_tiles_ahead_f32_8x32({{.*}}, %[[PART]], %{{[a-z_0-9]*}}, %{{[a-z_0-9]*}}, %{{[a-z_0-9]*}}, %{{[a-z_0-9]*}}, %{{[a-z_0-9]*}})
// CHECK: call @matmul_tiles
// CHECK: linalg.generic
// CHECK: return
func.func @residuals(%a: memref<7x64x64xf32>, %b: memref<7x64x64xf32>, %residual: memref<7x64x64xf32>,
                     %first: memref<7x64x64xf32>, %second: memref<7x64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %c = memref.alloc() : memref<7x64x64xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<7x64x64xf32>)
  linalg.generic {indexing_maps = [#left, #right, #sum], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%a, %b : memref<7x64x64xf32>, memref<7x64x64xf32>) outs(%c : memref<7x64x64xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %term = arith.mulf %x, %y : f32
    %next = arith.addf %out, %term : f32
    linalg.yield %next : f32
  }
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%c, %residual : memref<7x64x64xf32>, memref<7x64x64xf32>) outs(%first : memref<7x64x64xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %sum = arith.addf %x, %y : f32
    %below = arith.cmpf ole, %sum, %zero : f32
    %chosen = arith.select %below, %zero, %sum : f32
    linalg.yield %chosen : f32
  }
  %d = memref.alloc() : memref<7x64x64xf32>
  linalg.fill ins(%zero : f32) outs(%d : memref<7x64x64xf32>)
  linalg.generic {indexing_maps = [#left, #right, #sum], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%a, %b : memref<7x64x64xf32>, memref<7x64x64xf32>) outs(%d : memref<7x64x64xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %term = arith.mulf %x, %y : f32
    %next = arith.addf %out, %term : f32
    linalg.yield %next : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%d : memref<7x64x64xf32>) outs(%second : memref<7x64x64xf32>) {
  ^bb0(%x: f32, %out: f32):
    %above = arith.cmpf ogt, %x, %zero : f32
    %chosen = arith.select %above, %x, %zero : f32
    linalg.yield %chosen : f32
  }
  return
}

// -----

// The epilogue reads the result's memory (a residual that is changed in place): the sums have separate memory.
#id = affine_map<(i, j) -> (i, j)>
// CHECK-LABEL: func.func @residual_in_place
// CHECK: memref.alloc() : memref<300x200xf32>
// CHECK-NOT: scf.if
// CHECK: linalg.generic
func.func @residual_in_place(%a: memref<300x90xf32>, %b: memref<90x200xf32>, %r: memref<300x200xf32>) {
  %zero = arith.constant 0.0 : f32
  %c = memref.alloc() : memref<300x200xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<300x200xf32>)
  linalg.matmul ins(%a, %b : memref<300x90xf32>, memref<90x200xf32>) outs(%c : memref<300x200xf32>)
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%c, %r : memref<300x200xf32>, memref<300x200xf32>) outs(%r : memref<300x200xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %sum = arith.addf %x, %y : f32
    linalg.yield %sum : f32
  }
  return
}

// -----

// Bytes with sums of 32 bits: both factors become pairs of 16 bits, and the matmul has half as many terms.
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: func.func @bytes
// CHECK-DAG: memref.alloc() {alignment = 64 : i64} : memref<3312xi32>
// CHECK-NOT: linalg.fill
// CHECK: call @matmul_dot2_left_s8_rows_32(
// CHECK: call @matmul_dot2_right_u8_rows_32(
// CHECK: call @matmul_tiles_dot2_8x32(
// CHECK: func.func private @matmul_tiles_dot2_8x32
// CHECK-COUNT-16: llvm.call_intrinsic "llvm.x86.avx512.pmaddw.d.512"
// CHECK: func.func private @matmul_dot2_right_u8_rows_32
// CHECK-COUNT-4: arith.extui
// CHECK: func.func private @matmul_dot2_left_s8_rows_32
// CHECK: arith.extsi {{.*}} : vector<32xi8> to vector<32xi16>
// CHECK: vector.bitcast {{.*}} : vector<32xi16> to vector<16xi32>
// AVX2-LABEL: func.func @bytes
// AVX2-COUNT-12: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"
func.func @bytes(%a: memref<66x99xi8>, %b: memref<99x64xi8>, %c: memref<66x64xi32>) {
  %zero = arith.constant 0 : i32
  linalg.fill ins(%zero : i32) outs(%c : memref<66x64xi32>)
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %b : memref<66x99xi8>, memref<99x64xi8>) outs(%c : memref<66x64xi32>) {
  ^bb0(%x: i8, %y: i8, %acc: i32):
    %wide = arith.extsi %x : i8 to i32
    %other = arith.extui %y : i8 to i32
    %product = arith.muli %wide, %other : i32
    %sum = arith.addi %acc, %product : i32
    linalg.yield %sum : i32
  }
  return
}

// -----

// A slice at an index is an operand with an offset.
// CHECK-LABEL: func.func @slice_at_index
// CHECK: scf.for
// CHECK: memref.extract_strided_metadata
// CHECK: call @matmul_tiles
// CHECK-NOT: linalg.matmul
func.func @slice_at_index(%xs: memref<10x64x64xf32>, %b: memref<64x64xf32>, %c: memref<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  scf.for %i = %c0 to %c10 step %c1 {
    %a = memref.subview %xs[%i, 0, 0] [1, 64, 64] [1, 1, 1]
        : memref<10x64x64xf32> to memref<64x64xf32, strided<[64, 1], offset: ?>>
    linalg.matmul ins(%a, %b : memref<64x64xf32, strided<[64, 1], offset: ?>>, memref<64x64xf32>) outs(%c : memref<64x64xf32>)
  }
  return
}

// -----

// The result is stored in the order in which a copy would have put it: rows of one head are a step of all heads apart.
// CHECK-LABEL: func.func @permuted_result
// CHECK-SAME: %[[D:[a-z0-9]+]]: memref<2x64x4x32xf32>)
// CHECK-NOT: memref.alloc
// CHECK: %[[STEP:.*]] = arith.constant 128 : index
// CHECK: memref.reinterpret_cast %[[D]] {{.*}} strides: [%{{.*}}, 1]
// CHECK: call @matmul_tiles_ahead_f32_8x32
// CHECK-NOT: linalg.generic
func.func @permuted_result(%a: memref<2x4x64x64xf32>, %b: memref<2x4x64x32xf32>, %d: memref<2x64x4x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %c = memref.alloc() : memref<2x4x64x32xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<2x4x64x32xf32>)
  linalg.generic {indexing_maps = [affine_map<(b, h, i, j, k) -> (b, h, i, k)>, affine_map<(b, h, i, j, k) -> (b, h, k, j)>,
                                   affine_map<(b, h, i, j, k) -> (b, h, i, j)>],
                  iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<2x4x64x64xf32>, memref<2x4x64x32xf32>) outs(%c : memref<2x4x64x32xf32>) {
  ^bb0(%lhs: f32, %rhs: f32, %acc: f32):
    %0 = arith.mulf %lhs, %rhs : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [affine_map<(b, i, h, j) -> (b, h, i, j)>, affine_map<(b, i, h, j) -> (b, i, h, j)>],
                  iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c : memref<2x4x64x32xf32>) outs(%d : memref<2x64x4x32xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  return
}

// -----

// Not if it would leave small matmuls: rows would be those of one image.
// CHECK-LABEL: func.func @kept_in_order
// CHECK: memref.alloc
// CHECK: call @matmul_tiles_f32_8x32
// CHECK: linalg.generic
func.func @kept_in_order(%a: memref<64x4x64xf32>, %b: memref<64x32xf32>, %d: memref<4x64x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %c = memref.alloc() : memref<64x4x32xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<64x4x32xf32>)
  linalg.generic {indexing_maps = [affine_map<(b, i, j, k) -> (b, i, k)>, affine_map<(b, i, j, k) -> (k, j)>,
                                   affine_map<(b, i, j, k) -> (b, i, j)>],
                  iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<64x4x64xf32>, memref<64x32xf32>) outs(%c : memref<64x4x32xf32>) {
  ^bb0(%lhs: f32, %rhs: f32, %acc: f32):
    %0 = arith.mulf %lhs, %rhs : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  }
  linalg.generic {indexing_maps = [affine_map<(i, b, j) -> (b, i, j)>, affine_map<(i, b, j) -> (i, b, j)>],
                  iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%c : memref<64x4x32xf32>) outs(%d : memref<4x64x32xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  return
}

// -----

// A shallow matmul is bound by stores: six rows of c a page apart fit into the first cache.
// CHECK-LABEL: func.func @shallow
// CHECK: %[[ROWS:.*]] = arith.constant 6 : index
// CHECK: scf.for {{.*}} step %[[ROWS]]
// CHECK: scf.for
// CHECK: call @matmul_tiles_f32_6x64
func.func @shallow(%a: memref<1024x8xf32>, %b: memref<8x1024xf32>, %c: memref<1024x1024xf32>) {
  linalg.matmul ins(%a, %b : memref<1024x8xf32>, memref<8x1024xf32>) outs(%c : memref<1024x1024xf32>)
  return
}

// -----

// With few rows, the first tile that reads a panel which cannot be read in place copies it, and prefetches the next
// rows, which are far apart. Six rows fill three tiles; eight would leave a third of them empty.
// CHECK-LABEL: func.func @once
// CHECK-NOT: memref.alloc
// CHECK: memref.reinterpret_cast %{{.*}} strides: [%{{.*}}, 1] : memref<900x2048xf32>
// CHECK: call @matmul_tiles_once_f32_6x64
// CHECK: func.func private @matmul_tiles_once_f32_6x64(%{{[a-z0-9]+}}: memref<?x?xf32, strided<[?, ?], offset: ?>>, %[[PANEL:[a-z0-9]+]]: memref<?x?xf32, strided<[?, 1]
// CHECK: %[[COPY:.*]] = memref.alloca() {alignment = 64 : i64} : memref<512x64xf32>
// CHECK: scf.for
// CHECK: memref.prefetch %[[PANEL]]
// CHECK: vector.maskedload %[[PANEL]]
// CHECK: vector.store {{.*}}, %[[COPY]]
// CHECK: scf.for
// CHECK: scf.for
// CHECK: vector.load %[[COPY]]
func.func @once(%a: memref<17x900xf32>, %b: memref<900x2048xf32>, %c: memref<17x2048xf32>) {
  linalg.matmul ins(%a, %b : memref<17x900xf32>, memref<900x2048xf32>) outs(%c : memref<17x2048xf32>)
  return
}

// -----

// If the target has the instruction, pairs of bf16 are multiplied directly; pairs are in buffers of f32. For a batch
// that threads share, each block has a buffer for either factor.
#a = affine_map<(b, m, n, k) -> (b, m, k)>
#b = affine_map<(b, m, n, k) -> (b, k, n)>
#c = affine_map<(b, m, n, k) -> (b, m, n)>
// CHECK-LABEL: func.func @bfloat16
// CHECK: linalg.generic
// PAIRS-LABEL: func.func @bfloat16
// PAIRS-DAG: memref.alloc() {alignment = 64 : i64} : memref<52992xf32>
// PAIRS-DAG: memref.alloc() {alignment = 64 : i64} : memref<51200xf32>
// PAIRS: call @matmul_dot2_left_bf16_rows_32(
// PAIRS: call @matmul_dot2_right_bf16_rows_32(
// PAIRS: call @matmul_tiles_bf16_8x32(
// PAIRS: func.func private @matmul_tiles_bf16_8x32
// PAIRS-COUNT-16: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"({{.*}}) : (vector<16xf32>, vector<32xbf16>, vector<32xbf16>) -> vector<16xf32>
func.func @bfloat16(%a: memref<16x66x99xbf16>, %b: memref<16x99x64xbf16>, %c: memref<16x66x64xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<16x66x64xf32>)
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%a, %b : memref<16x66x99xbf16>, memref<16x99x64xbf16>) outs(%c : memref<16x66x64xf32>) {
  ^bb0(%x: bf16, %y: bf16, %acc: f32):
    %left = arith.extf %x : bf16 to f32
    %right = arith.extf %y : bf16 to f32
    %product = arith.mulf %left, %right : f32
    %sum = arith.addf %acc, %product : f32
    linalg.yield %sum : f32
  }
  return
}

// -----

// A left operand whose columns have unit stride is packed for the tiles, block by block; they then read it term by
// term: a buffer for each block of rows that threads share.
#a = affine_map<(m, n, k) -> (k, m)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: func.func @packed_left
// CHECK-SAME: %[[A:.*]]: memref<100x130xf32>
// CHECK: %[[BUFFER:.*]] = memref.alloc() {alignment = 64 : i64} : memref<13200xf32>
// CHECK: %[[PANELS:.*]] = memref.reinterpret_cast %[[BUFFER]] {{.*}} : memref<13200xf32> to memref<?x?x6xf32, strided<[?, 6, 1], offset: ?>>
// CHECK: %[[BLOCK:.*]] = memref.reinterpret_cast %[[A]]
// CHECK: call @matmul_pack_rows_f32_6x6(%[[BLOCK]], %[[PANELS]])
// CHECK: call @matmul_tiles_packed_f32_6x64(%[[PANELS]],
// CHECK: func.func private @matmul_tiles_packed_f32_6x64(%[[LEFT:[a-z0-9]+]]: memref<?x?x6xf32
// CHECK: scf.for
// CHECK: scf.for %[[K:.*]] = {{.*}} iter_args
// CHECK: memref.load %[[LEFT]][%{{.*}}, %[[K]], %{{.*}}]
// A few terms of all panels, then the next ones.
// CHECK: func.func private @matmul_pack_rows_f32_6x6
// CHECK: %[[DEPTHS:.*]] = arith.constant 32 : index
// CHECK: scf.for {{.*}} step %[[DEPTHS]]
// CHECK: scf.for
// CHECK: scf.for
// CHECK: vector.store {{.*}} vector<6xf32>
func.func @packed_left(%a: memref<100x130xf32>, %b: memref<100x128xf32>, %c: memref<130x128xf32>) {
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %b : memref<100x130xf32>, memref<100x128xf32>) outs(%c : memref<130x128xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %product = arith.mulf %x, %y : f32
    %sum = arith.addf %acc, %product : f32
    linalg.yield %sum : f32
  }
  return
}
