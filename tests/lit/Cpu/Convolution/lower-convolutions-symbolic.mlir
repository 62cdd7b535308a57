// RUN: array-opt %s --split-input-file --array-lower-convolutions=vector-bits=512 | FileCheck %s
// RUN: array-opt %s --split-input-file --array-schedule-convolutions --array-lower-convolutions=vector-bits=512 | FileCheck %s

// A batch of symbolic size: there are as many slabs as images, and each thread takes a part of them.
#x = affine_map<(n, o, h, w, c, i, j) -> (n, h + i, w + j, c)>
#k = affine_map<(n, o, h, w, c, i, j) -> (i, j, c, o)>
#y = affine_map<(n, o, h, w, c, i, j) -> (n, h, w, o)>
// CHECK-LABEL: func.func @padded
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<?x28x28x16xf32>
// CHECK-SAME: %[[Y:[a-z0-9]+]]: memref<?x28x28x32xf32>
// CHECK: %[[N:.*]] = array.symbol 0
// CHECK-NOT: linalg
// CHECK-NOT: memref.copy
// CHECK-NOT: memref<?x30x30x16xf32>
// CHECK: %[[TILES:.*]] = arith.muli %[[N]], %{{.*}} : index
// CHECK-COUNT-2: memref.alloc() {alignment = 64 : i64}
// CHECK: %[[LESS:.*]] = arith.addi %[[TILES]]
// CHECK: %[[STEP:.*]] = arith.divui %[[LESS]]
// CHECK: scf.for %[[BLOCK:.*]] =
// CHECK: %[[FIRST:.*]] = arith.muli %[[BLOCK]], %[[STEP]]
// CHECK: %[[END:.*]] = arith.addi %[[FIRST]], %[[STEP]]
// CHECK: %[[LAST:.*]] = arith.minsi %[[END]], %[[TILES]]
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %[[LAST]]
// CHECK: memref.reinterpret_cast %[[X]]
// CHECK: memref.reinterpret_cast %[[Y]]
// CHECK: func.call @convolution_tiles_f32_8x32({{.*}}%false
// CHECK: array.parallel
// CHECK: return
func.func @padded(%x: memref<?x28x28x16xf32> {array.dims = affine_map<()[n] -> (n, 28, 28, 16)>}, %k: memref<3x3x16x32xf32>,
                  %y: memref<?x28x28x32xf32> {array.dims = affine_map<()[n] -> (n, 28, 28, 32)>}) {
  %zero = arith.constant 0.0 : f32
  %n = array.symbol 0 : index
  %padded = memref.alloc(%n) : memref<?x30x30x16xf32>
  linalg.fill ins(%zero : f32) outs(%padded : memref<?x30x30x16xf32>)
  %inside = memref.subview %padded[0, 1, 1, 0] [%n, 28, 28, 16] [1, 1, 1, 1]
      : memref<?x30x30x16xf32> to memref<?x28x28x16xf32, strided<[14400, 480, 16, 1], offset: 496>>
  memref.copy %x, %inside : memref<?x28x28x16xf32> to memref<?x28x28x16xf32, strided<[14400, 480, 16, 1], offset: 496>>
  linalg.fill ins(%zero : f32) outs(%y : memref<?x28x28x32xf32>)
  linalg.generic {indexing_maps = [#x, #k, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%padded, %k : memref<?x30x30x16xf32>, memref<3x3x16x32xf32>) outs(%y : memref<?x28x28x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// The gradient with respect to the kernel sums over the batch. There may be none: the zeros stay, and are added to.
#x = affine_map<(i, j, c, o, n, h, w) -> (n, h + i, w + j, c)>
#g = affine_map<(i, j, c, o, n, h, w) -> (n, h, w, o)>
#k = affine_map<(i, j, c, o, n, h, w) -> (i, j, c, o)>
// CHECK-LABEL: func.func @kernel
// CHECK-SAME: %[[K:[a-z0-9]+]]: memref<3x3x16x64xf32>
// CHECK: %[[N:.*]] = array.symbol 0
// CHECK: linalg.fill {{.*}} outs(%[[K]]
// CHECK-NOT: linalg
// CHECK: %[[TILES:.*]] = arith.muli %[[N]], %{{.*}} : index
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[TILES]]
// CHECK: func.call @matmul_pack_rows_f32_8x32
// CHECK: func.call @convolution_tiles_f32_8x32({{.*}}%true
func.func @kernel(%x: memref<?x30x30x16xf32> {array.dims = affine_map<()[n] -> (n, 30, 30, 16)>},
                  %g: memref<?x28x28x64xf32> {array.dims = affine_map<()[n] -> (n, 28, 28, 64)>}, %k: memref<3x3x16x64xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%k : memref<3x3x16x64xf32>)
  linalg.generic {indexing_maps = [#x, #g, #k], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %g : memref<?x30x30x16xf32>, memref<?x28x28x64xf32>) outs(%k : memref<3x3x16x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// Fewer windows than taps: a static size would make the channels outputs, but a symbolic batch is divided into slabs.
#x = affine_map<(n, o, h, w, c, i, j) -> (n, h * 4 + i, w * 4 + j, c)>
#k = affine_map<(n, o, h, w, c, i, j) -> (i, j, c, o)>
#y = affine_map<(n, o, h, w, c, i, j) -> (n, h, w, o)>
// CHECK-LABEL: func.func @patches
// CHECK: %[[N:.*]] = array.symbol 0
// CHECK-NOT: linalg
// CHECK: %[[TILES:.*]] = arith.divui
// CHECK: call @matmul_pack_rows_f32_8x32
// CHECK: %[[END:.*]] = arith.minsi %{{.*}}, %[[TILES]]
// CHECK: scf.for %[[NUMBER:.*]] = %{{.*}} to %[[END]]
// CHECK: %[[FIRST:.*]] = arith.muli %[[NUMBER]]
// CHECK: convolution_pack_f32_8x32
// CHECK: %[[LEFT:.*]] = arith.subi %[[N]], %[[FIRST]]
// CHECK: %[[IMAGES:.*]] = arith.minsi %[[LEFT]]
// CHECK: %[[ROWS:.*]] = arith.muli %[[IMAGES]]
// CHECK: func.call @convolution_tiles_f32_8x32({{.*}}, %[[ROWS]], {{.*}}%false
func.func @patches(%x: memref<?x8x8x12xf32> {array.dims = affine_map<()[n] -> (n, 8, 8, 12)>}, %k: memref<4x4x12x32xf32>,
                   %y: memref<?x2x2x32xf32> {array.dims = affine_map<()[n] -> (n, 2, 2, 32)>}) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<?x2x2x32xf32>)
  linalg.generic {indexing_maps = [#x, #k, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %k : memref<?x8x8x12xf32>, memref<4x4x12x32xf32>) outs(%y : memref<?x2x2x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// The gradient of a kernel with more taps than windows sums over the batch, too.
#x = affine_map<(i, j, c, o, n, h, w) -> (n, h * 4 + i, w * 4 + j, c)>
#g = affine_map<(i, j, c, o, n, h, w) -> (n, h, w, o)>
#k = affine_map<(i, j, c, o, n, h, w) -> (i, j, c, o)>
// CHECK-LABEL: func.func @kernel_of_patches
// CHECK-SAME: %[[K:[a-z0-9]+]]: memref<4x4x12x64xf32>
// CHECK: %[[N:.*]] = array.symbol 0
// CHECK: linalg.fill {{.*}} outs(%[[K]]
// CHECK: scf.for %[[NUMBER:.*]] = %{{.*}} to %{{.*}}
// CHECK: arith.subi %[[N]]
// CHECK: func.call @matmul_pack_rows_f32_8x32
// CHECK: %[[ROWS:.*]] = arith.constant 192 : index
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[ROWS]]
// CHECK: func.call @convolution_tiles_f32_8x32({{.*}}%true
func.func @kernel_of_patches(%x: memref<?x8x8x12xf32> {array.dims = affine_map<()[n] -> (n, 8, 8, 12)>},
                             %g: memref<?x2x2x64xf32> {array.dims = affine_map<()[n] -> (n, 2, 2, 64)>}, %k: memref<4x4x12x64xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%k : memref<4x4x12x64xf32>)
  linalg.generic {indexing_maps = [#x, #g, #k], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %g : memref<?x8x8x12xf32>, memref<?x2x2x64xf32>) outs(%k : memref<4x4x12x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}
