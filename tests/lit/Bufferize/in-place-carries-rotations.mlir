// RUN: array-opt %s --pass-pipeline='builtin.module(func.func(array-in-place-carries),eliminate-empty-tensors,one-shot-bufferize,canonicalize)' | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// u, before = u + before, u: two steps become one, each of which overwrites the value that it replaces; the remaining
// odd step follows.
// CHECK-LABEL: func.func @leapfrog(
// CHECK:         scf.for %{{.*}} = %c0 to %c10 step %c2
// CHECK-NOT:       memref.alloc
// CHECK-NOT:       memref.copy
// CHECK:           linalg.generic {{.*}} ins(%[[U:.*]], %[[BEFORE:.*]] : {{.*}}) outs(%[[BEFORE]] :
// CHECK-NOT:       memref.copy
// CHECK:           linalg.generic {{.*}} ins(%[[BEFORE]], %[[U]] : {{.*}}) outs(%[[U]] :
// CHECK-NOT:       memref.copy
// CHECK:         }
func.func @leapfrog(%u: tensor<2048xf32>, %before: tensor<2048xf32>) -> (tensor<2048xf32>, tensor<2048xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c11 = arith.constant 11 : index
  %r:2 = scf.for %i = %c0 to %c11 step %c1 iter_args(%x = %u, %y = %before) -> (tensor<2048xf32>, tensor<2048xf32>) {
    %empty = tensor.empty() : tensor<2048xf32>
    %next = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%x, %y : tensor<2048xf32>, tensor<2048xf32>) outs(%empty : tensor<2048xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<2048xf32>
    scf.yield %next, %x : tensor<2048xf32>, tensor<2048xf32>
  } {array.control_flow}
  return %r#0, %r#1 : tensor<2048xf32>, tensor<2048xf32>
}

// Small carries are copied: the code of another step would cost more.
// CHECK-LABEL: func.func @small(
// CHECK:         scf.for %{{.*}} = %c0 to %c11 step %c1
func.func @small(%u: tensor<8xf32>, %v: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c11 = arith.constant 11 : index
  %r:2 = scf.for %i = %c0 to %c11 step %c1 iter_args(%x = %u, %y = %v) -> (tensor<8xf32>, tensor<8xf32>) {
    scf.yield %y, %x : tensor<8xf32>, tensor<8xf32>
  } {array.control_flow}
  return %r#0, %r#1 : tensor<8xf32>, tensor<8xf32>
}
