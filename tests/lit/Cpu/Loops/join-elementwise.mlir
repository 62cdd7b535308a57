// array-join-elementwise: neighbouring elementwise ops over the same elements become one op with several outputs.
// Invariants: element i of a written buffer is touched only in step i; a value that nothing else reads has no memory.
// RUN: array-opt %s --pass-pipeline='builtin.module(func.func(array-join-elementwise))' --split-input-file | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// The difference is a value; both products are outputs of one op.
// CHECK-LABEL: func.func @value(
// CHECK-NOT:     memref.alloc
// CHECK:         linalg.generic {{.*}} ins(%arg0, %arg1 : {{.*}}) outs(%arg2, %arg3 :
// CHECK-NEXT:    ^bb0(%[[X:.*]]: f32, %[[Y:.*]]: f32, %{{.*}}: f32, %{{.*}}: f32):
// CHECK-NEXT:      %[[D:.*]] = arith.subf %[[X]], %[[Y]]
// CHECK-NEXT:      %[[A:.*]] = arith.mulf %[[D]], %[[X]]
// CHECK-NEXT:      %[[B:.*]] = arith.mulf %[[D]], %[[Y]]
// CHECK-NEXT:      linalg.yield %[[A]], %[[B]]
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @value(%x: memref<64xf32>, %y: memref<64xf32>, %a: memref<64xf32>, %b: memref<64xf32>) {
  %d = memref.alloc() : memref<64xf32>
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %y : memref<64xf32>, memref<64xf32>) outs(%d : memref<64xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %v = arith.subf %l, %r : f32
    linalg.yield %v : f32
  }
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%d, %x : memref<64xf32>, memref<64xf32>) outs(%a : memref<64xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %v = arith.mulf %l, %r : f32
    linalg.yield %v : f32
  }
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%d, %y : memref<64xf32>, memref<64xf32>) outs(%b : memref<64xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %v = arith.mulf %l, %r : f32
    linalg.yield %v : f32
  }
  return
}

// -----

#id = affine_map<(d0) -> (d0)>

// A velocity and a position in place: the position takes the new velocity, and the copy of a view to itself goes.
// CHECK-LABEL: func.func @in_place(
// CHECK-NOT:     memref.copy
// CHECK:         linalg.generic {{.*}} ins(%arg0, %arg1 : {{.*}}) outs(%arg0, %arg1 :
// CHECK-NEXT:    ^bb0(%[[V:.*]]: f32, %[[X:.*]]: f32, %{{.*}}: f32, %{{.*}}: f32):
// CHECK-NEXT:      %[[NV:.*]] = arith.subf %[[V]], %[[X]]
// CHECK-NEXT:      %[[NX:.*]] = arith.addf %[[X]], %[[NV]]
// CHECK-NEXT:      linalg.yield %[[NV]], %[[NX]]
// CHECK-NOT:     linalg.generic
func.func @in_place(%v: memref<64xf32>, %x: memref<64xf32>) {
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%v, %x : memref<64xf32>, memref<64xf32>) outs(%v : memref<64xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %n = arith.subf %l, %r : f32
    linalg.yield %n : f32
  }
  memref.copy %v, %v : memref<64xf32> to memref<64xf32>
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %v : memref<64xf32>, memref<64xf32>) outs(%x : memref<64xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %n = arith.addf %l, %r : f32
    linalg.yield %n : f32
  }
  return
}

// -----

#row = affine_map<(d0, d1) -> (d0, d1)>
#id = affine_map<(d0) -> (d0)>

