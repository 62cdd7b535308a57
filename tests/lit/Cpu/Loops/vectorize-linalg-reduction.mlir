// array-vectorize-linalg on reductions.
// Invariants: accumulators are iter_args of the reduction loops, never memory; a reduction along the vectors starts at the neutral
// element, keeps dead lanes of the masked step by a select, joins its lanes once and meets the initial value at the end; a
// reduction across the vectors starts at the initial value.
// RUN: array-opt %s --array-vectorize-linalg | FileCheck %s --implicit-check-not=linalg.
// RUN: array-opt %s --array-schedule-loops --array-vectorize-linalg | FileCheck %s --implicit-check-not=linalg.

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>

// CHECK-LABEL: func @rows
// CHECK-DAG:     %[[MASK:.*]] = arith.constant dense<[{{(true, ){43}(false, ){20}false}}]> : vector<64xi1>
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant dense<0.0{{.*}}> : vector<64xf32>
// CHECK:         scf.for %[[I:.*]] =
// CHECK:           %[[ACC:.*]] = scf.for {{.*}} iter_args(%[[B:.*]] = %[[ZERO]]) -> (vector<64xf32>) {
// CHECK:             %[[BLOCK:.*]] = scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}) -> (vector<64xf32>) {
// CHECK:               %[[X:.*]] = vector.load
// CHECK:               %[[P:.*]] = arith.mulf %[[X]], %[[X]]
// CHECK:               %[[S:.*]] = arith.addf %[[P]], %[[A]] fastmath<reassoc>
// CHECK:               scf.yield %[[S]]
// CHECK:             %[[NEXT:.*]] = arith.addf %[[BLOCK]], %[[B]] : vector<64xf32>
// CHECK:             scf.yield %[[NEXT]]
// CHECK:           vector.maskedload {{.*}} %[[MASK]]
// CHECK:           %[[T:.*]] = arith.addf {{.*}}, %[[ACC]]
// CHECK:           %[[LANES:.*]] = arith.select %[[MASK]], %[[T]], %[[ACC]]
// CHECK:           %[[R:.*]] = vector.reduction <add>, %[[LANES]] fastmath<reassoc>
// CHECK:           %[[INIT:.*]] = memref.load %{{.*}}[%[[I]]]
// CHECK:           %[[SUM:.*]] = arith.addf %[[R]], %[[INIT]]
// CHECK:           memref.store %[[SUM]], %{{.*}}[%[[I]]]
func.func @rows(%a: memref<10x1003xf32>, %out: memref<10xf32>) {
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<10x1003xf32>) outs(%out : memref<10xf32>) {
  ^bb0(%x: f32, %o: f32):
    %p = arith.mulf %x, %x : f32
    %s = arith.addf %p, %o fastmath<reassoc> : f32
    linalg.yield %s : f32
  }
  return
}

// A long sum of floats is one of blocks of 64 vectors, which are four of 16, and so on to 4 vectors; each is summed from
// the negative zero. The last one may be shorter.
// CHECK-LABEL: func @blocks
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant dense<-0.0{{.*}}> : vector<64xf32>
// CHECK-DAG:     %[[BLOCK:.*]] = arith.constant 4096 : index
// CHECK-DAG:     %[[END:.*]] = arith.constant 30720 : index
// CHECK:         %[[TOTAL:.*]] = scf.for %[[I:.*]] = {{.*}} to %[[END]] step %[[BLOCK]] iter_args(%[[T:.*]] = %{{.*}})
// CHECK:           %[[STOP:.*]] = arith.minui %{{.*}}, %[[END]]
// CHECK:           %[[SUM:.*]] = scf.for %[[J:.*]] = %[[I]] to %[[STOP]] step %c1024 iter_args(%{{.*}} = %[[ZERO]])
// CHECK:             scf.for %[[K:.*]] = %[[J]] to %{{.*}} step %c256 iter_args(%{{.*}} = %[[ZERO]])
// CHECK:               scf.for {{.*}} = %[[K]] to %{{.*}} step %c64 iter_args(%{{.*}} = %[[ZERO]])
// CHECK:           %[[NEXT:.*]] = arith.addf %[[SUM]], %[[T]] : vector<64xf32>
// CHECK:           scf.yield %[[NEXT]]
// CHECK:         vector.reduction <add>, %[[TOTAL]]
func.func @blocks(%a: memref<30720xf32>, %out: memref<f32>) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%a : memref<30720xf32>) outs(%out : memref<f32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %o fastmath<reassoc> : f32
    linalg.yield %s : f32
  }
  return
}

