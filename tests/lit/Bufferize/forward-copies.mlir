// RUN: array-opt %s --pass-pipeline='builtin.module(func.func(array-forward-copies))' --split-input-file | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// A rotation by one: its reader becomes one op for the part that moved to the front and one for the rest.
// CHECK-LABEL: func.func @rotated(
// CHECK-SAME:    %[[X:.*]]: memref<1024xf32>, %[[R:.*]]: memref<1024xf32>)
// CHECK-NOT:     memref.alloc
// CHECK-NOT:     memref.copy
// CHECK:         %[[LAST:.*]] = memref.subview %[[X]][1023] [1] [1]
// CHECK:         %[[X0:.*]] = memref.subview %[[X]][0] [1] [1]
// CHECK:         %[[R0:.*]] = memref.subview %[[R]][0] [1] [1]
// CHECK:         linalg.generic {{.*}} ins({{.*}}, %[[X0]] : {{.*}}) outs(%[[R0]] :
// CHECK:         %[[X1:.*]] = memref.subview %[[X]][1] [1023] [1]
// CHECK:         %[[R1:.*]] = memref.subview %[[R]][1] [1023] [1]
// CHECK:         linalg.generic {{.*}} outs(%[[R1]] :
// CHECK-NOT:     linalg.generic
func.func @rotated(%x: memref<1024xf32>, %r: memref<1024xf32>) {
  %t = memref.alloc() : memref<1024xf32>
  %last = memref.subview %x[1023] [1] [1] : memref<1024xf32> to memref<1xf32, strided<[1], offset: 1023>>
  %first = memref.subview %t[0] [1] [1] : memref<1024xf32> to memref<1xf32, strided<[1]>>
  memref.copy %last, %first : memref<1xf32, strided<[1], offset: 1023>> to memref<1xf32, strided<[1]>>
  %others = memref.subview %x[0] [1023] [1] : memref<1024xf32> to memref<1023xf32, strided<[1]>>
  %rest = memref.subview %t[1] [1023] [1] : memref<1024xf32> to memref<1023xf32, strided<[1], offset: 1>>
  memref.copy %others, %rest : memref<1023xf32, strided<[1]>> to memref<1023xf32, strided<[1], offset: 1>>
  linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%t, %x : memref<1024xf32>, memref<1024xf32>) outs(%r : memref<1024xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#id = affine_map<(d0) -> (d0)>

// Padding: a number is read as one, and linalg.index still counts from the start.
// CHECK-LABEL: func.func @padded(
// CHECK-SAME:    %[[X:.*]]: memref<1022xf32>, %[[R:.*]]: memref<1024xf32>)
// CHECK:         %[[ZERO:.*]] = arith.constant 0.0
// CHECK-NOT:     memref.alloc
// CHECK-NOT:     linalg.fill
// CHECK:         linalg.generic {{.*}} ins(%[[ZERO]] : f32)
// CHECK:         linalg.generic {{.*}} ins(%[[X]] : memref<1022xf32>)
// CHECK:           %[[I:.*]] = linalg.index 0
// CHECK:           %[[ONE:.*]] = arith.constant 1 : index
// CHECK:           arith.addi %[[I]], %[[ONE]] : index
// CHECK:         linalg.generic {{.*}} ins(%[[ZERO]] : f32)
// CHECK:           %[[CLAST:.*]] = arith.constant 1023 : index
func.func @padded(%x: memref<1022xf32>, %r: memref<1024xf32>) {
  %zero = arith.constant 0.0 : f32
  %t = memref.alloc() : memref<1024xf32>
  linalg.fill ins(%zero : f32) outs(%t : memref<1024xf32>)
  %inside = memref.subview %t[1] [1022] [1] : memref<1024xf32> to memref<1022xf32, strided<[1], offset: 1>>
  memref.copy %x, %inside : memref<1022xf32> to memref<1022xf32, strided<[1], offset: 1>>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%t : memref<1024xf32>) outs(%r : memref<1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %f = arith.sitofp %j : i32 to f32
    %s = arith.addf %a, %f : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#id = affine_map<(d0) -> (d0)>

// Not if a source is overwritten before the read.
// CHECK-LABEL: func.func @overwritten(
// CHECK:         memref.alloc
// CHECK:         memref.copy
func.func @overwritten(%x: memref<1024xf32>, %r: memref<1024xf32>) {
  %t = memref.alloc() : memref<1024xf32>
  memref.copy %x, %t : memref<1024xf32> to memref<1024xf32>
  linalg.exp ins(%r : memref<1024xf32>) outs(%x : memref<1024xf32>)
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%t : memref<1024xf32>) outs(%r : memref<1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return
}

// -----

#id = affine_map<(d0) -> (d0)>

// Nor if the reader itself overwrites a source, nor for small temporaries.
// CHECK-LABEL: func.func @itself(
// CHECK-COUNT-3: memref.copy
func.func @itself(%x: memref<1024xf32>, %y: memref<8xf32>, %r: memref<8xf32>) {
  %t = memref.alloc() : memref<1024xf32>
  memref.copy %x, %t : memref<1024xf32> to memref<1024xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%t : memref<1024xf32>) outs(%x : memref<1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  %s = memref.alloc() : memref<8xf32>
  %a = memref.subview %y[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
  %b = memref.subview %y[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  %c = memref.subview %s[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
  %d = memref.subview %s[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  memref.copy %a, %d : memref<4xf32, strided<[1]>> to memref<4xf32, strided<[1], offset: 4>>
  memref.copy %b, %c : memref<4xf32, strided<[1], offset: 4>> to memref<4xf32, strided<[1]>>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%s : memref<8xf32>) outs(%r : memref<8xf32>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  }
  return
}

// -----

// A filled temporary beside a loop of unknown length: the number is read instead, by one op on whole operands.
#all = affine_map<(d0, d1) -> (d0, d1)>
#first = affine_map<(d0, d1) -> (d0, 0)>
#column = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func.func @rows(
// CHECK-SAME:    %[[X:.*]]: memref<?x2xf32>, %[[R:.*]]: memref<?x4xf32>)
// CHECK:         %[[ONE:.*]] = arith.constant 1.0
// CHECK-NOT:     memref.subview
// CHECK:         linalg.generic {{.*}} ins(%[[X]], %[[ONE]] : memref<?x2xf32>, f32) outs(%[[R]] : memref<?x4xf32>)
// CHECK:           linalg.index 0
// CHECK-NEXT:      arith.index_cast
func.func @rows(%x: memref<?x2xf32>, %r: memref<?x4xf32>) {
  %one = arith.constant 1.0 : f32
  %t = memref.alloc() : memref<4xf32>
  linalg.fill ins(%one : f32) outs(%t : memref<4xf32>)
  linalg.generic {indexing_maps = [#first, #column, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %t : memref<?x2xf32>, memref<4xf32>) outs(%r : memref<?x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %row = linalg.index 0 : index
    %number = arith.index_cast %row : index to i32
    %float = arith.sitofp %number : i32 to f32
    %c = arith.addf %a, %b : f32
    %s = arith.addf %c, %float : f32
    linalg.yield %s : f32
  }
  return
}
