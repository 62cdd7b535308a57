// array-vectorize-linalg on symbolic sizes (array.symbol). Invariants: equal products of symbols are one size, so that
// row fusions, blocks and shared rows are as for constants; facts about the symbols (bounds, divisors) remove steps
// that are never taken, expected sizes do not; the cost of the iterations decides at run time whether threads share a
// loop.
// RUN: array-opt %s --array-vectorize-linalg --split-input-file | FileCheck %s --implicit-check-not=linalg.

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#dims = affine_map<()[n, m] -> (n, m)>

// Both ops share the loop over n rows, in pieces whose rows are counted at run time. The sums become a number on the
// stack, and the exponentials a row for each of the (at most 64) pieces, a multiple of 128 bytes: 64 * ceil(m / 32) * 32.
// CHECK-LABEL: func @rows
// CHECK-DAG:     %[[N:.*]] = array.symbol 0
// CHECK-DAG:     %[[M:.*]] = array.symbol 1
// CHECK-DAG:     memref.alloca() {alignment = 64 : i64, array.private} : memref<1xf32>
// CHECK:         %[[MORE:.*]] = arith.addi %[[M]], %c31
// CHECK:         %[[LINES:.*]] = arith.divui %[[MORE]], %c32
// CHECK-DAG:     %[[KEPT:.*]] = arith.muli %[[LINES]], %c2048
// CHECK-DAG:     %[[APART:.*]] = arith.muli %[[LINES]], %c32
// CHECK:         %[[E:.*]] = memref.alloc(%[[KEPT]]) : memref<?xf32>
// CHECK:         scf.for %[[FIRST:.*]] = %c0 to %[[N]] step %[[PIECE:.*]] {
// CHECK:           %[[PLACE:.*]] = arith.divui %[[FIRST]], %[[PIECE]]
// CHECK:           arith.muli %[[PLACE]], %[[APART]]
// CHECK:           %[[STOP:.*]] = arith.addi %[[FIRST]], %[[PIECE]]
// CHECK:           %[[END:.*]] = arith.minui %[[STOP]], %[[N]]
// CHECK:           scf.for %{{.*}} = %[[FIRST]] to %[[END]] step %c1 {
// CHECK:             math.exp
// CHECK:             vector.store %{{.*}}, %[[E]]
// CHECK:             scf.if
// CHECK:               vector.maskedstore %[[E]]
// CHECK:             vector.reduction <add>
// CHECK-NEXT:        memref.store
// CHECK:             arith.divf
// CHECK:         } {array.parallel = 1 : i64}
// CHECK-NOT:     scf.for
func.func @rows(%a: memref<?x?xf32> {array.dims = #dims}, %out: memref<?x?xf32> {array.dims = #dims}) {
  %zero = arith.constant 0.0 : f32
  %n = array.symbol 0 : index
  %m = array.symbol 1 : index
  %e = memref.alloc(%n, %m) : memref<?x?xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<?x?xf32>) outs(%e : memref<?x?xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = math.exp %x : f32
    linalg.yield %s : f32
  }
  %sum = memref.alloc(%n) : memref<?xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<?xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%e : memref<?x?xf32>) outs(%sum : memref<?xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %o : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%e, %sum : memref<?x?xf32>, memref<?xf32>) outs(%out : memref<?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %d = arith.divf %x, %y : f32
    linalg.yield %d : f32
  }
  return
}

// -----

