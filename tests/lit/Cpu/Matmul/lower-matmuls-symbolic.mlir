// RUN: array-opt %s --split-input-file --array-lower-matmuls=vector-bits=512 | FileCheck %s
// RUN: array-opt %s --split-input-file --array-schedule-matmuls --array-lower-matmuls=vector-bits=512 | FileCheck %s

// Matmuls of symbolic sizes. Few rows are streamed, by the function for their number; more use tiles that leave little
// of the last one empty, which the call chooses. Nothing is allocated.
// CHECK-LABEL: func.func @rows
// CHECK-SAME: %[[A:[a-z0-9]+]]: memref<?x784xf32>
// CHECK-SAME: %[[B:[a-z0-9]+]]: memref<784x512xf32>
// CHECK: %[[M:.*]] = array.symbol 0
// CHECK-NOT: linalg
// CHECK-NOT: memref.alloc
// CHECK: %[[EIGHT:.*]] = arith.constant 8 : index
// CHECK: %[[FEW:.*]] = arith.cmpi sle, %[[M]], %[[EIGHT]]
// CHECK: scf.if %[[FEW]] {
// CHECK:   %[[ONE:.*]] = arith.constant 1 : index
// CHECK:   %[[NUMBER:.*]] = arith.subi %[[M]], %[[ONE]]
// CHECK:   memref.reinterpret_cast %[[A]] to offset: [{{.*}}], sizes: [%[[M]],
// CHECK:   scf.index_switch %[[NUMBER]]
// CHECK:   case 0 {
// CHECK:     func.call @matmul_stream_f32_1x16(
// CHECK:   case 6 {
// CHECK:     func.call @matmul_stream_f32_7x16(
// CHECK:   default {
// CHECK:     func.call @matmul_stream_f32_8x16(
// CHECK: } else {
// CHECK-COUNT-2: arith.select
// CHECK:   %[[TILES:.*]] = arith.select
// CHECK:   scf.for
// CHECK:     scf.index_switch %[[TILES]]
// CHECK-DAG: func.call @matmul_tiles_f32_6x64(
// CHECK-DAG: func.call @matmul_tiles_f32_5x64(
// CHECK-DAG: func.call @matmul_tiles_f32_4x64(
// CHECK: return
func.func @rows(%a: memref<?x784xf32> {array.dims = affine_map<()[m] -> (m, 784)>}, %b: memref<784x512xf32>,
                %c: memref<?x512xf32> {array.dims = affine_map<()[m] -> (m, 512)>})
    attributes {array.symbols = [{min = 1, max = 50, expected = 25}]} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<?x512xf32>)
  linalg.matmul ins(%a, %b : memref<?x784xf32>, memref<784x512xf32>) outs(%c : memref<?x512xf32>)
  return
}

// -----

