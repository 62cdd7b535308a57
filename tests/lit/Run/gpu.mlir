// UNSUPPORTED: gpu

// The same on the emulated GPU of the tests: kernels, matmuls, routines of its own.

// RUN: env PYCOMPILER_CUDA_DRIVER=%emulated_driver array-run %s --device=gpu --input='[[1, 2], [3, 4]]' \
// RUN:   --expect='[[7, 10], [15, 22]]' --expect='[1.3132616, 3.0485874]' --expect='[4, 3, 2, 1]' --print=type --time \
// RUN:   | FileCheck %s
// CHECK: result 0: tensor<2x2xf32>
// CHECK: time of 10 runs on cuda:0:

// RUN: env PYCOMPILER_CUDA_DRIVER=%emulated_driver not array-run %s --device=gpu:7 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: --device=gpu:7: there are cuda:0
func.func @main(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2xf32>, tensor<4xf32>) {
  %p = array.dot_general %x, %x contracting = [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %e = array.exp %x : tensor<2x2xf32>
  %one = array.constant dense<1.0> : tensor<2x2xf32>
  %f = array.add %e, %one : tensor<2x2xf32>
  %l = array.log %f : tensor<2x2xf32>
  %d = array.slice %l start_indices = [0, 0] limit_indices = [2, 1] strides = [1, 1] : (tensor<2x2xf32>) -> tensor<2x1xf32>
  %s = array.reshape %d : (tensor<2x1xf32>) -> tensor<2xf32>
  %flat = array.reshape %x : (tensor<2x2xf32>) -> tensor<4xf32>
  %n = array.neg %flat : tensor<4xf32>
  %sorted = array.sort %n dimension = 0 num_keys = 1 is_stable = true : (tensor<4xf32>) -> tensor<4xf32>
  %t = array.neg %sorted : tensor<4xf32>
  return %p, %s, %t : tensor<2x2xf32>, tensor<2xf32>, tensor<4xf32>
}
