// RUN: array-opt %s --one-shot-bufferize --canonicalize | FileCheck %s

// A barrier is the memory of its operand.
// CHECK-LABEL: func.func @barrier(
// CHECK-SAME: %[[X:.*]]: memref<4xf32>, %[[Y:.*]]: memref<4xf32>)
func.func @barrier(%x: memref<4xf32>, %y: memref<4xf32>) {
  // CHECK-NEXT: linalg.copy ins(%[[X]] : memref<4xf32>) outs(%[[Y]] : memref<4xf32>)
  // CHECK-NEXT: return
  %a = bufferization.to_tensor %x restrict : memref<4xf32> to tensor<4xf32>
  %c = bufferization.to_tensor %y restrict writable : memref<4xf32> to tensor<4xf32>
  %b = array.optimization_barrier(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %d = linalg.copy ins(%b : tensor<4xf32>) outs(%c : tensor<4xf32>) -> tensor<4xf32>
  %e = array.optimization_barrier(%d) : (tensor<4xf32>) -> tensor<4xf32>
  bufferization.materialize_in_destination %e in restrict writable %y : (tensor<4xf32>, memref<4xf32>) -> ()
  return
}
