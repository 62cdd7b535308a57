// RUN: array-opt %s --convert-array-to-linalg --split-input-file | FileCheck %s

// Only values inside the range reach the conversion; the ends are selected.
// CHECK-LABEL: func @saturating
// CHECK-DAG: arith.cmpf oge, %{{.*}}, %[[LOW:.*]] : f32
// CHECK-DAG: arith.cmpf olt, %{{.*}}, %[[HIGH:.*]] : f32
// CHECK: %[[SAFE:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : f32
// CHECK: arith.fptosi %[[SAFE]] : f32 to i32
// CHECK: arith.select %{{.*}}, %c2147483647_i32, %{{.*}}
// CHECK: arith.select %{{.*}}, %c-2147483648_i32, %{{.*}}
func.func @saturating(%x: tensor<4xf32>) -> tensor<4xi32> {
  %0 = array.convert %x : (tensor<4xf32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

// CHECK-LABEL: func @to_unsigned
// CHECK: arith.fptoui {{.*}} : f64 to i8
// CHECK: arith.select %{{.*}}, %c-1_i8, %{{.*}}
func.func @to_unsigned(%x: tensor<4xf64>) -> tensor<4xui8> {
  %0 = array.convert %x : (tensor<4xf64>) -> tensor<4xui8>
  return %0 : tensor<4xui8>
}

// -----

// CHECK-LABEL: func @integers
// CHECK: arith.extsi %{{.*}} : i8 to i32
// CHECK: arith.trunci %{{.*}} : i32 to i16
// CHECK: arith.extui %{{.*}} : i16 to i64
// CHECK: arith.uitofp %{{.*}} : i64 to f32
func.func @integers(%x: tensor<4xi8>) -> tensor<4xf32> {
  %0 = array.convert %x : (tensor<4xi8>) -> tensor<4xi32>
  %1 = array.convert %0 : (tensor<4xi32>) -> tensor<4xui16>
  %2 = array.convert %1 : (tensor<4xui16>) -> tensor<4xui64>
  %3 = array.convert %2 : (tensor<4xui64>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func @bools
// CHECK: %[[TRUE:.*]] = arith.cmpf une
// CHECK: arith.extui %[[TRUE]] : i1 to i8
// CHECK: %[[B:.*]] = arith.trunci %{{.*}} : i8 to i1
// CHECK: arith.uitofp %[[B]] : i1 to f32
func.func @bools(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = array.convert %x : (tensor<4xf32>) -> tensor<4xi1>
  %1 = array.convert %0 : (tensor<4xi1>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// One rounding from f64 to a half: to odd, then to nearest.
// CHECK-LABEL: func @halves
// CHECK: arith.truncf %{{.*}} : f64 to f32
// CHECK: arith.cmpf one
// CHECK: arith.ori
// CHECK: arith.truncf %{{.*}} : f32 to bf16
// CHECK: arith.extf %{{.*}} : bf16 to f32
// CHECK: arith.truncf %{{.*}} : f32 to f16
func.func @halves(%x: tensor<4xf64>) -> tensor<4xf16> {
  %0 = array.convert %x : (tensor<4xf64>) -> tensor<4xbf16>
  %1 = array.convert %0 : (tensor<4xbf16>) -> tensor<4xf16>
  return %1 : tensor<4xf16>
}

// -----

// CHECK-LABEL: func @bitcast
// CHECK: arith.bitcast %{{.*}} : f32 to i32
// CHECK: ^bb0(%[[X:.*]]: i32, %{{.*}}: i32):
// CHECK-NEXT: linalg.yield %[[X]]
func.func @bitcast(%x: tensor<?xf32>) -> tensor<?xi32> {
  %0 = array.bitcast %x : (tensor<?xf32>) -> tensor<?xui32>
  %1 = array.bitcast %0 : (tensor<?xui32>) -> tensor<?xi32>
  return %1 : tensor<?xi32>
}
