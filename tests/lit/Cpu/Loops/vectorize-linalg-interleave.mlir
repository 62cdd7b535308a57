// array-vectorize-linalg on elements that are a few elements apart. Invariants: they are loaded with whole registers,
// never outside of the first and the last element, and shuffled into the vector; a store spreads the vector and masks
// the elements between, unless all of them are stored. Short dimensions between the elements of a vector have no loop,
// so that their loads share registers. Larger strides use gathers.
// RUN: array-opt %s --array-vectorize-linalg | FileCheck %s --implicit-check-not=linalg. --implicit-check-not=scf.if
// RUN: array-opt %s --array-schedule-loops --array-vectorize-linalg | FileCheck %s --implicit-check-not=linalg. --implicit-check-not=scf.if

#id = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func @second
// CHECK-DAG:     %[[LAST:.*]] = arith.constant dense<[true, true, true, true, true, true, true, true, true, true, true, true, true, true, true, false]>
// CHECK:         scf.for
// CHECK:           %[[A:.*]] = vector.load {{.*}} vector<16xf32>
// CHECK:           %[[B:.*]] = vector.load {{.*}} vector<16xf32>
// CHECK:           vector.shuffle %[[A]], %[[B]] [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30]
// CHECK:           vector.load {{.*}} vector<16xf32>
// CHECK:           vector.maskedload {{.*}} %[[LAST]]
// CHECK:           vector.shuffle
// CHECK:           vector.shuffle {{.*}} : vector<16xf32>, vector<16xf32>
// CHECK:           vector.store {{.*}} vector<32xf32>
func.func @second(%a: memref<256xf32, strided<[2]>>, %out: memref<256xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : memref<256xf32, strided<[2]>>) outs(%out : memref<256xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.mulf %x, %x : f32
    linalg.yield %y : f32
  }
  return
}

// CHECK-LABEL: func @stored
// CHECK-DAG:     %[[EVEN:.*]] = arith.constant dense<[true, false, true, false, true, false, true, false, true, false, true, false, true, false, true, false]>
// CHECK:         scf.for
// CHECK:           %[[X:.*]] = vector.load
// CHECK:           %[[S:.*]] = vector.shuffle %[[X]], %[[X]] [0, -1, 1, -1, 2, -1, 3, -1, 4, -1, 5, -1, 6, -1, 7, -1]
// CHECK:           vector.maskedstore {{.*}} %[[EVEN]], %[[S]]
// CHECK-COUNT-3:   vector.maskedstore
func.func @stored(%a: memref<256xf32>, %out: memref<256xf32, strided<[2]>>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : memref<256xf32>) outs(%out : memref<256xf32, strided<[2]>>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  return
}

// The three columns of 32 rows are stored as six registers: each is made of the same 16 rows of each column. No register is
// stored before all its elements are there.
// CHECK-LABEL: func @columns
// CHECK:         %[[FIRST:.*]] = arith.negf {{.*}} vector<32xf32>
// CHECK:         %[[SECOND:.*]] = arith.negf {{.*}} vector<32xf32>
// CHECK:         %[[THIRD:.*]] = arith.negf {{.*}} vector<32xf32>
// CHECK:         %[[A:.*]] = vector.shuffle %[[FIRST]], %[[FIRST]] [0, 1, {{.*}} 15]
// CHECK:         %[[B:.*]] = vector.shuffle %[[SECOND]], %[[SECOND]] [0, 1, {{.*}} 15]
// CHECK:         %[[C:.*]] = vector.shuffle %[[THIRD]], %[[THIRD]] [0, 1, {{.*}} 15]
// CHECK:         %[[AB:.*]] = vector.shuffle %[[A]], %[[B]] [0, 16, -1, 1, 17, -1, 2, 18, -1, 3, 19, -1, 4, 20, -1, 5]
// CHECK:         %[[ABC:.*]] = vector.shuffle %[[AB]], %[[C]] [0, 1, 16, 3, 4, 17, 6, 7, 18, 9, 10, 19, 12, 13, 20, 15]
// CHECK:         vector.store %[[ABC]]
// CHECK-NOT:     vector.maskedstore
// CHECK:         return
func.func @columns(%a: memref<3x32xf32>, %out: memref<32x3xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<3x32xf32>) outs(%out : memref<32x3xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.negf %x : f32
    linalg.yield %y : f32
  }
  return
}

// CHECK-LABEL: func @short
// CHECK:         scf.for
// CHECK-NOT:       scf.for
// CHECK:           vector.store
func.func @short(%a: memref<512x3xf32>, %out: memref<512xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<512x3xf32>) outs(%out : memref<512xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %o fastmath<reassoc> : f32
    linalg.yield %s : f32
  }
  return
}

// The rest of a dimension that is no multiple of the vector is known, and needs no gather.
// CHECK-LABEL: func @rest
// CHECK-NOT:     vector.gather
// CHECK:         return
func.func @rest(%a: memref<77xf32, strided<[3]>>, %out: memref<77xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : memref<77xf32, strided<[3]>>) outs(%out : memref<77xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  return
}

// CHECK-LABEL: func @far
// CHECK:         vector.gather
func.func @far(%a: memref<256xf32, strided<[100]>>, %out: memref<256xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : memref<256xf32, strided<[100]>>) outs(%out : memref<256xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  return
}

// The unrolled steps have a loop each, and the numbers of the lanes are computed inside of each.
// CHECK-LABEL: func @diagonals
// CHECK-COUNT-3: arith.cmpi eq, {{.*}} : vector<4xi32>
// CHECK-NOT:     arith.cmpi
// CHECK:         return
func.func @diagonals(%a: memref<4x4x3xi64>, %out: memref<4x3xi64>) {
  %zero = arith.constant 0 : i64
  linalg.fill ins(%zero : i64) outs(%out : memref<4x3xi64>)
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>],
                  iterator_types = ["reduction", "parallel", "parallel"]}
      ins(%a : memref<4x4x3xi64>) outs(%out : memref<4x3xi64>) {
  ^bb0(%x: i64, %o: i64):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %row = arith.index_cast %i : index to i32
    %column = arith.index_cast %j : index to i32
    %same = arith.cmpi eq, %row, %column : i32
    %y = arith.select %same, %x, %zero : i64
    %s = arith.addi %o, %y : i64
    linalg.yield %s : i64
  }
  return
}
