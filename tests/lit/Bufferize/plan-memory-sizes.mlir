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
