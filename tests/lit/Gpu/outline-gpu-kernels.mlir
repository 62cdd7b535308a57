// RUN: array-opt %s --pass-pipeline='builtin.module(array-outline-gpu-kernels)' --split-input-file --verify-diagnostics | FileCheck %s

// Launches that differ in their buffers alone share a kernel. Constants, and views that are more than a pointer, are
// computed in the kernel; a dense view is passed, and so is a scalar of the host.
// CHECK-LABEL: module attributes {array.kernels = ["map"], gpu.container_module}
// CHECK:         memref.global "private" constant @table
// CHECK:         func.func @main(%[[X:.*]]: memref<256xf32>, %[[Y:.*]]: memref<512xf32>, %[[ARENA:.*]]: memref<4096xi8>, %[[N:.*]]: index)
// CHECK:           %[[T:.*]] = memref.view %[[ARENA]]
// CHECK:           gpu.launch_func @kernels::@map blocks in (%{{.*}}, %{{.*}}, %{{.*}}) threads in (%{{.*}}, %{{.*}}, %{{.*}}) args(%[[Y]] : memref<512xf32>, %[[N]] : index, %[[X]] : memref<256xf32>)
// CHECK:           gpu.launch_func @kernels::@map blocks in (%{{.*}}, %{{.*}}, %{{.*}}) threads in (%{{.*}}, %{{.*}}, %{{.*}}) args(%[[Y]] : memref<512xf32>, %[[N]] : index, %[[T]] : memref<256xf32>)
// CHECK-NOT:       gpu.launch
// CHECK:         gpu.module @kernels {
// CHECK:           memref.global "private" constant @table
// CHECK:           gpu.func @map(%[[B:.*]]: memref<512xf32>, %[[I:.*]]: index, %[[A:.*]]: memref<256xf32>) kernel
// CHECK-SAME:        known_block_size = array<i32: 256, 1, 1>
// CHECK:             memref.get_global @table
// CHECK:             %[[PART:.*]] = memref.subview %[[B]][%[[I]]] [256] [1]
// CHECK:             %[[V:.*]] = memref.load %[[A]]
// CHECK:             memref.store %{{.*}}, %[[PART]]
// CHECK-NOT:       gpu.func
module {
  memref.global "private" constant @table : memref<2xf32> = dense<[1.0, 2.0]>
  func.func @main(%x: memref<256xf32>, %y: memref<512xf32>, %arena: memref<4096xi8>, %n: index) {
    %one = arith.constant 1 : index
    %zero = arith.constant 0 : index
    %threads = arith.constant 256 : index
    %table = memref.get_global @table : memref<2xf32>
    %t = memref.view %arena[%zero][] : memref<4096xi8> to memref<256xf32>
    %part = memref.subview %y[%n] [256] [1] : memref<512xf32> to memref<256xf32, strided<[1], offset: ?>>
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
               threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %one, %sz = %one) {
      %v = memref.load %x[%tx] : memref<256xf32>
      %c = memref.load %table[%one] : memref<2xf32>
      %s = arith.addf %v, %c : f32
      memref.store %s, %part[%tx] : memref<256xf32, strided<[1], offset: ?>>
      gpu.terminator
    } {array.launch_name = "map"}
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
               threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %one, %sz = %one) {
      %v = memref.load %t[%tx] : memref<256xf32>
      %c = memref.load %table[%one] : memref<2xf32>
      %s = arith.addf %v, %c : f32
      memref.store %s, %part[%tx] : memref<256xf32, strided<[1], offset: ?>>
      gpu.terminator
    } {array.launch_name = "map"}
    return
  }
}

// -----

// A function that a kernel calls is copied into its module.
// CHECK-LABEL: func.func private @twice
// CHECK:       gpu.module @kernels {
// CHECK:         func.func private @twice
// CHECK:         gpu.func @kernel(
// CHECK:           call @twice
module {
  func.func private @twice(%x: f32) -> f32 {
    %r = arith.addf %x, %x : f32
    return %r : f32
  }
  func.func @main(%x: memref<f32>) {
    %one = arith.constant 1 : index
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
               threads(%tx, %ty, %tz) in (%sx = %one, %sy = %one, %sz = %one) {
      %v = memref.load %x[] : memref<f32>
      %s = func.call @twice(%v) : (f32) -> f32
      memref.store %s, %x[] : memref<f32>
      gpu.terminator
    }
    return
  }
}

// -----

// CHECK-LABEL: func.func @main()
// CHECK-NOT:   gpu.module
module {
  func.func @main() {
    return
  }
}

// -----

module {
  func.func @main(%x: memref<?xf32>) {
    %one = arith.constant 1 : index
    // expected-error @below {{a kernel is passed whole buffers of static shapes, but captures 'memref<?xf32>'}}
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
               threads(%tx, %ty, %tz) in (%sx = %one, %sy = %one, %sz = %one) {
      %v = memref.load %x[%tx] : memref<?xf32>
      memref.store %v, %x[%tx] : memref<?xf32>
      gpu.terminator
    }
    return
  }
}

// -----

// How many blocks are to have room on a processor is for ptxas.
// CHECK-LABEL: func.func @resident
// CHECK:       gpu.func @kernel(
// CHECK-SAME:    nvvm.minctasm = 2 : i32
module {
  func.func @resident(%x: memref<f32>) {
    %one = arith.constant 1 : index
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
               threads(%tx, %ty, %tz) in (%sx = %one, %sy = %one, %sz = %one) {
      %v = memref.load %x[] : memref<f32>
      %s = arith.addf %v, %v : f32
      memref.store %s, %x[] : memref<f32>
      gpu.terminator
    } {array.resident_blocks = 2 : i32}
    return
  }
}
