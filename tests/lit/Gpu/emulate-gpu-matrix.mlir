// RUN: array-opt %s --array-emulate-gpu --split-input-file --verify-diagnostics | FileCheck %s

// A warp's matmul of 16 x 8 x 16 halves: each lane gets the 16 registers of its two rows, and as many of its two
// columns, and adds 16 products to each of its four sums.
// CHECK-LABEL: func.func @product(
// CHECK-COUNT-32: llvm.call %{{.*}} -> i32
// CHECK-NOT: llvm.call
// CHECK-COUNT-64: arith.mulf %{{.*}} : f32
// CHECK-NOT: arith.mulf
gpu.module @kernels {
  gpu.func @product(%x: memref<4x2xf16>, %y: memref<4xf32>) kernel {
    %zero = arith.constant 0 : index
    %a = vector.load %x[%zero, %zero] : memref<4x2xf16>, vector<4x2xf16>
    %b = vector.load %x[%zero, %zero] : memref<4x2xf16>, vector<2x2xf16>
    %c = arith.constant dense<0.0> : vector<2x2xf32>
    %d = nvgpu.mma.sync (%a, %b, %c) {mmaShape = [16, 8, 16]}
      : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
    %two = arith.constant 2 : index
    %above = vector.extract %d[0] : vector<2xf32> from vector<2x2xf32>
    %below = vector.extract %d[1] : vector<2xf32> from vector<2x2xf32>
    vector.store %above, %y[%zero] : memref<4xf32>, vector<2xf32>
    vector.store %below, %y[%two] : memref<4xf32>, vector<2xf32>
    gpu.return
  }
}

// -----

// A copy executes at its start. Elements that are not read from the source are zero.
// CHECK-LABEL: func.func @copy(
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-COUNT-2: memref.load
// CHECK: %[[ISTHERE:.*]] = arith.cmpi
// CHECK: %[[COPIED:.*]] = scf.if %[[ISTHERE]]
// CHECK: memref.load
// CHECK: } else {
// CHECK-NEXT: scf.yield %[[ZERO]] : f32
// CHECK: memref.store %[[COPIED]]
// CHECK: llvm.call
// CHECK-NOT: nvgpu
gpu.module @kernels {
  gpu.func @copy(%x: memref<8xf32>, %n: index) workgroup(%s: memref<8xf32, #gpu.address_space<workgroup>>) kernel {
    %zero = arith.constant 0 : index
    %t = nvgpu.device_async_copy %x[%zero], %s[%zero], 2 : memref<8xf32> to memref<8xf32, #gpu.address_space<workgroup>>
    %u = nvgpu.device_async_copy %x[%zero], %s[%zero], 1, %n
      : memref<8xf32> to memref<8xf32, #gpu.address_space<workgroup>>
    %group = nvgpu.device_async_create_group %t, %u
    nvgpu.device_async_wait %group
    gpu.barrier
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @product(%y: memref<1xf64>) kernel {
    %zero = arith.constant 0 : index
    %a = arith.constant dense<1.0> : vector<1x1xf64>
    %c = arith.constant dense<0.0> : vector<1x2xf64>
    // expected-error @below {{'nvgpu.mma.sync' cannot be emulated for these types and this shape}}
    %d = nvgpu.mma.sync (%a, %a, %c) {mmaShape = [8, 8, 4]}
      : (vector<1x1xf64>, vector<1x1xf64>, vector<1x2xf64>) -> vector<1x2xf64>
    %e = vector.extract %d[0, 0] : f64 from vector<1x2xf64>
    memref.store %e, %y[%zero] : memref<1xf64>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @nothing() kernel {
    %all = arith.constant -1 : i32
    // expected-error @below {{'nvvm.bar.warp.sync' cannot be emulated in a kernel}}
    nvvm.bar.warp.sync %all : i32
    gpu.return
  }
}
