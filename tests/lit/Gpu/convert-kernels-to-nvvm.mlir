// RUN: array-opt %s --pass-pipeline='builtin.module(gpu.module(array-convert-kernels-to-nvvm))' | FileCheck %s

// Buffers are bare pointers; the remaining math ops are intrinsics, none of them a call of libdevice.
// CHECK-LABEL: llvm.func @kernel(
// CHECK-SAME:    !llvm.ptr, %{{.*}}: i64)
// CHECK-SAME:    nvvm.kernel
// CHECK-SAME:    nvvm.maxntid = array<i32: 64, 1, 1>
// CHECK:         nvvm.read.ptx.sreg.tid.x
// CHECK:         nvvm.barrier
// CHECK:         llvm.intr.fma
// CHECK:         llvm.intr.fabs
// CHECK:         nvvm.shfl.sync bfly
// CHECK-NOT:     llvm.call
gpu.module @kernels {
  gpu.func @kernel(%x: memref<64xf32>, %n: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %i = gpu.thread_id x
    gpu.barrier
    %v = memref.load %x[%i] : memref<64xf32>
    %f = math.fma %v, %v, %v : f32
    %a = math.absf %f : f32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %o, %valid = gpu.shuffle xor %a, %c1, %c32 : f32
    memref.store %o, %x[%n] : memref<64xf32>
    gpu.return
  }
}


// Dynamic shared memory is only declared.
// CHECK: llvm.mlir.global external @{{.*}}() {addr_space = 3 : i32, {{.*}}} : !llvm.array<0 x i8>
gpu.module @dynamic {
  gpu.func @kernel(%n: index, %x: memref<64xi8>) kernel {
    %shared = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %v = memref.load %shared[%n] : memref<?xi8, #gpu.address_space<workgroup>>
    memref.store %v, %x[%n] : memref<64xi8>
    gpu.return
  }
}

// A variable tells the runtime that a function calls itself. The layout of the target gives 64-bit integers their
// alignment.
// CHECK-LABEL: gpu.module @recursive
// CHECK-SAME:    llvm.data_layout = "e-{{.*}}i64:64
// CHECK:         llvm.mlir.global external @pcrt_stack({{.*}}) {addr_space = 1 : i32, {{.*}}} : !llvm.array<16384 x i8>
gpu.module @recursive {
  func.func @other(%n: i64) -> i64 {
    %m = func.call @self(%n) : (i64) -> i64
    return %m : i64
  }
  func.func @self(%n: i64) -> i64 {
    %m = func.call @other(%n) : (i64) -> i64
    return %m : i64
  }
  gpu.func @kernel(%x: memref<64xi64>, %n: index) kernel {
    %v = memref.load %x[%n] : memref<64xi64>
    %m = func.call @self(%v) : (i64) -> i64
    memref.store %m, %x[%n] : memref<64xi64>
    gpu.return
  }
}
