// RUN: array-opt %s --one-shot-bufferize='bufferize-function-boundaries=1 function-boundary-type-conversion=identity-layout-map' --canonicalize | FileCheck %s

// The call writes into the destination; a strided operand is made dense first.
// CHECK-LABEL: func.func @slice(
// CHECK-SAME:    %[[X:.*]]: memref<4x6xf32>
// CHECK-DAG:     %[[OUT:.*]] = memref.alloc() {{.*}} : memref<4x3xf32>
// CHECK-DAG:     %[[VIEW:.*]] = memref.subview %[[X]][0, 0] [4, 3] [1, 1]
// CHECK:         %[[DENSE:.*]] = memref.alloc() {{.*}} : memref<4x3xf32>
// CHECK:         memref.copy %[[VIEW]], %[[DENSE]]
// CHECK:         array.runtime_call "sort" params = [1, 1, 1] element_types = [f32, f32] ins(%[[DENSE]] : memref<4x3xf32>) outs(%[[OUT]] : memref<4x3xf32>)
// CHECK:         return %[[OUT]]
func.func @slice(%x: tensor<4x6xf32>) -> tensor<4x3xf32> {
  %e = tensor.empty() : tensor<4x3xf32>
  %s = tensor.extract_slice %x[0, 0] [4, 3] [1, 1] : tensor<4x6xf32> to tensor<4x3xf32>
  %y = array.runtime_call "sort" params = [1, 1, 1] element_types = [f32, f32]
    ins(%s : tensor<4x3xf32>) outs(%e : tensor<4x3xf32>) -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// So is one of sizes that a call decides, into a buffer of these sizes.
// CHECK-LABEL: func.func @sized(
// CHECK:         %[[VIEW:.*]] = memref.subview
// CHECK:         %[[DENSE:.*]] = memref.alloc(%{{.*}}) {{.*}} : memref<?x3xf32>
// CHECK:         memref.copy %[[VIEW]], %[[DENSE]]
// CHECK:         array.runtime_call "sort" {{.*}} ins(%[[DENSE]] : memref<?x3xf32>)
func.func @sized(%x: tensor<?x6xf32>, %n: index) -> tensor<?x3xf32> {
  %e = tensor.empty(%n) : tensor<?x3xf32>
  %s = tensor.extract_slice %x[0, 0] [%n, 3] [1, 1] : tensor<?x6xf32> to tensor<?x3xf32>
  %y = array.runtime_call "sort" params = [1, 1, 1] element_types = [f32, f32]
    ins(%s : tensor<?x3xf32>) outs(%e : tensor<?x3xf32>) -> tensor<?x3xf32>
  return %y : tensor<?x3xf32>
}
