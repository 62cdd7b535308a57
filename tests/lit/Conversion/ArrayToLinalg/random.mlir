// RUN: array-opt %s --convert-array-to-linalg | FileCheck %s

// 20 rounds in one generic with two results.
// CHECK-LABEL: func @threefry
// CHECK: linalg.generic
// CHECK-SAME: outs(%{{.*}}, %{{.*}} : tensor<?xi32>, tensor<?xi32>)
// CHECK-COUNT-20: arith.shrui
// CHECK-NOT: arith.shrui
// CHECK: linalg.yield %{{.*}}, %{{.*}} : i32, i32
func.func @threefry(%k: tensor<?xui32>, %x: tensor<?xui32>) -> (tensor<?xui32>, tensor<?xui32>) {
  %0, %1 = array.threefry2x32 %k, %k, %x, %x : tensor<?xui32>
  return %0, %1 : tensor<?xui32>, tensor<?xui32>
}
