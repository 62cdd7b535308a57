// array-vectorize-linalg on operands across the vectors.
// Invariants: an input that is contiguous along another dimension is transposed block by block to a tile on the stack (whole
// blocks by shuffles, others by a linalg.transpose that is left), and the body reads the tile; of a block at the end
// only the rows and columns that are there are transposed, so nothing is read outside; short dimensions are gathered.
// RUN: array-opt %s --array-vectorize-linalg | FileCheck %s --implicit-check-not=linalg.generic
// RUN: array-opt %s --array-schedule-loops --array-vectorize-linalg | FileCheck %s --implicit-check-not=linalg.generic
// RUN: array-opt %s --array-vectorize-linalg=vector-bits=256 | FileCheck %s --check-prefix=AVX2

#id = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>

// CHECK-LABEL: func @add
// CHECK-SAME:    (%[[A:.*]]: memref<64x32xf32>
// CHECK:         %[[TILE:.*]] = memref.alloca() {alignment = 64 : i64, array.private} : memref<1024xf32>
// CHECK:         %[[FLAT:.*]] = memref.reinterpret_cast %[[A]]
// CHECK:         scf.for {{.*}} to %c32 step %c32
// CHECK:           scf.for {{.*}} to %c64 step %c32
// CHECK:             scf.for {{.*}} to %c32 step %c16
// CHECK-NEXT:          scf.for {{.*}} to %c32 step %c16
// CHECK-COUNT-16:        vector.load %[[FLAT]]{{.*}} vector<16xf32>
// CHECK-NOT:             vector.load
// CHECK-COUNT-64:        vector.shuffle
// CHECK-NOT:             vector.shuffle
// CHECK-COUNT-16:        vector.store {{.*}}, %[[TILE]]
// CHECK:             scf.for {{.*}} to %c32 step %c1
// CHECK:               vector.load %[[TILE]]{{.*}} vector<32xf32>
// CHECK:               vector.load {{.*}} vector<32xf32>
// CHECK:               arith.addf
// CHECK:               vector.store
func.func @add(%a: memref<64x32xf32>, %b: memref<32x64xf32>, %out: memref<32x64xf32>) {
  linalg.generic {indexing_maps = [#turned, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : memref<64x32xf32>, memref<32x64xf32>) outs(%out : memref<32x64xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  }
  return
}

// 20 columns: the block has no more. 40 rows: the second step of the vectors has eight; every step is masked, so that there is
// one copy of the body.
// CHECK-LABEL: func @ends
// CHECK:         scf.for %[[U:.*]] = {{.*}} to %c20 step %c32
// CHECK:           scf.for %[[V:.*]] = {{.*}} to %c40 step %c32
// CHECK:             %[[MASK:.*]] = arith.cmpi slt, {{.*}} : vector<32xi32>
// CHECK:             %[[REST:.*]] = arith.subi %c40, %[[V]]
// CHECK:             %[[LAST:.*]] = arith.addi %[[REST]], %c-1
// CHECK:             %[[BEHIND:.*]] = arith.addi %[[LAST]], %c1
// CHECK:             %[[ROWS:.*]] = arith.minui %[[BEHIND]], %c32
// CHECK:             %[[COLUMNS:.*]] = arith.minui {{.*}}, %c32
// CHECK:             memref.reinterpret_cast {{.*}} sizes: [%[[ROWS]], %[[COLUMNS]]]
// CHECK:             linalg.transpose
// CHECK:             vector.maskedstore {{.*}} %[[MASK]], {{.*}} vector<32xi1>, vector<32xf32>
// CHECK-NOT:         vector.shuffle
// CHECK:         return
func.func @ends(%a: memref<40x20xf32>, %out: memref<20x40xf32>) {
  linalg.transpose ins(%a : memref<40x20xf32>) outs(%out : memref<20x40xf32>) permutation = [1, 0]
  return
}

// CHECK-LABEL: func @short
// CHECK-NOT:     memref.alloca
// CHECK:         scf.for
// CHECK-NOT:       scf.for
// CHECK:           vector.shuffle
func.func @short(%a: memref<64x3xf32>, %out: memref<3x64xf32>) {
  linalg.transpose ins(%a : memref<64x3xf32>) outs(%out : memref<3x64xf32>) permutation = [1, 0]
  return
}

// Blocks of four squares each way if rows and columns fill them, but at most four registers.
// AVX2-LABEL: func @large
// AVX2:         scf.for %{{.*}} step %c64
// AVX2:           scf.for %{{.*}} step %c32
// AVX2:             vector.load %{{.*}}, vector<32xf32>
// CHECK-LABEL: func @large
// CHECK-DAG:     %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG:     memref.alloca() {{.*}} : memref<4096xf32>
// CHECK:         scf.for %{{.*}} step %[[C64]]
// CHECK:           scf.for %{{.*}} step %[[C64]]
// CHECK:             vector.load %{{.*}}, vector<64xf32>
func.func @large(%x: memref<128x128xf32>, %y: memref<128x128xf32>, %out: memref<128x128xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>,
                                   affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : memref<128x128xf32>, memref<128x128xf32>) outs(%out : memref<128x128xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  }
  return
}
