// RUN: array-opt %s | array-opt | FileCheck %s
// RUN: array-opt %s --mlir-print-op-generic | array-opt | FileCheck %s

// constant and iota.

// CHECK-LABEL: @creation
func.func @creation(%n: index) {
  // CHECK: %{{.*}} = array.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
  %0 = array.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
  // CHECK: %{{.*}} = array.constant dense<true> : tensor<4xi1>
  %1 = array.constant dense<true> : tensor<4xi1>
  // CHECK: %{{.*}} = array.constant dense<255> : tensor<2x2xui8>
  %2 = array.constant dense<255> : tensor<2x2xui8>
  // CHECK: %{{.*}} = array.constant dense<> : tensor<0xf64>
  %3 = array.constant dense<> : tensor<0xf64>
  // CHECK: %{{.*}} = array.iota dimension = 0 : tensor<4xi32>
  %4 = array.iota dimension = 0 : tensor<4xi32>
  // CHECK: %{{.*}} = array.iota dimension = 1 : tensor<2x3xf16>
  %5 = array.iota dimension = 1 : tensor<2x3xf16>
  // CHECK: %{{.*}} = array.iota dimension = 1 output_dims(%{{.*}}, %{{.*}}) : tensor<?x8x?xui32>
  %6 = array.iota dimension = 1 output_dims(%n, %n) : tensor<?x8x?xui32>
  return
}
