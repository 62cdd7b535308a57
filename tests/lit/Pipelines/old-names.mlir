// Names that passes and their options had in the version before still work, and report the new names.
// RUN: array-opt %s --array-linalg-to-loops=fetch-ahead=0 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=WARNING < %t
// RUN: array-opt %s -pass-pipeline="builtin.module(func.func(array-prepare-loops{copy-carry=true}))" 2>&1 | FileCheck %s --check-prefix=CARRIES

// WARNING: warning: the pass array-linalg-to-loops is called array-vectorize-linalg now
// CARRIES: warning: the pass array-prepare-loops is called array-in-place-carries now

// CHECK-LABEL: func.func @negate
// CHECK-NOT: linalg.generic
// CHECK: vector.{{.*}}load
func.func @negate(%x: memref<64xf32>, %out: memref<64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : memref<64xf32>) outs(%out : memref<64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.negf %a : f32
    linalg.yield %c : f32
  }
  return
}
