// RUN: array-opt %s --pass-pipeline="builtin.module(gpu.module(array-convert-kernels-to-nvvm))" --verify-diagnostics

// LLVM's selection of instructions fails by a signal for integers of thousands of bits.
gpu.module @kernels {
  gpu.func @wide(%x: memref<4xi2048>) kernel {
    %i = arith.constant 0 : index
    // expected-error @below {{has the type 'memref<4xi2048>', expected integers of at most 128 bits}}
    %0 = memref.load %x[%i] : memref<4xi2048>
    memref.store %0, %x[%i] : memref<4xi2048>
    gpu.return
  }
}