// Few terms use the loops, as matmuls with a static number of terms. Panels of more terms are packed in a buffer for
// their maximum number.
#a = affine_map<(m, n, k) -> (k, m)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: func.func @terms
// CHECK-SAME: %[[A:[a-z0-9]+]]: memref<?x784xf32>
// CHECK-SAME: %[[B:[a-z0-9]+]]: memref<?x512xf32>
// CHECK-SAME: %[[C:[a-z0-9]+]]: memref<784x512xf32>
// CHECK: %[[K:.*]] = array.symbol 0
// CHECK: memref.alloc() {alignment = 64 : i64} : memref<25600xf32>
// CHECK: %[[FEW:.*]] = arith.cmpi slt, %[[K]]
// CHECK: scf.if %[[FEW]] {
// CHECK:   scf.index_switch %[[K]]
// CHECK:   case 1 {
// CHECK:   case 2 {
// CHECK:     %[[A2:.*]] = memref.subview %[[A]][0, 0] [2, 784] [1, 1]
// CHECK:     %[[B2:.*]] = memref.subview %[[B]][0, 0] [2, 512] [1, 1]
// CHECK:     linalg.fill {{.*}} outs(%[[C]]
// CHECK:     linalg.generic {{.*}} ins(%[[A2]], %[[B2]] {{.*}} outs(%[[C]]
// CHECK:   case 3 {
// CHECK:   default {
// CHECK-NEXT: }
// CHECK: } else {
// CHECK-NOT: linalg
// CHECK:   memref.reinterpret_cast %[[B]] to offset: [{{.*}}], sizes: [%[[K]], {{.*}}]
// CHECK:   func.call @matmul_pack_rows_f32_6x64(
// CHECK:   func.call @matmul_tiles_f32_6x64(
func.func @terms(%a: memref<?x784xf32> {array.dims = affine_map<()[k] -> (k, 784)>},
                 %b: memref<?x512xf32> {array.dims = affine_map<()[k] -> (k, 512)>}, %c: memref<784x512xf32>)
    attributes {array.symbols = [{min = 1, max = 50, expected = 25}]} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<784x512xf32>)
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %b : memref<?x784xf32>, memref<?x512xf32>) outs(%c : memref<784x512xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// Symbolic rows, columns and batch: strides are products of sizes, and a panel's columns end with the result's. With at
// least 16 of them, no call uses the loops.
#a = affine_map<(b, m, n, k) -> (b, m, k)>
#b = affine_map<(b, m, n, k) -> (b, n, k)>
#c = affine_map<(b, m, n, k) -> (b, m, n)>
// CHECK-LABEL: func.func @batch
// CHECK-SAME: %[[A:[a-z0-9]+]]: memref<?x?x32xf32>
// CHECK-DAG: %[[BATCH:.*]] = array.symbol 0
// CHECK-DAG: %[[T:.*]] = array.symbol 1
// CHECK-NOT: linalg
// CHECK: %[[PANELS:.*]] = memref.alloc() {alignment = 64 : i64} : memref<262144xf32>
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[BATCH]]
// CHECK: scf.for
// CHECK: %[[STEP:.*]] = arith.muli %[[T]], %{{.*}} : index
// CHECK: arith.muli %{{.*}}, %[[STEP]] : index
// CHECK: func.call @matmul_pack_columns_f32_6x64(
// CHECK: %[[COLUMNS:.*]] = arith.constant 64 : index
// CHECK: %[[REST:.*]] = arith.subi %[[T]],
// CHECK: arith.minsi %[[REST]],
// CHECK: func.call @matmul_tiles_f32_6x64(
// The rows of a panel, then the batch.
// CHECK: {array.parallel = 1 : i64{{.*}}}
// CHECK: {array.parallel = 1 : i64{{.*}}}
// CHECK-NEXT: return
func.func @batch(%a: memref<?x?x32xf32> {array.dims = affine_map<()[b, t] -> (b, t, 32)>},
                 %b: memref<?x?x32xf32> {array.dims = affine_map<()[b, t] -> (b, t, 32)>},
                 %c: memref<?x?x?xf32> {array.dims = affine_map<()[b, t] -> (b, t, t)>})
    attributes {array.symbols = [{min = 1}, {min = 16, max = 512, multiple_of = 8}]} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<?x?x?xf32>)
  linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
    ins(%a, %b : memref<?x?x32xf32>, memref<?x?x32xf32>) outs(%c : memref<?x?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// Without bounds the sizes may be zero: no matmul without rows, and the zeros stay if there may be no terms. The terms
// are divided into even blocks, each of which adds to the sums.
// CHECK-LABEL: func.func @unbounded
// CHECK-SAME: memref<?x64xf32> {{.*}}, %[[C:[a-z0-9]+]]: memref<?x64xf32>
// CHECK-DAG: %[[M:.*]] = array.symbol 0
// CHECK-DAG: %[[K:.*]] = array.symbol 1
// CHECK: linalg.fill {{.*}} outs(%[[C]]
// CHECK: %[[ADDS:.*]] = arith.constant true
// CHECK: scf.if
// CHECK: } else {
// CHECK: %[[SOME:.*]] = arith.cmpi sgt, %[[M]],
// CHECK: %[[MOST:.*]] = arith.constant 512 : index
// CHECK: %[[COUNT:.*]] = arith.divui %{{.*}}, %[[MOST]]
// CHECK: %[[BLOCKS:.*]] = arith.maxsi %[[COUNT]]
// CHECK: %[[EVEN:.*]] = arith.divui %{{.*}}, %[[BLOCKS]]
// CHECK: %[[STEP:.*]] = arith.maxsi %[[EVEN]]
// CHECK: scf.for %[[DEPTH:.*]] = %{{.*}} to %[[K]] step %[[STEP]]
// CHECK: %[[LEFT:.*]] = arith.subi %[[K]], %[[DEPTH]]
// CHECK: arith.minsi %[[LEFT]], %[[STEP]]
func.func @unbounded(%a: memref<?x?xf32> {array.dims = affine_map<()[m, k] -> (m, k)>},
                     %b: memref<?x64xf32> {array.dims = affine_map<()[m, k] -> (k, 64)>},
                     %c: memref<?x64xf32> {array.dims = affine_map<()[m, k] -> (m, 64)>}) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<?x64xf32>)
  linalg.matmul ins(%a, %b : memref<?x?xf32>, memref<?x64xf32>) outs(%c : memref<?x64xf32>)
  return
}

// -----

// A size that depends on more than the call's sizes is left to the loops.
// CHECK-LABEL: func.func @data
// CHECK: linalg.matmul
func.func @data(%n: memref<index>, %a: memref<64x64xf32>, %b: memref<64x64xf32>, %c: memref<64x64xf32>) {
  %size = memref.load %n[] : memref<index>
  %rows = memref.subview %a[0, 0] [%size, 64] [1, 1] : memref<64x64xf32> to memref<?x64xf32, strided<[64, 1]>>
  %sums = memref.subview %c[0, 0] [%size, 64] [1, 1] : memref<64x64xf32> to memref<?x64xf32, strided<[64, 1]>>
  linalg.matmul ins(%rows, %b : memref<?x64xf32, strided<[64, 1]>>, memref<64x64xf32>)
    outs(%sums : memref<?x64xf32, strided<[64, 1]>>)
  return
}
