// RUN: array-opt %s --pass-pipeline='builtin.module(func.func(array-launch-accesses))' --split-input-file | FileCheck %s

// What @main stores is stored by one thread, with what is between the first store and the last.
// CHECK-LABEL: func.func @stores(
// CHECK-SAME:    %[[X:.*]]: memref<4xf32>, %[[F:.*]]: f32)
// CHECK:         gpu.launch
// CHECK-SAME:    blocks(%{{.*}}) in (%{{.*}} = %[[ONE:.*]], %{{.*}} = %[[ONE]], %{{.*}} = %[[ONE]]) threads(%{{.*}}) in (%{{.*}} = %[[ONE]], %{{.*}} = %[[ONE]], %{{.*}} = %[[ONE]])
// CHECK:           memref.store %[[F]], %[[X]]
// CHECK-NEXT:      %[[V:.*]] = memref.load %[[X]]
// CHECK-NEXT:      %[[S:.*]] = arith.addf %[[V]], %[[V]]
// CHECK-NEXT:      memref.store %[[S]], %[[X]]
// CHECK-NEXT:      gpu.terminator
// CHECK-NEXT:    } {array.kernel = "store"}
// CHECK-NOT:     memref
// CHECK:         return
func.func @stores(%x: memref<4xf32>, %f: f32) {
  %i = arith.constant 0 : index
  %j = arith.constant 1 : index
  memref.store %f, %x[%i] : memref<4xf32>
  %v = memref.load %x[%i] : memref<4xf32>
  %s = arith.addf %v, %v : f32
  memref.store %s, %x[%j] : memref<4xf32>
  return
}

// -----

// A kernel loads what it needs; the index of a view is loaded there too.
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

// What is overwritten before the kernel runs, or by its other threads, is kept.
// CHECK-LABEL: func.func @kept(
// CHECK-SAME:    %[[X:.*]]: memref<4xf32>)
// CHECK:         %[[KEPT:.*]] = memref.alloc() : memref<f32>
// CHECK:         gpu.launch
// CHECK:           %[[V:.*]] = memref.load %[[X]]
// CHECK-NEXT:      memref.store %[[V]], %[[KEPT]][]
// CHECK:         } {array.kernel = "keep"}
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

// The host reads what it has to know: whether to go on.
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

// -----

// A loop that launches nothing is one thread's.
// CHECK-LABEL: func.func @loop(
// CHECK:         gpu.launch
// CHECK:           scf.for
// CHECK:             memref.store
// CHECK:         } {array.kernel = "store"}
func.func @loop(%x: memref<4xf32>, %f: f32) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  scf.for %i = %zero to %four step %one {
    memref.store %f, %x[%i] : memref<4xf32>
  }
  return
}
