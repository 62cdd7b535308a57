// RUN: array-opt %s --convert-array-to-linalg | FileCheck %s
// RUN: array-opt %s --array-to-llvm | FileCheck %s --check-prefix=LLVM

// Collectives: one routine, whose params are the kind, reduction, dimensions, pairs, groups and the members.

// CHECK-LABEL: @main
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4x6xf32>, %[[B:[a-z0-9]+]]: tensor<4xi8>
func.func @main(%x: tensor<4x6xf32>, %b: tensor<4xi1>) -> (tensor<4x6xf32>, tensor<8xi1>, tensor<i32>) {
  // CHECK: array.runtime_call "collective" params = [0] element_types = [i32] outs(%{{.*}} : tensor<i32>) -> tensor<i32>
  %p = array.participant : () -> tensor<i32>
  // CHECK: %[[S:.*]] = array.runtime_call "collective" params = [1, 0, 0, 0, 0, 2, 2, 0, 1, 2, 3] element_types = [f32, f32]
  // CHECK-SAME: ins(%[[X]] : tensor<4x6xf32>) outs(%{{.*}} : tensor<4x6xf32>)
  %s = array.all_reduce %x kind = "sum" groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64> : (tensor<4x6xf32>) -> tensor<4x6xf32>
  // Elements that are only moved are passed as their bits.
  // CHECK: array.runtime_call "collective" params = [2, 0, 0, 0, 0, 1, 2, 0, 1] element_types = [ui8, ui8] ins(%[[B]] : tensor<4xi8>) outs(%{{.*}} : tensor<8xi8>)
  %g = array.all_gather %b dimension = 0 groups = dense<[[0, 1]]> : tensor<1x2xi64> : (tensor<4xi1>) -> tensor<8xi1>
  // CHECK: array.runtime_call "collective" params = [3, 2, 1, 0, 0, 1, 2, 0, 1] element_types = [f32, f32]
  %r = array.reduce_scatter %s kind = "max" dimension = 1 groups = dense<[[0, 1]]> : tensor<1x2xi64> : (tensor<4x6xf32>) -> tensor<4x3xf32>
  // CHECK: array.runtime_call "collective" params = [4, 0, 1, 0, 0, 1, 3, 0, 1, 2] element_types = [ui32, ui32]
  %a = array.all_to_all %r split_axis = 1 concat_axis = 0 groups = dense<[[0, 1, 2]]> : tensor<1x3xi64> : (tensor<4x3xf32>) -> tensor<12x1xf32>
  // CHECK: array.runtime_call "collective" params = [5, 0, 0, 0, 1, 1, 2, 0, 1, 1, 0] element_types = [ui32, ui32]
  %c = array.collective_permute %s pairs = [1, 0] groups = dense<[[0, 1]]> : tensor<1x2xi64> : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %c, %g, %p : tensor<4x6xf32>, tensor<8xi1>, tensor<i32>
}

// All are called, also the one whose result has no readers.
// LLVM-COUNT-6: llvm.call %{{.*}}(%{{.*}}) : !llvm.ptr, (!llvm.ptr, !llvm.ptr, i32, !llvm.ptr, i32, !llvm.ptr) -> i32
