// RUN: array-opt %s --array-outline-kernels | FileCheck %s

// In an iteration of a loop for threads, a part reads what another one wrote to a buffer of the iteration: the function of
// equal parts gets the buffer, and has none of its own.
// CHECK-LABEL: func.func private @kernel0(
// CHECK-SAME:    %[[BUFFER:[^:]*]]: memref<128xi8> {array.role = "argument", array.written})
// CHECK-NOT:     memref.alloca
// CHECK:         memref.view %[[BUFFER]]
// CHECK-LABEL: func.func @main(
// CHECK:         %[[OWN:.*]] = memref.alloca
// CHECK:         scf.if
// CHECK:           call @kernel0(%[[OWN]])
// CHECK:         else
// CHECK:           call @kernel0(%[[OWN]])
func.func @main(%x: memref<16xf32> {array.role = "argument"}, %r: memref<16xf32> {array.role = "result"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %one = arith.constant 1.0 : f32
  %own = memref.alloca() {alignment = 64 : i64, array.private} : memref<128xi8>
  scf.for %i = %c0 to %c16 step %c1 {
    %from = memref.view %own[%c0][] {array.live = array<i64: 0, 9, 64>} : memref<128xi8> to memref<16xf32>
    %to = memref.view %own[%c64][] {array.live = array<i64: 1, 9, 64>} : memref<128xi8> to memref<16xf32>
    %value = memref.load %x[%i] : memref<16xf32>
    %odd = arith.remui %i, %c2 : index
    %is = arith.cmpi eq, %odd, %c0 : index
    scf.if %is {
      memref.store %value, %from[%c0] : memref<16xf32>
      scf.execute_region {
        scf.for %j = %c0 to %c16 step %c1 {
          %0 = memref.load %from[%j] : memref<16xf32>
          %1 = arith.addf %0, %one : f32
          %2 = arith.mulf %1, %1 : f32
          %3 = arith.addf %2, %one : f32
          memref.store %3, %to[%j] : memref<16xf32>
        }
        scf.yield
      } {array.kernel}
    } else {
      memref.store %one, %from[%c0] : memref<16xf32>
      scf.execute_region {
        scf.for %j = %c0 to %c16 step %c1 {
          %0 = memref.load %from[%j] : memref<16xf32>
          %1 = arith.addf %0, %one : f32
          %2 = arith.mulf %1, %1 : f32
          %3 = arith.addf %2, %one : f32
          memref.store %3, %to[%j] : memref<16xf32>
        }
        scf.yield
      } {array.kernel}
    }
    %found = memref.load %to[%c0] : memref<16xf32>
    memref.store %found, %r[%i] : memref<16xf32>
  } {array.parallel = 1 : i64}
  return
}
