// RUN: array-opt %s --convert-array-to-linalg --split-input-file | FileCheck %s

// One generic with identity maps; additions may be contracted.
// CHECK: #[[ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func @add
// CHECK-SAME: (%[[X:.*]]: tensor<4x5xf32>, %[[Y:.*]]: tensor<4x5xf32>)
// CHECK: %[[E:.*]] = tensor.empty() : tensor<4x5xf32>
// CHECK: linalg.generic {indexing_maps = [#[[ID]], #[[ID]], #[[ID]]], iterator_types = ["parallel", "parallel"]}
// CHECK-SAME: ins(%[[X]], %[[Y]] : tensor<4x5xf32>, tensor<4x5xf32>) outs(%[[E]] : tensor<4x5xf32>)
// CHECK: arith.addf %{{.*}}, %{{.*}} fastmath<contract> : f32
func.func @add(%x: tensor<4x5xf32>, %y: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %0 = array.add %x, %y : tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

// -----

// CHECK-LABEL: func @dynamic
// CHECK: %[[N:.*]] = tensor.dim %arg0, %{{.*}} : tensor<?x5xf32>
// CHECK: tensor.empty(%[[N]]) : tensor<?x5xf32>
// CHECK: arith.mulf {{.*}} fastmath<contract>
func.func @dynamic(%x: tensor<?x5xf32>) -> tensor<?x5xf32> {
  %0 = array.mul %x, %x : tensor<?x5xf32>
  return %0 : tensor<?x5xf32>
}

// -----

// CHECK-LABEL: func @rank_zero
// CHECK: linalg.generic {{.*}} iterator_types = []
// CHECK: arith.divf %{{.*}}, %{{.*}} : f32
func.func @rank_zero(%x: tensor<f32>) -> tensor<f32> {
  %0 = array.div %x, %x : tensor<f32>
  return %0 : tensor<f32>
}

// -----

// Unsigned elements are stored signless; the body is unsigned.
// CHECK-LABEL: func @unsigned(
// CHECK-SAME: tensor<4xi32>
// CHECK: arith.maxui
// CHECK: arith.divui
// CHECK: arith.cmpi ult
func.func @unsigned(%x: tensor<4xui32>, %y: tensor<4xui32>) -> tensor<4xi1> {
  %0 = array.max %x, %y : tensor<4xui32>
  %1 = array.div %0, %y : tensor<4xui32>
  %2 = array.lt %1, %y : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xi1>
  return %2 : tensor<4xi1>
}

// -----

// Bools are stored as bytes; bodies compute with i1.
// CHECK-LABEL: func @bools(
// CHECK-SAME: %{{.*}}: tensor<4xf32>, %[[P:.*]]: tensor<4xi8>) -> tensor<4xi8>
// CHECK: %[[LT:.*]] = arith.cmpf olt
// CHECK: %[[STORED:.*]] = arith.extui %[[LT]] : i1 to i8
// CHECK: linalg.yield %[[STORED]] : i8
// CHECK: linalg.generic
// CHECK-COUNT-2: arith.trunci %{{.*}} : i8 to i1
// CHECK: arith.andi %{{.*}}, %{{.*}} : i1
// CHECK: arith.trunci
// CHECK: arith.constant true
// CHECK: arith.xori
func.func @bools(%x: tensor<4xf32>, %p: tensor<4xi1>) -> tensor<4xi1> {
  %0 = array.lt %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %1 = array.and %0, %p : tensor<4xi1>
  %2 = array.not %1 : tensor<4xi1>
  return %2 : tensor<4xi1>
}

// -----

// CHECK-LABEL: func @select
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<4xi8>, tensor<4xf16>, tensor<4xf16>)
// CHECK: %[[C:.*]] = arith.trunci %{{.*}} : i8 to i1
// CHECK: arith.select %[[C]], %{{.*}}, %{{.*}} : f16
func.func @select(%p: tensor<4xi1>, %x: tensor<4xf16>) -> tensor<4xf16> {
  %0 = array.select %p, %x, %x : tensor<4xf16>
  return %0 : tensor<4xf16>
}

// -----

// nan propagates; comparing with it is false, but for ne.
// CHECK-LABEL: func @nan
// CHECK: arith.maximumf
// CHECK: arith.minimumf
// CHECK: arith.cmpf une
// CHECK: arith.cmpf oge
func.func @nan(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xi1>, tensor<4xi1>) {
  %0 = array.max %x, %y : tensor<4xf32>
  %1 = array.min %0, %y : tensor<4xf32>
  %2 = array.ne %1, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %3 = array.ge %1, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return %2, %3 : tensor<4xi1>, tensor<4xi1>
}

// -----

// No division sees a zero, or the lowest number over -1.
// CHECK-LABEL: func @signed_division
// CHECK: ^bb0(%[[X:.*]]: i32, %[[Y:.*]]: i32, %{{.*}}: i32):
// CHECK: %[[ZERO:.*]] = arith.cmpi eq, %[[Y]], %c0_i32
// CHECK: arith.cmpi eq, %[[X]], %c-2147483648_i32
// CHECK: arith.cmpi eq, %[[Y]], %c-1_i32
// CHECK: %[[SAFE:.*]] = arith.select %{{.*}}, %c1_i32, %[[Y]]
// CHECK: %[[Q:.*]] = arith.divsi %[[X]], %[[SAFE]]
// CHECK: arith.select %[[ZERO]], %c-1_i32{{.*}}, %[[Q]]
// CHECK: %[[R:.*]] = arith.remsi
// CHECK: arith.select %{{.*}}, %{{.*}}, %[[R]]
func.func @signed_division(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  %0 = array.div %x, %y : tensor<4xi32>
  %1 = array.rem %0, %y : tensor<4xi32>
  return %1 : tensor<4xi32>
}

// -----

// CHECK-LABEL: func @shifts
// CHECK: arith.cmpi ult, %[[COUNT:.*]], %c8_i8
// CHECK: arith.shli
// CHECK: arith.select %{{.*}}, %{{.*}}, %c0_i8
// CHECK: %[[CAPPED:.*]] = arith.minui %{{.*}}, %c7_i8
// CHECK: arith.shrsi %{{.*}}, %[[CAPPED]]
// CHECK: arith.shrui
func.func @shifts(%x: tensor<4xi8>, %y: tensor<4xi8>) -> tensor<4xi8> {
  %0 = array.shift_left %x, %y : tensor<4xi8>
  %1 = array.shift_right_arithmetic %0, %y : tensor<4xi8>
  %2 = array.shift_right_logical %1, %y : tensor<4xi8>
  return %2 : tensor<4xi8>
}

// -----

// CHECK-LABEL: func @stop_gradient
// CHECK-NEXT: return %arg0
func.func @stop_gradient(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = array.stop_gradient %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
