// RUN: array-opt %s --pass-pipeline="builtin.module(func.func(array-overlap-collectives))" --split-input-file | FileCheck %s

#id = affine_map<(i) -> (i)>

// A sum whose operand is there first, and whose result is used last: it goes on while the rest is computed.
// CHECK-LABEL: func.func @between(
// CHECK-SAME:    %[[X:[^:]*]]: memref<40000xf32>, %[[Y:[^:]*]]: memref<40000xf32>, %[[R:[^:]*]]: memref<40000xf32>)
// CHECK:         %[[G:.*]] = memref.alloc() : memref<40000xf32>
// CHECK:         linalg.generic {{.*}} ins(%[[X]] : memref<40000xf32>) outs(%[[G]] :
// CHECK:         %[[S:.*]] = memref.alloc() : memref<40000xf32>
// CHECK:         array.runtime_call "collective_start" params = [1, 0, 0, 0, 0, 1, 2, 0, 1] {{.*}} ins(%[[G]] : {{.*}}) outs(%[[S]] :
// CHECK:         linalg.generic {{.*}} ins(%[[Y]] :
// CHECK:         array.runtime_call "collective_wait" params = [] {{.*}} ins(%[[G]] : {{.*}}) outs(%[[S]] :
// CHECK:         linalg.generic {{.*}} ins(%[[S]],
// CHECK-NOT:     "collective"
func.func @between(%x: memref<40000xf32>, %y: memref<40000xf32>, %r: memref<40000xf32>) {
  %g = memref.alloc() : memref<40000xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : memref<40000xf32>) outs(%g : memref<40000xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %in : f32
    linalg.yield %0 : f32
  }
  %h = memref.alloc() : memref<40000xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%y : memref<40000xf32>) outs(%h : memref<40000xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.mulf %in, %in : f32
    linalg.yield %0 : f32
  }
  %s = memref.alloc() : memref<40000xf32>
  array.runtime_call "collective" params = [1, 0, 0, 0, 0, 1, 2, 0, 1] element_types = [f32, f32]
      ins(%g : memref<40000xf32>) outs(%s : memref<40000xf32>)
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%s, %h : memref<40000xf32>, memref<40000xf32>) outs(%r : memref<40000xf32>) {
  ^bb0(%in: f32, %other: f32, %out: f32):
    %0 = arith.addf %in, %other : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

#id = affine_map<(i) -> (i)>

// The computation overwrites the operand: nothing can go on beside it, and the call stays.
// CHECK-LABEL: func.func @overwritten(
// CHECK:         array.runtime_call "collective" params
// CHECK-NOT:     collective_
func.func @overwritten(%x: memref<40000xf32>, %y: memref<40000xf32>, %r: memref<40000xf32>) {
  array.runtime_call "collective" params = [1, 0, 0, 0, 0, 1, 2, 0, 1] element_types = [f32, f32]
      ins(%x : memref<40000xf32>) outs(%r : memref<40000xf32>)
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%y : memref<40000xf32>) outs(%x : memref<40000xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.mulf %in, %in : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

#id = affine_map<(i) -> (i)>

// Too little to compute, and a callback of the host, which keeps its side.
// CHECK-LABEL: func.func @little(
// CHECK-NOT:     collective_
// CHECK:         array.runtime_call "host_call"
// CHECK:         array.runtime_call "collective" params
// CHECK-NOT:     collective_
func.func @little(%x: memref<40000xf32>, %y: memref<40000xf32>, %z: memref<4xf32>, %r: memref<40000xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%y : memref<40000xf32>) outs(%y : memref<40000xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.mulf %in, %in : f32
    linalg.yield %0 : f32
  }
  array.runtime_call "host_call" effectful params = [0] element_types = [f32] ins(%z : memref<4xf32>)
  array.runtime_call "collective" params = [1, 0, 0, 0, 0, 1, 2, 0, 1] element_types = [f32, f32]
      ins(%x : memref<40000xf32>) outs(%r : memref<40000xf32>)
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%z : memref<4xf32>) outs(%z : memref<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.mulf %in, %in : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

#id = affine_map<(i) -> (i)>

// Two sums of parts of one buffer are on their way together; each result is awaited where it is read.
// CHECK-LABEL: func.func @two(
// CHECK:         "collective_start"
// CHECK:         "collective_start"
// CHECK:         linalg.generic {{.*}} ins(%arg1 :
// CHECK:         "collective_wait"
// CHECK:         memref.copy
// CHECK:         "collective_wait"
// CHECK:         memref.copy
func.func @two(%x: memref<80000xf32>, %y: memref<80000xf32>, %r: memref<40000xf32>, %t: memref<40000xf32>) {
  %s = memref.alloc() : memref<40000xf32>
  %u = memref.alloc() : memref<40000xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%y : memref<80000xf32>) outs(%y : memref<80000xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.mulf %in, %in : f32
    linalg.yield %0 : f32
  }
  %a = memref.subview %x[0] [40000] [1] : memref<80000xf32> to memref<40000xf32, strided<[1]>>
  array.runtime_call "collective" params = [1, 0, 0, 0, 0, 1, 2, 0, 1] element_types = [f32, f32]
      ins(%a : memref<40000xf32, strided<[1]>>) outs(%s : memref<40000xf32>)
  %b = memref.subview %x[40000] [40000] [1] : memref<80000xf32> to memref<40000xf32, strided<[1], offset: 40000>>
  array.runtime_call "collective" params = [1, 0, 0, 0, 0, 1, 2, 0, 1] element_types = [f32, f32]
      ins(%b : memref<40000xf32, strided<[1], offset: 40000>>) outs(%u : memref<40000xf32>)
  memref.copy %s, %r : memref<40000xf32> to memref<40000xf32>
  memref.copy %u, %t : memref<40000xf32> to memref<40000xf32>
  return
}
