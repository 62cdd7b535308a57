// RUN: array-opt %s --pass-pipeline='builtin.module(array-eliminate-empty-tensors,array-bufferize,canonicalize,cse,canonicalize)' | FileCheck %s

#id = affine_map<(d0) -> (d0)>

// All parts of a result are computed in its buffer, also the first one, and parts that are computed before the result
// begins.
// CHECK-LABEL: func.func @joined(
// CHECK-SAME:    %[[X:.*]]: memref<8xf32>, %[[R:.*]]: memref<16xf32>)
// CHECK-NOT:     memref.alloc
// CHECK-NOT:     memref.copy
// CHECK-COUNT-2: linalg.generic {{.*}} outs(%{{.*}} : memref<8xf32, strided<[1]
// CHECK-NOT:     memref.copy
// CHECK:         return
func.func @joined(%x: memref<8xf32>, %r: memref<16xf32>) {
  %0 = bufferization.to_tensor %x restrict : memref<8xf32> to tensor<8xf32>
  %e = tensor.empty() : tensor<8xf32>
  %exp = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%0 : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = math.exp %a : f32
    linalg.yield %1 : f32
  } -> tensor<8xf32>
  %f = tensor.empty() : tensor<8xf32>
  %sin = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%0 : tensor<8xf32>) outs(%f : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = math.sin %a : f32
    linalg.yield %1 : f32
  } -> tensor<8xf32>
  %w = tensor.empty() : tensor<16xf32>
  %first = tensor.insert_slice %exp into %w[0] [8] [1] : tensor<8xf32> into tensor<16xf32>
  %both = tensor.insert_slice %sin into %first[8] [8] [1] : tensor<8xf32> into tensor<16xf32>
  bufferization.materialize_in_destination %both in restrict writable %r : (tensor<16xf32>, memref<16xf32>) -> ()
  return
}

// A part that reads its own elements, and others of another tensor, is computed in its place.
// CHECK-LABEL: func.func @own_part(
// CHECK-SAME:    %[[X:[^:]*]]: memref<16xf32>, %[[R:[^:]*]]: memref<16xf32>)
// CHECK:         memref.copy %[[X]], %[[R]]
// CHECK:         %[[PART:.*]] = memref.subview %[[R]][1] [14] [1]
// CHECK-NOT:     memref.alloc
// CHECK:         linalg.generic {{.*}} outs(%[[PART]] :
// CHECK-NOT:     memref.copy {{.*}}memref<14xf32>
// CHECK:         return
func.func @own_part(%x: memref<16xf32>, %r: memref<16xf32>) {
  %0 = bufferization.to_tensor %x restrict : memref<16xf32> to tensor<16xf32>
  %w = tensor.empty() : tensor<16xf32>
  %start = bufferization.materialize_in_destination %0 in %w : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %left = tensor.extract_slice %0[0] [14] [1] : tensor<16xf32> to tensor<14xf32>
  %own = tensor.extract_slice %start[1] [14] [1] : tensor<16xf32> to tensor<14xf32>
  %e = tensor.empty() : tensor<14xf32>
  %sum = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%left, %own : tensor<14xf32>, tensor<14xf32>) outs(%e : tensor<14xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.addf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<14xf32>
  %set = tensor.insert_slice %sum into %start[1] [14] [1] : tensor<14xf32> into tensor<16xf32>
  bufferization.materialize_in_destination %set in restrict writable %r : (tensor<16xf32>, memref<16xf32>) -> ()
  return
}
