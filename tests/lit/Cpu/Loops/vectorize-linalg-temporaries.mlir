// array-vectorize-linalg: the memory of the one row of a temporary that only a loop over rows uses. Invariants:
// stores of two threads are in separate cache lines. A short row is on the stack of each thread, in the loop
// over the rows that a single thread runs; long ones have one row for each block of rows, at least 128 bytes
// apart.
// RUN: array-opt %s --pass-pipeline='builtin.module(func.func(array-vectorize-linalg))' --split-input-file | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// A value for each row: the loop that threads share is the loop over the rows, and nothing in it depends on a block.
// CHECK-LABEL: func.func @single(
// CHECK-DAG:     %[[ROWS:.*]] = arith.constant 65536 : index
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[SUM:.*]] = memref.alloca() {alignment = 64 : i64, array.private} : memref<1xf32>
// CHECK-NOT:     memref.alloc()
// CHECK:         scf.for %{{.*}} = %[[C0]] to %[[ROWS]] step %[[C1]] {
// CHECK-NOT:       scf.for
// CHECK-NOT:       arith.div
// CHECK:           %[[S:.*]] = vector.reduction <add>
// CHECK-NEXT:      memref.store %[[S]], %[[SUM]][%[[C0]]]
// CHECK:           memref.load %[[SUM]][%[[C0]]]
// CHECK:           scf.for
// CHECK:             arith.divf
// CHECK:             vector.store
// CHECK:         } {array.parallel = {{[0-9]+}} : i64{{.*}}}
func.func @single(%a: memref<65536x64xf32>, %out: memref<65536x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<65536xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<65536xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<65536x64xf32>) outs(%sum : memref<65536xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %o : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %sum : memref<65536x64xf32>, memref<65536xf32>) outs(%out : memref<65536x64xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %d = arith.divf %x, %y : f32
    linalg.yield %d : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Rows of 400 bytes: 512 bytes from one block to the next one. 63 of these, and a row.
// CHECK-LABEL: func.func @blocks(
// CHECK:         %[[EXP:.*]] = memref.alloc() {array.touched_bytes = 32656 : i64} : memref<64000x100xf32>
// CHECK:         %[[FLAT:.*]] = memref.reinterpret_cast %[[EXP]]
// CHECK:         scf.for %[[I:.*]] =
// CHECK:           %[[NUMBER:.*]] = arith.divui %[[I]],
// CHECK-NEXT:      %[[AT:.*]] = arith.muli %[[NUMBER]], %c128
// CHECK:           scf.for
// CHECK:             math.exp
// CHECK:             vector.store %{{.*}}, %[[FLAT]][%[[AT]]]
// CHECK:         } {array.parallel = 1 : i64{{.*}}}
func.func @blocks(%a: memref<64000x100xf32>, %sum: memref<64000xf32>, %out: memref<64000x100xf32>) {
  %zero = arith.constant 0.0 : f32
  %exp = memref.alloc() : memref<64000x100xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<64000x100xf32>) outs(%exp : memref<64000x100xf32>) {
  ^bb0(%x: f32, %o: f32):
    %e = math.exp %x : f32
    linalg.yield %e : f32
  }
  linalg.fill ins(%zero : f32) outs(%sum : memref<64000xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%exp : memref<64000x100xf32>) outs(%sum : memref<64000xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %o : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%exp, %sum : memref<64000x100xf32>, memref<64000xf32>) outs(%out : memref<64000x100xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %d = arith.divf %x, %y : f32
    linalg.yield %d : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Few long rows, each of which is a block: separate rows need more memory than all rows, 40 times 1024 * 1024 elements.
// CHECK-LABEL: func.func @few(
// CHECK:         %[[EXP:.*]] = memref.alloc() : memref<41943040xf32>
// CHECK:         scf.for
// CHECK:           arith.muli %{{.*}}, %c1048576
// CHECK:           vector.store %{{.*}}, %[[EXP]]
// CHECK:         } {array.parallel = 1 : i64{{.*}}}
func.func @few(%a: memref<40x1048570xf32>, %sum: memref<40xf32>, %out: memref<40x1048570xf32>) {
  %zero = arith.constant 0.0 : f32
  %exp = memref.alloc() : memref<40x1048570xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<40x1048570xf32>) outs(%exp : memref<40x1048570xf32>) {
  ^bb0(%x: f32, %o: f32):
    %e = math.exp %x : f32
    linalg.yield %e : f32
  }
  linalg.fill ins(%zero : f32) outs(%sum : memref<40xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%exp : memref<40x1048570xf32>) outs(%sum : memref<40xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %o : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%exp, %sum : memref<40x1048570xf32>, memref<40xf32>) outs(%out : memref<40x1048570xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %d = arith.divf %x, %y : f32
    linalg.yield %d : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#pairs = affine_map<(d0, d1) -> (d0, d1 * 2)>
#next = affine_map<(d0, d1) -> (d0, d1 * 2 + 1)>

// A padded temporary and its inside have the same rows: one loop fills, copies and reads a row, which is all that is left
// of the temporary.
// CHECK-LABEL: func.func @padded(
// CHECK:         memref.alloc() {array.touched_bytes = 32656 : i64} : memref<64000x100xf32>
// CHECK:         {array.parallel
// CHECK-NOT:     {array.parallel
// CHECK:         return
func.func @padded(%a: memref<64000x98xf32>, %out: memref<64000x50xf32>) {
  %zero = arith.constant 0.0 : f32
  %padded = memref.alloc() : memref<64000x100xf32>
  linalg.fill ins(%zero : f32) outs(%padded : memref<64000x100xf32>)
  %inside = memref.subview %padded[0, 1] [64000, 98] [1, 1] : memref<64000x100xf32> to memref<64000x98xf32, strided<[100, 1], offset: 1>>
  memref.copy %a, %inside : memref<64000x98xf32> to memref<64000x98xf32, strided<[100, 1], offset: 1>>
  linalg.generic {indexing_maps = [#pairs, #next, #id], iterator_types = ["parallel", "parallel"]}
      ins(%padded, %padded : memref<64000x100xf32>, memref<64000x100xf32>) outs(%out : memref<64000x50xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  }
  return
}
