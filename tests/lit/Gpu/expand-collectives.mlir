// RUN: array-opt %s --array-expand-collectives | FileCheck %s
// RUN: array-opt %s --array-to-gpu=chip=sm_80 | FileCheck %s --check-prefix=GPU

// Reductions are of gathered operands: all members have an element in their order.

// CHECK-LABEL: @main
// CHECK-SAME: %[[X:.*]]: tensor<4x6xf32>, %[[LARGE:.*]]: tensor<64x1024xf32>
func.func @main(%x: tensor<4x6xf32>, %large: tensor<64x1024xf32>) -> (tensor<4x6xf32>, tensor<64x1024xf32>, tensor<4x3xf32>, tensor<4x12xf32>, tensor<8x3xf32>) {
  // CHECK: %[[FLAT:.*]] = array.reshape %[[X]] : (tensor<4x6xf32>) -> tensor<24xf32>
  // CHECK: %[[ROW:.*]] = array.reshape %[[FLAT]] : (tensor<24xf32>) -> tensor<1x24xf32>
  // CHECK: %[[ALL:.*]] = array.all_gather %[[ROW]] dimension = 0 groups = dense<{{.*}}> : tensor<1x2xi64> : (tensor<1x24xf32>) -> tensor<2x24xf32>
  // CHECK: %[[SUM:.*]] = array.reduce_sum %[[ALL]] axes = [0] : (tensor<2x24xf32>) -> tensor<24xf32>
  // CHECK: %[[S:.*]] = array.reshape %[[SUM]] : (tensor<24xf32>) -> tensor<4x6xf32>
  %s = array.all_reduce %x kind = "sum" groups = dense<[[0, 1]]> : tensor<1x2xi64> : (tensor<4x6xf32>) -> tensor<4x6xf32>
  // From 128 KiB on each member adds up a piece.
  // CHECK: %[[PIECES:.*]] = array.reshape %{{.*}} : (tensor<65536xf32>) -> tensor<2x32768xf32>
  // CHECK: %[[OWN:.*]] = array.all_to_all %[[PIECES]] split_axis = 0 concat_axis = 0 {{.*}} -> tensor<2x32768xf32>
  // CHECK: %[[PIECE:.*]] = array.reduce_max %[[OWN]] axes = [0] : (tensor<2x32768xf32>) -> tensor<32768xf32>
  // CHECK: %[[ROW:.*]] = array.reshape %[[PIECE]] : (tensor<32768xf32>) -> tensor<1x32768xf32>
  // CHECK: array.all_gather %[[ROW]] dimension = 0 {{.*}} -> tensor<2x32768xf32>
  %l = array.all_reduce %large kind = "max" groups = dense<[[0, 1]]> : tensor<1x2xi64> : (tensor<64x1024xf32>) -> tensor<64x1024xf32>
  // CHECK: %[[CUT:.*]] = array.reshape %[[S]] : (tensor<4x6xf32>) -> tensor<4x2x3xf32>
  // CHECK: %[[FRONT:.*]] = array.transpose %[[CUT]] permutation = [1, 0, 2]
  // CHECK: %[[PARTS:.*]] = array.all_to_all %[[FRONT]] split_axis = 0 concat_axis = 0 {{.*}} -> tensor<2x4x3xf32>
  // CHECK: array.reduce_prod %[[PARTS]] axes = [0] : (tensor<2x4x3xf32>) -> tensor<4x3xf32>
  %r = array.reduce_scatter %s kind = "prod" dimension = 1 groups = dense<[[0, 1]]> : tensor<1x2xi64> : (tensor<4x6xf32>) -> tensor<4x3xf32>
  // CHECK: %[[ALL:.*]] = array.all_gather %{{.*}} dimension = 0 {{.*}} : (tensor<1x4x6xf32>) -> tensor<2x4x6xf32>
  // CHECK: %[[BACK:.*]] = array.transpose %[[ALL]] permutation = [1, 0, 2]
  // CHECK: array.reshape %[[BACK]] : (tensor<4x2x6xf32>) -> tensor<4x12xf32>
  %g = array.all_gather %x dimension = 1 groups = dense<[[0, 1]]> : tensor<1x2xi64> : (tensor<4x6xf32>) -> tensor<4x12xf32>
  // CHECK: %[[CUT:.*]] = array.reshape %[[X]] : (tensor<4x6xf32>) -> tensor<4x2x3xf32>
  // CHECK: %[[FRONT:.*]] = array.transpose %[[CUT]] permutation = [1, 0, 2]
  // CHECK: %[[PARTS:.*]] = array.all_to_all %[[FRONT]] split_axis = 0 concat_axis = 0
  // CHECK: array.reshape %[[PARTS]] : (tensor<2x4x3xf32>) -> tensor<8x3xf32>
  %a = array.all_to_all %x split_axis = 1 concat_axis = 0 groups = dense<[[0, 1]]> : tensor<1x2xi64> : (tensor<4x6xf32>) -> tensor<8x3xf32>
  // GPU-COUNT-6: llvm.call %{{.*}}(%{{.*}}) : !llvm.ptr, (!llvm.ptr, !llvm.ptr, i32, !llvm.ptr, i32, !llvm.ptr) -> i32
  return %s, %l, %r, %g, %a : tensor<4x6xf32>, tensor<64x1024xf32>, tensor<4x3xf32>, tensor<4x12xf32>, tensor<8x3xf32>
}

