// The schedules that the cost model chooses, and loops by a schedule that a person wrote.
// RUN: array-opt %s --array-schedule-loops --split-input-file | FileCheck %s
// RUN: array-opt %s --array-vectorize-linalg --split-input-file | FileCheck %s --check-prefix=LOOPS

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>

// Dense dimensions are one loop.
// CHECK-LABEL: func @dense
// CHECK:         array.schedule = {lanes = 32 : i64, loops = ["d0.d1: 16384"], vector = 0 : i64}
func.func @dense(%a: memref<128x128xf32>, %out: memref<128x128xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<128x128xf32>) outs(%out : memref<128x128xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %x : f32
    linalg.yield %s : f32
  }
  return
}

// Sums of columns: rows are read in turns, four of them for each vector of sums.
// CHECK-LABEL: func @columns
// CHECK:         array.schedule = {lanes = 64 : i64, loops = ["d1: 256", "d0: 100 reduced"], tile = 1 : i64, tile_size = 4 : i64, vector = 0 : i64}
func.func @columns(%a: memref<100x256xf32>, %out: memref<256xf32>) {
  linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]}
      ins(%a : memref<100x256xf32>) outs(%out : memref<256xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %o fastmath<reassoc> : f32
    linalg.yield %s : f32
  }
  return
}

// A transpose: squares in registers.
// CHECK-LABEL: func @transpose
// CHECK:         array.schedule = {{{.*}}loops = ["d0: 64", "d1: 64"]{{.*}}tile = 0 : i64
func.func @transpose(%a: memref<64x64xf32>, %out: memref<64x64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<64x64xf32>) outs(%out : memref<64x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// A schedule by hand stays, and decides about the loops: eight lanes, two rows at once.
// CHECK-LABEL: func @by_hand
// CHECK:         array.schedule = {jam = 0 : i64, jam_size = 2 : i64, lanes = 8 : i64, loops = ["d0: 10", "d1: 64 reduced"], vector = 1 : i64}
// LOOPS-LABEL: func @by_hand
// LOOPS-DAG:     %[[TWO:.*]] = arith.constant 2 : index
// LOOPS:         scf.for {{.*}} step %[[TWO]]
// LOOPS:           iter_args(%{{.*}}, %{{.*}}) -> (vector<8xf32>, vector<8xf32>)
func.func @by_hand(%a: memref<10x64xf32>, %b: memref<64xf32>, %out: memref<10xf32>) {
  linalg.generic {indexing_maps = [#id, affine_map<(d0, d1) -> (d1)>, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a, %b : memref<10x64xf32>, memref<64xf32>) outs(%out : memref<10xf32>)
      attrs = {array.schedule = {vector = 1, lanes = 8, jam = 0, jam_size = 2}} {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %p, %o fastmath<reassoc> : f32
    linalg.yield %s : f32
  }
  return
}

// Without vectors there are scalar loops.
// LOOPS-LABEL: func @scalar
// LOOPS-NOT:     vector
// LOOPS:         memref.store
// LOOPS:         return
func.func @scalar(%a: memref<8xf32>, %out: memref<8xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%a : memref<8xf32>) outs(%out : memref<8xf32>) attrs = {array.schedule = {}} {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %x : f32
    linalg.yield %s : f32
  }
  return
}
