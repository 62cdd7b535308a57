// RUN: array-opt %s --pass-pipeline='builtin.module(func.func(array-lower-runtime-calls))' --split-input-file --verify-diagnostics

func.func @main(%x: memref<2x3xf32, strided<[6, 2]>>, %r: memref<2x3xf32>) {
  // expected-error @below {{operand #0 must be a dense buffer, but is 'memref<2x3xf32, strided<[6, 2]>>'}}
  array.runtime_call "sort" params = [1, 1, 1] element_types = [f32, f32]
    ins(%x : memref<2x3xf32, strided<[6, 2]>>) outs(%r : memref<2x3xf32>)
  return
}
