// RUN: array-opt %s --pass-pipeline='builtin.module(func.func(array-plan-memory))' --split-input-file | FileCheck %s

// %b lives with %a and with %c, but %c may take the place of %a: 400 bytes, then 400 at the next multiple of 64.
// CHECK-LABEL: func.func @reuse(
// CHECK-SAME:    %{{.*}}: memref<100xf32>, %{{.*}}: memref<100xf32>, %[[ARENA:.*]]: memref<848xi8> {array.role = "arena"})
// CHECK-SAME:    attributes {array.arena_bytes = 848 : i64}
// CHECK:         %[[C0:.*]] = arith.constant 0 : index
// CHECK:         %[[A:.*]] = memref.view %[[ARENA]][%[[C0]]][] {array.live = array<i64: 3, 4, 400>} : memref<848xi8> to memref<100xf32>
// CHECK:         %[[C448:.*]] = arith.constant 448 : index
// CHECK:         %[[B:.*]] = memref.view %[[ARENA]][%[[C448]]][]
// CHECK:         %[[C0_1:.*]] = arith.constant 0 : index
// CHECK:         %[[C:.*]] = memref.view %[[ARENA]][%[[C0_1]]][]
// CHECK-NOT:     dealloc
// CHECK:         linalg.exp ins(%[[A]] : memref<100xf32>) outs(%[[B]] : memref<100xf32>)
// CHECK:         linalg.exp ins(%[[B]] : memref<100xf32>) outs(%[[C]] : memref<100xf32>)
func.func @reuse(%x: memref<100xf32>, %r: memref<100xf32>) {
  %a = memref.alloc() : memref<100xf32>
  %b = memref.alloc() : memref<100xf32>
  %c = memref.alloc() {alignment = 64 : i64} : memref<100xf32>
  linalg.exp ins(%x : memref<100xf32>) outs(%a : memref<100xf32>)
  linalg.exp ins(%a : memref<100xf32>) outs(%b : memref<100xf32>)
  linalg.exp ins(%b : memref<100xf32>) outs(%c : memref<100xf32>)
  linalg.exp ins(%c : memref<100xf32>) outs(%r : memref<100xf32>)
  memref.dealloc %a : memref<100xf32>
  memref.dealloc %b : memref<100xf32>
  memref.dealloc %c : memref<100xf32>
  return
}

// -----

// The last use of %a is through a view of a view: %b may not take its place.
// CHECK-LABEL: func.func @views(
// CHECK-SAME:    memref<128xi8>
// CHECK:         memref.view %{{.*}}[%{{.*}}][] {array.live = {{.*}}} : memref<128xi8> to memref<4x4xf32>
// CHECK:         memref.view %{{.*}}[%{{.*}}][] {array.live = {{.*}}} : memref<128xi8> to memref<16xf32>
func.func @views(%x: memref<4x4xf32>, %r: memref<4xf32>, %s: memref<16xf32>) {
  %a = memref.alloc() : memref<4x4xf32>
  %b = memref.alloc() : memref<16xf32>
  %row = memref.subview %a[1, 0] [1, 4] [1, 1] : memref<4x4xf32> to memref<1x4xf32, strided<[4, 1], offset: 4>>
  %flat = memref.collapse_shape %row [[0, 1]] : memref<1x4xf32, strided<[4, 1], offset: 4>> into memref<4xf32, strided<[1], offset: 4>>
  linalg.exp ins(%x : memref<4x4xf32>) outs(%a : memref<4x4xf32>)
  linalg.exp ins(%s : memref<16xf32>) outs(%b : memref<16xf32>)
  linalg.exp ins(%b : memref<16xf32>) outs(%s : memref<16xf32>)
  linalg.exp ins(%flat : memref<4xf32, strided<[1], offset: 4>>) outs(%r : memref<4xf32>)
  return
}

// -----

// A buffer that a loop uses is live across the loop: %a and %b never share, though their uses inside follow each other.
// CHECK-LABEL: func.func @loops(
// CHECK-SAME:    array.arena_bytes = 128 : i64
func.func @loops(%x: memref<16xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<16xf32>
  %b = memref.alloc() : memref<16xf32>
  scf.for %i = %c0 to %n step %c1 {
    linalg.exp ins(%a : memref<16xf32>) outs(%x : memref<16xf32>)
    linalg.exp ins(%x : memref<16xf32>) outs(%b : memref<16xf32>)
    linalg.exp ins(%b : memref<16xf32>) outs(%a : memref<16xf32>)
  }
  return
}

