// RUN: array-opt %s | array-opt | FileCheck %s
// RUN: array-opt %s --mlir-print-op-generic | array-opt | FileCheck %s
// RUN: array-opt %s --canonicalize | FileCheck %s --check-prefix=EFFECTS

// runtime_call on tensors and on memrefs: writes to memory are effects, unused results are not. spend.

// CHECK-LABEL: @tensors
// EFFECTS-LABEL: @tensors
func.func @tensors(%x: tensor<4xi32>, %flags: tensor<?xi8>, %init: tensor<4xi32>, %other: tensor<?xi8>)
    -> (tensor<4xi32>, tensor<?xi8>) {
  // CHECK: array.runtime_call "sort" params = [0, 1, 1] element_types = [ui32, ui32] ins(%{{.*}} : tensor<4xi32>) outs(%{{.*}} : tensor<4xi32>) -> tensor<4xi32>
  // EFFECTS-NOT: element_types = [ui32, ui32]
  %unused = array.runtime_call "sort" params = [0, 1, 1] element_types = [ui32, ui32]
    ins(%x : tensor<4xi32>) outs(%init : tensor<4xi32>) -> tensor<4xi32>
  // CHECK: array.runtime_call "sort" params = [0, 1, 1] element_types = [i32, i1, i32, i1] ins(%{{.*}}, %{{.*}} : tensor<4xi32>, tensor<?xi8>) outs(%{{.*}}, %{{.*}} : tensor<4xi32>, tensor<?xi8>) -> tensor<4xi32>, tensor<?xi8>
  // EFFECTS: element_types = [i32, i1, i32, i1]
  %0:2 = array.runtime_call "sort" params = [0, 1, 1] element_types = [i32, i1, i32, i1]
    ins(%x, %flags : tensor<4xi32>, tensor<?xi8>) outs(%init, %other : tensor<4xi32>, tensor<?xi8>)
    -> tensor<4xi32>, tensor<?xi8>
  return %0#0, %0#1 : tensor<4xi32>, tensor<?xi8>
}

// CHECK-LABEL: @memrefs
// EFFECTS-LABEL: @memrefs
func.func @memrefs(%x: memref<?xf32, strided<[1], offset: ?>>, %y: memref<?xf32>) {
  // CHECK: array.runtime_call "sort" params = [0, 1, 0] element_types = [f32, f32] ins(%{{.*}} : memref<?xf32, strided<[1], offset: ?>>) outs(%{{.*}} : memref<?xf32>)
  // EFFECTS: array.runtime_call
  array.runtime_call "sort" params = [0, 1, 0] element_types = [f32, f32]
    ins(%x : memref<?xf32, strided<[1], offset: ?>>) outs(%y : memref<?xf32>)
  return
}

// CHECK-LABEL: @counted
// EFFECTS-LABEL: @counted
func.func @counted() {
  // CHECK: array.spend 12
  // EFFECTS: array.spend 12
  array.spend 12
  return
}
