// array-vectorize-linalg on neighbouring ops with the same rows. Invariants: ops share the loop over rows only if they
// share a buffer, and if dependences are within one row; a fill whose consumer accumulates becomes the start of the
// accumulator; a temporary that only the loop uses keeps one row (vectorize-linalg-temporaries.mlir), unless a buffer
// that keeps its rows shares its memory.
// RUN: array-opt %s --array-vectorize-linalg | FileCheck %s --implicit-check-not=linalg.
// RUN: array-opt %s --array-schedule-loops --array-vectorize-linalg | FileCheck %s --implicit-check-not=linalg.

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>

// The sum of a row is stored and loaded at one place, the fill is gone, and the dense op on all elements is cut into rows.
// CHECK-LABEL: func @normalize
// CHECK-SAME:    (%[[A:.*]]: memref<16x64xf32>, %[[OUT:.*]]: memref<16x64xf32>
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C16:.*]] = arith.constant 16 : index
// CHECK-DAG:     %[[SUM:.*]] = memref.alloca() {alignment = 64 : i64, array.private} : memref<1xf32>
// CHECK-NOT:     vector.store
// CHECK:         scf.for %{{.*}} = %[[C0]] to %[[C16]]
// CHECK:           %[[S:.*]] = vector.reduction <add>
// CHECK-NEXT:      memref.store %[[S]], %[[SUM]][%[[C0]]]
// CHECK:           memref.load %[[SUM]][%[[C0]]]
// CHECK:           arith.divf
// CHECK:           vector.store
// CHECK:           arith.mulf
// CHECK:           vector.store
// CHECK-NOT:     step %c1
// CHECK:         return
func.func @normalize(%a: memref<16x64xf32>, %out: memref<16x64xf32>, %squares: memref<16x64xf32>, %arena: memref<64xi8>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %sum = memref.view %arena[%c0][] : memref<64xi8> to memref<16xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<16xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<16x64xf32>) outs(%sum : memref<16xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %o : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %sum : memref<16x64xf32>, memref<16xf32>) outs(%out : memref<16x64xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %d = arith.divf %x, %y : f32
    linalg.yield %d : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%out : memref<16x64xf32>) outs(%squares : memref<16x64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %m = arith.mulf %x, %x : f32
    linalg.yield %m : f32
  }
  return
}

