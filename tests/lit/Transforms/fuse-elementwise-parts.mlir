// RUN: array-opt %s --pass-pipeline='builtin.module(func.func(array-fuse-elementwise),canonicalize)' --split-input-file | FileCheck %s

// Readers of tensors that insertions assemble are divided into one op for each part (DivideReaders.h).

#id = affine_map<(d0) -> (d0)>

// The gradient of x[1:] - x[:-1]: the sum of two padded tensors. The op between the ends computes what is padded.
// CHECK-LABEL: func @shifted(
// CHECK-SAME:    %[[X:.*]]: tensor<4096xf32>, %[[Y:.*]]: tensor<4096xf32>)
// CHECK:         %[[FIRST:.*]] = linalg.generic {{.*}} outs({{.*}} : tensor<1xf32>)
// CHECK:           arith.negf
// CHECK:         tensor.insert_slice %[[FIRST]] into %{{.*}}[0] [1] [1]
// CHECK-DAG:     %[[X1:.*]] = tensor.extract_slice %[[X]][1] [4094] [1]
// CHECK-DAG:     %[[X0:.*]] = tensor.extract_slice %[[X]][0] [4094] [1]
// CHECK:         %[[INNER:.*]] = linalg.generic {{.*}} outs({{.*}} : tensor<4094xf32>)
// CHECK:           arith.mulf
// CHECK:           arith.mulf
// CHECK:           arith.addf
// CHECK:         tensor.insert_slice %[[INNER]] into %{{.*}}[1] [4094] [1]
// CHECK:         %[[LAST:.*]] = linalg.generic {{.*}} outs({{.*}} : tensor<1xf32>)
// CHECK:         tensor.insert_slice %[[LAST]] into %{{.*}}[4095] [1] [1]
// CHECK-NOT:     linalg.
func.func @shifted(%x: tensor<4096xf32>, %y: tensor<4096xf32>) -> tensor<4096xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4095xf32>
  %w = tensor.empty() : tensor<4096xf32>
  %x0 = tensor.extract_slice %x[0] [4095] [1] : tensor<4096xf32> to tensor<4095xf32>
  %y0 = tensor.extract_slice %y[0] [4095] [1] : tensor<4096xf32> to tensor<4095xf32>
  %product = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x0, %y0 : tensor<4095xf32>, tensor<4095xf32>) outs(%e : tensor<4095xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<4095xf32>
  %minus = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%product : tensor<4095xf32>) outs(%e : tensor<4095xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  } -> tensor<4095xf32>
  %f = linalg.fill ins(%zero : f32) outs(%w : tensor<4096xf32>) -> tensor<4096xf32>
  %before = tensor.insert_slice %minus into %f[0] [4095] [1] : tensor<4095xf32> into tensor<4096xf32>
  %after = tensor.insert_slice %product into %f[1] [4095] [1] : tensor<4095xf32> into tensor<4096xf32>
  %sum = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%before, %after : tensor<4096xf32>, tensor<4096xf32>) outs(%w : tensor<4096xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<4096xf32>
  return %sum : tensor<4096xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// Padding along both axes: the sides and the corners of a row have one source, the scalar, so five ops are enough.
// Each counts from the start of the whole.
// CHECK-LABEL: func @padded(
// CHECK:         linalg.generic {{.*}} : tensor<1x66xi32>)
// CHECK:         linalg.generic {{.*}} : tensor<64x1xi32>)
// CHECK:         linalg.generic {{.*}} : tensor<64x64xi32>)
// CHECK:           linalg.index 1
// CHECK:           arith.addi %{{.*}}, %c1
// CHECK:         linalg.generic {{.*}} : tensor<64x1xi32>)
// CHECK:         linalg.generic {{.*}} : tensor<1x66xi32>)
// CHECK-NOT:     linalg.generic
func.func @padded(%x: tensor<64x64xi32>) -> tensor<66x66xi32> {
  %one = arith.constant 1 : i32
  %e = tensor.empty() : tensor<66x66xi32>
  %f = linalg.fill ins(%one : i32) outs(%e : tensor<66x66xi32>) -> tensor<66x66xi32>
  %p = tensor.insert_slice %x into %f[1, 1] [64, 64] [1, 1] : tensor<64x64xi32> into tensor<66x66xi32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<66x66xi32>) outs(%e : tensor<66x66xi32>) {
  ^bb0(%a: i32, %o: i32):
    %i = linalg.index 1 : index
    %j = arith.index_cast %i : index to i32
    %0 = arith.addi %a, %j : i32
    linalg.yield %0 : i32
  } -> tensor<66x66xi32>
  return %r : tensor<66x66xi32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>

// A slice of a concatenation, which is read transposed, is read from both sources.
// CHECK-LABEL: func @joined(
// CHECK-SAME:    %[[X:.*]]: tensor<64x64xf32>, %[[Y:.*]]: tensor<64x64xf32>)
// CHECK:         %[[X0:.*]] = tensor.extract_slice %[[X]][32, 0] [32, 64] [1, 1]
// CHECK:         linalg.generic {{.*}} ins(%[[X0]] : tensor<32x64xf32>) outs({{.*}} : tensor<64x32xf32>)
// CHECK:         linalg.generic {{.*}} ins(%[[Y]] : tensor<64x64xf32>) outs({{.*}} : tensor<64x64xf32>)
// CHECK-NOT:     linalg.generic
func.func @joined(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x96xf32> {
  %e = tensor.empty() : tensor<128x64xf32>
  %0 = tensor.insert_slice %x into %e[0, 0] [64, 64] [1, 1] : tensor<64x64xf32> into tensor<128x64xf32>
  %1 = tensor.insert_slice %y into %0[64, 0] [64, 64] [1, 1] : tensor<64x64xf32> into tensor<128x64xf32>
  %part = tensor.extract_slice %1[32, 0] [96, 64] [1, 1] : tensor<128x64xf32> to tensor<96x64xf32>
  %w = tensor.empty() : tensor<64x96xf32>
  %r = linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]}
      ins(%part : tensor<96x64xf32>) outs(%w : tensor<64x96xf32>) {
  ^bb0(%a: f32, %o: f32):
    %2 = math.exp %a : f32
    linalg.yield %2 : f32
  } -> tensor<64x96xf32>
  return %r : tensor<64x96xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// One op stays one: if another op reads the tensor as well, if the parts are short, and if their rows are.
// CHECK-LABEL: func @kept(
// CHECK-COUNT-3: linalg.generic
// CHECK-NOT:     linalg.generic
func.func @kept(%x: tensor<64x64xf32>, %y: tensor<4x4xf32>, %z: tensor<4096x2xf32>)
    -> (tensor<128x64xf32>, tensor<128x64xf32>, tensor<8x4xf32>, tensor<4096x4xf32>) {
  %e = tensor.empty() : tensor<128x64xf32>
  %0 = tensor.insert_slice %x into %e[0, 0] [64, 64] [1, 1] : tensor<64x64xf32> into tensor<128x64xf32>
  %1 = tensor.insert_slice %x into %0[64, 0] [64, 64] [1, 1] : tensor<64x64xf32> into tensor<128x64xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%1 : tensor<128x64xf32>) outs(%e : tensor<128x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %6 = math.exp %a : f32
    linalg.yield %6 : f32
  } -> tensor<128x64xf32>
  %f = tensor.empty() : tensor<8x4xf32>
  %2 = tensor.insert_slice %y into %f[0, 0] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<8x4xf32>
  %3 = tensor.insert_slice %y into %2[4, 0] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<8x4xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%3 : tensor<8x4xf32>) outs(%f : tensor<8x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %6 = math.exp %a : f32
    linalg.yield %6 : f32
  } -> tensor<8x4xf32>
  %g = tensor.empty() : tensor<4096x4xf32>
  %4 = tensor.insert_slice %z into %g[0, 0] [4096, 2] [1, 1] : tensor<4096x2xf32> into tensor<4096x4xf32>
  %5 = tensor.insert_slice %z into %4[0, 2] [4096, 2] [1, 1] : tensor<4096x2xf32> into tensor<4096x4xf32>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%5 : tensor<4096x4xf32>) outs(%g : tensor<4096x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %6 = math.exp %a : f32
    linalg.yield %6 : f32
  } -> tensor<4096x4xf32>
  return %r, %1, %s, %t : tensor<128x64xf32>, tensor<128x64xf32>, tensor<8x4xf32>, tensor<4096x4xf32>
}
