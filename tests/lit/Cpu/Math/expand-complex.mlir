// RUN: array-opt %s --array-expand-complex | FileCheck %s

// A chain of ops works on parts throughout: one pair of reads, one complex.
// CHECK-LABEL: func.func @chain
// CHECK-SAME: (%[[Z:.*]]: tensor<4xcomplex<f32>>)
// CHECK: %[[RE:.*]] = array.real %[[Z]] : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
// CHECK: %[[IM:.*]] = array.imag %[[Z]]
// CHECK-COUNT-4: array.mul
// CHECK-NOT: array.{{(real|imag|complex)}}
// CHECK: array.add
// CHECK: %[[OUT:.*]] = array.complex
// CHECK: return %[[OUT]]
func.func @chain(%z: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %0 = array.mul %z, %z : tensor<4xcomplex<f32>>
  %1 = array.neg %0 : tensor<4xcomplex<f32>>
  %2 = array.add %1, %z : tensor<4xcomplex<f32>>
  return %2 : tensor<4xcomplex<f32>>
}

// Ops that move elements do not change.
// CHECK-LABEL: func.func @movement
// CHECK-NEXT: array.transpose %{{.*}} : (tensor<2x3xcomplex<f64>>) -> tensor<3x2xcomplex<f64>>
// CHECK-NEXT: return
func.func @movement(%z: tensor<2x3xcomplex<f64>>) -> tensor<3x2xcomplex<f64>> {
  %0 = array.transpose %z permutation = [1, 0] : (tensor<2x3xcomplex<f64>>) -> tensor<3x2xcomplex<f64>>
  return %0 : tensor<3x2xcomplex<f64>>
}

// Products of the parts.
// CHECK-LABEL: func.func @contraction
// CHECK-COUNT-4: array.dot_general {{.*}} : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
// CHECK: array.complex
func.func @contraction(%x: tensor<2x3xcomplex<f32>>, %y: tensor<3x2xcomplex<f32>>) -> tensor<2x2xcomplex<f32>> {
  %0 = array.dot_general %x, %y contracting = [1] x [0]
      : (tensor<2x3xcomplex<f32>>, tensor<3x2xcomplex<f32>>) -> tensor<2x2xcomplex<f32>>
  return %0 : tensor<2x2xcomplex<f32>>
}

// A complex key is two keys.
// CHECK-LABEL: func.func @sort
// CHECK: %[[SORTED:.*]]:3 = array.sort %{{.*}}, %{{.*}}, %{{.*}} {{.*}}num_keys = 2
// CHECK: array.complex %[[SORTED]]#0, %[[SORTED]]#1
func.func @sort(%z: tensor<4xcomplex<f32>>, %i: tensor<4xi32>) -> (tensor<4xcomplex<f32>>, tensor<4xi32>) {
  %0:2 = array.sort %z, %i dimension = 0 num_keys = 1 is_stable = true
      : (tensor<4xcomplex<f32>>, tensor<4xi32>) -> (tensor<4xcomplex<f32>>, tensor<4xi32>)
  return %0#0, %0#1 : tensor<4xcomplex<f32>>, tensor<4xi32>
}

// To a real type the real part, to a bool whether either part is not zero; the magnitude is real.
// CHECK-LABEL: func.func @conversions
// CHECK-SAME: (%[[Z:.*]]: tensor<4xcomplex<f32>>)
// CHECK-DAG: %[[RE:.*]] = array.real %[[Z]]
// CHECK-DAG: array.convert %[[RE]] : (tensor<4xf32>) -> tensor<4xi32>
// CHECK-DAG: array.or %{{.*}}, %{{.*}} : tensor<4xi1>
// CHECK: array.sqrt %{{.*}} : tensor<4xf32>
func.func @conversions(%z: tensor<4xcomplex<f32>>) -> (tensor<4xi32>, tensor<4xi1>, tensor<4xf32>) {
  %0 = array.convert %z : (tensor<4xcomplex<f32>>) -> tensor<4xi32>
  %1 = array.convert %z : (tensor<4xcomplex<f32>>) -> tensor<4xi1>
  %2 = array.abs %z : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  return %0, %1, %2 : tensor<4xi32>, tensor<4xi1>, tensor<4xf32>
}

