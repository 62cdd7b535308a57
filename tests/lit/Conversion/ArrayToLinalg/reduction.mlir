// RUN: array-opt %s --convert-array-to-linalg --split-input-file | FileCheck %s

// CHECK-DAG: #[[ALL:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-DAG: #[[KEPT:.*]] = affine_map<(d0, d1, d2) -> (d1)>
// CHECK-LABEL: func @sum
// CHECK: %[[INIT:.*]] = linalg.fill ins(%cst : f32) outs(%{{.*}} : tensor<?xf32>)
// CHECK: linalg.generic {indexing_maps = [#[[ALL]], #[[KEPT]]], iterator_types = ["reduction", "parallel", "reduction"]}
// CHECK-SAME: ins(%arg0 : tensor<2x?x4xf32>) outs(%[[INIT]] : tensor<?xf32>)
// CHECK: ^bb0(%[[X:.*]]: f32, %[[S:.*]]: f32):
// CHECK: arith.addf %[[S]], %[[X]] fastmath<reassoc,contract> : f32
func.func @sum(%x: tensor<2x?x4xf32>) -> tensor<?xf32> {
  %0 = array.reduce_sum %x axes = [0, 2] : (tensor<2x?x4xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// Half precision is summed in single precision, and rounded once.
// CHECK-LABEL: func @half
// CHECK: linalg.fill {{.*}} outs(%{{.*}} : tensor<f32>)
// CHECK: arith.extf %{{.*}} : bf16 to f32
// CHECK: arith.addf {{.*}} : f32
// CHECK: arith.truncf %{{.*}} : f32 to bf16
func.func @half(%x: tensor<8xbf16>) -> tensor<bf16> {
  %0 = array.reduce_sum %x axes = [0] : (tensor<8xbf16>) -> tensor<bf16>
  return %0 : tensor<bf16>
}

// -----

// Extrema keep nan, and no flag is on them.
// CHECK-LABEL: func @extrema
// CHECK: arith.constant 0xFF800000 : f32
// CHECK: arith.maximumf %{{.*}}, %{{.*}} : f32
// CHECK: arith.constant -1 : i8
// CHECK: arith.minui
// CHECK: arith.constant -128 : i8
// CHECK: arith.maxsi
func.func @extrema(%x: tensor<8xf32>, %y: tensor<8xui8>, %z: tensor<8xi8>) -> (tensor<f32>, tensor<ui8>, tensor<i8>) {
  %0 = array.reduce_max %x axes = [0] : (tensor<8xf32>) -> tensor<f32>
  %1 = array.reduce_min %y axes = [0] : (tensor<8xui8>) -> tensor<ui8>
  %2 = array.reduce_max %z axes = [0] : (tensor<8xi8>) -> tensor<i8>
  return %0, %1, %2 : tensor<f32>, tensor<ui8>, tensor<i8>
}

// -----

// Bools are combined as they are stored.
// CHECK-LABEL: func @bools
// CHECK: arith.constant 1 : i8
// CHECK: arith.andi %{{.*}}, %{{.*}} : i8
// CHECK: arith.constant 0 : i8
// CHECK: arith.ori %{{.*}}, %{{.*}} : i8
// CHECK-NOT: trunci
func.func @bools(%x: tensor<8xi1>) -> (tensor<i1>, tensor<i1>) {
  %0 = array.reduce_and %x axes = [0] : (tensor<8xi1>) -> tensor<i1>
  %1 = array.reduce_or %x axes = [0] : (tensor<8xi1>) -> tensor<i1>
  return %0, %1 : tensor<i1>, tensor<i1>
}

// -----

// A nan is better than all but a nan before it; equal elements leave the first.
// CHECK-LABEL: func @argmax
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%arg0 : tensor<4x5xf32>)
// CHECK-SAME: outs(%{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xi32>)
// CHECK: ^bb0(%[[X:.*]]: f32, %[[BEST:.*]]: f32, %[[AT:.*]]: i32):
// CHECK: %[[J:.*]] = linalg.index 1
// CHECK: %[[I:.*]] = arith.index_cast %[[J]] : index to i32
// CHECK: %[[AHEAD:.*]] = arith.cmpf ugt, %[[X]], %[[BEST]]
// CHECK: %[[NUMBER:.*]] = arith.cmpf ord, %[[BEST]], %[[BEST]]
// CHECK: %[[PICK:.*]] = arith.andi %[[AHEAD]], %[[NUMBER]]
// CHECK: %[[V:.*]] = arith.select %[[PICK]], %[[X]], %[[BEST]] : f32
// CHECK: %[[N:.*]] = arith.select %[[PICK]], %[[I]], %[[AT]] : i32
// CHECK: linalg.yield %[[V]], %[[N]]
func.func @argmax(%x: tensor<4x5xf32>) -> tensor<4xi32> {
  %0 = array.argmax %x axis = 1 index_dtype = i32 : (tensor<4x5xf32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

// CHECK-LABEL: func @argmin
// CHECK: arith.index_cast %{{.*}} : index to i64
// CHECK: arith.cmpi ult
func.func @argmin(%x: tensor<?xui8>) -> tensor<ui64> {
  %0 = array.argmin %x axis = 0 index_dtype = ui64 : (tensor<?xui8>) -> tensor<ui64>
  return %0 : tensor<ui64>
}
