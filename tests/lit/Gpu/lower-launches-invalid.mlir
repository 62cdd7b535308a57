// RUN: array-opt %s --array-lower-launches --split-input-file --verify-diagnostics

func.func @main(%x: memref<4xi32>, %y: memref<4xi32>) {
  // expected-error @+1 {{'sort' has no kernel for a GPU yet: put its operands on a CPU, by device_put(x, devices("cpu")[0]), and call it outside of the code for the GPU}}
  array.runtime_call "sort" params = [0, 1, 1] element_types = [i32, i32] ins(%x : memref<4xi32>) outs(%y : memref<4xi32>)
  return
}

// -----

func.func @main(%x: memref<4xf32>, %f: f32, %i: index) {
  // expected-error @+1 {{the host does not write a device's memory: array-launch-stores makes kernels of this}}
  memref.store %f, %x[%i] : memref<4xf32>
  return
}
