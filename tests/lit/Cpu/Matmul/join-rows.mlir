// RUN: array-opt %s --pass-pipeline='builtin.module(func.func(array-join-rows))' | FileCheck %s

#image = affine_map<(t, c, j, w) -> (t, w, c)>
#weights = affine_map<(t, c, j, w) -> (j, w)>
#result = affine_map<(t, c, j, w) -> (t, c, j)>

// Lines, columns, and three channels: the columns, which are the terms, become the last dimension.
// CHECK-DAG:     #[[READ:.+]] = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
// CHECK-DAG:     #[[FACTOR:.+]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
// CHECK-LABEL: func.func @channels(
// CHECK:         %[[COPY:.+]] = linalg.generic {indexing_maps = [#[[READ]], {{.*}}ins(%arg0 : tensor<64x64x3xf32>) outs(%{{.*}} : tensor<64x3x64xf32>)
// CHECK:         linalg.generic {indexing_maps = [#[[FACTOR]], {{.*}}ins(%[[COPY]], %arg1 :
func.func @channels(%a: tensor<64x64x3xf32>, %b: tensor<150x64xf32>, %c: tensor<64x3x150xf32>) -> tensor<64x3x150xf32> {
  %0 = linalg.generic {indexing_maps = [#image, #weights, #result],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<64x64x3xf32>, tensor<150x64xf32>) outs(%c : tensor<64x3x150xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %1 = arith.mulf %x, %y : f32
    %2 = arith.addf %z, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<64x3x150xf32>
  return %0 : tensor<64x3x150xf32>
}

// Sixteen channels fill the tiles of a matmul for each line.
// CHECK-LABEL: func.func @features(
// CHECK-NOT:     tensor.empty
// CHECK:         return
func.func @features(%a: tensor<64x64x16xf32>, %b: tensor<150x64xf32>, %c: tensor<64x16x150xf32>)
    -> tensor<64x16x150xf32> {
  %0 = linalg.generic {indexing_maps = [#image, #weights, #result],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<64x64x16xf32>, tensor<150x64xf32>) outs(%c : tensor<64x16x150xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %1 = arith.mulf %x, %y : f32
    %2 = arith.addf %z, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<64x16x150xf32>
  return %0 : tensor<64x16x150xf32>
}

#batched = affine_map<(t, c, j, w) -> (t, j, w)>

// The lines are a batch: each has weights of its own, and no rows but its channels.
// CHECK-LABEL: func.func @batch(
// CHECK-NOT:     tensor.empty
// CHECK:         return
func.func @batch(%a: tensor<64x64x3xf32>, %b: tensor<64x150x64xf32>, %c: tensor<64x3x150xf32>) -> tensor<64x3x150xf32> {
  %0 = linalg.generic {indexing_maps = [#image, #batched, #result],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<64x64x3xf32>, tensor<64x150x64xf32>) outs(%c : tensor<64x3x150xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %1 = arith.mulf %x, %y : f32
    %2 = arith.addf %z, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<64x3x150xf32>
  return %0 : tensor<64x3x150xf32>
}

// A symbolic number of lines is joined with the channels, too.
// CHECK-LABEL: func.func @lines(
// CHECK:         %[[LINES:.+]] = tensor.dim %arg0
// CHECK:         tensor.empty(%[[LINES]]) : tensor<?x3x64xf32>
func.func @lines(%a: tensor<?x64x3xf32>, %b: tensor<150x64xf32>, %c: tensor<?x3x150xf32>) -> tensor<?x3x150xf32> {
  %0 = linalg.generic {indexing_maps = [#image, #weights, #result],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<?x64x3xf32>, tensor<150x64xf32>) outs(%c : tensor<?x3x150xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %1 = arith.mulf %x, %y : f32
    %2 = arith.addf %z, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<?x3x150xf32>
  return %0 : tensor<?x3x150xf32>
}
