// RUN: array-opt %s --pass-pipeline='builtin.module(func.func(array-vectorize-linalg))' --split-input-file | FileCheck %s

// The vectors' loop of a large elementwise op is marked; the rest is done after it.
// CHECK-LABEL: func.func @large(
// CHECK:         scf.for
// CHECK:         } {array.parallel = {{[0-9]+}} : i64{{.*}}}
// CHECK:         vector.load {{.*}} vector<4xf32>
func.func @large(%x: memref<1000003xf32>, %r: memref<1000003xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : memref<1000003xf32>) outs(%r : memref<1000003xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// CHECK-LABEL: func.func @small(
// CHECK-NOT:     array.parallel
func.func @small(%x: memref<10003xf32>, %r: memref<10003xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : memref<10003xf32>) outs(%r : memref<10003xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// A large sum: blocks, whose sums go to a buffer that threads share, then their sum in order, in blocks of 16 and of 4
// as well.
// CHECK-LABEL: func.func @sum(
// CHECK-DAG:     %[[BLOCKS:.*]] = arith.constant 32 : index
// CHECK-DAG:     %[[SUMS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<32xf32>
// CHECK:         scf.for %[[I:.*]] = %{{.*}} to %[[BLOCKS]]
// CHECK:           memref.store %{{.*}}, %[[SUMS]][%[[I]]]
// CHECK:         } {array.parallel = {{[0-9]+}} : i64{{.*}}}
// CHECK:         %[[START:.*]] = memref.load
// CHECK:         %[[SUM:.*]] = scf.for %[[I:.*]] = %{{.*}} to %[[BLOCKS]] step %c16 iter_args(%[[ALL:.*]] = %[[START]])
// CHECK:           %[[LONG:.*]] = scf.for %[[J:.*]] = %[[I]] to %{{.*}} step %c4 iter_args(%[[TOTAL:.*]] = %{{.*}})
// CHECK:             %[[SHORT:.*]] = scf.for %[[K:.*]] = %[[J]] to %{{.*}} step %c1 iter_args(%[[ACC:.*]] = %{{.*}})
// CHECK:               %[[PART:.*]] = memref.load %[[SUMS]][%[[K]]]
// CHECK:               arith.addf %[[PART]], %[[ACC]]
// CHECK:             arith.addf %[[SHORT]], %[[TOTAL]]
// CHECK:           arith.addf %[[LONG]], %[[ALL]]
// CHECK:         memref.store %[[SUM]]
func.func @sum(%x: memref<1048576xf32>, %r: memref<f32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%x : memref<1048576xf32>) outs(%r : memref<f32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// A large reduction across rows is divided into blocks of rows, whose results go to a buffer that threads share: each
// block sets its row, and adds to it blocks of rows, which are read in the order of memory. The results begin half a
// page from the rows, in a buffer with an extra page.
// CHECK-LABEL: func.func @rows(
// CHECK-DAG:     %[[SUMS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<9216xf32>
// CHECK-DAG:     %[[ROWS:.*]] = memref.reinterpret_cast %arg0
// CHECK-DAG:     %[[TO:.*]] = memref.extract_aligned_pointer_as_index %[[SUMS]]
// CHECK-DAG:     %[[FROM:.*]] = memref.extract_aligned_pointer_as_index %[[ROWS]]
// CHECK:         %[[HALF:.*]] = arith.addi %[[FROM]], %c2048
// CHECK:         %[[DISTANCE:.*]] = arith.subi %[[HALF]], %[[TO]]
// CHECK:         %[[BYTES:.*]] = arith.andi %[[DISTANCE]], %c4032
// CHECK:         %[[START:.*]] = arith.divui %[[BYTES]], %c4
// CHECK:         scf.for %[[I:.*]] = %c0 to %c8
// CHECK:           %[[ROW:.*]] = arith.muli %[[I]], %c1024
// CHECK:           %[[AT:.*]] = arith.addi %[[START]], %[[ROW]]
// CHECK:           scf.for %[[J:.*]] =
// CHECK:             %[[PLACE:.*]] = arith.addi %[[AT]], %[[J]]
// CHECK:             vector.store %{{.*}}, %[[SUMS]][%[[PLACE]]]
// CHECK:           scf.for %{{.*}} = %c0 to %c128 step %c32
// CHECK:             scf.for %{{.*}} = %c0 to %c1024 step %c64
// CHECK:               vector.load %[[SUMS]]
// CHECK:               vector.store %{{.*}}, %[[SUMS]]
// CHECK:         } {array.parallel = {{[0-9]+}} : i64{{.*}}}
// CHECK:         scf.for
// CHECK:           %[[START:.*]] = vector.load %arg1
// CHECK:           %[[SUM:.*]] = scf.for %{{.*}} = %c0 to %c8 {{.*}} iter_args(%{{.*}} = %[[START]])
// CHECK:           vector.store %[[SUM]], %arg1
func.func @rows(%x: memref<1024x1024xf32>, %r: memref<1024xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>],
                  iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<1024x1024xf32>) outs(%r : memref<1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// Long rows are cut into blocks of columns.
// CHECK-LABEL: func.func @columns(
// CHECK:         scf.for %{{.*}} = %c0 to %c16 step %c1
// CHECK:           scf.for %{{.*}} = %c0 to %c64 step %c32
// CHECK:             scf.for %{{.*}} = %c0 to %c2048 step %c64
// CHECK:         } {array.parallel = {{[0-9]+}} : i64{{.*}}}
func.func @columns(%x: memref<64x32768xf32>, %r: memref<32768xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>],
                  iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<64x32768xf32>) outs(%r : memref<32768xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// The rows that a sum transposes are divided into blocks by bytes, not by rows.
// CHECK-LABEL: func.func @transposed(
// CHECK:         scf.for %{{.*}} = %c0 to %c8 step %c1
// CHECK:           scf.for %{{.*}} = %c0 to %c33 step %c32
// CHECK:             scf.for %{{.*}} = %c0 to %c960 step %c64
// CHECK:               linalg.transpose
// CHECK:         } {array.parallel = {{[0-9]+}} : i64{{.*}}}
func.func @transposed(%x: memref<7943x33xf32>, %r: memref<7943xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<7943x33xf32>) outs(%r : memref<7943xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o fastmath<reassoc> : f32
    linalg.yield %0 : f32
  }
  return
}
