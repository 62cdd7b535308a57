// RUN: array-opt %s --split-input-file --array-lower-convolutions | FileCheck %s
// RUN: array-opt %s --split-input-file --array-schedule-convolutions --array-lower-convolutions | FileCheck %s
// RUN: array-opt %s --split-input-file --array-lower-convolutions=vector-bits=256 | FileCheck %s --check-prefix=AVX2

// A convolution of a padded operand (3x3, stride 1): the padding, which is a copy between zeros, is not made: the slab is
// filled from the operand itself. The zero fill of the result is folded away, and threads share the slabs.
#x = affine_map<(n, o, h, w, c, i, j) -> (n, h + i, w + j, c)>
#k = affine_map<(n, o, h, w, c, i, j) -> (i, j, c, o)>
#y = affine_map<(n, o, h, w, c, i, j) -> (n, h, w, o)>
// The offsets of a window's terms in a slab of rows of 30 places and 16 channels.
// CHECK-DAG: memref.global "private" constant @convolution_table_{{[0-9]+}} : memref<144xi32> = dense<"0x00000000010000000
// CHECK-LABEL: func.func @padded
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<8x28x28x16xf32>, %[[K:[a-z0-9]+]]: memref<3x3x16x32xf32>, %[[Y:[a-z0-9]+]]: memref<8x28x28x32xf32>
// CHECK-NOT: linalg
// CHECK-NOT: memref.copy
// CHECK-NOT: memref<8x30x30x16xf32>
// The whole kernel is one panel.
// CHECK: memref.reinterpret_cast %[[K]]
// CHECK: call @matmul_pack_rows_f32_8x32
// CHECK: scf.for
// CHECK: scf.for
// A row outside of the operand is one of zeros.
// CHECK: arith.cmpi ult
// CHECK: %[[SOURCE:.*]] = memref.reinterpret_cast %[[X]]
// CHECK: func.call @convolution_pack_f32_8x32(%[[SOURCE]]
// CHECK: %[[RESULT:.*]] = memref.reinterpret_cast %[[Y]]
// CHECK: func.call @convolution_tiles_f32_8x32({{.*}}%[[RESULT]], {{.*}}%false
// CHECK: array.parallel
// CHECK: return

