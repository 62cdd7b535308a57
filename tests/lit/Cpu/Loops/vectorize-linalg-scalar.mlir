// array-vectorize-linalg on ops without a form on vectors.
// Invariants: the result is still loops, of scalars; no affine operation is left either.
// RUN: array-opt %s --array-vectorize-linalg | FileCheck %s --implicit-check-not=linalg. --implicit-check-not=vector --implicit-check-not=affine

// A reduction without a known combination of lanes.
// CHECK-LABEL: func @sequential
// CHECK:         %[[INIT:.*]] = memref.load
// CHECK:         scf.for {{.*}} iter_args({{.*}} = %[[INIT]]) -> (f32) {
// CHECK:           arith.mulf
// CHECK:           arith.addf
func.func @sequential(%a: memref<100xf32>, %out: memref<f32>) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%a : memref<100xf32>) outs(%out : memref<f32>) {
  ^bb0(%x: f32, %o: f32):
    %m = arith.mulf %o, %x : f32
    %s = arith.addf %m, %x : f32
    linalg.yield %s : f32
  }
  return
}

// An operation with a region.
// CHECK-LABEL: func @region
// CHECK:         scf.for
// CHECK:           scf.if
func.func @region(%a: memref<100xf32>, %out: memref<100xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%a : memref<100xf32>) outs(%out : memref<100xf32>) {
  ^bb0(%x: f32, %o: f32):
    %c = arith.cmpf olt, %x, %o : f32
    %y = scf.if %c -> f32 {
      scf.yield %x : f32
    } else {
      scf.yield %o : f32
    }
    linalg.yield %y : f32
  }
  return
}

// A map that is not linear.
// CHECK-LABEL: func @halved
// CHECK:         scf.for %[[I:.*]] =
// CHECK:           arith.divsi
// CHECK:           memref.load
func.func @halved(%a: memref<50xf32>, %out: memref<100xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0 floordiv 2)>, affine_map<(d0) -> (d0)>],
                  iterator_types = ["parallel"]}
      ins(%a : memref<50xf32>) outs(%out : memref<100xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  }
  return
}
