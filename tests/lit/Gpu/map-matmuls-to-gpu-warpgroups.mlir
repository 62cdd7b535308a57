// RUN: array-opt %s --pass-pipeline='builtin.module(func.func(array-map-matmuls-to-gpu{chip=sm_90a least-blocks=1},canonicalize,cse))' | FileCheck %s
// RUN: array-opt %s --pass-pipeline='builtin.module(func.func(array-map-matmuls-to-gpu{chip=sm_100a least-blocks=1},canonicalize,cse))' | FileCheck %s --check-prefix=OTHER

// sm_90a has instructions of four warps, which read the factors from shared memory by descriptors; no other chip has.
// Four stages of 384 rows of 128 bytes, and the alignment, exceed static shared memory.
// CHECK-LABEL: func.func @warpgroups(
// CHECK-DAG:     %[[BYTES:.*]] = arith.constant 197632 : i32
// CHECK-DAG:     %[[THREADS:.*]] = arith.constant 256 : index
// CHECK:         gpu.launch {{.*}} threads({{.*}}) in (%{{.*}} = %[[THREADS]], {{.*}}) dynamic_shared_memory_size %[[BYTES]]
// CHECK:           %[[ALL:.*]] = gpu.dynamic_shared_memory
// CHECK:           %[[SX:.*]] = memref.view %[[ALL]]{{.*}} to memref<4x128x64xbf16, #gpu.address_space<workgroup>>
// The right factor is contiguous along its columns: blocks of 64 beside each other.
// CHECK:           %[[SY:.*]] = memref.view %[[ALL]]{{.*}} to memref<4x256x64xbf16, #gpu.address_space<workgroup>>
// CHECK:           nvgpu.device_async_copy %{{.*}}, %[[SX]][{{.*}}], 8 {bypassL1}
// CHECK:           nvgpu.device_async_copy %{{.*}}, %[[SY]][{{.*}}], 8 {bypassL1}
// Two stages are being loaded while two are multiplied. The instructions must see the copied bytes.
// CHECK:           scf.for
// CHECK:             nvvm.cp.async.commit.group
// CHECK-NEXT:        nvvm.cp.async.wait.group 1
// CHECK-NEXT:        nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
// CHECK-NEXT:        gpu.barrier
// CHECK:             nvvm.wgmma.fence.aligned
// CHECK-COUNT-4:     nvvm.wgmma.mma_async {{.*}} <m = 64, n = 256, k = 16>, D[<f32>, <one>], A[<bf16>, <one>, <row>], B[<bf16>, <one>, <row>]
// CHECK-NOT:         nvvm.wgmma.mma_async
// CHECK:             nvvm.wgmma.commit.group.sync.aligned
// CHECK-NEXT:        nvvm.wgmma.wait.group.sync.aligned 1
// CHECK-NEXT:        scf.yield
// The sums are there after the last wait, and not before.
// CHECK:           nvvm.wgmma.wait.group.sync.aligned 0
// CHECK:           llvm.inline_asm has_side_effects "", "=f,
// CHECK:           vector.store {{.*}} vector<2xf32>
// OTHER-LABEL: func.func @warpgroups(
// OTHER-NOT:     wgmma
// OTHER:         nvgpu.mma.sync
func.func @warpgroups(%x: memref<512x256xbf16>, %y: memref<256x512xbf16>, %sums: memref<512x512xf32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : memref<512x256xbf16>, memref<256x512xbf16>) outs(%sums : memref<512x512xf32>) {
  ^bb0(%a: bf16, %b: bf16, %c: f32):
    %wa = arith.extf %a : bf16 to f32
    %wb = arith.extf %b : bf16 to f32
    %p = arith.mulf %wa, %wb : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// f32 uses the tensor cores if the precision allows it: first rounded to the nearest.
// CHECK-LABEL: func.func @tf32(
// CHECK:         %[[A:.*]] = nvgpu.ldmatrix {{.*}} -> vector<4x1xf32>
// CHECK:         %[[EXACT:.*]] = vector.extract %[[A]][0, 0]
// CHECK:         nvvm.convert.float.to.tf32 %[[EXACT]] {rnd = #nvvm.fp_rnd_mode<rna>}
// CHECK:         nvgpu.mma.sync{{.*}}mmaShape = [16, 8, 8], tf32Enabled
func.func @tf32(%x: memref<64x64xf32>, %y: memref<64x64xf32>, %sums: memref<64x64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : memref<64x64xf32>, memref<64x64xf32>) outs(%sums : memref<64x64xf32>) attrs = {array.precision = "tf32"} {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// A large tile of threads has two blocks on a processor.
// CHECK-LABEL: func.func @threads(
// CHECK:         vector.fma
// CHECK:         {array.launch_name = "product", array.resident_blocks = 2 : i32}
func.func @threads(%x: memref<128x64xf32>, %y: memref<64x128xf32>, %sums: memref<128x128xf32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : memref<128x64xf32>, memref<64x128xf32>) outs(%sums : memref<128x128xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}
