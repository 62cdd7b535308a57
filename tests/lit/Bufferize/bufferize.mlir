// RUN: array-opt %s --pass-pipeline='builtin.module(array-bufferize{short-program=0},canonicalize)' | FileCheck %s
// RUN: array-opt %s --pass-pipeline='builtin.module(array-bufferize,canonicalize)' | FileCheck %s

// The fast check decides as upstream's analysis does.

// Parts of one buffer: nothing is copied but they.
// CHECK-LABEL: func.func @parts(
// CHECK-NOT:     memref.alloc
// CHECK-COUNT-3: memref.copy
// CHECK-NOT:     memref.copy
// CHECK:         return
func.func @parts(%x: memref<2xf32>, %y: memref<6xf32>) {
  %0 = bufferization.to_tensor %x restrict : memref<2xf32> to tensor<2xf32>
  %1 = bufferization.to_tensor %y restrict writable : memref<6xf32> to tensor<6xf32>
  %2 = tensor.insert_slice %0 into %1[0] [2] [1] : tensor<2xf32> into tensor<6xf32>
  %3 = tensor.insert_slice %0 into %2[2] [2] [1] : tensor<2xf32> into tensor<6xf32>
  %4 = tensor.insert_slice %0 into %3[4] [2] [1] : tensor<2xf32> into tensor<6xf32>
  bufferization.materialize_in_destination %4 in restrict writable %y : (tensor<6xf32>, memref<6xf32>) -> ()
  return
}

// A view that is changed and inserted at its source again is changed in place.
// CHECK-LABEL: func.func @put_back(
// CHECK-NOT:     memref.alloc
// CHECK:         linalg.exp
// CHECK-NOT:     memref.alloc
// CHECK:         return
func.func @put_back(%x: memref<6xf32>) {
  %0 = bufferization.to_tensor %x restrict writable : memref<6xf32> to tensor<6xf32>
  %1 = tensor.extract_slice %0[2] [2] [1] : tensor<6xf32> to tensor<2xf32>
  %2 = linalg.exp ins(%1 : tensor<2xf32>) outs(%1 : tensor<2xf32>) -> tensor<2xf32>
  %3 = tensor.insert_slice %2 into %0[2] [2] [1] : tensor<2xf32> into tensor<6xf32>
  bufferization.materialize_in_destination %3 in restrict writable %x : (tensor<6xf32>, memref<6xf32>) -> ()
  return
}

// A tensor that is read after the change does not change.
// CHECK-LABEL: func.func @read_later(
// CHECK:         %[[OTHER:.*]] = memref.alloc
// CHECK:         linalg.exp {{.*}} outs(%[[OTHER]]
// CHECK:         return
func.func @read_later(%x: memref<6xf32>, %y: memref<6xf32>) {
  %0 = bufferization.to_tensor %x restrict writable : memref<6xf32> to tensor<6xf32>
  %1 = linalg.exp ins(%0 : tensor<6xf32>) outs(%0 : tensor<6xf32>) -> tensor<6xf32>
  %2 = bufferization.to_tensor %y restrict writable : memref<6xf32> to tensor<6xf32>
  %3 = linalg.add ins(%0, %1 : tensor<6xf32>, tensor<6xf32>) outs(%2 : tensor<6xf32>) -> tensor<6xf32>
  bufferization.materialize_in_destination %3 in restrict writable %y : (tensor<6xf32>, memref<6xf32>) -> ()
  return
}

// The carry of a loop is changed in place.
// CHECK-LABEL: func.func @carry(
// CHECK-NOT:     memref.alloc
// CHECK-NOT:     memref.copy
// CHECK:         scf.for
// CHECK:           memref.store
// CHECK:         return
func.func @carry(%x: memref<6xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %0 = bufferization.to_tensor %x restrict writable : memref<6xf32> to tensor<6xf32>
  %1 = scf.for %i = %c0 to %c6 step %c1 iter_args(%t = %0) -> tensor<6xf32> {
    %2 = tensor.extract %t[%i] : tensor<6xf32>
    %3 = arith.addf %2, %2 : f32
    %4 = tensor.insert %3 into %t[%i] : tensor<6xf32>
    scf.yield %4 : tensor<6xf32>
  }
  bufferization.materialize_in_destination %1 in restrict writable %x : (tensor<6xf32>, memref<6xf32>) -> ()
  return
}
