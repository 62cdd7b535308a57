// RUN: array-opt %s --pass-pipeline='builtin.module(func.func(array-split-contractions))' | FileCheck %s

#a = affine_map<(m, n, k) -> (k, m)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// Many terms of a small result: a product for each of eight parts of the terms, and their sum.
// CHECK-LABEL: func.func @small(
// CHECK:         tensor.expand_shape %arg0 {{.*}} output_shape [8, 1024, 64]
// CHECK:         tensor.expand_shape %arg1 {{.*}} output_shape [8, 1024, 16]
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "reduction"]
// CHECK-SAME:      outs(%{{.*}} : tensor<8x64x16xf32>)
// CHECK:         linalg.generic {{.*}}iterator_types = ["reduction", "parallel", "parallel"]
// CHECK-SAME:      outs(%arg2 : tensor<64x16xf32>)
func.func @small(%a: tensor<8192x64xf32>, %b: tensor<8192x16xf32>, %c: tensor<64x16xf32>) -> tensor<64x16xf32> {
  %0 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<8192x64xf32>, tensor<8192x16xf32>) outs(%c : tensor<64x16xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %1 = arith.mulf %x, %y : f32
    %2 = arith.addf %z, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<64x16xf32>
  return %0 : tensor<64x16xf32>
}

// The blocks of a larger result suffice for threads.
// CHECK-LABEL: func.func @large(
// CHECK-NOT:     expand_shape
func.func @large(%a: tensor<8192x64xf32>, %b: tensor<8192x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<8192x64xf32>, tensor<8192x64xf32>) outs(%c : tensor<64x64xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %1 = arith.mulf %x, %y : f32
    %2 = arith.addf %z, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// Little work, and numbers of terms that no number of parts divides.
// CHECK-LABEL: func.func @little(
// CHECK-NOT:     expand_shape
func.func @little(%a: tensor<512x64xf32>, %b: tensor<512x16xf32>, %c: tensor<64x16xf32>,
                  %d: tensor<8191x64xf32>, %e: tensor<8191x16xf32>) -> (tensor<64x16xf32>, tensor<64x16xf32>) {
  %0 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<512x64xf32>, tensor<512x16xf32>) outs(%c : tensor<64x16xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %1 = arith.mulf %x, %y : f32
    %2 = arith.addf %z, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<64x16xf32>
  %3 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%d, %e : tensor<8191x64xf32>, tensor<8191x16xf32>) outs(%c : tensor<64x16xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %1 = arith.mulf %x, %y : f32
    %2 = arith.addf %z, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<64x16xf32>
  return %0, %3 : tensor<64x16xf32>, tensor<64x16xf32>
}
