// RUN: array-opt %s --pass-pipeline='builtin.module(array-to-linalg,func.func(array-fuse-elementwise))' | FileCheck %s

// Each value has two readers that end up in one op: nothing is computed twice, and everything is one op.
// CHECK-LABEL: func.func @main
// CHECK: linalg.generic {{.*}} ins(%arg0, %arg1 : tensor<64xf32>, tensor<64xf32>)
// CHECK-COUNT-5: math.sin
// CHECK-NOT: math.sin
// CHECK: linalg.yield
// CHECK-NOT: linalg.generic
func.func @main(%x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
  %s0 = array.sin %x : tensor<64xf32>
  %m0 = array.mul %x, %y : tensor<64xf32>
  %x1 = array.add %s0, %m0 : tensor<64xf32>
  %s1 = array.sin %x1 : tensor<64xf32>
  %m1 = array.mul %x1, %y : tensor<64xf32>
  %x2 = array.add %s1, %m1 : tensor<64xf32>
  %s2 = array.sin %x2 : tensor<64xf32>
  %m2 = array.mul %x2, %y : tensor<64xf32>
  %x3 = array.add %s2, %m2 : tensor<64xf32>
  %s3 = array.sin %x3 : tensor<64xf32>
  %m3 = array.mul %x3, %y : tensor<64xf32>
  %x4 = array.add %s3, %m3 : tensor<64xf32>
  %s4 = array.sin %x4 : tensor<64xf32>
  %m4 = array.mul %x4, %y : tensor<64xf32>
  %x5 = array.add %s4, %m4 : tensor<64xf32>
  return %x5 : tensor<64xf32>
}
