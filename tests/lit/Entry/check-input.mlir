// RUN: array-opt %s --array-check-input | FileCheck %s

// CHECK: module attributes {array.checked}

// CHECK-LABEL: func.func @extract
// CHECK:         array.runtime_call "check" effectful params = [2, 0, 0, ?, 3] element_types = [] sizes(%{{.*}}) {array.stands_for = "tensor.extract"}
// CHECK-NEXT:    tensor.extract
func.func @extract(%x: tensor<3xf32>, %k: index) -> f32 {
  %e = tensor.extract %x[%k] : tensor<3xf32>
  return %e : f32
}

// Known conditions need no check.
// CHECK-LABEL: func.func @known
// CHECK-NOT:     runtime_call
func.func @known(%x: tensor<3xf32>, %y: tensor<3xf32>) -> (f32, tensor<3xf32>) {
  %two = arith.constant 2 : index
  %e = tensor.extract %x[%two] : tensor<3xf32>
  %s = array.add %x, %y : tensor<3xf32>
  return %e, %s : f32, tensor<3xf32>
}
