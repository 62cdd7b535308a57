// RUN: array-translate --stablehlo-to-array -split-input-file %s | FileCheck %s
// Operations that are several ops, or another one for some types.

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%{{.*}}: tensor<4xi1>, %{{.*}}: tensor<4xi1>)
// CHECK: array.or
// CHECK: array.and
func.func @main(%x: tensor<4xi1>, %y: tensor<4xi1>) -> tensor<4xi1> {
  %0 = stablehlo.add %x, %y : tensor<4xi1>
  %1 = stablehlo.multiply %0, %y : tensor<4xi1>
  return %1 : tensor<4xi1>
}

// -----

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%{{.*}}: tensor<4xcomplex<f32>>)
// CHECK: array.abs %{{.*}} : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
// CHECK: array.complex %[[A:.*]], %[[A]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xcomplex<f32>>
func.func @main(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %0 = stablehlo.abs %x : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
  %1 = stablehlo.complex %0, %0 : tensor<4xcomplex<f32>>
  return %1 : tensor<4xcomplex<f32>>
}

// -----

// The bounds and the predicate are scalars; the upper bound comes last.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[L:.*]]: tensor<f32>, %[[P:.*]]: tensor<i1>)
// CHECK: %[[LOW:.*]] = array.broadcast_in_dim %[[L]]
// CHECK: %[[HIGH:.*]] = array.broadcast_in_dim %[[L]]
// CHECK: %[[M:.*]] = array.max %[[X]], %[[LOW]]
// CHECK: %[[C:.*]] = array.min %[[M]], %[[HIGH]]
// CHECK: %[[W:.*]] = array.broadcast_in_dim %[[P]]
// CHECK: array.select %[[W]], %[[C]], %[[X]]
func.func @main(%x: tensor<4xf32>, %l: tensor<f32>, %p: tensor<i1>) -> tensor<4xf32> {
  %0 = stablehlo.clamp %l, %x, %l : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.select %p, %0, %x : tensor<i1>, tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// Unsigned integers keep their type, and the form with words is that with attributes.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%{{.*}}: tensor<4xui32>)
// CHECK-COUNT-2: array.ge %{{.*}}, %{{.*}} : tensor<4xui32>
func.func @main(%x: tensor<4xui32>) -> (tensor<4xi1>, tensor<4xi1>) {
  %0 = stablehlo.compare  GE, %x, %x,  UNSIGNED : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xi1>
  %1 = "stablehlo.compare"(%x, %x) <{compare_type = #stablehlo<comparison_type UNSIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xi1>
  return %0, %1 : tensor<4xi1>, tensor<4xi1>
}

// -----

// The total order of floats is that of integers.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
// CHECK: %[[B:.*]] = array.bitcast %[[X]] : (tensor<4xf32>) -> tensor<4xi32>
// CHECK: %[[S:.*]] = array.shift_right_arithmetic %[[B]],
// CHECK: %[[A:.*]] = array.and %[[S]],
// CHECK: array.xor %[[B]], %[[A]]
// CHECK: array.lt %{{.*}}, %{{.*}} : tensor<4xi32>
func.func @main(%x: tensor<4xf32>) -> tensor<4xi1> {
  %0 = stablehlo.compare LT, %x, %x, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// -----

// A type without a sign has the order of its bits.
// CHECK-LABEL: func.func @main
// CHECK: %[[B:.*]] = array.bitcast %{{.*}} : (tensor<4xf8E8M0FNU>) -> tensor<4xui8>
// CHECK: array.lt %[[B]], %{{.*}} : tensor<4xui8>
func.func @main(%x: tensor<4xf8E8M0FNU>) -> tensor<4xi1> {
  %0 = stablehlo.compare LT, %x, %x, TOTALORDER : (tensor<4xf8E8M0FNU>, tensor<4xf8E8M0FNU>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// -----

// Shifts to the right, and counts, of small integers are those of the upper bits.
// CHECK-LABEL: func.func @main
// CHECK: %[[W:.*]] = array.convert %{{.*}} : (tensor<3xui4>) -> tensor<3xui8>
// CHECK: %[[U:.*]] = array.shift_left %[[W]], %{{.*}} : tensor<3xui8>
// CHECK: %[[S:.*]] = array.shift_right_logical %[[U]], %{{.*}} : tensor<3xui8>
// CHECK: array.shift_right_logical %[[S]], %{{.*}} : tensor<3xui8>
// CHECK: array.or
// CHECK: array.clz
func.func @main(%x: tensor<3xui4>) -> (tensor<3xui4>, tensor<3xui4>) {
  %0 = stablehlo.shift_right_logical %x, %x : tensor<3xui4>
  %1 = stablehlo.count_leading_zeros %x : tensor<3xui4>
  return %0, %1 : tensor<3xui4>, tensor<3xui4>
}

// -----

// The order of two operations is the runtime's, and so is the choice of what is computed.
// CHECK-LABEL: func.func @main
// CHECK-NOT: control_dep
// CHECK-NOT: dce_sink
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.sine %x : tensor<3xf32>
  %1 = stablehlo.cosine %x : tensor<3xf32>
  stablehlo.custom_call @control_dep(%0, %1) {has_side_effect = true} : (tensor<3xf32>, tensor<3xf32>) -> ()
  stablehlo.custom_call @dce_sink(%1) {api_version = 4 : i32, has_side_effect = true} : (tensor<3xf32>) -> ()
  %2 = stablehlo.add %0, %1 : tensor<3xf32>
  return %2 : tensor<3xf32>
}

// -----

// Numbers in which the dialect does not compute are computed in wider ones.
// CHECK-LABEL: func.func @main
// CHECK: %[[A:.*]] = array.convert %{{.*}} : (tensor<3xi4>) -> tensor<3xi8>
// CHECK: %[[S:.*]] = array.add %[[A]], %{{.*}} : tensor<3xi8>
// CHECK: array.convert %[[S]] : (tensor<3xi8>) -> tensor<3xi4>
// CHECK: array.mul %{{.*}} : tensor<3xf32>
func.func @main(%x: tensor<3xi4>, %y: tensor<3xf8E4M3FN>) -> (tensor<3xi4>, tensor<3xf8E4M3FN>) {
  %0 = stablehlo.add %x, %x : tensor<3xi4>
  %1 = stablehlo.multiply %y, %y : tensor<3xf8E4M3FN>
  return %0, %1 : tensor<3xi4>, tensor<3xf8E4M3FN>
}
