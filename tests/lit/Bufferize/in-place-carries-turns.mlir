// RUN: array-opt %s --pass-pipeline='builtin.module(func.func(array-in-place-carries),eliminate-empty-tensors,one-shot-bufferize,canonicalize)' | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// Each element follows from another one: the first of two steps writes a second buffer, the second step writes the
// first one, and nothing is copied.
// CHECK-LABEL: func.func @halves(
// CHECK:         scf.for %{{.*}} = %c0 to %c10 step %c2
// CHECK:           %[[OTHER:.*]] = memref.alloc
// CHECK:           linalg.generic {{.*}} ins(%{{.*}}, %[[CARRY:[^ ]*]] : {{.*}}) outs(%[[OTHER]] :
// CHECK-NOT:       memref.alloc
// CHECK-NOT:       memref.copy
// CHECK:           linalg.generic {{.*}} ins({{.*}}, %[[OTHER]] : {{.*}}) outs(%[[CARRY]] :
// CHECK-NOT:       memref.copy
// CHECK:         }
func.func @halves(%init: tensor<2048xf32>) -> tensor<2048xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %r = scf.for %i = %c0 to %c10 step %c1 iter_args(%x = %init) -> (tensor<2048xf32>) {
    %slice = tensor.extract_slice %x[1] [1024] [1] : tensor<2048xf32> to tensor<1024xf32>
    %empty = tensor.empty() : tensor<2048xf32>
    %next = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0 floordiv 2)>, #id, #id], iterator_types = ["parallel"]}
        ins(%slice, %x : tensor<1024xf32>, tensor<2048xf32>) outs(%empty : tensor<2048xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<2048xf32>
    scf.yield %next : tensor<2048xf32>
  } {array.control_flow}
  return %r : tensor<2048xf32>
}

// A part is set. The second buffer starts as a copy, so that it has the other elements.
// CHECK-LABEL: func.func @part(
// CHECK:         memref.copy
// CHECK:         scf.for %{{.*}} = %c0 to %c10 step %c2
// CHECK-NOT:       memref.alloc
// CHECK:           %[[LEFT:.*]] = memref.subview %[[A:.*]][0] [2046] [1]
// CHECK:           %[[PLACE:.*]] = memref.subview %[[B:.*]][1] [2046] [1]
// CHECK:           linalg.generic {{.*}} ins(%[[LEFT]] : {{.*}}) outs(%[[PLACE]] :
// CHECK-NOT:       memref.alloc
// CHECK:           linalg.generic {{.*}} outs(
// CHECK-NOT:       memref.alloc
// CHECK:         }
func.func @part(%init: tensor<2048xf32>) -> tensor<2048xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %r = scf.for %i = %c0 to %c10 step %c1 iter_args(%x = %init) -> (tensor<2048xf32>) {
    %left = tensor.extract_slice %x[0] [2046] [1] : tensor<2048xf32> to tensor<2046xf32>
    %empty = tensor.empty() : tensor<2046xf32>
    %next = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%left : tensor<2046xf32>) outs(%empty : tensor<2046xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %a : f32
      linalg.yield %s : f32
    } -> tensor<2046xf32>
    %set = tensor.insert_slice %next into %x[1] [2046] [1] : tensor<2046xf32> into tensor<2048xf32>
    scf.yield %set : tensor<2048xf32>
  } {array.control_flow}
  return %r : tensor<2048xf32>
}

// The part moves, so the elements beside it are not those of the step before: one buffer, and a step for each.
// CHECK-LABEL: func.func @moving(
// CHECK:         scf.for %{{.*}} = %c0 to %c10 step %c1
func.func @moving(%init: tensor<2048xf32>) -> tensor<2048xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %r = scf.for %i = %c0 to %c10 step %c1 iter_args(%x = %init) -> (tensor<2048xf32>) {
    %left = tensor.extract_slice %x[0] [1024] [1] : tensor<2048xf32> to tensor<1024xf32>
    %empty = tensor.empty() : tensor<1024xf32>
    %next = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%left : tensor<1024xf32>) outs(%empty : tensor<1024xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %a : f32
      linalg.yield %s : f32
    } -> tensor<1024xf32>
    %set = tensor.insert_slice %next into %x[%i] [1024] [1] : tensor<1024xf32> into tensor<2048xf32>
    scf.yield %set : tensor<2048xf32>
  } {array.control_flow}
  return %r : tensor<2048xf32>
}

// Each element follows from itself: in place, without a second buffer.
// CHECK-LABEL: func.func @own(
// CHECK:         scf.for %{{.*}} = %c0 to %c10 step %c1
// CHECK-NOT:       memref.alloc
// CHECK-NOT:       memref.copy
// CHECK:         }
func.func @own(%init: tensor<2048xf32>) -> tensor<2048xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %r = scf.for %i = %c0 to %c10 step %c1 iter_args(%x = %init) -> (tensor<2048xf32>) {
    %empty = tensor.empty() : tensor<2048xf32>
    %next = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
        ins(%x : tensor<2048xf32>) outs(%empty : tensor<2048xf32>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %a : f32
      linalg.yield %s : f32
    } -> tensor<2048xf32>
    scf.yield %next : tensor<2048xf32>
  } {array.control_flow}
  return %r : tensor<2048xf32>
}

// Of a loop with a condition, the second step is a branch. If there is none, the result of the first one is copied.
// CHECK-LABEL: func.func @until(
// CHECK:         scf.while
// CHECK:           %[[OTHER:.*]] = memref.alloc() {{.*}} : memref<2048xf32>
// CHECK:           linalg.generic {{.*}} ins(%{{.*}}, %[[CARRY:[^ ]*]] : {{.*}}) outs(%[[OTHER]] :
// CHECK-NOT:       memref.copy
// CHECK:           scf.if
// CHECK-NOT:         memref.alloc
// CHECK:             linalg.generic {{.*}} ins(%{{.*}}, %[[OTHER]] : {{.*}}) outs(%[[CARRY]] :
// CHECK-NOT:         memref.copy
// CHECK:           } else {
// CHECK-NEXT:        memref.copy %[[OTHER]], %[[CARRY]]
// CHECK:           }
func.func @until(%init: tensor<2048xf32>, %count: i32) -> tensor<2048xf32> {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %r:2 = scf.while (%x = %init, %i = %zero) : (tensor<2048xf32>, i32) -> (tensor<2048xf32>, i32) {
    %goes = arith.cmpi slt, %i, %count : i32
    scf.condition(%goes) %x, %i : tensor<2048xf32>, i32
  } do {
  ^bb0(%x: tensor<2048xf32>, %i: i32):
    %slice = tensor.extract_slice %x[1] [1024] [1] : tensor<2048xf32> to tensor<1024xf32>
    %empty = tensor.empty() : tensor<2048xf32>
    %next = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0 floordiv 2)>, #id, #id], iterator_types = ["parallel"]}
        ins(%slice, %x : tensor<1024xf32>, tensor<2048xf32>) outs(%empty : tensor<2048xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<2048xf32>
    %following = arith.addi %i, %one : i32
    scf.yield %next, %following : tensor<2048xf32>, i32
  }
  return %r#0 : tensor<2048xf32>
}
