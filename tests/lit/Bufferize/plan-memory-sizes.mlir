// RUN: array-opt %s --pass-pipeline='builtin.module(func.func(array-plan-memory))' --split-input-file | FileCheck %s

// Temporaries of known sizes come first. Two of symbolic sizes with disjoint lifetimes share a slot.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[ARENA:[^:]*]]: memref<?xi8> {array.role = "arena"}
// CHECK-NOT:     array.arena_bytes
// CHECK:         %[[N:.*]] = array.symbol 0 : index
// CHECK:         array.arena %[[TOTAL:.*]]
// CHECK:         memref.view %[[ARENA]][%[[AT:.*]]][%[[N]]] {{.*}} : memref<?xi8> to memref<?xf32>
// CHECK:         memref.view %[[ARENA]][%[[OTHER:.*]]][%[[N]]]
// CHECK:         memref.view %[[ARENA]][%[[AT]]][%[[N]]]
func.func @main(%x: memref<?xf32> {array.dims = affine_map<()[n] -> (n)>, array.role = "argument"},
                %r: memref<?xf32> {array.dims = affine_map<()[n] -> (n)>, array.role = "result"}) {
  %n = array.symbol 0 : index
  %a = memref.alloc(%n) : memref<?xf32>
  %b = memref.alloc(%n) : memref<?xf32>
  %c = memref.alloc(%n) : memref<?xf32>
  linalg.exp ins(%x : memref<?xf32>) outs(%a : memref<?xf32>)
  linalg.exp ins(%a : memref<?xf32>) outs(%b : memref<?xf32>)
  linalg.exp ins(%b : memref<?xf32>) outs(%c : memref<?xf32>)
  linalg.exp ins(%c : memref<?xf32>) outs(%r : memref<?xf32>)
  return
}

// -----

// The members of a slot are compared once for each product of symbolic sizes, with its largest constant: %a, %c and %e
// have n, %d has n * n.
// CHECK-LABEL: func.func @main(
// CHECK:         %[[N:.*]] = array.symbol 0 : index
// CHECK-DAG:     %[[MOST:.*]] = arith.constant 28 : index
// CHECK:         %[[FIRST:.*]] = arith.muli %[[MOST]], %[[N]]
// CHECK:         %[[SQUARE:.*]] = arith.muli %{{.*}}, %[[N]]
// CHECK-NEXT:    {{.*}} = arith.constant 1 : index
// CHECK:         %[[OTHER:.*]] = arith.muli %[[SQUARE]], %[[N]]
// CHECK-NOT:     arith.constant 12 : index
// CHECK:         arith.maxui %[[FIRST]], %[[OTHER]]
// CHECK:         array.arena
func.func @main(%x: memref<?xf32> {array.dims = affine_map<()[n] -> (n)>, array.role = "argument"},
                %r: memref<?xf32> {array.dims = affine_map<()[n] -> (n)>, array.role = "result"}) {
  %n = array.symbol 0 : index
  %one = arith.constant 1.0 : f32
  %a = memref.alloc(%n) : memref<?xf32>
  linalg.fill ins(%one : f32) outs(%a : memref<?xf32>)
  linalg.exp ins(%a : memref<?xf32>) outs(%r : memref<?xf32>)
  %c = memref.alloc(%n) : memref<?x7xf32>
  linalg.fill ins(%one : f32) outs(%c : memref<?x7xf32>)
  %d = memref.alloc(%n, %n) : memref<?x?xf32>
  linalg.fill ins(%one : f32) outs(%d : memref<?x?xf32>)
  %e = memref.alloc(%n) : memref<?x3xf32>
  linalg.fill ins(%one : f32) outs(%e : memref<?x3xf32>)
  return
}
