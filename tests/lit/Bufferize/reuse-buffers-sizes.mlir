// array-reuse-buffers on sizes that a call decides.
// RUN: array-opt %s --array-reuse-buffers --split-input-file | FileCheck %s

#dims = affine_map<()[n, m] -> (n, m)>
#id = affine_map<(i, j) -> (i, j)>

// A temporary that ends where the result begins uses the result's memory; the one after it reuses a temporary of the
// same sizes.
// CHECK-LABEL: func @chain
// CHECK-SAME:    %[[X:[^:]*]]: {{[^%]*}}, %[[R:[^:]*]]:
// CHECK-NOT:     memref.alloc
// CHECK:         outs(%[[R]]
// CHECK:         ins(%[[R]] : memref<?x?xf32>) outs(%[[R]]
// CHECK:         ins(%[[R]] : memref<?x?xf32>) outs(%[[R]]
// CHECK-NOT:     memref.alloc
func.func @chain(%x: memref<?x?xf32> {array.role = "argument", array.dims = #dims},
                 %r: memref<?x?xf32> {array.role = "result", array.dims = #dims}) {
  %n = array.symbol 0 : index
  %m = array.symbol 1 : index
  %a = memref.alloc(%n, %m) : memref<?x?xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<?x?xf32>) outs(%a : memref<?x?xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = math.exp %p : f32
    linalg.yield %s : f32
  }
  %b = memref.alloc(%n, %m) : memref<?x?xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<?x?xf32>) outs(%b : memref<?x?xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = math.sqrt %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%b : memref<?x?xf32>) outs(%r : memref<?x?xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = math.log %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// Equal types may have different sizes: a temporary of [m, n] keeps its sizes, in the memory of [n, m].
#dims = affine_map<()[n, m] -> (n, m)>
// CHECK-LABEL: func @turned
// CHECK:         %[[N:.*]] = array.symbol 0
// CHECK:         %[[M:.*]] = array.symbol 1
// CHECK:         %[[A:.*]] = memref.alloc(%[[N]], %[[M]])
// CHECK-NOT:     memref.alloc
// CHECK:         memref.reinterpret_cast %[[A]] to offset: [0], sizes: [%[[M]], %[[N]]], strides: [%[[N]], 1]
func.func @turned(%x: memref<?x?xf32> {array.role = "argument", array.dims = #dims}) -> f32 {
  %n = array.symbol 0 : index
  %m = array.symbol 1 : index
  %c0 = arith.constant 0 : index
  %all = arith.muli %n, %m : index
  %a = memref.alloc(%n, %m) : memref<?x?xf32>
  linalg.copy ins(%x : memref<?x?xf32>) outs(%a : memref<?x?xf32>)
  %b = memref.alloc(%m, %n) : memref<?x?xf32>
  %from = memref.collapse_shape %a [[0, 1]] : memref<?x?xf32> into memref<?xf32>
  %to = memref.collapse_shape %b [[0, 1]] : memref<?x?xf32> into memref<?xf32>
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%from : memref<?xf32>) outs(%to : memref<?xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = math.exp %p : f32
    linalg.yield %s : f32
  }
  %v = memref.load %b[%c0, %c0] : memref<?x?xf32>
  return %v : f32
}
