// RUN: array-opt %s --array-share-scans --split-input-file | FileCheck %s
// RUN: array-opt %s --array-share-scans --array-vectorize-linalg --array-plan-memory --split-input-file | FileCheck %s --check-prefix=PLAN

// Each iteration writes a row of its own, in order or backwards, and reads anything else. A loop of unknown length is
// part of it.
// CHECK-LABEL: func.func @main(
// CHECK:         scf.for
// CHECK:           scf.while
// CHECK:         } {array.control_flow, array.independent}
func.func @main(%x: memref<5000xf32>, %y: memref<300xf32>, %r: memref<5000xf32>, %s: memref<5001x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5000 = arith.constant 5000 : index
  %limit = arith.constant 4.0 : f32
  scf.for %i = %c0 to %c5000 step %c1 {
    %0 = memref.load %x[%i] : memref<5000xf32>
    %1 = memref.load %y[%c1] : memref<300xf32>
    %2 = scf.while (%a = %0) : (f32) -> f32 {
      %c = arith.cmpf olt, %a, %limit : f32
      scf.condition(%c) %a : f32
    } do {
    ^bb0(%a: f32):
      %3 = arith.addf %a, %1 : f32
      scf.yield %3 : f32
    }
    memref.store %2, %r[%i] : memref<5000xf32>
    %back = arith.subi %c5000, %i : index
    %row = memref.subview %s[%back, 0] [1, 8] [1, 1] : memref<5001x8xf32> to memref<8xf32, strided<[1], offset: ?>>
    linalg.fill ins(%2 : f32) outs(%row : memref<8xf32, strided<[1], offset: ?>>)
    %4 = memref.load %row[%c1] : memref<8xf32, strided<[1], offset: ?>>
    memref.store %4, %row[%c0] : memref<8xf32, strided<[1], offset: ?>>
  } {array.control_flow}
  return
}

// -----

// Temporaries belong to an iteration. The memory plan gives each piece its own.
// CHECK-LABEL: func.func @main(
// CHECK:         } {array.control_flow, array.independent}
// PLAN-LABEL:  func.func @main(
// PLAN:          memref.alloca() {alignment = 64 : i64, array.private} : memref<2560xi8>
// PLAN:          scf.for
// PLAN-NOT:        memref.alloc()
// PLAN:          } {array.control_flow, array.parallel
func.func @main(%x: memref<2000x640xf32>, %r: memref<2000x640xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2000 = arith.constant 2000 : index
  scf.for %i = %c0 to %c2000 step %c1 {
    %row = memref.subview %x[%i, 0] [1, 640] [1, 1] : memref<2000x640xf32> to memref<640xf32, strided<[1], offset: ?>>
    %out = memref.subview %r[%i, 0] [1, 640] [1, 1] : memref<2000x640xf32> to memref<640xf32, strided<[1], offset: ?>>
    %t = memref.alloc() : memref<640xf32>
    linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
        ins(%row : memref<640xf32, strided<[1], offset: ?>>) outs(%t : memref<640xf32>) {
    ^bb0(%a: f32, %b: f32):
      %0 = math.exp %a : f32
      linalg.yield %0 : f32
    }
    memref.copy %t, %out : memref<640xf32> to memref<640xf32, strided<[1], offset: ?>>
  } {array.control_flow}
  return
}

// -----

// Not independent: an iteration reads the row before; writes a place that the data decide; writes one place for all;
// or a routine of the runtime may fail. A loop of few iterations leaves threads to those inside it.
// CHECK-LABEL: func.func @main(
// CHECK-NOT:     array.independent
func.func @main(%x: memref<9000xf32>, %p: memref<9000xi32>, %r: memref<9000xf32>, %s: memref<9000x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %c9000 = arith.constant 9000 : index
  scf.for %i = %c1 to %c9000 step %c1 {
    %before = arith.subi %i, %c1 : index
    %0 = memref.load %r[%before] : memref<9000xf32>
    memref.store %0, %r[%i] : memref<9000xf32>
  } {array.control_flow}
  scf.for %i = %c0 to %c9000 step %c1 {
    %0 = memref.load %p[%i] : memref<9000xi32>
    %at = arith.index_cast %0 : i32 to index
    %1 = memref.load %x[%i] : memref<9000xf32>
    memref.store %1, %r[%at] : memref<9000xf32>
  } {array.control_flow}
  scf.for %i = %c0 to %c9000 step %c1 {
    %1 = memref.load %x[%i] : memref<9000xf32>
    memref.store %1, %r[%c1] : memref<9000xf32>
  } {array.control_flow}
  scf.for %i = %c0 to %c9000 step %c1 {
    %row = memref.subview %s[%i, 0] [1, 8] [1, 1] : memref<9000x8xf32> to memref<8xf32, strided<[1], offset: ?>>
    array.runtime_call "sort" params = [0, 1, 1] element_types = [f32, f32] ins(%row : memref<8xf32, strided<[1], offset: ?>>) outs(%row : memref<8xf32, strided<[1], offset: ?>>)
  } {array.control_flow}
  scf.for %i = %c0 to %c9 step %c1 {
    %1 = memref.load %x[%i] : memref<9000xf32>
    memref.store %1, %r[%i] : memref<9000xf32>
  } {array.control_flow}
  return
}
