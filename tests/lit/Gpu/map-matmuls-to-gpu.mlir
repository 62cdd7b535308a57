// RUN: array-opt %s --pass-pipeline='builtin.module(func.func(array-map-matmuls-to-gpu{chip=sm_80},canonicalize,cse))' --split-input-file | FileCheck %s
// RUN: array-opt %s --pass-pipeline='builtin.module(func.func(array-map-matmuls-to-gpu{chip=sm_75},canonicalize,cse))' --split-input-file | FileCheck %s --check-prefix=OLD
// RUN: not array-opt %s --pass-pipeline='builtin.module(func.func(array-map-matmuls-to-gpu{chip=sm_60}))' --split-input-file 2>&1 | FileCheck %s --check-prefix=WRONG

#left = affine_map<(m, n, k) -> (m, k)>
#right = affine_map<(m, n, k) -> (k, n)>
#result = affine_map<(m, n, k) -> (m, n)>
#row = affine_map<(m, n) -> (n)>
#id = affine_map<(m, n) -> (m, n)>

// WRONG: error: array-map-matmuls-to-gpu: expected the option 'chip' to name one from sm_75 on, got 'sm_60'

// Tensor cores; the epilogue is computed with the matmul, whose sums have no memory then. 32 x 32 is the smallest tile,
// and there are 6 x 4 of them.
// CHECK-LABEL: func.func @cores(
// CHECK-SAME:    %[[X:.*]]: memref<192x64xbf16>, %[[Y:.*]]: memref<64x128xbf16>, %[[BIAS:.*]]: memref<128xf32>, %[[R:.*]]: memref<192x128xbf16>
// CHECK-DAG:     %[[GRID:.*]] = arith.constant 24 : index
// CHECK-DAG:     %[[BLOCK:.*]] = arith.constant 64 : index
// CHECK-NOT:     memref.alloc
// CHECK-NOT:     linalg.
// CHECK:         gpu.launch blocks({{.*}}) in (%{{.*}} = %[[GRID]], {{.*}}) threads({{.*}}) in (%{{.*}} = %[[BLOCK]]
// CHECK-SAME:      workgroup(%[[SX:.*]] : memref<4x32x32xbf16, #gpu.address_space<workgroup>>, %[[SY:.*]] : memref<4x32x32xbf16, #gpu.address_space<workgroup>>)
// 16 bytes of either factor at once; three stages are on their way before the first is waited for.
// CHECK:           nvgpu.device_async_copy %{{.*}}, %[[SX]][{{.*}}], 8 {bypassL1}
// CHECK:           nvgpu.device_async_copy %{{.*}}, %[[SY]][{{.*}}], 8 {bypassL1}
// CHECK:           nvvm.cp.async.commit.group
// CHECK:           scf.for
// CHECK:             nvvm.cp.async.commit.group
// CHECK-NEXT:        nvvm.cp.async.wait.group 2
// CHECK-NEXT:        gpu.barrier
// CHECK:             scf.if
// CHECK:               nvgpu.device_async_copy
// CHECK:             %[[A:.*]] = nvgpu.ldmatrix %[[SX]][{{.*}}] {numTiles = 4 : i32, transpose = false}
// CHECK:             %[[B:.*]] = nvgpu.ldmatrix %[[SY]][{{.*}}] {numTiles = 4 : i32, transpose = true}
// CHECK:             %[[B0:.*]] = vector.shuffle %[[B]], %[[B]] [0, 1]
// CHECK:             nvgpu.mma.sync(%[[A]], %[[B0]], %{{.*}}) {mmaShape = [16, 8, 16]} : (vector<4x2xbf16>, vector<2x2xbf16>, vector<2x2xf32>) -> vector<2x2xf32>
// CHECK:             scf.yield
// CHECK:           vector.load {{.*}} vector<2xf32>
// CHECK:           arith.addf
// CHECK:           arith.truncf
// CHECK:           vector.store {{.*}} vector<2xbf16>
// CHECK:         } {array.launch_name = "product"}
// OLD-LABEL: func.func @cores(
// OLD-NOT:     device_async_copy
// OLD-NOT:     nvgpu.mma.sync
// OLD:         vector.fma
func.func @cores(%x: memref<192x64xbf16>, %y: memref<64x128xbf16>, %bias: memref<128xf32>, %r: memref<192x128xbf16>) {
  %zero = arith.constant 0.0 : f32
  %sums = memref.alloc() : memref<192x128xf32>
  linalg.fill ins(%zero : f32) outs(%sums : memref<192x128xf32>)
  linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : memref<192x64xbf16>, memref<64x128xbf16>) outs(%sums : memref<192x128xf32>) {
  ^bb0(%a: bf16, %b: bf16, %c: f32):
    %wa = arith.extf %a : bf16 to f32
    %wb = arith.extf %b : bf16 to f32
    %p = arith.mulf %wa, %wb : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%sums, %bias : memref<192x128xf32>, memref<128xf32>) outs(%r : memref<192x128xbf16>) {
  ^bb0(%s: f32, %b: f32, %o: bf16):
    %t = arith.addf %s, %b : f32
    %n = arith.truncf %t : f32 to bf16
    linalg.yield %n : bf16
  }
  return
}

// -----

#left = affine_map<(m, n, k) -> (k, m)>
#right = affine_map<(m, n, k) -> (k, n)>
#result = affine_map<(m, n, k) -> (m, n)>

// Few results of many terms: 16 blocks share them, and their sums are added in order. Without a fill before it the
// matmul is added to the result.
// CHECK-LABEL: func.func @shared_terms(
// CHECK-SAME:    %[[X:.*]]: memref<4096x32xf32>, %[[Y:.*]]: memref<4096x32xf32>, %[[R:.*]]: memref<32x32xf32>
// CHECK-DAG:     %[[SPLITS:.*]] = arith.constant 16 : index
// CHECK:         %[[PARTS:.*]] = memref.alloc() {alignment = 64 : i64} : memref<16x32x32xf32>
// CHECK:         gpu.launch blocks(%{{.*}}, %[[SPLIT:.*]], %{{.*}}) in (%{{.*}}, %{{.*}} = %[[SPLITS]],
// CHECK:           vector.fma
// CHECK:         linalg.generic {{.*}} iterator_types = ["reduction", "parallel", "parallel"]} ins(%[[PARTS]] : memref<16x32x32xf32>) outs(%[[R]] : memref<32x32xf32>)
// OLD-LABEL: func.func @shared_terms(
func.func @shared_terms(%x: memref<4096x32xf32>, %y: memref<4096x32xf32>, %r: memref<32x32xf32>) {
  linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : memref<4096x32xf32>, memref<4096x32xf32>) outs(%r : memref<32x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#left = affine_map<(m, n, k) -> (m, k)>
#right = affine_map<(m, n, k) -> (k, n)>
#result = affine_map<(m, n, k) -> (m, n)>

// A matrix times a vector is a sum, which array-map-to-gpu lowers.
// CHECK-LABEL: func.func @thin(
// CHECK-NOT:     gpu.launch
// CHECK:         linalg.generic
// OLD-LABEL: func.func @thin(
func.func @thin(%x: memref<64x64xf32>, %y: memref<64x1xf32>, %r: memref<64x1xf32>) {
  linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : memref<64x64xf32>, memref<64x1xf32>) outs(%r : memref<64x1xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}
