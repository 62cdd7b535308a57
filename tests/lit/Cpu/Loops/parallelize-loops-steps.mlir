// Loops of a step of a loop of the program: those of some microseconds are shared only if nearly all of the step is,
// because the thread that does the rest reads the results of the others from their caches.
// RUN: array-opt %s --array-parallelize-loops --split-input-file | FileCheck %s

// A loop of 8 us is all of the step.
// CHECK-LABEL: func.func @main(
// CHECK:         scf.for
// CHECK:           llvm.call
// CHECK:         {array.control_flow}
func.func @main(%x: memref<128xf32> {array.role = "argument"}, %r: memref<128xf32> {array.role = "result"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %c128 = arith.constant 128 : index
  scf.for %step = %c0 to %c9 step %c1 {
    scf.for %i = %c0 to %c128 step %c1 {
      %v = memref.load %x[%i] : memref<128xf32>
      memref.store %v, %r[%i] : memref<128xf32>
    } {array.parallel = 32 : i64}
  } {array.control_flow}
  return
}

// -----

// Another one, of 128 numbers, takes longer than a twentieth of it. It may be in a kernel.
// CHECK-LABEL: func.func @main(
// CHECK-NOT:     llvm.call
func.func private @kernel(%x: memref<128xf32> {array.role = "argument"}, %r: memref<128xf32> {array.role = "argument"}) attributes {array.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  scf.for %i = %c0 to %c128 step %c1 {
    %v = memref.load %x[%i] : memref<128xf32>
    memref.store %v, %r[%i] : memref<128xf32>
  }
  return
}
func.func @main(%x: memref<128xf32> {array.role = "argument"}, %r: memref<128xf32> {array.role = "result"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %c128 = arith.constant 128 : index
  scf.for %step = %c0 to %c9 step %c1 {
    func.call @kernel(%x, %r) : (memref<128xf32>, memref<128xf32>) -> ()
    scf.for %i = %c0 to %c128 step %c1 {
      %v = memref.load %x[%i] : memref<128xf32>
      memref.store %v, %r[%i] : memref<128xf32>
    } {array.parallel = 32 : i64}
  } {array.control_flow}
  return
}

// -----

// A loop of 100 us is shared, whatever the rest is.
// CHECK-LABEL: func.func @main(
// CHECK:         llvm.call
func.func @main(%x: memref<4096xf32> {array.role = "argument"}, %r: memref<4096xf32> {array.role = "result"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %c4 = arith.constant 4 : index
  %c4096 = arith.constant 4096 : index
  scf.for %step = %c0 to %c9 step %c1 {
    scf.for %i = %c0 to %c4096 step %c1 {
      %v = memref.load %x[%i] : memref<4096xf32>
      memref.store %v, %r[%i] : memref<4096xf32>
    }
    scf.for %i = %c0 to %c4 step %c1 {
      %v = memref.load %x[%i] : memref<4096xf32>
      memref.store %v, %r[%i] : memref<4096xf32>
    } {array.parallel = 1 : i64, array.parallel_ns = 100000 : i64}
  } {array.control_flow}
  return
}