// The tile: accumulators stay in registers over all terms, whose positions are read from a table.
// CHECK: func.func private @convolution_tiles_f32_8x32({{.*}}) attributes {array.unit
// CHECK: vector.create_mask
// CHECK: scf.for {{.*}} iter_args
// CHECK: memref.load {{.*}} : memref<?xi32
// CHECK-COUNT-2: vector.load
// CHECK-COUNT-16: vector.fma
// CHECK: scf.if
// CHECK-COUNT-16: vector.maskedload
// CHECK-COUNT-16: vector.maskedstore
// AVX2: func.func private @convolution_tiles_f32_6x16
// AVX2-COUNT-12: vector.fma
// AVX2-NOT: vector.fma
// AVX2: return
func.func @padded(%x: memref<8x28x28x16xf32>, %k: memref<3x3x16x32xf32>, %y: memref<8x28x28x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %padded = memref.alloc() : memref<8x30x30x16xf32>
  linalg.fill ins(%zero : f32) outs(%padded : memref<8x30x30x16xf32>)
  %inside = memref.subview %padded[0, 1, 1, 0] [8, 28, 28, 16] [1, 1, 1, 1]
      : memref<8x30x30x16xf32> to memref<8x28x28x16xf32, strided<[14400, 480, 16, 1], offset: 496>>
  memref.copy %x, %inside : memref<8x28x28x16xf32> to memref<8x28x28x16xf32, strided<[14400, 480, 16, 1], offset: 496>>
  linalg.fill ins(%zero : f32) outs(%y : memref<8x28x28x32xf32>)
  linalg.generic {indexing_maps = [#x, #k, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%padded, %k : memref<8x30x30x16xf32>, memref<3x3x16x32xf32>) outs(%y : memref<8x28x28x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// The operand is written between the copy and the convolution: the copy is read, still without its zeros.
#x = affine_map<(o, h, c, i) -> (h + i, c)>
#k = affine_map<(o, h, c, i) -> (i, c, o)>
#y = affine_map<(o, h, c, i) -> (h, o)>
// CHECK-LABEL: func.func @overwritten
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<62x16xf32>
// CHECK: %[[PADDED:.*]] = memref.alloc() : memref<64x16xf32>
// CHECK-NOT: linalg.fill ins({{.*}}) outs(%[[PADDED]]
// CHECK: %[[VIEW:.*]] = memref.subview %[[PADDED]]
// CHECK: memref.copy %[[X]], %[[VIEW]]
// CHECK: linalg.fill ins({{.*}}) outs(%[[X]]
// CHECK: memref.reinterpret_cast %[[VIEW]]
// CHECK: call @convolution_pack_f32
func.func @overwritten(%x: memref<62x16xf32>, %k: memref<3x16x32xf32>, %y: memref<62x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %padded = memref.alloc() : memref<64x16xf32>
  linalg.fill ins(%zero : f32) outs(%padded : memref<64x16xf32>)
  %inside = memref.subview %padded[1, 0] [62, 16] [1, 1] : memref<64x16xf32> to memref<62x16xf32, strided<[16, 1], offset: 16>>
  memref.copy %x, %inside : memref<62x16xf32> to memref<62x16xf32, strided<[16, 1], offset: 16>>
  linalg.fill ins(%zero : f32) outs(%x : memref<62x16xf32>)
  linalg.generic {indexing_maps = [#x, #k, #y], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%padded, %k : memref<64x16xf32>, memref<3x16x32xf32>) outs(%y : memref<62x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// The gradient with respect to the operand of a convolution of stride 2: the operand is spread by zeros. Even positions and
// odd ones meet taps of their own (two and one of three), so there are two loops, and no zeros are multiplied.
#x = affine_map<(o, h, c, i) -> (h + i, c)>
#k = affine_map<(o, h, c, i) -> (i, c, o)>
#y = affine_map<(o, h, c, i) -> (h, o)>
// CHECK-LABEL: func.func @spread
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<32x16xf32>
// CHECK-NOT: memref<66x16xf32>
// CHECK: memref.reinterpret_cast %[[X]]
// CHECK: call @convolution_tiles_f32
// CHECK: memref.reinterpret_cast %[[X]]
// CHECK: call @convolution_tiles_f32
// CHECK-NOT: call @convolution_tiles_f32
// CHECK: return
func.func @spread(%x: memref<32x16xf32>, %k: memref<3x16x32xf32>, %y: memref<64x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %padded = memref.alloc() : memref<66x16xf32>
  linalg.fill ins(%zero : f32) outs(%padded : memref<66x16xf32>)
  %inside = memref.subview %padded[1, 0] [32, 16] [2, 1] : memref<66x16xf32> to memref<32x16xf32, strided<[32, 1], offset: 16>>
  memref.copy %x, %inside : memref<32x16xf32> to memref<32x16xf32, strided<[32, 1], offset: 16>>
  linalg.fill ins(%zero : f32) outs(%y : memref<64x32xf32>)
  linalg.generic {indexing_maps = [#x, #k, #y], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%padded, %k : memref<66x16xf32>, memref<3x16x32xf32>) outs(%y : memref<64x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// Elements between interior zeros are multiplied for even rows alone; odd rows keep the zeros of the fill. The op that
// computed them between the zeros now computes them in memory without zeros. A copy of the view to itself, which
// bufferization may leave, is ignored.
#x = affine_map<(o, h, c) -> (h, c)>
#k = affine_map<(o, h, c) -> (c, o)>
#y = affine_map<(o, h, c) -> (h, o)>
// CHECK-LABEL: func.func @spread_elements
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<32x16xf32>, %{{.*}}, %[[Y:[a-z0-9]+]]: memref<64x32xf32>
// CHECK: %[[DENSE:.*]] = memref.alloc() {{.*}}: memref<32x16xf32>
// CHECK-NOT: memref<64x16xf32>
// CHECK-NOT: memref.copy
// CHECK: linalg.exp ins(%[[X]]{{.*}}) outs(%[[DENSE]]
// CHECK: linalg.fill ins({{.*}}) outs(%[[Y]]
// CHECK: memref.reinterpret_cast %[[DENSE]]
// CHECK: call @convolution_tiles_f32{{.*}} %true
// CHECK-NOT: call @convolution_tiles_f32
// CHECK: return
func.func @spread_elements(%x: memref<32x16xf32>, %k: memref<16x32xf32>, %y: memref<64x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %padded = memref.alloc() : memref<64x16xf32>
  linalg.fill ins(%zero : f32) outs(%padded : memref<64x16xf32>)
  %inside = memref.subview %padded[0, 0] [32, 16] [2, 1] : memref<64x16xf32> to memref<32x16xf32, strided<[32, 1]>>
  linalg.exp ins(%x : memref<32x16xf32>) outs(%inside : memref<32x16xf32, strided<[32, 1]>>)
  memref.copy %inside, %inside : memref<32x16xf32, strided<[32, 1]>> to memref<32x16xf32, strided<[32, 1]>>
  linalg.fill ins(%zero : f32) outs(%y : memref<64x32xf32>)
  linalg.generic {indexing_maps = [#x, #k, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%padded, %k : memref<64x16xf32>, memref<16x32xf32>) outs(%y : memref<64x32xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// The gradient with respect to the kernel: many taps (the positions of the former result), few positions (the window).
// A slab holds some taps of all windows, and the second slab adds to the sums of the first.
#x = affine_map<(c, o, i, j, n, h, w) -> (n, h + i, w + j, c)>
#g = affine_map<(c, o, i, j, n, h, w) -> (n, h, w, o)>
#k = affine_map<(c, o, i, j, n, h, w) -> (i, j, c, o)>
// CHECK-LABEL: func.func @kernel
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<4x30x30x16xf32>, %[[G:[a-z0-9]+]]: memref<4x28x28x64xf32>, %[[K:[a-z0-9]+]]: memref<3x3x16x64xf32>
// CHECK-NOT: linalg
// CHECK: scf.for %[[SLAB:[a-z0-9]+]] =
// CHECK: memref.reinterpret_cast %[[X]]
// CHECK: func.call @convolution_pack_f32
// CHECK: memref.reinterpret_cast %[[G]]
// CHECK: func.call @matmul_pack_rows_f32_8x32
// CHECK: %[[LATER:.*]] = arith.cmpi sgt, %[[SLAB]]
// CHECK: scf.for
// CHECK: func.call @convolution_tiles_f32_8x32({{.*}}, %[[LATER]])
// CHECK: array.parallel
func.func @kernel(%x: memref<4x30x30x16xf32>, %g: memref<4x28x28x64xf32>, %k: memref<3x3x16x64xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%k : memref<3x3x16x64xf32>)
  linalg.generic {indexing_maps = [#x, #g, #k], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %g : memref<4x30x30x16xf32>, memref<4x28x28x64xf32>) outs(%k : memref<3x3x16x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// Not lowered: one output feature, which is no matmul.
#x = affine_map<(h, i, c) -> (h + i, c)>
#k = affine_map<(h, i, c) -> (i, c)>
#y = affine_map<(h, i, c) -> (h)>
// CHECK-LABEL: func.func @one_feature
// CHECK: linalg.generic
func.func @one_feature(%x: memref<66x16xf32>, %k: memref<3x16xf32>, %y: memref<64xf32>) {
  linalg.generic {indexing_maps = [#x, #k, #y], iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%x, %k : memref<66x16xf32>, memref<3x16xf32>) outs(%y : memref<64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// array.plan: the tile, and a slab that holds one row of a result.
#x = affine_map<(n, o, h, w, c, i, j) -> (n, h + i, w + j, c)>
#k = affine_map<(n, o, h, w, c, i, j) -> (i, j, c, o)>
#y = affine_map<(n, o, h, w, c, i, j) -> (n, h, w, o)>
// CHECK-LABEL: func.func @planned
// A slab of 3 rows of 30 places and 16 channels for each of 8 blocks.
// CHECK: memref.alloc() {{.*}} : memref<11520xf32>
// CHECK: func.call @convolution_tiles_f32_4x16
func.func @planned(%x: memref<8x30x30x16xf32>, %k: memref<3x3x16x32xf32>, %y: memref<8x28x28x32xf32>) {
  linalg.generic {indexing_maps = [#x, #k, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %k : memref<8x30x30x16xf32>, memref<3x3x16x32xf32>) outs(%y : memref<8x28x28x32xf32>)
      attrs = {array.plan = {rows = 28, tile_rows = 4, tile_vectors = 1}} {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}
