// RUN: array-opt %s --pass-pipeline="builtin.module(func.func(array-forward-stores))" --split-input-file | FileCheck %s

#id = affine_map<(i) -> (i)>

// An update of a slice from another array: computed in the slice.
// CHECK-LABEL: func.func @update(
// CHECK-SAME:    %[[A:[^:]*]]: memref<10xf32>, %[[B:[^:]*]]: memref<10xf32>)
// CHECK-NOT:     alloc
// CHECK:         %[[PLACE:.*]] = memref.subview %[[B]][1] [8] [1]
// CHECK:         linalg.generic
// CHECK-SAME:      outs(%[[PLACE]] :
// CHECK-NOT:     memref.copy
func.func @update(%a: memref<10xf32>, %b: memref<10xf32>) {
  %from = memref.subview %a[2] [8] [1] : memref<10xf32> to memref<8xf32, strided<[1], offset: 2>>
  %t = memref.alloc() : memref<8xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%from : memref<8xf32, strided<[1], offset: 2>>) outs(%t : memref<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %in : f32
    linalg.yield %0 : f32
  }
  %to = memref.subview %b[1] [8] [1] : memref<10xf32> to memref<8xf32, strided<[1], offset: 1>>
  memref.copy %t, %to : memref<8xf32> to memref<8xf32, strided<[1], offset: 1>>
  return
}

// -----

#id = affine_map<(i) -> (i)>

// Each element is read before it is written: in place.
// CHECK-LABEL: func.func @add(
// CHECK-NOT:     alloc
// CHECK-NOT:     memref.copy
func.func @add(%a: memref<10xf32>) {
  %place = memref.subview %a[1] [8] [1] : memref<10xf32> to memref<8xf32, strided<[1], offset: 1>>
  %t = memref.alloc() : memref<8xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%place : memref<8xf32, strided<[1], offset: 1>>) outs(%t : memref<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %in : f32
    linalg.yield %0 : f32
  }
  memref.copy %t, %place : memref<8xf32> to memref<8xf32, strided<[1], offset: 1>>
  return
}

// -----

#id = affine_map<(i) -> (i)>

// Neighbours are read too: the former values are needed.
// CHECK-LABEL: func.func @shifted(
// CHECK:         memref.alloc
// CHECK:         memref.copy
func.func @shifted(%a: memref<10xf32>) {
  %from = memref.subview %a[0] [8] [1] : memref<10xf32> to memref<8xf32, strided<[1]>>
  %place = memref.subview %a[1] [8] [1] : memref<10xf32> to memref<8xf32, strided<[1], offset: 1>>
  %t = memref.alloc() : memref<8xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%from : memref<8xf32, strided<[1]>>) outs(%t : memref<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %in : f32
    linalg.yield %0 : f32
  }
  memref.copy %t, %place : memref<8xf32> to memref<8xf32, strided<[1], offset: 1>>
  return
}

// -----

#id = affine_map<(i) -> (i)>

// A read of the destination between the op and the copy, and a write.
// CHECK-LABEL: func.func @between(
// CHECK:         %[[T:.*]] = memref.alloc
// CHECK:         linalg.generic {{.*}} outs(%[[T]] :
// CHECK:         %[[U:.*]] = memref.alloc
// CHECK:         linalg.generic {{.*}} outs(%[[U]] :
// CHECK:         memref.copy %[[T]],
// CHECK:         memref.copy %[[U]],
func.func @between(%a: memref<8xf32>, %b: memref<8xf32>, %c: memref<8xf32>) {
  %t = memref.alloc() : memref<8xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : memref<8xf32>) outs(%t : memref<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %in : f32
    linalg.yield %0 : f32
  }
  %u = memref.alloc() : memref<8xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%b : memref<8xf32>) outs(%u : memref<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.mulf %in, %in : f32
    linalg.yield %0 : f32
  }
  memref.copy %t, %b : memref<8xf32> to memref<8xf32>
  memref.copy %u, %c : memref<8xf32> to memref<8xf32>
  memref.copy %c, %u : memref<8xf32> to memref<8xf32>
  return
}

// -----

#id = affine_map<(i) -> (i)>

// Another part of the same array is free to be read; the temporary may have another shape than the destination.
// CHECK-LABEL: func.func @stack(
// CHECK-SAME:    %[[A:[^:]*]]: memref<2x8xf32>)
// CHECK-NOT:     alloc
// CHECK:         %[[ROW:.*]] = memref.collapse_shape %{{.*}} {{\[}}[0, 1]]
// CHECK:         linalg.generic
// CHECK-SAME:      outs(%[[ROW]] :
// CHECK-NOT:     memref.copy
func.func @stack(%a: memref<2x8xf32>) {
  %from = memref.subview %a[0, 0] [1, 8] [1, 1] : memref<2x8xf32> to memref<8xf32, strided<[1]>>
  %t = memref.alloc() : memref<8xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%from : memref<8xf32, strided<[1]>>) outs(%t : memref<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %in : f32
    linalg.yield %0 : f32
  }
  %row = memref.expand_shape %t [[0, 1]] output_shape [1, 8] : memref<8xf32> into memref<1x8xf32>
  %to = memref.subview %a[1, 0] [1, 8] [1, 1] : memref<2x8xf32> to memref<1x8xf32, strided<[8, 1], offset: 8>>
  memref.copy %row, %to : memref<1x8xf32> to memref<1x8xf32, strided<[8, 1], offset: 8>>
  return
}
