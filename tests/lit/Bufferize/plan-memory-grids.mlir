// RUN: array-opt %s --pass-pipeline='builtin.module(func.func(array-plan-memory))' --split-input-file | FileCheck %s

// The programs of a kernel have their temporaries in one private buffer, also those that were at the start of the
// function. A loop inside belongs to one thread.
// CHECK-LABEL: func.func @private(
// CHECK-NOT:     array.arena_bytes
// CHECK:         %[[OWN:.*]] = memref.alloca() {alignment = 64 : i64, array.private} : memref<8192xi8>
// CHECK:         scf.for
// CHECK-DAG:       memref.view %[[OWN]][{{.*}} to memref<1024xf32>
// CHECK-DAG:       memref.view %[[OWN]][{{.*}} to memref<1024xf32>
// CHECK:           scf.for
// CHECK:           }
// CHECK-NEXT:      scf.for
// CHECK:           }
// CHECK:         } {array.control_flow, array.parallel = {{.*}} : i64}
func.func @private(%x: memref<64x1024xf32>, %y: memref<64x1024xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c1024 = arith.constant 1024 : index
  %a = memref.alloc() : memref<1024xf32>
  scf.for %i = %c0 to %c64 step %c1 {
    %b = memref.alloc() : memref<1024xf32>
    scf.for %j = %c0 to %c1024 step %c1 {
      %v = memref.load %x[%i, %j] : memref<64x1024xf32>
      %w = arith.addf %v, %v : f32
      memref.store %w, %a[%j] : memref<1024xf32>
    } {array.parallel = 8 : i64}
    scf.for %j = %c0 to %c1024 step %c1 {
      %v = memref.load %a[%j] : memref<1024xf32>
      memref.store %v, %b[%j] : memref<1024xf32>
      %w = memref.load %b[%j] : memref<1024xf32>
      memref.store %w, %y[%i, %j] : memref<64x1024xf32>
    }
  } {array.control_flow, array.grid}
  return
}

// -----

// A small loop is not shared, and neither is one that calls the runtime's routines: their temporaries are in the arena.
// CHECK-LABEL: func.func @small(
// CHECK-SAME:    array.arena_bytes = 256 : i64
// CHECK:         memref.view
// CHECK-NOT:     array.parallel
func.func @small(%x: memref<2x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c0 to %c2 step %c1 {
    %a = memref.alloc() : memref<64xf32>
    %v = memref.load %x[%i, %c0] : memref<2x64xf32>
    memref.store %v, %a[%c0] : memref<64xf32>
    %w = memref.load %a[%c0] : memref<64xf32>
    memref.store %w, %x[%i, %c1] : memref<2x64xf32>
  } {array.grid}
  return
}

// -----

// A loop over as many parts as there are threads is shared; within a shared loop it has one part.
// CHECK-LABEL: func.func @parts(
// CHECK:         %[[THREADS:.*]] = array.threads : index
// CHECK:         scf.for %{{.*}} = %{{.*}} to %[[THREADS]] step
// CHECK:         } {array.parallel = 1 : i64}
// CHECK:         scf.for
// CHECK:           %[[ONE:.*]] = arith.constant 1 : index
// CHECK:           scf.for %{{.*}} = %{{.*}} to %[[ONE]] step
// CHECK-NOT:       array.parts
// CHECK:         } {array.parallel
func.func @parts(%x: memref<64x1024xf32>) {
  %threads = array.threads : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c1024 = arith.constant 1024 : index
  scf.for %p = %c0 to %threads step %c1 {
    scf.for %j = %p to %c1024 step %threads {
      %v = memref.load %x[%c0, %j] : memref<64x1024xf32>
      %w = arith.addf %v, %v : f32
      memref.store %w, %x[%c0, %j] : memref<64x1024xf32>
    }
  } {array.parts}
  scf.for %i = %c0 to %c64 step %c1 {
    scf.for %p = %c0 to %threads step %c1 {
      scf.for %j = %c0 to %c1024 step %c1 {
        %v = memref.load %x[%i, %j] : memref<64x1024xf32>
        %w = arith.addf %v, %v : f32
        memref.store %w, %x[%i, %j] : memref<64x1024xf32>
      }
    } {array.parts}
  } {array.independent}
  return
}
