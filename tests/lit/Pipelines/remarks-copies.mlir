// Copies that bufferization makes, and matmuls that are left to loops, are remarks.
// RUN: array-opt --array-to-llvm --remarks-filter=array %s 2>&1 | FileCheck %s

// CHECK-DAG: remarks-copies.mlir:[[#@LINE+5]]:{{.*}}: remark: [Missed] copied-operand | Category:array | Reason="a buffer of memref<64x64xf32> is copied before a part of it changes
// CHECK-DAG: remarks-copies.mlir:[[#@LINE+5]]:{{.*}}: remark: [Missed] matmul-in-loops | Category:array | Reason="a matmul of 64x64 by 64x64 is computed by loops: there is no blocked matmul of these integers"
func.func @main(%x: tensor<64x64xf32>, %u: tensor<1x64xf32>, %i: tensor<i32>, %n: tensor<64x64xi32>)
    -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xi32>) {
  %y = array.add %x, %x : tensor<64x64xf32>
  %new = array.dynamic_update_slice %y, %u at(%i, %i) : (tensor<64x64xf32>, tensor<1x64xf32>, tensor<i32>, tensor<i32>) -> tensor<64x64xf32>
  %p = array.dot_general %n, %n contracting = [1] x [0] : (tensor<64x64xi32>, tensor<64x64xi32>) -> tensor<64x64xi32>
  return %new, %y, %p : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xi32>
}

// What is not read again is changed in place.
// CHECK-NOT: copied-operand
func.func @in_place(%x: tensor<64x64xf32>, %u: tensor<1x64xf32>, %i: tensor<i32>) -> tensor<64x64xf32> {
  %y = array.add %x, %x : tensor<64x64xf32>
  %new = array.dynamic_update_slice %y, %u at(%i, %i) : (tensor<64x64xf32>, tensor<1x64xf32>, tensor<i32>, tensor<i32>) -> tensor<64x64xf32>
  return %new : tensor<64x64xf32>
}
