// RUN: array-opt %s --array-expand-complex --convert-array-to-linalg --array-fuse-elementwise | FileCheck %s

// A quotient becomes part of one op. Between two ops one complex number is stored, not the values of which both of its
// parts are made.
// CHECK-LABEL: func.func @newton
// CHECK-COUNT-2: linalg.generic {{.*}} outs(%{{.*}} : tensor<64xi128>)
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @newton(%z: tensor<64xcomplex<f64>>, %w: tensor<64xcomplex<f64>>) -> tensor<64xcomplex<f64>> {
  %a = array.mul %z, %z : tensor<64xcomplex<f64>>
  %b = array.div %a, %w : tensor<64xcomplex<f64>>
  %c = array.sub %z, %b : tensor<64xcomplex<f64>>
  %d = array.mul %c, %c : tensor<64xcomplex<f64>>
  %e = array.div %d, %c : tensor<64xcomplex<f64>>
  %f = array.sub %c, %e : tensor<64xcomplex<f64>>
  %g = array.div %f, %z : tensor<64xcomplex<f64>>
  %h = array.div %g, %f : tensor<64xcomplex<f64>>
  return %h : tensor<64xcomplex<f64>>
}

// The bits of parts that a fused reader takes apart again are not put together, and the other part is not computed.
// CHECK-LABEL: func.func @part
// CHECK: linalg.generic
// CHECK-NOT: {{shli|shrui|extui|math.sin}}
// CHECK: math.cos
// CHECK-NOT: {{shli|shrui|extui|math.sin}}
// CHECK: linalg.yield
func.func @part(%z: tensor<64xcomplex<f64>>) -> tensor<64xf64> {
  %0 = array.real %z : (tensor<64xcomplex<f64>>) -> tensor<64xf64>
  %1 = array.cos %0 : tensor<64xf64>
  %2 = array.sin %0 : tensor<64xf64>
  %3 = array.complex %1, %2 : (tensor<64xf64>, tensor<64xf64>) -> tensor<64xcomplex<f64>>
  %4 = array.real %3 : (tensor<64xcomplex<f64>>) -> tensor<64xf64>
  return %4 : tensor<64xf64>
}
