// RUN: array-opt %s --pass-pipeline='builtin.module(func.func(array-reuse-buffers))' --split-input-file | FileCheck %s
// Results with gaps can't be the memory of temporaries; the dense ones at the end are.

#id = affine_map<(d0, d1) -> (d0, d1)>
#t = affine_map<(d0, d1) -> (d1, d0)>
#row = affine_map<(d0, d1) -> (d1)>

// %b may use the memory of %a, whose last reader is the op that makes %b; so may %c, through a reshape.
// CHECK-LABEL: func.func @chain(
// CHECK-SAME:    %[[X:.*]]: memref<4x8xf32>, %[[R:.*]]: memref<4x8xf32, strided<[16, 2]>>)
// CHECK:         %[[A:.*]] = memref.alloc() : memref<4x8xf32>
// CHECK-NOT:     memref.alloc
// CHECK:         linalg.exp ins(%[[X]] : memref<4x8xf32>) outs(%[[A]] : memref<4x8xf32>)
// CHECK:         linalg.exp ins(%[[A]] : memref<4x8xf32>) outs(%[[A]] : memref<4x8xf32>)
// CHECK:         linalg.exp ins(%[[A]] : memref<4x8xf32>) outs(%[[R]] : memref<4x8xf32, strided<[16, 2]>>)
func.func @chain(%x: memref<4x8xf32>, %r: memref<4x8xf32, strided<[16, 2]>>) {
  %a = memref.alloc() : memref<4x8xf32>
  %b = memref.alloc() : memref<4x8xf32>
  linalg.exp ins(%x : memref<4x8xf32>) outs(%a : memref<4x8xf32>)
  linalg.exp ins(%a : memref<4x8xf32>) outs(%b : memref<4x8xf32>)
  linalg.exp ins(%b : memref<4x8xf32>) outs(%r : memref<4x8xf32, strided<[16, 2]>>)
  return
}

// -----

