// RUN: array-opt %s --pass-pipeline='builtin.module(func.func(array-sink-loads))' --split-input-file | FileCheck %s

// A kernel loads the values that it needs; the index of a view is loaded there too.
// CHECK-LABEL: func.func @sunk(
// CHECK-SAME:    %[[X:.*]]: memref<8x4xf32>, %[[I:.*]]: memref<i32>, %[[Y:.*]]: memref<4xf32>)
// CHECK-NOT:     memref.load
// CHECK:         gpu.launch
// CHECK:           %[[V:.*]] = memref.load %[[I]][]
// CHECK-NEXT:      %[[N:.*]] = arith.index_cast %[[V]]
// CHECK-NEXT:      %[[ROW:.*]] = memref.subview %[[X]][%[[N]], 0] [1, 4] [1, 1]
// CHECK:           memref.load %[[ROW]]
func.func @sunk(%x: memref<8x4xf32>, %i: memref<i32>, %y: memref<4xf32>) {
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %v = memref.load %i[] : memref<i32>
  %n = arith.index_cast %v : i32 to index
  %row = memref.subview %x[%n, 0] [1, 4] [1, 1] : memref<8x4xf32> to memref<4xf32, strided<[1], offset: ?>>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
             threads(%tx, %ty, %tz) in (%sx = %four, %sy = %one, %sz = %one) {
    %e = memref.load %row[%tx] : memref<4xf32, strided<[1], offset: ?>>
    memref.store %e, %y[%tx] : memref<4xf32>
    gpu.terminator
  }
  return
}

// -----

// Values that are overwritten before the kernel runs, or by its other threads, are kept.
// CHECK-LABEL: func.func @kept(
// CHECK-SAME:    %[[X:.*]]: memref<4xf32>)
// CHECK:         %[[KEPT:.*]] = memref.alloc() : memref<f32>
// CHECK:         gpu.launch
// CHECK:           %[[V:.*]] = memref.load %[[X]]
// CHECK-NEXT:      memref.store %[[V]], %[[KEPT]][]
// CHECK:         } {array.launch_name = "keep"}
// CHECK:         gpu.launch
// CHECK-NEXT:      %[[OWN:.*]] = memref.load %[[KEPT]][]
// CHECK-NEXT:      memref.store %[[OWN]], %[[X]]
func.func @kept(%x: memref<4xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %v = memref.load %x[%zero] : memref<4xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
             threads(%tx, %ty, %tz) in (%sx = %four, %sy = %one, %sz = %one) {
    memref.store %v, %x[%tx] : memref<4xf32>
    gpu.terminator
  }
  return
}

// -----

// The host reads the values that it needs: whether the loop continues.
// CHECK-LABEL: func.func @condition(
// CHECK:         %[[C:.*]] = memref.load %{{.*}}[] : memref<i1>
// CHECK-NEXT:    scf.if %[[C]] {
// CHECK:           gpu.launch
func.func @condition(%c: memref<i1>, %x: memref<4xf32>, %f: f32) {
  %one = arith.constant 1 : index
  %go = memref.load %c[] : memref<i1>
  scf.if %go {
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
               threads(%tx, %ty, %tz) in (%sx = %one, %sy = %one, %sz = %one) {
      memref.store %f, %x[%tx] : memref<4xf32>
      gpu.terminator
    }
  }
  return
}