// All dimensions of a dense buffer are one.
// CHECK-LABEL: func @everything
// CHECK:         scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (vector<64xi32>) {
// CHECK-NOT:       scf.for
// CHECK:         vector.reduction <maxsi>
func.func @everything(%a: memref<16x32x8xi32>, %out: memref<i32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> ()>],
                  iterator_types = ["reduction", "reduction", "reduction"]}
      ins(%a : memref<16x32x8xi32>) outs(%out : memref<i32>) {
  ^bb0(%x: i32, %o: i32):
    %s = arith.maxsi %o, %x : i32
    linalg.yield %s : i32
  }
  return
}

// CHECK-LABEL: func @columns
// CHECK:         scf.for %[[J:.*]] =
// CHECK:           %[[INIT:.*]] = vector.load %{{.*}}[%[[J]]] : memref<192xf32>, vector<64xf32>
// CHECK:           %[[ACC:.*]] = scf.for {{.*}} iter_args(%[[A:.*]] = %[[INIT]]) -> (vector<64xf32>) {
// CHECK:             %[[X:.*]] = vector.load
// CHECK:             %[[BETTER:.*]] = arith.cmpf ogt, %[[X]], %[[A]]
// CHECK:             %[[NUMBER:.*]] = arith.select %[[BETTER]], %[[X]], %[[A]]
// CHECK:             %[[NAN:.*]] = arith.cmpf uno, %[[X]], %[[X]]
// CHECK:             %[[S:.*]] = arith.select %[[NAN]], %[[X]], %[[NUMBER]]
// CHECK:             scf.yield %[[S]]
// CHECK:           vector.store %[[ACC]], %{{.*}}[%[[J]]]
func.func @columns(%a: memref<10x192xf32>, %out: memref<192xf32>) {
  linalg.generic {indexing_maps = [#id, #col], iterator_types = ["reduction", "parallel"]}
      ins(%a : memref<10x192xf32>) outs(%out : memref<192xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.maximumf %o, %x : f32
    linalg.yield %s : f32
  }
  return
}

// Numbers and nans have separate accumulators, so that a step waits for one instruction. Two registers are compared
// with each other: the comparison is unordered if there is a nan on either side.
// CHECK-LABEL: func @maximum
// CHECK-DAG:     %[[LEAST:.*]] = arith.constant dense<0xFF800000> : vector<64xf32>
// CHECK-DAG:     %[[NONE:.*]] = arith.constant dense<0.0{{.*}}> : vector<32xf32>
// CHECK-DAG:     %[[SOME:.*]] = arith.constant dense<0x7FC00000> : vector<32xf32>
// CHECK-DAG:     %[[QUIET:.*]] = arith.constant 0x7FC00000 : f32
// CHECK:         %[[R:.*]]:2 = scf.for {{.*}} iter_args(%[[A:.*]] = %[[LEAST]], %[[N:.*]] = %[[NONE]])
// CHECK:           %[[X:.*]] = vector.load
// CHECK:           %[[BETTER:.*]] = arith.cmpf ogt, %[[X]], %[[A]]
// CHECK:           %[[NEXT:.*]] = arith.select %[[BETTER]], %[[X]], %[[A]]
// CHECK:           %[[LOWER:.*]] = vector.shuffle %[[X]], %[[X]] [0, {{.*}} 31] : vector<64xf32>
// CHECK:           %[[UPPER:.*]] = vector.shuffle %[[X]], %[[X]] [32, {{.*}} 63] : vector<64xf32>
// CHECK:           %[[NAN:.*]] = arith.cmpf uno, %[[LOWER]], %[[UPPER]]
// CHECK:           %[[NANS:.*]] = arith.select %[[NAN]], %[[SOME]], %[[N]]
// CHECK:           scf.yield %[[NEXT]], %[[NANS]]
// CHECK:         %[[ARE:.*]] = arith.cmpf uno, %[[R]]#1, %[[R]]#1
// CHECK:         %[[BEST:.*]] = vector.reduction <maximumf>, %[[R]]#0 fastmath<{{.*}}nnan
// CHECK:         %[[ANY:.*]] = vector.reduction <or>, %[[ARE]]
// CHECK:         %[[J:.*]] = arith.select %[[ANY]], %[[QUIET]], %[[BEST]]
// CHECK:         arith.maximumf %[[J]], %{{.*}} : f32
func.func @maximum(%a: memref<256xf32>, %out: memref<f32>) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%a : memref<256xf32>) outs(%out : memref<f32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.maximumf %x, %o : f32
    linalg.yield %s : f32
  }
  return
}