// CHECK-LABEL: func.func @reshaped(
// CHECK:         %[[A:.*]] = memref.alloc() : memref<32xf32>
// CHECK-NOT:     memref.alloc
// CHECK:         %[[B:.*]] = memref.reinterpret_cast %[[A]] to offset: [0], sizes: [4, 8], strides: [8, 1]
// CHECK:         %[[V:.*]] = memref.expand_shape %[[A]]
// CHECK:         linalg.exp ins(%[[V]] : memref<4x8xf32>) outs(%[[B]] :
func.func @reshaped(%x: memref<32xf32>, %r: memref<4x8xf32, strided<[16, 2]>>) {
  %a = memref.alloc() : memref<32xf32>
  %b = memref.alloc() : memref<4x8xf32>
  linalg.exp ins(%x : memref<32xf32>) outs(%a : memref<32xf32>)
  %v = memref.expand_shape %a [[0, 1]] output_shape [4, 8] : memref<32xf32> into memref<4x8xf32>
  linalg.exp ins(%v : memref<4x8xf32>) outs(%b : memref<4x8xf32>)
  linalg.exp ins(%b : memref<4x8xf32>) outs(%r : memref<4x8xf32, strided<[16, 2]>>)
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#t = affine_map<(d0, d1) -> (d1, d0)>

// Not if the operand is read later, or in another order, or is an argument.
// CHECK-LABEL: func.func @apart(
// CHECK-COUNT-3: memref.alloc
func.func @apart(%x: memref<8x8xf32>, %r: memref<8x8xf32, strided<[16, 2]>>) {
  %a = memref.alloc() : memref<8x8xf32>
  %b = memref.alloc() : memref<8x8xf32>
  %c = memref.alloc() : memref<8x8xf32>
  linalg.exp ins(%x : memref<8x8xf32>) outs(%a : memref<8x8xf32>)
  linalg.exp ins(%a : memref<8x8xf32>) outs(%b : memref<8x8xf32>)
  linalg.generic {indexing_maps = [#id, #t, #id], iterator_types = ["parallel", "parallel"]}
      ins(%b, %b : memref<8x8xf32>, memref<8x8xf32>) outs(%c : memref<8x8xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  }
  linalg.add ins(%a, %c : memref<8x8xf32>, memref<8x8xf32>) outs(%r : memref<8x8xf32, strided<[16, 2]>>)
  return
}

// -----

// A buffer that is used after an iteration is not overwritten in it.
// CHECK-LABEL: func.func @loop(
// CHECK:         %[[A:.*]] = memref.alloc() : memref<8xf32>
// CHECK:         scf.for
// CHECK:           %[[B:.*]] = memref.alloc() : memref<8xf32>
// CHECK:           linalg.exp ins(%[[A]] : memref<8xf32>) outs(%[[B]] : memref<8xf32>)
// CHECK:           linalg.exp ins(%[[B]] : memref<8xf32>) outs(%[[B]] : memref<8xf32>)
func.func @loop(%x: memref<8xf32>, %r: memref<8xf32, strided<[2]>>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<8xf32>
  linalg.exp ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
  scf.for %i = %c0 to %n step %c1 {
    %b = memref.alloc() : memref<8xf32>
    %c = memref.alloc() : memref<8xf32>
    linalg.exp ins(%a : memref<8xf32>) outs(%b : memref<8xf32>)
    linalg.exp ins(%b : memref<8xf32>) outs(%c : memref<8xf32>)
    memref.copy %c, %r : memref<8xf32> to memref<8xf32, strided<[2]>>
  }
  return
}

// -----

// A copy of a buffer without later readers is removed.
// CHECK-LABEL: func.func @copy(
// CHECK-COUNT-1: memref.alloc
// CHECK-NOT:     memref.copy
// CHECK:         return
func.func @copy(%x: memref<8xf32>, %r: memref<8xf32, strided<[2]>>) {
  %a = memref.alloc() : memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  linalg.exp ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
  memref.copy %a, %b : memref<8xf32> to memref<8xf32>
  linalg.exp ins(%b : memref<8xf32>) outs(%r : memref<8xf32, strided<[2]>>)
  return
}

// -----

// The epilogue of a matmul follows it, but does not cross an op that writes its operands.
func.func private @product(memref<8xf32>)
// CHECK-LABEL: func.func @follow(
// CHECK-SAME:    %[[W:.*]]: memref<8xf32>, %[[V:.*]]: memref<8xf32>, %[[R:.*]]: memref<8xf32, strided<[2]>>, %[[S:.*]]: memref<8xf32, strided<[2]>>)
// CHECK:         %[[A:.*]] = memref.alloc() : memref<8xf32>
// CHECK:         %[[B:.*]] = memref.alloc() : memref<8xf32>
// CHECK:         call @product(%[[A]])
// CHECK-NEXT:    linalg.add ins(%[[W]], %[[A]] : memref<8xf32>, memref<8xf32>) outs(%[[R]] : memref<8xf32, strided<[2]>>)
// CHECK-NEXT:    call @product(%[[B]])
// CHECK-NEXT:    linalg.exp ins(%[[W]] : memref<8xf32>) outs(%[[V]] : memref<8xf32>)
// CHECK-NEXT:    linalg.add ins(%[[V]], %[[B]] : memref<8xf32>, memref<8xf32>) outs(%[[S]] : memref<8xf32, strided<[2]>>)
func.func @follow(%w: memref<8xf32>, %v: memref<8xf32>, %r: memref<8xf32, strided<[2]>>, %s: memref<8xf32, strided<[2]>>) {
  %a = memref.alloc() : memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  func.call @product(%a) : (memref<8xf32>) -> ()
  func.call @product(%b) : (memref<8xf32>) -> ()
  linalg.exp ins(%w : memref<8xf32>) outs(%v : memref<8xf32>)
  linalg.add ins(%w, %a : memref<8xf32>, memref<8xf32>) outs(%r : memref<8xf32, strided<[2]>>)
  linalg.add ins(%v, %b : memref<8xf32>, memref<8xf32>) outs(%s : memref<8xf32, strided<[2]>>)
  return
}

// -----

// The result of a branch is used after it.
// CHECK-LABEL: func.func @branch(
// CHECK-COUNT-2: memref.alloc
func.func @branch(%c: i1, %x: memref<8xf32>, %r: memref<8xf32, strided<[2]>>) {
  %y = scf.if %c -> memref<8xf32> {
    %a = memref.alloc() : memref<8xf32>
    %b = memref.alloc() : memref<8xf32>
    linalg.exp ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
    linalg.exp ins(%a : memref<8xf32>) outs(%b : memref<8xf32>)
    memref.copy %b, %r : memref<8xf32> to memref<8xf32, strided<[2]>>
    scf.yield %a : memref<8xf32>
  } else {
    scf.yield %x : memref<8xf32>
  }
  memref.copy %y, %r : memref<8xf32> to memref<8xf32, strided<[2]>>
  return
}

// -----

#none = affine_map<() -> ()>

// A scalar that the body uses must be there, although it is no operand.
// CHECK-LABEL: func.func @captured(
// CHECK:         memref.load
// CHECK-NEXT:    %[[N:.*]] = arith.addf
// CHECK-NEXT:    linalg.generic
// CHECK:           arith.mulf %{{.*}}, %[[N]]
func.func @captured(%x: memref<f32>, %r: memref<f32>) {
  %a = memref.alloc() : memref<f32>
  linalg.exp ins(%x : memref<f32>) outs(%a : memref<f32>)
  %l = memref.load %a[] : memref<f32>
  %n = arith.addf %l, %l : f32
  linalg.generic {indexing_maps = [#none, #none], iterator_types = []}
      ins(%a : memref<f32>) outs(%r : memref<f32>) {
  ^bb0(%p: f32, %o: f32):
    %m = arith.mulf %p, %n : f32
    linalg.yield %m : f32
  }
  return
}

// -----

// A temporary that ends where a result begins is computed in the result's memory: reshaped, or by a sort.
// CHECK-LABEL: func.func @in_results(
// CHECK-SAME:    %[[X:.*]]: memref<4x8xf32>, %[[R:.*]]: memref<32xf32>, %[[I:.*]]: memref<32xi32>)
// CHECK:         %[[PLACE:.*]] = memref.reinterpret_cast %[[R]] to offset: [0], sizes: [4, 8], strides: [8, 1]
// CHECK:         linalg.exp ins(%[[X]] : memref<4x8xf32>) outs(%[[PLACE]] :
// CHECK-NOT:     memref.copy
// CHECK:         linalg.fill {{.*}} outs(%[[I]] : memref<32xi32>)
// CHECK:         %[[KEYS:.*]] = memref.alloc() : memref<32xf32>
// CHECK:         array.runtime_call "sort" {{.*}} ins(%[[R]], %[[I]] : {{.*}}) outs(%[[KEYS]], %[[I]] :
func.func @in_results(%x: memref<4x8xf32>, %r: memref<32xf32>, %i: memref<32xi32>) {
  %a = memref.alloc() : memref<4x8xf32>
  linalg.exp ins(%x : memref<4x8xf32>) outs(%a : memref<4x8xf32>)
  %flat = memref.collapse_shape %a [[0, 1]] : memref<4x8xf32> into memref<32xf32>
  memref.copy %flat, %r : memref<32xf32> to memref<32xf32>
  %b = memref.alloc() : memref<32xi32>
  %one = arith.constant 1 : i32
  linalg.fill ins(%one : i32) outs(%b : memref<32xi32>)
  %keys = memref.alloc() : memref<32xf32>
  array.runtime_call "sort" params = [0, 1, 1] element_types = [f32, i32, f32, i32]
      ins(%r, %b : memref<32xf32>, memref<32xi32>) outs(%keys, %i : memref<32xf32>, memref<32xi32>)
  return
}

// -----

#id = affine_map<(d0) -> (d0)>
#back = affine_map<(d0) -> (7 - d0)>

// Not if the result is read before, nor if the temporary is read later, or in another order.
// CHECK-LABEL: func.func @not_in_results(
// CHECK-COUNT-3: memref.alloc
func.func @not_in_results(%x: memref<8xf32>, %r: memref<8xf32>, %s: memref<8xf32>, %t: memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  linalg.add ins(%x, %r : memref<8xf32>, memref<8xf32>) outs(%a : memref<8xf32>)
  linalg.exp ins(%a : memref<8xf32>) outs(%r : memref<8xf32>)
  %b = memref.alloc() : memref<8xf32>
  linalg.exp ins(%x : memref<8xf32>) outs(%b : memref<8xf32>)
  linalg.exp ins(%b : memref<8xf32>) outs(%s : memref<8xf32>)
  %c = memref.alloc() : memref<8xf32>
  linalg.add ins(%x, %r : memref<8xf32>, memref<8xf32>) outs(%c : memref<8xf32>)
  linalg.generic {indexing_maps = [#id, #back, #back, #id], iterator_types = ["parallel"]}
      ins(%c, %c, %b : memref<8xf32>, memref<8xf32>, memref<8xf32>) outs(%t : memref<8xf32>) {
  ^bb0(%p: f32, %q: f32, %y: f32, %o: f32):
    %part = arith.addf %p, %q : f32
    %sum = arith.addf %part, %y : f32
    linalg.yield %sum : f32
  }
  return
}

// -----

// A sort is not an epilogue of a matmul.
// CHECK-LABEL: func.func @sorted_twice(
// CHECK:         "sort"
// CHECK:         linalg.exp
// CHECK:         "sort"
func.func @sorted_twice(%x: memref<8xf32>, %y: memref<8xf32>, %r: memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  array.runtime_call "sort" params = [0, 1, 1] element_types = [f32, f32] ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
  linalg.exp ins(%x : memref<8xf32>) outs(%y : memref<8xf32>)
  array.runtime_call "sort" params = [0, 1, 1] element_types = [f32, f32] ins(%a : memref<8xf32>) outs(%r : memref<8xf32>)
  return
}

// -----

// The exponentials of a block are in its part of the result from the start. The part is known before the temporary.
// CHECK-LABEL: func.func @block(
// CHECK-SAME:    %[[X:.*]]: memref<8x16xf32>, %[[R:.*]]: memref<64x16xf32>, %[[I:.*]]: index)
// CHECK-NOT:     memref.alloc() : memref<8x16xf32>
// CHECK:         %[[PART:.*]] = memref.subview %[[R]][%[[I]], 0] [8, 16] [1, 1]
// CHECK:         linalg.exp ins(%[[X]] : memref<8x16xf32>) outs(%[[PART]] :
// CHECK:         linalg.generic {{.*}} ins(%[[PART]] :
// CHECK:         linalg.generic {{.*}} ins(%[[PART]], %{{.*}}) outs(%[[PART]] :
func.func @block(%x: memref<8x16xf32>, %r: memref<64x16xf32>, %i: index) {
  %e = memref.alloc() : memref<8x16xf32>
  %s = memref.alloc() : memref<8xf32>
  %zero = arith.constant 0.0 : f32
  linalg.exp ins(%x : memref<8x16xf32>) outs(%e : memref<8x16xf32>)
  linalg.fill ins(%zero : f32) outs(%s : memref<8xf32>)
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%e : memref<8x16xf32>) outs(%s : memref<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %a, %o : f32
    linalg.yield %t : f32
  }
  %part = memref.subview %r[%i, 0] [8, 16] [1, 1] : memref<64x16xf32> to memref<8x16xf32, strided<[16, 1], offset: ?>>
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>,
                                   affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%e, %s : memref<8x16xf32>, memref<8xf32>) outs(%part : memref<8x16xf32, strided<[16, 1], offset: ?>>) {
  ^bb0(%a: f32, %t: f32, %o: f32):
    %d = arith.divf %a, %t : f32
    linalg.yield %d : f32
  }
  return
}

// -----

// The buffer of the part is read while the temporary lives: of a block that another step has written.
// CHECK-LABEL: func.func @read_between(
// CHECK:         %[[E:.*]] = memref.alloc() : memref<8x16xf32>
// CHECK:         linalg.exp {{.*}} outs(%[[E]] : memref<8x16xf32>)
func.func @read_between(%x: memref<8x16xf32>, %r: memref<64x16xf32>, %i: index, %j: index) {
  %e = memref.alloc() : memref<8x16xf32>
  %before = memref.subview %r[%j, 0] [8, 16] [1, 1] : memref<64x16xf32> to memref<8x16xf32, strided<[16, 1], offset: ?>>
  linalg.exp ins(%x : memref<8x16xf32>) outs(%e : memref<8x16xf32>)
  linalg.add ins(%e, %before : memref<8x16xf32>, memref<8x16xf32, strided<[16, 1], offset: ?>>)
      outs(%e : memref<8x16xf32>)
  %part = memref.subview %r[%i, 0] [8, 16] [1, 1] : memref<64x16xf32> to memref<8x16xf32, strided<[16, 1], offset: ?>>
  linalg.exp ins(%e : memref<8x16xf32>) outs(%part : memref<8x16xf32, strided<[16, 1], offset: ?>>)
  return
}

// -----

// Rows of ten elements end within a vector: in place, each row's load would wait for the store of the row before.
// CHECK-LABEL: func.func @ragged_rows(
// CHECK-SAME:      %[[X:.*]]: memref<8x10xf32>, %[[S:.*]]: memref<8xf32>, %[[R:.*]]: memref<8x10xf32>
// CHECK:         %[[E:.*]] = memref.alloc() : memref<8x10xf32>
// CHECK:         linalg.exp ins(%[[X]] : memref<8x10xf32>) outs(%[[E]] :
// CHECK:         linalg.generic {{.*}} ins(%[[E]], %[[S]] : {{.*}}) outs(%[[R]] :
func.func @ragged_rows(%x: memref<8x10xf32>, %s: memref<8xf32>, %r: memref<8x10xf32>) {
  %e = memref.alloc() : memref<8x10xf32>
  linalg.exp ins(%x : memref<8x10xf32>) outs(%e : memref<8x10xf32>)
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>,
                                   affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%e, %s : memref<8x10xf32>, memref<8xf32>) outs(%r : memref<8x10xf32>) {
  ^bb0(%a: f32, %t: f32, %o: f32):
    %d = arith.divf %a, %t : f32
    linalg.yield %d : f32
  }
  return
}