// A multiple of 64 needs no masked step. How many vectors a piece has is known: the loop is marked as it is.
// CHECK-LABEL: func @multiple
// CHECK-NOT:     mask
// CHECK:         scf.for %{{.*}} step %c32
// CHECK:         } {array.parallel = {{[0-9]+}} : i64}
// CHECK-NOT:     mask
// CHECK:         return
func.func @multiple(%a: memref<?xf32> {array.dims = affine_map<()[n] -> (n)>},
                    %out: memref<?xf32> {array.dims = affine_map<()[n] -> (n)>})
    attributes {array.symbols = [{min = 1, multiple_of = 64}]} {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%a : memref<?xf32>) outs(%out : memref<?xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %x : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// A size of at most one vector is one masked step, and never shared.
// CHECK-LABEL: func @few
// CHECK-NOT:     scf.for
// CHECK:         vector.maskedload {{.*}} vector<16xf32>
// CHECK:         vector.maskedstore
// CHECK-NOT:     scf
// CHECK:         return
func.func @few(%a: memref<?xf32> {array.dims = affine_map<()[n] -> (n)>},
               %out: memref<?xf32> {array.dims = affine_map<()[n] -> (n)>})
    attributes {array.symbols = [{min = 0, max = 12, expected = 3}]} {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%a : memref<?xf32>) outs(%out : memref<?xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %x : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// Flat ops on n * 784 elements share blocks of 512; the last one is shorter.
#flat = affine_map<(i, j) -> (i, j)>
// CHECK-LABEL: func @blocks
// CHECK:         %[[N:.*]] = array.symbol 0
// CHECK:         %[[ALL:.*]] = arith.muli %[[N]], %c784
// CHECK-DAG:     %[[BLOCK:.*]] = memref.alloc() : memref<32768xf32>
// CHECK:         scf.for
// CHECK:           scf.for %[[I:.*]] =
// CHECK:             %[[FROM:.*]] = arith.muli %[[I]], %c512
// CHECK:             %[[REST:.*]] = arith.subi %[[ALL]], %{{.*}}
// CHECK-NEXT:        arith.minui %c512, %[[REST]]
// CHECK:             math.exp
// CHECK:             math.sqrt
// CHECK:         } {array.parallel = 1 : i64}
// CHECK-NOT:     scf.for
func.func @blocks(%a: memref<?x784xf32> {array.dims = affine_map<()[n] -> (n, 784)>},
                  %b: memref<?x784xf32> {array.dims = affine_map<()[n] -> (n, 784)>},
                  %c: memref<?x784xf32> {array.dims = affine_map<()[n] -> (n, 784)>}) {
  %n = array.symbol 0 : index
  %e = memref.alloc(%n) : memref<?x784xf32>
  linalg.generic {indexing_maps = [#flat, #flat], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<?x784xf32>) outs(%e : memref<?x784xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = math.exp %x : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#flat, #flat], iterator_types = ["parallel", "parallel"]}
      ins(%e : memref<?x784xf32>) outs(%b : memref<?x784xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %x : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#flat, #flat], iterator_types = ["parallel", "parallel"]}
      ins(%e : memref<?x784xf32>) outs(%c : memref<?x784xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = math.sqrt %x : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// A sum of everything is divided into at most 128 blocks, of a length that follows from the size alone; each is summed
// in its own blocks. Without elements it is the former value of the result.
// CHECK-LABEL: func @sum
// CHECK-DAG:     %[[PARTS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<128xf32>
// CHECK-DAG:     %[[N:.*]] = array.symbol 0
// CHECK-DAG:     %[[FEW:.*]] = arith.cmpi ult, %[[N]], %c262144
// CHECK:         %[[LENGTH:.*]] = arith.select %[[FEW]], %[[N]], %{{.*}}
// CHECK:         scf.for %[[FIRST:.*]] = %c0 to %[[COUNT:.*]] step %{{.*}} {
// CHECK:           scf.for %[[I:.*]] = %[[FIRST]] to %{{.*}} step %c1 {
// CHECK:             arith.minui %[[LENGTH]]
// CHECK:             scf.for
// CHECK:               scf.for
// CHECK:             vector.maskedload
// CHECK:             memref.store %{{.*}}, %[[PARTS]][%[[I]]]
// CHECK:         } {array.parallel = 1 : i64}
// CHECK:         %[[BEFORE:.*]] = memref.load %[[OUT:.*]][%c0] : memref<1xf32>
// CHECK:         %[[ALL:.*]] = scf.for %{{.*}} = %c0 to %[[COUNT]] {{.*}} iter_args(%{{.*}} = %[[BEFORE]])
// CHECK:         memref.store %[[ALL]], %[[OUT]][%c0]
func.func @sum(%a: memref<?xf32> {array.dims = affine_map<()[n] -> (n)>}, %out: memref<f32>)
    attributes {array.symbols = [{min = 0}]} {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%a : memref<?xf32>) outs(%out : memref<f32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %o : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// If a product of all sizes is bounded, small stays small: neither threads nor blocks.
// CHECK-LABEL: func @bounded
// CHECK-NOT:     memref.alloca
// CHECK-NOT:     array.parallel
// CHECK:         return
func.func @bounded(%a: memref<?xf32> {array.dims = affine_map<()[n] -> (n)>}, %out: memref<f32>)
    attributes {array.symbols = [{max = 5000}]} {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%a : memref<?xf32>) outs(%out : memref<f32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %o : f32
    linalg.yield %s : f32
  }
  return
}