// Reduced dimensions that are not neighbours are nested loops around one accumulator.
// CHECK-LABEL: func @apart
// CHECK:         scf.for
// CHECK:           scf.for {{.*}} iter_args({{.*}}) -> (vector<64xf32>) {
// CHECK:             scf.for {{.*}} iter_args({{.*}}) -> (vector<64xf32>) {
// CHECK:           vector.reduction <add>
func.func @apart(%a: memref<4x5x256xf32>, %out: memref<5xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d1)>],
                  iterator_types = ["reduction", "parallel", "reduction"]}
      ins(%a : memref<4x5x256xf32>) outs(%out : memref<5xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %o, %x : f32
    linalg.yield %s : f32
  }
  return
}

// An output of all dimensions may accompany a reduced one.
// CHECK-LABEL: func @beside
// CHECK:         scf.for {{.*}} iter_args({{.*}}) -> (vector<64xf32>) {
// CHECK:           %[[E:.*]] = math.exp
// CHECK:           vector.store %[[E]]
// CHECK:           scf.yield
// CHECK:         vector.reduction <add>
func.func @beside(%a: memref<8x256xf32>, %e: memref<8x256xf32>, %out: memref<8xf32>) {
  linalg.generic {indexing_maps = [#id, #id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<8x256xf32>) outs(%e, %out : memref<8x256xf32>, memref<8xf32>) {
  ^bb0(%x: f32, %o: f32, %acc: f32):
    %y = math.exp %x : f32
    %s = arith.addf %acc, %y : f32
    linalg.yield %y, %s : f32, f32
  }
  return
}

// Contractions: along k if both operands are contiguous in it, else along n, with k inside.
// CHECK-LABEL: func @matvec
// CHECK:         arith.mulf {{.*}} vector<64xf32>
// CHECK:         vector.reduction <add>
// Rows share the loads of the right operand: ten rows are two groups of five. k is divided into blocks of eight, whose
// first step does not add.
// CHECK-LABEL: func @matmul
// CHECK:         scf.for {{.*}} step %c5
// CHECK:           scf.for {{.*}} step %c8 iter_args(
// CHECK-COUNT-1:     vector.load
// CHECK-COUNT-5:     vector.broadcast
// CHECK-NOT:         vector.load
// CHECK:             scf.for {{.*}} iter_args({{.*}}) -> (vector<32xf32>, vector<32xf32>, vector<32xf32>, vector<32xf32>, vector<32xf32>) {
// CHECK-COUNT-1:     vector.load
// CHECK-COUNT-5:     vector.broadcast
// CHECK-NOT:         vector.load
// CHECK:             scf.yield
// CHECK-COUNT-5:   vector.store
func.func @matvec(%a: memref<10x128xf32>, %x: memref<128xf32>, %y: memref<10xf32>) {
  linalg.matvec ins(%a, %x : memref<10x128xf32>, memref<128xf32>) outs(%y : memref<10xf32>)
  return
}
func.func @matmul(%a: memref<10x20xf32>, %b: memref<20x32xf32>, %c: memref<10x32xf32>) {
  linalg.matmul ins(%a, %b : memref<10x20xf32>, memref<20x32xf32>) outs(%c : memref<10x32xf32>)
  return
}
