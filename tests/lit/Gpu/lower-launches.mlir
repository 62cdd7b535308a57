// RUN: array-opt %s --array-lower-launches --split-input-file | FileCheck %s
// RUN: array-opt %s --array-lower-launches --split-input-file | FileCheck %s --check-prefix=SITES

// The frame's table is at byte 24 of it, `launch` at byte 16 of the table, `read` at byte 24. A launch has the kernel's
// number, a PcrtLaunchShape of 40 bytes (the grid, the block, the cluster, shared memory) and pointers to the arguments.
// SITES: module attributes {array.call_sites = {{\[}}["second", "model.py:3"], ["read", "model.py:4"]], array.kernels = ["first", "second"], array.waits}
module attributes {array.kernels = ["first", "second"], gpu.container_module} {
  gpu.module @kernels {
    gpu.func @first() kernel {
      gpu.return
    }
    gpu.func @second(%x: memref<4xf32>, %i: index) kernel {
      gpu.return
    }
  }
  // CHECK-LABEL: func.func @main(
  // CHECK-SAME:    %[[X:.*]]: memref<4xf32>, %[[C:.*]]: memref<4xi1>, %[[I:.*]]: index, %[[FRAME:.*]]: !llvm.ptr {array.role = "frame"}) -> i32
  // CHECK-DAG:     %[[SHAPE:.*]] = llvm.alloca %[[FORTY:.*]] x i8 {alignment = 16 : i64}
  // CHECK:         %[[ADDRESS:.*]] = llvm.inttoptr
  // CHECK:         llvm.store %[[ADDRESS]], %{{.*}} : !llvm.ptr, !llvm.ptr
  // CHECK:         %[[TABLE_AT:.*]] = llvm.getelementptr inbounds %[[FRAME]][24]
  // CHECK:         %[[TABLE:.*]] = llvm.load %[[TABLE_AT]]
  // CHECK:         %[[SLOT:.*]] = llvm.getelementptr inbounds %[[TABLE]][16]
  // CHECK:         %[[LAUNCH:.*]] = llvm.load %[[SLOT]]
  // CHECK:         llvm.call %[[LAUNCH]](%[[FRAME]], %{{.*}}, %{{.*}}, %{{.*}}) : !llvm.ptr, (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr) -> i32
  // CHECK:         cf.cond_br
  // CHECK:         %[[SITE:.*]] = llvm.mlir.constant(256 : i32)
  // CHECK:         llvm.getelementptr inbounds %{{.*}}[24]
  // CHECK:         llvm.call %{{.*}}(%[[FRAME]], %{{.*}}, %{{.*}}, %{{.*}}) : !llvm.ptr, (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64) -> i32
  // CHECK:         %[[BYTE:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i8
  // CHECK:         arith.trunci %[[BYTE]] : i8 to i1
  func.func @main(%x: memref<4xf32>, %c: memref<4xi1>, %i: index) {
    %one = arith.constant 1 : index
    gpu.launch_func @kernels::@second blocks in (%one, %one, %one) threads in (%one, %one, %one) args(%x : memref<4xf32>, %i : index) loc("model.py":3:1)
    %v = memref.load %c[%i] : memref<4xi1> loc("model.py":4:1)
    cf.cond_br %v, ^bb1, ^bb1
  ^bb1:
    return
  }
}
