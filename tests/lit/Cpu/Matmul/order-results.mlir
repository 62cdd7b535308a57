// array-order-results: a contraction that stays a loop stores its result in the order of its one reader.
// RUN: array-opt %s --pass-pipeline='builtin.module(func.func(array-order-results))' --split-input-file | FileCheck %s

#w = affine_map<(d0, d1, d2, d3) -> (d0, d3)>
#x = affine_map<(d0, d1, d2, d3) -> (d1, d3, d2)>
#out = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#swapped = affine_map<(d0, d1, d2) -> (d1, d0, d2)>
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// One matrix times many of three columns.
// CHECK-DAG:   #[[ORDERED:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d0, d2)>
// CHECK-LABEL: func.func @few_columns(
// CHECK:         %[[E:.*]] = tensor.empty() : tensor<1000x50x3xf32>
// CHECK:         %[[F:.*]] = linalg.fill {{.*}} outs(%[[E]] :
// CHECK:         %[[R:.*]] = linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}, #[[ORDERED]]]{{.*}} outs(%[[F]] :
// CHECK-NOT:     linalg.generic
// CHECK:         return %[[R]]
func.func @few_columns(%w: tensor<50x4xf32>, %x: tensor<1000x4x3xf32>) -> tensor<1000x50x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<50x1000x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<50x1000x3xf32>) -> tensor<50x1000x3xf32>
  %p = linalg.generic {indexing_maps = [#w, #x, #out], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%w, %x : tensor<50x4xf32>, tensor<1000x4x3xf32>) outs(%f : tensor<50x1000x3xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %m = arith.mulf %l, %r : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<50x1000x3xf32>
  %e2 = tensor.empty() : tensor<1000x50x3xf32>
  %t = linalg.generic {indexing_maps = [#swapped, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p : tensor<50x1000x3xf32>) outs(%e2 : tensor<1000x50x3xf32>) {
  ^bb0(%l: f32, %o: f32):
    linalg.yield %l : f32
  } -> tensor<1000x50x3xf32>
  return %t : tensor<1000x50x3xf32>
}

// -----

#w = affine_map<(d0, d1, d2, d3) -> (d0, d3)>
#x = affine_map<(d0, d1, d2, d3) -> (d1, d3, d2)>
#out = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#swapped = affine_map<(d0, d1, d2) -> (d1, d0, d2)>
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// Matmuls that are blocked stay: array-lower-matmuls stores them in the reader's order.
// CHECK-LABEL: func.func @blocked(
// CHECK-COUNT-2: linalg.generic
func.func @blocked(%w: tensor<50x40xf32>, %x: tensor<100x40x30xf32>) -> tensor<100x50x30xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<50x100x30xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<50x100x30xf32>) -> tensor<50x100x30xf32>
  %p = linalg.generic {indexing_maps = [#w, #x, #out], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%w, %x : tensor<50x40xf32>, tensor<100x40x30xf32>) outs(%f : tensor<50x100x30xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %m = arith.mulf %l, %r : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<50x100x30xf32>
  %e2 = tensor.empty() : tensor<100x50x30xf32>
  %t = linalg.generic {indexing_maps = [#swapped, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%p : tensor<50x100x30xf32>) outs(%e2 : tensor<100x50x30xf32>) {
  ^bb0(%l: f32, %o: f32):
    linalg.yield %l : f32
  } -> tensor<100x50x30xf32>
  return %t : tensor<100x50x30xf32>
}