// Dimensions of one element do not count. The temporary is read again after another op: it stays.
// CHECK-DAG:   #[[ROW:.*]] = affine_map<(d0) -> (0, d0)>
// CHECK-DAG:   #[[ID:.*]] = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func @row(
// CHECK:         %[[T:.*]] = memref.alloc
// CHECK:         %[[R:.*]] = memref.expand_shape %[[T]]
// CHECK:         linalg.generic {indexing_maps = [#[[ROW]], #[[ROW]], #[[ID]]], iterator_types = ["parallel"]} ins(%{{.*}} : {{.*}}) outs(%[[R]], %arg1 :
// CHECK-NOT:     linalg.generic
// CHECK:         call @read(%[[T]])
func.func private @read(memref<64xf32>)
func.func @row(%x: memref<3x64xf32>, %a: memref<64xf32>) {
  %one = arith.constant 1.0 : f32
  %r = memref.subview %x[1, 0] [1, 64] [1, 1] : memref<3x64xf32> to memref<1x64xf32, strided<[64, 1], offset: 64>>
  %t = memref.alloc() : memref<64xf32>
  %t2 = memref.expand_shape %t [[0, 1]] output_shape [1, 64] : memref<64xf32> into memref<1x64xf32>
  linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel", "parallel"]}
      ins(%r : memref<1x64xf32, strided<[64, 1], offset: 64>>) outs(%t2 : memref<1x64xf32>) {
  ^bb0(%l: f32, %o: f32):
    %v = arith.addf %l, %one : f32
    linalg.yield %v : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%t : memref<64xf32>) outs(%a : memref<64xf32>) {
  ^bb0(%l: f32, %o: f32):
    %v = arith.mulf %l, %l : f32
    linalg.yield %v : f32
  }
  func.call @read(%t) : (memref<64xf32>) -> ()
  return
}

// -----

#id = affine_map<(d0) -> (d0)>

// The second op reads the element before the one that it writes: two loops.
// CHECK-LABEL: func.func @shifted(
// CHECK:         linalg.generic
// CHECK:         linalg.generic
func.func @shifted(%x: memref<65xf32>, %y: memref<64xf32>) {
  %two = arith.constant 2.0 : f32
  %from = memref.subview %x[0] [64] [1] : memref<65xf32> to memref<64xf32, strided<[1]>>
  %to = memref.subview %x[1] [64] [1] : memref<65xf32> to memref<64xf32, strided<[1], offset: 1>>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%y : memref<64xf32>) outs(%to : memref<64xf32, strided<[1], offset: 1>>) {
  ^bb0(%l: f32, %o: f32):
    %v = arith.mulf %l, %two : f32
    linalg.yield %v : f32
  }
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%from, %y : memref<64xf32, strided<[1]>>, memref<64xf32>) outs(%y : memref<64xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %v = arith.addf %l, %r : f32
    linalg.yield %v : f32
  }
  return
}

// -----

#id = affine_map<(d0) -> (d0)>

// Nothing in common, other sizes, and a schedule of the program's own: each keeps its loop.
// CHECK-LABEL: func.func @apart(
// CHECK-COUNT-4: linalg.generic
func.func @apart(%x: memref<64xf32>, %y: memref<64xf32>, %z: memref<32xf32>, %a: memref<64xf32>, %b: memref<64xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : memref<64xf32>) outs(%a : memref<64xf32>) {
  ^bb0(%l: f32, %o: f32):
    %v = arith.negf %l : f32
    linalg.yield %v : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%y : memref<64xf32>) outs(%b : memref<64xf32>) {
  ^bb0(%l: f32, %o: f32):
    %v = arith.negf %l : f32
    linalg.yield %v : f32
  }
  %part = memref.subview %b[0] [32] [1] : memref<64xf32> to memref<32xf32, strided<[1]>>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%part : memref<32xf32, strided<[1]>>) outs(%z : memref<32xf32>) {
  ^bb0(%l: f32, %o: f32):
    %v = arith.negf %l : f32
    linalg.yield %v : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%part : memref<32xf32, strided<[1]>>) outs(%z : memref<32xf32>)
      attrs = {array.schedule = {lanes = 16 : i64, loops = ["d0: 32"], vector = 0 : i64}} {
  ^bb0(%l: f32, %o: f32):
    %v = arith.addf %l, %l : f32
    linalg.yield %v : f32
  }
  return
}
