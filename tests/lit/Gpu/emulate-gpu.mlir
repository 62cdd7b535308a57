// RUN: array-opt %s --array-emulate-gpu | FileCheck %s
// The CPU's pipeline lowers the rest to the LLVM dialect.
// RUN: array-opt %s --array-emulate-gpu --array-expand-math --convert-scf-to-cf --expand-strided-metadata \
// RUN:   --lower-affine --convert-to-llvm --reconcile-unrealized-casts | FileCheck %s --check-prefix=LLVM \
// RUN:   --implicit-check-not=unrealized_conversion_cast

module attributes {gpu.container_module} {

// CHECK-NOT: gpu.
// LLVM-LABEL: llvm.func @main(
// LLVM: llvm.mlir.addressof @scale
// LLVM: llvm.call @emulated_launch(
// LLVM: llvm.func @scale(%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr)
func.func @main(%x: memref<8xf32>, %n: index, %flag: i1) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %bytes = arith.constant 256 : i32
  gpu.launch_func @kernels::@scale blocks in (%n, %c1, %c1) threads in (%c64, %c1, %c1)
    dynamic_shared_memory_size %bytes args(%x : memref<8xf32>, %n : index, %flag : i1)
  return
}
func.func private @cosf(f32) -> f32
func.func private @twice(%x: i32) -> i32 {
  return %x : i32
}
// CHECK-LABEL: func.func @main
// CHECK: %[[COUNT:.*]] = llvm.mlir.constant(3 : i64)
// CHECK: %[[SLOTS:.*]] = llvm.alloca %[[COUNT]] x !llvm.array<16 x i8> {alignment = 16 : i64}
// CHECK: %[[PARAMS:.*]] = llvm.alloca %[[COUNT]] x !llvm.ptr
// CHECK: %[[KERNEL:.*]] = constant @scale : (!llvm.ptr, !llvm.ptr) -> ()
// CHECK: %[[POINTER:.*]] = builtin.unrealized_conversion_cast %[[KERNEL]]
// CHECK: %[[STATIC:.*]] = llvm.mlir.constant(144 : i64)
// CHECK: %[[DYNAMIC:.*]] = arith.extui %{{.*}} : i32 to i64
// CHECK: %[[BYTES:.*]] = arith.addi %[[STATIC]], %[[DYNAMIC]]
// CHECK: memref.extract_aligned_pointer_as_index
// CHECK: llvm.store %{{.*}}, %[[SLOTS]] {alignment = 8 : i64} : i64
// CHECK: llvm.store %[[SLOTS]], %[[PARAMS]] : !llvm.ptr
// CHECK: arith.extui %{{.*}} : i1 to i8
// CHECK: llvm.store %{{.*}} {alignment = 1 : i64} : i8
// CHECK: call @emulated_launch(%[[POINTER]], %{{.*}}, %[[BYTES]], %[[PARAMS]])

// The functions that kernels call, and their constants, are the host's now, under names that it does not have.
// CHECK: memref.global "private" constant @table : memref<2xf32>
// CHECK: func.func private @twice_0(
// CHECK: func.func private @four_times(
// CHECK: call @twice_0(
// CHECK-NOT: func.func private @cosf
// CHECK-DAG: llvm.mlir.global external constant @scale_params(dense<[8, 8, 1]> : tensor<3xi8>) {{.*}}: !llvm.array<3 x i8>
// CHECK-DAG: llvm.mlir.global external constant @scale_shared(144 : i64) {{.*}}: i64
gpu.module @kernels {
  memref.global "private" constant @table : memref<2xf32> = dense<[1.0, 2.0]>
  func.func private @cosf(f32) -> f32
  func.func private @twice(%x: f32) -> f32 {
    %y = arith.addf %x, %x : f32
    return %y : f32
  }
  func.func private @four_times(%x: f32) -> f32 {
    %y = func.call @twice(%x) : (f32) -> f32
    %z = func.call @twice(%y) : (f32) -> f32
    return %z : f32
  }

  // CHECK-LABEL: func.func @scale(
  // CHECK-SAME: %[[THREAD:.*]]: !llvm.ptr, %[[GIVEN:.*]]: !llvm.ptr)
  gpu.func @scale(%x: memref<8xf32>, %n: index, %flag: i1)
      workgroup(%a: memref<33xf32, #gpu.address_space<workgroup>>)
      private(%p: memref<2xf32, #gpu.address_space<private>>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    // The parameters, one pointer each.
    // CHECK: %[[FIRST:.*]] = llvm.load %[[GIVEN]] {{.*}}-> !llvm.ptr
    // CHECK: %[[X:.*]] = llvm.load %[[FIRST]] {{.*}}-> !llvm.ptr
    // CHECK: builtin.unrealized_conversion_cast %{{.*}} to memref<8xf32>
    // CHECK: llvm.load %{{.*}} : !llvm.ptr -> i64
    // CHECK: arith.index_cast %{{.*}} : i64 to index
    // CHECK: %[[BYTE:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i8
    // CHECK: arith.trunci %[[BYTE]] : i8 to i1
    // Byte 48 is the block's shared memory.
    // CHECK: llvm.getelementptr inbounds %[[THREAD]][48]
    // CHECK: %[[SHARED:.*]] = llvm.load
    // CHECK: builtin.unrealized_conversion_cast %{{.*}} to memref<33xf32>
    // CHECK: memref.alloca() {alignment = 16 : i64} : memref<2xf32>
    // The thread's numbers, each read once.
    // CHECK: llvm.load %[[THREAD]] : !llvm.ptr -> i32
    // CHECK: arith.index_castui %{{.*}} : i32 to index
    // CHECK: llvm.getelementptr inbounds %[[THREAD]][12]
    // CHECK: llvm.getelementptr inbounds %[[THREAD]][24]
    %i = gpu.thread_id x
    %again = gpu.thread_id x
    %g = gpu.global_id x
    // CHECK: call @four_times(
    // CHECK: call @cosf(
    %v = memref.load %x[%i] : memref<8xf32>
    %e = math.exp %v : f32
    %u = func.call @four_times(%e) : (f32) -> f32
    %w = func.call @cosf(%u) : (f32) -> f32
    memref.store %w, %a[%i] : memref<33xf32, #gpu.address_space<workgroup>>
    memref.store %w, %p[%again] : memref<2xf32, #gpu.address_space<private>>
    // CHECK: llvm.getelementptr inbounds %[[THREAD]][56]
    // CHECK: %[[BARRIER:.*]] = llvm.load
    // CHECK: llvm.call %[[BARRIER]](%[[THREAD]], %{{.*}}) : !llvm.ptr, (!llvm.ptr, i32) -> ()
    gpu.barrier
    // Dynamic shared memory follows the kernel's 33 numbers, at the next 16 bytes.
    // CHECK: llvm.getelementptr inbounds %[[SHARED]][144]
    %dynamic = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %zero = arith.constant 0 : index
    %view = memref.view %dynamic[%zero][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %w, %view[%g] : memref<64xf32, #gpu.address_space<workgroup>>
    %known = memref.get_global @table : memref<2xf32>
    %t = memref.load %known[%zero] : memref<2xf32>
    scf.if %flag {
      memref.store %t, %x[%n] : memref<8xf32>
    }
    // CHECK: return
    gpu.return
  }
}
}
