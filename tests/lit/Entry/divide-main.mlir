// RUN: array-opt %s --array-divide-main=length=4 --split-input-file | FileCheck %s

// Two parts. A constant and a view are made again, the loaded value is a result of the first one.
// CHECK-LABEL: func.func private @part0(
// CHECK-SAME:    %[[X:[^:]*]]: memref<64xf32> {array.role = "argument"}, %[[ARENA:[^:]*]]: memref<512xi8> {array.role = "arena"}) -> f32
// CHECK:         memref.view %[[ARENA]]
// CHECK:         return %{{.*}} : f32
// CHECK-LABEL: func.func private @part1(
// CHECK-SAME:    f32
// CHECK:         memref.view
// CHECK:         memref.store
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[X:[^:]*]]: memref<64xf32> {{{[^}]*}}}, %[[R:[^:]*]]: memref<64xf32> {{{[^}]*}}}, %[[ARENA:[^:]*]]: memref<512xi8>
// CHECK:         %[[VALUE:.*]] = call @part0(%[[X]], %[[ARENA]])
// CHECK:         call @part1({{.*}}%[[VALUE]]
// CHECK:         return
func.func @main(%x: memref<64xf32> {array.role = "argument"}, %r: memref<64xf32> {array.role = "result"},
                %arena: memref<512xi8> {array.role = "arena"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %t = memref.view %arena[%c0][] : memref<512xi8> to memref<64xf32>
  %k = memref.load %x[%c0] : memref<64xf32>
  scf.for %i = %c0 to %c64 step %c1 {
    %0 = memref.load %x[%i] : memref<64xf32>
    memref.store %0, %t[%i] : memref<64xf32>
  }
  scf.for %i = %c0 to %c64 step %c1 {
    %0 = memref.load %t[%i] : memref<64xf32>
    %1 = arith.mulf %0, %k : f32
    memref.store %1, %r[%i] : memref<64xf32>
  }
  return
}

// -----

// What can fail stays in @main, and so does a short function.
// CHECK-LABEL: func.func @main(
// CHECK-NOT:     call @part
// CHECK:         memref.store
func.func @main(%x: memref<64xf32> {array.role = "argument"}) {
  %c0 = arith.constant 0 : index
  %0 = memref.load %x[%c0] : memref<64xf32>
  %1 = arith.addf %0, %0 : f32
  memref.store %1, %x[%c0] : memref<64xf32>
  return
}

// -----

// Each piece of a loop for threads has a private buffer of its own. Other loops share the one of @main.
// CHECK-LABEL: func.func private @part0(
// CHECK-SAME:    %[[SCRATCH:[^:]*]]: memref<1xf32>
// CHECK:         %[[OWN:.*]] = memref.alloca() {array.private} : memref<1xf32>
// CHECK:         scf.for
// CHECK:           memref.store %{{.*}}, %[[OWN]]
// CHECK:           memref.load %[[OWN]]
// CHECK:         {array.parallel
// CHECK-LABEL: func.func private @part1(
// CHECK-SAME:    %[[SCRATCH:[^:]*]]: memref<1xf32>
// CHECK-NOT:     memref.alloca
// CHECK:         memref.store %{{.*}}, %[[SCRATCH]]
func.func @main(%x: memref<64xf32> {array.role = "argument"}, %r: memref<64xf32> {array.role = "result"}) {
  %scratch = memref.alloca() {array.private} : memref<1xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c1 {
    %0 = memref.load %x[%i] : memref<64xf32>
    memref.store %0, %scratch[%c0] : memref<1xf32>
    %1 = memref.load %scratch[%c0] : memref<1xf32>
    memref.store %1, %r[%i] : memref<64xf32>
  } {array.parallel = 8 : i64}
  scf.for %i = %c0 to %c64 step %c1 {
    %0 = memref.load %r[%i] : memref<64xf32>
    memref.store %0, %scratch[%c0] : memref<1xf32>
    %1 = memref.load %scratch[%c0] : memref<1xf32>
    memref.store %1, %r[%i] : memref<64xf32>
  }
  return
}
