// RUN: array-opt %s --split-input-file --array-widen-matmuls | FileCheck %s
// RUN: array-opt %s --split-input-file --array-widen-matmuls=bfloat16-dot2=true | FileCheck %s --check-prefix=PAIRS

// Operands are widened once, rather than in every step of the matmul, unless the target multiplies pairs of bf16.
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: func.func @bfloat16(
// CHECK-SAME: %[[X:.*]]: tensor<64x70xbf16>, %[[Y:.*]]: tensor<70x40xbf16>
// CHECK: %[[A:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<64x70xbf16>) outs(%{{.*}} : tensor<64x70xf32>)
// CHECK: arith.extf
// CHECK: %[[B:.*]] = linalg.generic {{.*}} ins(%[[Y]] : tensor<70x40xbf16>) outs(%{{.*}} : tensor<70x40xf32>)
// CHECK: arith.extf
// CHECK: linalg.generic {{.*}} ins(%[[A]], %[[B]] : tensor<64x70xf32>, tensor<70x40xf32>)
// CHECK-NEXT: ^bb0(%[[L:.*]]: f32, %[[R:.*]]: f32, %[[ACC:.*]]: f32):
// CHECK-NEXT: %[[P:.*]] = arith.mulf %[[L]], %[[R]] : f32
// CHECK-NEXT: arith.addf %[[ACC]], %[[P]] : f32
// PAIRS-LABEL: func.func @bfloat16(
// PAIRS-SAME: %[[X:.*]]: tensor<64x70xbf16>, %[[Y:.*]]: tensor<70x40xbf16>
// PAIRS-NEXT: linalg.generic {{.*}} ins(%[[X]], %[[Y]] :
func.func @bfloat16(%x: tensor<64x70xbf16>, %y: tensor<70x40xbf16>, %z: tensor<64x40xf32>) -> tensor<64x40xf32> {
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %y : tensor<64x70xbf16>, tensor<70x40xbf16>) outs(%z : tensor<64x40xf32>) {
  ^bb0(%l: bf16, %r: bf16, %acc: f32):
    %0 = arith.extf %l : bf16 to f32
    %1 = arith.extf %r : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %acc, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<64x40xf32>
  return %r : tensor<64x40xf32>
}

// -----

// No machine has pairs of f16.
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: func.func @float16(
// CHECK: ins(%{{.*}}, %{{.*}} : tensor<64x70xf32>, tensor<70x40xf32>)
// PAIRS-LABEL: func.func @float16(
// PAIRS: ins(%{{.*}}, %{{.*}} : tensor<64x70xf32>, tensor<70x40xf32>)
func.func @float16(%x: tensor<64x70xf16>, %y: tensor<70x40xf16>, %z: tensor<64x40xf32>) -> tensor<64x40xf32> {
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %y : tensor<64x70xf16>, tensor<70x40xf16>) outs(%z : tensor<64x40xf32>) {
  ^bb0(%l: f16, %r: f16, %acc: f32):
    %0 = arith.extf %l : f16 to f32
    %1 = arith.extf %r : f16 to f32
    %2 = arith.mulf %1, %0 : f32
    %3 = arith.addf %2, %acc : f32
    linalg.yield %3 : f32
  } -> tensor<64x40xf32>
  return %r : tensor<64x40xf32>
}

// -----

// With few rows, making pairs takes longer than multiplying f32.
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: func.func @few_rows(
// CHECK: ins(%{{.*}}, %{{.*}} : tensor<6x70xf32>, tensor<70x40xf32>)
// PAIRS-LABEL: func.func @few_rows(
// PAIRS: ins(%{{.*}}, %{{.*}} : tensor<6x70xf32>, tensor<70x40xf32>)
func.func @few_rows(%x: tensor<6x70xbf16>, %y: tensor<70x40xbf16>, %z: tensor<6x40xf32>) -> tensor<6x40xf32> {
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %y : tensor<6x70xbf16>, tensor<70x40xbf16>) outs(%z : tensor<6x40xf32>) {
  ^bb0(%l: bf16, %r: bf16, %acc: f32):
    %0 = arith.extf %l : bf16 to f32
    %1 = arith.extf %r : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %acc, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<6x40xf32>
  return %r : tensor<6x40xf32>
}

// -----

// A small one is left to the loops, as is one of a size that is not known.
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: func.func @small(
// CHECK-NEXT: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<8x8xbf16>, tensor<8x8xbf16>)
func.func @small(%x: tensor<8x8xbf16>, %y: tensor<8x8xbf16>, %z: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %y : tensor<8x8xbf16>, tensor<8x8xbf16>) outs(%z : tensor<8x8xf32>) {
  ^bb0(%l: bf16, %r: bf16, %acc: f32):
    %0 = arith.extf %l : bf16 to f32
    %1 = arith.extf %r : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %acc, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}
// CHECK-LABEL: func.func @dynamic(
// CHECK-NEXT: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<?x70xbf16>, tensor<70x40xbf16>)
func.func @dynamic(%x: tensor<?x70xbf16>, %y: tensor<70x40xbf16>, %z: tensor<?x40xf32>) -> tensor<?x40xf32> {
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %y : tensor<?x70xbf16>, tensor<70x40xbf16>) outs(%z : tensor<?x40xf32>) {
  ^bb0(%l: bf16, %r: bf16, %acc: f32):
    %0 = arith.extf %l : bf16 to f32
    %1 = arith.extf %r : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %acc, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<?x40xf32>
  return %r : tensor<?x40xf32>
}
