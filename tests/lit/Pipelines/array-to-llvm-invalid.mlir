// RUN: array-opt %s --array-to-llvm --verify-diagnostics

// expected-error @below {{argument #0 of @main has the dynamic shape 'tensor<?xf32>'; the CPU pipeline compiles static shapes only: specialize the sizes}}
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = array.neg %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}
