// RUN: array-opt %s --canonicalize --split-input-file | FileCheck %s

// R alone is the upper triangle of LAPACK's compact form.
// CHECK-LABEL: func.func @triangle(
// CHECK:         %[[REFLECTORS:.+]], %{{.+}} = array.geqrf %arg0
// CHECK-NOT:     array.qr
// CHECK:         %[[TOP:.+]] = array.slice %[[REFLECTORS]]
// CHECK:         %[[ROW:.+]] = array.iota dimension = 0 : tensor<20x20xi32>
// CHECK:         %[[COLUMN:.+]] = array.iota dimension = 1 : tensor<20x20xi32>
// CHECK:         %[[INSIDE:.+]] = array.le %[[ROW]], %[[COLUMN]]
// CHECK:         %[[R:.+]] = array.select %[[INSIDE]], %[[TOP]], %{{.+}} : tensor<20x20xf32>
// CHECK:         return %[[R]]
func.func @triangle(%a: tensor<30x20xf32>) -> tensor<20x20xf32> {
  %q, %r = array.qr %a {full_matrices = false, pivoting = false} : (tensor<30x20xf32>) -> (tensor<30x20xf32>, tensor<20x20xf32>)
  return %r : tensor<20x20xf32>
}

// -----

// CHECK-LABEL: func.func @both(
// CHECK:         array.qr
func.func @both(%a: tensor<30x20xf32>) -> (tensor<30x20xf32>, tensor<20x20xf32>) {
  %q, %r = array.qr %a {full_matrices = false, pivoting = false} : (tensor<30x20xf32>) -> (tensor<30x20xf32>, tensor<20x20xf32>)
  return %q, %r : tensor<30x20xf32>, tensor<20x20xf32>
}

// -----

// Many small matrices are factored in the lanes of vectors.
// CHECK-LABEL: func.func @small(
// CHECK:         array.qr
func.func @small(%a: tensor<1000x4x4xf32>) -> tensor<1000x4x4xf32> {
  %q, %r = array.qr %a {full_matrices = false, pivoting = false} : (tensor<1000x4x4xf32>) -> (tensor<1000x4x4xf32>, tensor<1000x4x4xf32>)
  return %r : tensor<1000x4x4xf32>
}
