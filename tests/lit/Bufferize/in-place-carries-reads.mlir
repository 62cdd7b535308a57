// RUN: array-opt %s --pass-pipeline='builtin.module(func.func(array-in-place-carries))' | FileCheck %s
// RUN: array-opt %s --pass-pipeline='builtin.module(func.func(array-in-place-carries),eliminate-empty-tensors,one-shot-bufferize,canonicalize)' | FileCheck %s --check-prefix=BUFFERS

// A row is written over another one whose contents are read afterwards: it is copied before. The op that drops a row
// outside of the tensor is a loop.
// CHECK-LABEL:   func.func @swap(
// CHECK:           scf.for %[[I:.*]] = {{.*}} iter_args(%[[X:.*]] = %{{.*}})
// CHECK:             %[[NEXT:.*]] = tensor.extract_slice %[[X]]
// CHECK:             %[[A:.*]] = bufferization.alloc_tensor() copy(%[[NEXT]]) : tensor<1x6xf32>
// CHECK:             %[[THIS:.*]] = tensor.extract_slice %[[X]][%[[I]], 0]
// CHECK:             %[[B:.*]] = bufferization.alloc_tensor() copy(%[[THIS]]) : tensor<1x6xf32>
// CHECK:             %[[W:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[X]])
// CHECK:               tensor.insert_slice %[[A]]
// CHECK:             tensor.insert_slice %[[B]] into %[[W]]
// BUFFERS-LABEL: func.func @swap(
// BUFFERS:         scf.for
// BUFFERS-NOT:       memref<20x6xf32> to memref<20x6xf32>
// BUFFERS:         return
func.func @swap(%a: memref<20x6xf32>, %n: index, %out: memref<20x6xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c19 = arith.constant 19 : index
  %x = bufferization.to_tensor %a restrict : memref<20x6xf32> to tensor<20x6xf32>
  %e = tensor.empty() : tensor<20x6xf32>
  %start = tensor.insert_slice %x into %e[0, 0] [20, 6] [1, 1] : tensor<20x6xf32> into tensor<20x6xf32>
  %r = scf.for %i = %c0 to %c19 step %c1 iter_args(%v = %start) -> (tensor<20x6xf32>) {
    %j = arith.addi %i, %c1 : index
    %next = tensor.extract_slice %v[%j, 0] [1, 6] [1, 1] : tensor<20x6xf32> to tensor<1x6xf32>
    %w = scf.for %k = %c0 to %n step %c1 iter_args(%z = %v) -> (tensor<20x6xf32>) {
      %s = tensor.insert_slice %next into %z[%i, 0] [1, 6] [1, 1] : tensor<1x6xf32> into tensor<20x6xf32>
      scf.yield %s : tensor<20x6xf32>
    }
    %this = tensor.extract_slice %v[%i, 0] [1, 6] [1, 1] : tensor<20x6xf32> to tensor<1x6xf32>
    %u = tensor.insert_slice %this into %w[%j, 0] [1, 6] [1, 1] : tensor<1x6xf32> into tensor<20x6xf32>
    scf.yield %u : tensor<20x6xf32>
  } {array.control_flow}
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<20x6xf32>, memref<20x6xf32>) -> ()
  return
}

// A loop over rows reads the carry, and computes the next one: elsewhere. Its last part is a copy for each step, and none
// for each row. Of two that read each other's carry, the first one is elsewhere.
// CHECK-LABEL:   func.func @crossed(
// CHECK:           scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}})
// CHECK:             %[[NEW:.*]] = bufferization.alloc_tensor() : tensor<20x6xf32>
// CHECK:             %[[FIRST:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[NEW]])
// CHECK:             %[[SECOND:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[B]])
// CHECK:             %[[WRITTEN:.*]] = bufferization.materialize_in_destination %[[FIRST]] in %[[A]]
// CHECK:             scf.yield %[[WRITTEN]], %[[SECOND]]
// BUFFERS-LABEL: func.func @crossed(
// BUFFERS:         scf.for
// BUFFERS:           scf.for
// BUFFERS-NOT:         memref.copy {{.*}} to memref<20x6xf32>
// BUFFERS:           scf.for
// BUFFERS-NOT:         memref.copy {{.*}} to memref<20x6xf32>
// BUFFERS:           }
// BUFFERS:           memref.copy {{.*}} to memref<20x6xf32>
// BUFFERS-NOT:       memref.copy {{.*}} to memref<20x6xf32>
// BUFFERS:         }
func.func @crossed(%a: memref<20x6xf32>, %b: memref<20x6xf32>, %outs: memref<20x6xf32>, %outt: memref<20x6xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c20 = arith.constant 20 : index
  %x = bufferization.to_tensor %a restrict : memref<20x6xf32> to tensor<20x6xf32>
  %y = bufferization.to_tensor %b restrict : memref<20x6xf32> to tensor<20x6xf32>
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %x, %t = %y) -> (tensor<20x6xf32>, tensor<20x6xf32>) {
    %e = tensor.empty() : tensor<20x6xf32>
    %next = scf.for %j = %c0 to %c20 step %c1 iter_args(%z = %e) -> (tensor<20x6xf32>) {
      %row = tensor.extract_slice %t[%j, 0] [1, 6] [1, 1] : tensor<20x6xf32> to tensor<6xf32>
      %place = tensor.empty() : tensor<6xf32>
      %n = linalg.exp ins(%row : tensor<6xf32>) outs(%place : tensor<6xf32>) -> tensor<6xf32>
      %w = tensor.insert_slice %n into %z[%j, 0] [1, 6] [1, 1] : tensor<6xf32> into tensor<20x6xf32>
      scf.yield %w : tensor<20x6xf32>
    } {array.control_flow}
    %f = tensor.empty() : tensor<20x6xf32>
    %other = scf.for %j = %c0 to %c20 step %c1 iter_args(%z = %f) -> (tensor<20x6xf32>) {
      %row = tensor.extract_slice %s[%j, 0] [1, 6] [1, 1] : tensor<20x6xf32> to tensor<6xf32>
      %place = tensor.empty() : tensor<6xf32>
      %n = linalg.exp ins(%row : tensor<6xf32>) outs(%place : tensor<6xf32>) -> tensor<6xf32>
      %w = tensor.insert_slice %n into %z[%j, 0] [1, 6] [1, 1] : tensor<6xf32> into tensor<20x6xf32>
      scf.yield %w : tensor<20x6xf32>
    } {array.control_flow}
    scf.yield %next, %other : tensor<20x6xf32>, tensor<20x6xf32>
  } {array.control_flow}
  bufferization.materialize_in_destination %r#0 in restrict writable %outs : (tensor<20x6xf32>, memref<20x6xf32>) -> ()
  bufferization.materialize_in_destination %r#1 in restrict writable %outt : (tensor<20x6xf32>, memref<20x6xf32>) -> ()
  return
}