// Ops that are linear in an operand compute on its parts.
// CHECK-LABEL: @windows
// CHECK-COUNT-2: array.reduce_window_sum {{.*}} : (tensor<4xf32>) -> tensor<3xf32>
// CHECK-COUNT-4: array.conv_general_dilated {{.*}} : (tensor<1x1x3xf32>, tensor<1x1x2xf32>) -> tensor<1x1x2xf32>
func.func @windows(%x: tensor<4xcomplex<f32>>, %w: tensor<1x1x2xcomplex<f32>>) -> tensor<1x1x2xcomplex<f32>> {
  %0 = array.reduce_window_sum %x window_dimensions = [2] window_strides = [1] low = [0] high = [0]
         base_dilation = [1] window_dilation = [1] : (tensor<4xcomplex<f32>>) -> tensor<3xcomplex<f32>>
  %1 = array.reshape %0 : (tensor<3xcomplex<f32>>) -> tensor<1x1x3xcomplex<f32>>
  %2 = array.conv_general_dilated %1, %w window_strides = [1] low = [0] high = [0] lhs_dilation = [1]
         rhs_dilation = [1] lhs_spec = [0, 1, 2] rhs_spec = [0, 1, 2] out_spec = [0, 1, 2] feature_group_count = 1
         batch_group_count = 1
         : (tensor<1x1x3xcomplex<f32>>, tensor<1x1x2xcomplex<f32>>) -> tensor<1x1x2xcomplex<f32>>
  return %2 : tensor<1x1x2xcomplex<f32>>
}

// The contents of a loop without readers are erased with the loop, or stay with it.
// CHECK-LABEL: func.func @unread_loop
func.func @unread_loop(%p: tensor<i1>, %z: tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>> {
  %r:2 = array.while(%p, %z) : (tensor<i1>, tensor<3xcomplex<f32>>) -> (tensor<i1>, tensor<3xcomplex<f32>>) cond {
  ^bb0(%q: tensor<i1>, %w: tensor<3xcomplex<f32>>):
    array.yield %q : tensor<i1>
  } body {
  ^bb0(%q: tensor<i1>, %w: tensor<3xcomplex<f32>>):
    %v = array.reverse %w dimensions = [0] : tensor<3xcomplex<f32>>
    %u = array.add %v, %v : tensor<3xcomplex<f32>>
    array.yield %q, %u : tensor<i1>, tensor<3xcomplex<f32>>
  }
  // CHECK: return
  return %z : tensor<3xcomplex<f32>>
}

// The parts of a quotient have most operations in common. Readers read the whole: one value to store or to fuse.
// CHECK-LABEL: func.func @quotients
// CHECK: %[[FIRST:.*]] = array.complex
// CHECK-DAG: array.real %[[FIRST]]
// CHECK-DAG: array.imag %[[FIRST]]
// CHECK: %[[SECOND:.*]] = array.complex
// CHECK: return %[[SECOND]]
func.func @quotients(%z: tensor<4xcomplex<f64>>, %w: tensor<4xcomplex<f64>>) -> tensor<4xcomplex<f64>> {
  %0 = array.div %z, %w : tensor<4xcomplex<f64>>
  %1 = array.div %0, %w : tensor<4xcomplex<f64>>
  return %1 : tensor<4xcomplex<f64>>
}

// Single numbers are divided in double precision: no scaling, one division.
// CHECK-LABEL: func.func @singles
// CHECK-COUNT-4: array.convert {{.*}} -> tensor<4xf64>
// CHECK: array.div %{{.*}} : tensor<4xf64>
// CHECK-NOT: array.div
// CHECK-COUNT-2: array.convert {{.*}} -> tensor<4xf32>
// CHECK: return
func.func @singles(%z: tensor<4xcomplex<f32>>, %w: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %0 = array.div %z, %w : tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}

// Whole numbers of 64 bits are only moved. Those of 128 bits, and those whose parts are there, are selected by parts.
// CHECK-LABEL: func.func @moved
// CHECK-NEXT: array.select %{{.*}} tensor<4xcomplex<f32>>
// CHECK-NEXT: return
func.func @moved(%p: tensor<4xi1>, %x: tensor<4xcomplex<f32>>, %y: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %0 = array.select %p, %x, %y : tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
}

// CHECK-LABEL: func.func @by_parts
// CHECK-COUNT-2: array.select {{.*}} tensor<4xf32>
// CHECK: array.complex
// CHECK-NOT: array.select
// CHECK: return
func.func @by_parts(%p: tensor<4xi1>, %x: tensor<4xcomplex<f32>>, %y: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %0 = array.add %x, %y : tensor<4xcomplex<f32>>
  %1 = array.select %p, %0, %y : tensor<4xcomplex<f32>>
  return %1 : tensor<4xcomplex<f32>>
}

// CHECK-LABEL: func.func @wide
// CHECK-COUNT-2: array.select {{.*}} tensor<4xf64>
// CHECK: array.complex
func.func @wide(%p: tensor<4xi1>, %x: tensor<4xcomplex<f64>>, %y: tensor<4xcomplex<f64>>) -> tensor<4xcomplex<f64>> {
  %0 = array.select %p, %x, %y : tensor<4xcomplex<f64>>
  return %0 : tensor<4xcomplex<f64>>
}
