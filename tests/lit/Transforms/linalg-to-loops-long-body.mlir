// array-linalg-to-loops on bodies of many operations: one masked loop serves for whole vectors and for the rest, where
// masks cost little.
// RUN: array-opt %s --array-linalg-to-loops=vector-bits=512 | FileCheck %s
// RUN: array-opt %s --array-linalg-to-loops=vector-bits=256 | FileCheck %s --check-prefix=NARROW

#id = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func @rest
// CHECK:         scf.for
// CHECK:           arith.cmpi {{.*}} : vector<64xi32>
// CHECK:           vector.maskedload
// CHECK-COUNT-5:   math.exp
// CHECK:           vector.maskedstore
// CHECK-NOT:     math.exp
// NARROW-LABEL: func @rest
// NARROW:         scf.for
// NARROW:           vector.load
// NARROW-COUNT-10:  math.exp
func.func @rest(%a: memref<1000xf32>, %out: memref<1000xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : memref<1000xf32>) outs(%out : memref<1000xf32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = math.exp %x : f32
    %1 = math.exp %0 : f32
    %2 = math.exp %1 : f32
    %3 = math.exp %2 : f32
    %4 = math.exp %3 : f32
    linalg.yield %4 : f32
  }
  return
}

// Without a rest there is nothing to mask, nor where there is less than a vector.
// CHECK-LABEL: func @whole
// CHECK-NOT:     mask
// CHECK:         return
func.func @whole(%a: memref<1024xf32>, %out: memref<1024xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : memref<1024xf32>) outs(%out : memref<1024xf32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = math.exp %x : f32
    %1 = math.exp %0 : f32
    %2 = math.exp %1 : f32
    %3 = math.exp %2 : f32
    %4 = math.exp %3 : f32
    linalg.yield %4 : f32
  }
  return
}