// -----

// A small one takes the place of a large one that is dead (4096 bytes, then 16), and one without uses takes none.
// CHECK-LABEL: func.func @gaps(
// CHECK-SAME:    array.arena_bytes = 4112 : i64
func.func @gaps(%x: memref<1024xf32>, %y: memref<4xf32>, %z: memref<16xf32>, %c: f32) {
  %unused = memref.alloc() : memref<1000xf64>
  %large = memref.alloc() : memref<1024xf32>
  %small = memref.alloc() : memref<4xf32>
  %later = memref.alloc() : memref<16xf32>
  linalg.exp ins(%x : memref<1024xf32>) outs(%large : memref<1024xf32>)
  linalg.exp ins(%y : memref<4xf32>) outs(%small : memref<4xf32>)
  linalg.exp ins(%large : memref<1024xf32>) outs(%x : memref<1024xf32>)
  linalg.fill ins(%c : f32) outs(%later : memref<16xf32>)
  linalg.exp ins(%small : memref<4xf32>) outs(%y : memref<4xf32>)
  memref.copy %later, %z : memref<16xf32> to memref<16xf32>
  return
}

// -----

// CHECK-LABEL: func.func @none(
// CHECK-SAME:    %{{.*}}: memref<4xf32>) {
func.func @none(%x: memref<4xf32>) {
  return
}

// -----

// A temporary of a loop lives within an iteration, one of a branch may leave the branch.
// CHECK-LABEL: func.func @nested(
// CHECK-SAME:    array.arena_bytes = 80 : i64
// CHECK:         scf.for
// CHECK:           memref.view
// CHECK:         scf.if
// CHECK:           memref.view
func.func @nested(%x: memref<4xf32>, %y: memref<4xf32>, %n: index, %c: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %outer = memref.alloc() : memref<4xf32>
  linalg.exp ins(%x : memref<4xf32>) outs(%outer : memref<4xf32>)
  scf.for %i = %c0 to %n step %c1 {
    %inner = memref.alloc() : memref<4xf32>
    linalg.exp ins(%outer : memref<4xf32>) outs(%inner : memref<4xf32>)
    linalg.exp ins(%inner : memref<4xf32>) outs(%outer : memref<4xf32>)
  }
  %r = scf.if %c -> memref<4xf32> {
    %branch = memref.alloc() : memref<4xf32>
    linalg.exp ins(%outer : memref<4xf32>) outs(%branch : memref<4xf32>)
    scf.yield %branch : memref<4xf32>
  } else {
    scf.yield %x : memref<4xf32>
  }
  linalg.exp ins(%r : memref<4xf32>) outs(%y : memref<4xf32>)
  return
}

// -----

// The two temporaries of an iteration follow each other; one used before and after the loop is live across it.
// CHECK-LABEL: func.func @iteration(
// CHECK-SAME:    array.arena_bytes = 128 : i64
func.func @iteration(%x: memref<16xf32>, %p: i1) {
  %outer = memref.alloc() : memref<16xf32>
  linalg.exp ins(%x : memref<16xf32>) outs(%outer : memref<16xf32>)
  scf.while : () -> () {
    scf.condition(%p)
  } do {
    %a = memref.alloc() : memref<16xf32>
    linalg.exp ins(%x : memref<16xf32>) outs(%a : memref<16xf32>)
    linalg.exp ins(%a : memref<16xf32>) outs(%x : memref<16xf32>)
    %b = memref.alloc() : memref<16xf32>
    linalg.exp ins(%x : memref<16xf32>) outs(%b : memref<16xf32>)
    linalg.exp ins(%b : memref<16xf32>) outs(%x : memref<16xf32>)
    scf.yield
  }
  linalg.exp ins(%outer : memref<16xf32>) outs(%x : memref<16xf32>)
  return
}

// -----

// A temporary whose rows share memory takes only its touched bytes.
// CHECK-LABEL: func.func @touched(
// CHECK-SAME:    array.arena_bytes = 64 : i64
func.func @touched(%x: memref<64x16xf32>) {
  %a = memref.alloc() {array.touched_bytes = 64 : i64} : memref<64x16xf32>
  linalg.exp ins(%x : memref<64x16xf32>) outs(%a : memref<64x16xf32>)
  linalg.exp ins(%a : memref<64x16xf32>) outs(%x : memref<64x16xf32>)
  return
}