// Collectives that the runtime supports stay, and those with one piece become such ones.

// CHECK-LABEL: func.func private @stays
// CHECK-SAME: %[[X:.*]]: tensor<4x6xf32>, %[[ROW:.*]]: tensor<1x6xi1>
func.func private @stays(%x: tensor<4x6xf32>, %row: tensor<1x6xi1>) {
  // CHECK-NEXT: array.all_gather %[[X]] dimension = 0
  %g = array.all_gather %x dimension = 0 groups = dense<[[0, 1]]> : tensor<1x2xi64> : (tensor<4x6xf32>) -> tensor<8x6xf32>
  // CHECK-NEXT: array.all_to_all %[[X]] split_axis = 0 concat_axis = 0
  %a = array.all_to_all %x split_axis = 0 concat_axis = 0 groups = dense<[[0, 1]]> : tensor<1x2xi64> : (tensor<4x6xf32>) -> tensor<4x6xf32>
  // CHECK-NEXT: array.collective_permute %[[X]] pairs = [0, 1]
  %c = array.collective_permute %x pairs = [0, 1] groups = dense<[[0, 1]]> : tensor<1x2xi64> : (tensor<4x6xf32>) -> tensor<4x6xf32>
  // CHECK-NEXT: %[[FLAT:.*]] = array.reshape %[[ROW]] : (tensor<1x6xi1>) -> tensor<6xi1>
  // CHECK-NEXT: %[[ALL:.*]] = array.all_gather %[[FLAT]] dimension = 0 {{.*}} : (tensor<6xi1>) -> tensor<12xi1>
  // CHECK-NEXT: array.reshape %[[ALL]] : (tensor<12xi1>) -> tensor<1x12xi1>
  %b = array.all_gather %row dimension = 1 groups = dense<[[0, 1]]> : tensor<1x2xi64> : (tensor<1x6xi1>) -> tensor<1x12xi1>
  // CHECK-NEXT: return
  return
}

// In a loop too.

// CHECK-LABEL: func.func private @loop
func.func private @loop(%x: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK: array.scan
  // CHECK: array.all_gather
  // CHECK: array.reduce_and
  // CHECK: array.yield
  %0 = array.scan(%x) () length = 3 reverse = false : (tensor<4xi32>) -> tensor<4xi32> {
  ^bb0(%c: tensor<4xi32>):
    %s = array.all_reduce %c kind = "and" groups = dense<[[0, 1]]> : tensor<1x2xi64> : (tensor<4xi32>) -> tensor<4xi32>
    array.yield %s : tensor<4xi32>
  }
  return %0 : tensor<4xi32>
}