// The sum of columns needs all rows of the first op's result.
// CHECK-LABEL: func @across
// CHECK:         scf.for
// CHECK:           arith.subf
// CHECK:         }
// CHECK:         scf.for
// CHECK:           arith.addf
func.func @across(%a: memref<64x64xf32>, %r: memref<64xf32>, %b: memref<64x64xf32>, %out: memref<64xf32>) {
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %r : memref<64x64xf32>, memref<64xf32>) outs(%b : memref<64x64xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %d = arith.subf %x, %y : f32
    linalg.yield %d : f32
  }
  linalg.generic {indexing_maps = [#id, #col], iterator_types = ["reduction", "parallel"]}
      ins(%b : memref<64x64xf32>) outs(%out : memref<64xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %o : f32
    linalg.yield %s : f32
  }
  return
}

// The first sum is dead before the second is stored in its memory. The second is used outside, so it keeps its rows;
// then the first must not write to the memory of the second's first row again.
// CHECK-LABEL: func @reused
// CHECK:         %[[FIRST:.*]] = memref.view
// CHECK:         %[[SECOND:.*]] = memref.view
// CHECK:         scf.for %[[I:.*]] =
// CHECK:           memref.store %{{.*}}, %[[FIRST]][%[[I]]]
// CHECK:           memref.store %{{.*}}, %[[SECOND]][%[[I]]]
// CHECK:         memref.load %[[SECOND]]
func.func @reused(%a: memref<16x64xf32>, %out: memref<16x64xf32>, %arena: memref<64xi8>, %at: index) -> f32 {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %first = memref.view %arena[%c0][] : memref<64xi8> to memref<16xf32>
  linalg.fill ins(%zero : f32) outs(%first : memref<16xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<16x64xf32>) outs(%first : memref<16xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %o : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %first : memref<16x64xf32>, memref<16xf32>) outs(%out : memref<16x64xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %d = arith.divf %x, %y : f32
    linalg.yield %d : f32
  }
  %second = memref.view %arena[%c0][] : memref<64xi8> to memref<16xf32>
  linalg.fill ins(%zero : f32) outs(%second : memref<16xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%out : memref<16x64xf32>) outs(%second : memref<16xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %o : f32
    linalg.yield %s : f32
  }
  %value = memref.load %second[%at] : memref<16xf32>
  return %value : f32
}

// A fill stays if its consumer visits the output more than once.
// CHECK-LABEL: func @streamed
// CHECK:         vector.store
// CHECK:         scf.for {{.*}} step %c32
// CHECK:           scf.for
// CHECK-COUNT-4:     vector.load
// CHECK:             vector.store
func.func @streamed(%a: memref<64x256xf32>, %out: memref<256xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<256xf32>)
  linalg.generic {indexing_maps = [#id, #col], iterator_types = ["reduction", "parallel"]}
      ins(%a : memref<64x256xf32>) outs(%out : memref<256xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %o : f32
    linalg.yield %s : f32
  }
  return
}

#flat = affine_map<(d0) -> (d0)>

// Elementwise ops on arrays that exceed the first cache run block by block; the values between them stay in one block.
// Each piece of a thread has its own block: 64 blocks of 2 KiB.
// CHECK-LABEL: func @blocks
// CHECK-DAG:     %[[COUNT:.*]] = arith.constant 2048 : index
// CHECK:         %[[BLOCK:.*]] = memref.alloc() {array.touched_bytes = 131072 : i64}
// CHECK:         scf.for %{{.*}} = %{{.*}} to %[[COUNT]]
// CHECK:           scf.for
// CHECK:             math.exp
// CHECK:             vector.store %{{.*}}, %[[BLOCK]]
// CHECK:           scf.for
// CHECK:             vector.load %[[BLOCK]]
// CHECK:             arith.addf
// CHECK:           scf.for
// CHECK:             vector.load %[[BLOCK]]
// CHECK:             arith.mulf
// CHECK-NOT:     scf.for
// CHECK:         return
func.func @blocks(%x: memref<1048576xf32>, %sum: memref<1048576xf32>, %product: memref<1048576xf32>) {
  %exp = memref.alloc() : memref<1048576xf32>
  linalg.generic {indexing_maps = [#flat, #flat], iterator_types = ["parallel"]}
      ins(%x : memref<1048576xf32>) outs(%exp : memref<1048576xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#flat, #flat, #flat], iterator_types = ["parallel"]}
      ins(%x, %exp : memref<1048576xf32>, memref<1048576xf32>) outs(%sum : memref<1048576xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#flat, #flat, #flat], iterator_types = ["parallel"]}
      ins(%sum, %exp : memref<1048576xf32>, memref<1048576xf32>) outs(%product : memref<1048576xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  }
  return
}

// A reader of the other end of an array waits for all of it; small arrays do not need blocks.
// CHECK-LABEL: func @no_blocks
// CHECK:         scf.for
// CHECK:           arith.addf
// CHECK:         }
// CHECK:         scf.for
// CHECK:           arith.mulf
// CHECK:         }
// CHECK:         scf.for
// CHECK:           arith.subf
// CHECK:         }
// CHECK:         scf.for
// CHECK:           arith.divf
func.func @no_blocks(%x: memref<32769xf32>, %y: memref<32768xf32>, %z: memref<32768xf32>, %s: memref<4096xf32>,
                     %t: memref<4096xf32>) {
  %first = memref.subview %x[0] [32768] [1] : memref<32769xf32> to memref<32768xf32, strided<[1]>>
  %next = memref.subview %x[1] [32768] [1] : memref<32769xf32> to memref<32768xf32, strided<[1], offset: 1>>
  linalg.generic {indexing_maps = [#flat, #flat], iterator_types = ["parallel"]}
      ins(%y : memref<32768xf32>) outs(%first : memref<32768xf32, strided<[1]>>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#flat, #flat], iterator_types = ["parallel"]}
      ins(%next : memref<32768xf32, strided<[1], offset: 1>>) outs(%z : memref<32768xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.mulf %a, %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#flat, #flat], iterator_types = ["parallel"]}
      ins(%s : memref<4096xf32>) outs(%t : memref<4096xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.subf %a, %a : f32
    linalg.yield %0 : f32
  }
  linalg.generic {indexing_maps = [#flat, #flat], iterator_types = ["parallel"]}
      ins(%t : memref<4096xf32>) outs(%s : memref<4096xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.divf %a, %a : f32
    linalg.yield %0 : f32
  }
  return
}

// A sum over rows that are in the first cache, for a member before it has read them, fetches the next row meanwhile: it is
// 1003 elements further on. The first member fetches some of its own.
// CHECK-LABEL: func @next_row
// CHECK:         scf.for
// CHECK:           memref.prefetch
// CHECK-NOT:       %c1003
// CHECK:           vector.reduction
// CHECK:           vector.load %{{.*}}[%[[AT:.*]]] : memref<65732608xf32>, vector<64xf32>
// CHECK-NEXT:      %[[NEXT:.*]] = arith.addi %[[AT]], %c1003
// CHECK-NEXT:      memref.prefetch %{{.*}}[%[[NEXT]]], read, locality<3>
// CHECK-COUNT-3:   memref.prefetch
// CHECK:           vector.reduction
// CHECK-NOT:       memref.prefetch
// CHECK:         return
func.func @next_row(%x: memref<65536x1003xf32>, %mean: memref<65536xf32>, %y: memref<65536x1003xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%mean : memref<65536xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<65536x1003xf32>) outs(%mean : memref<65536xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a fastmath<reassoc> : f32
    linalg.yield %0 : f32
  }
  %square = memref.alloc() : memref<65536xf32>
  linalg.fill ins(%zero : f32) outs(%square : memref<65536xf32>)
  linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %mean : memref<65536x1003xf32>, memref<65536xf32>) outs(%square : memref<65536xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %0 = arith.subf %a, %m : f32
    %1 = arith.mulf %0, %0 : f32
    %2 = arith.addf %o, %1 fastmath<reassoc> : f32
    linalg.yield %2 : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %square : memref<65536x1003xf32>, memref<65536xf32>) outs(%y : memref<65536x1003xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %0 = arith.divf %a, %s : f32
    linalg.yield %0 : f32
  }
  return
}

// Products of small matrices are stored in pieces, so their scale runs on blocks of 50 products.
// CHECK-LABEL: func @small_products
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[C20:.*]] = arith.constant 20 : index
// CHECK-DAG:     %[[C50:.*]] = arith.constant 50 : index
// CHECK:         scf.for %{{.*}} = %[[C0]] to %[[C20]] step %[[C1]]
// CHECK:           scf.for %{{.*}} = %[[C0]] to %[[C50]] step %[[C1]]
// CHECK:             vector.maskedstore
// CHECK:           scf.for
// CHECK:             arith.mulf
// CHECK-NEXT:        vector.store
func.func @small_products(%a: memref<1000x3x3xf32>, %b: memref<1000x3x3xf32>, %out: memref<1000x3x3xf32>, %arena: memref<36000xi8>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %t = memref.view %arena[%c0][] : memref<36000xi8> to memref<1000x3x3xf32>
  linalg.fill ins(%zero : f32) outs(%t : memref<1000x3x3xf32>)
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>],
                  iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<1000x3x3xf32>, memref<1000x3x3xf32>) outs(%t : memref<1000x3x3xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
                  iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%t : memref<1000x3x3xf32>) outs(%out : memref<1000x3x3xf32>) {
  ^bb0(%x: f32, %o: f32):
    %m = arith.mulf %x, %x : f32
    linalg.yield %m : f32
  }
  return
}

// A root for each row of ten elements would take as long as the row: all roots are a loop of vectors.
// CHECK-LABEL: func @roots_of_short_rows
// CHECK:         scf.for
// CHECK:           math.sqrt {{.*}} : vector<{{[0-9]+}}xf32>
// CHECK:         scf.for
// CHECK-NOT:       math.sqrt
// CHECK:           arith.divf
// CHECK-LABEL: func @roots_of_long_rows
// CHECK:         scf.for
// CHECK:           math.sqrt %{{.*}} : f32
// CHECK:           scf.for
// CHECK:             arith.divf
func.func @roots_of_short_rows(%a: memref<1000x10xf32>, %s: memref<1000xf32>, %out: memref<1000x10xf32>) {
  %r = memref.alloc() : memref<1000xf32>
  linalg.sqrt ins(%s : memref<1000xf32>) outs(%r : memref<1000xf32>)
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %r : memref<1000x10xf32>, memref<1000xf32>) outs(%out : memref<1000x10xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %d = arith.divf %x, %y : f32
    linalg.yield %d : f32
  }
  return
}
func.func @roots_of_long_rows(%a: memref<1000x100xf32>, %s: memref<1000xf32>, %out: memref<1000x100xf32>) {
  %r = memref.alloc() : memref<1000xf32>
  linalg.sqrt ins(%s : memref<1000xf32>) outs(%r : memref<1000xf32>)
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %r : memref<1000x100xf32>, memref<1000xf32>) outs(%out : memref<1000x100xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %d = arith.divf %x, %y : f32
    linalg.yield %d : f32
  }
  return
}
