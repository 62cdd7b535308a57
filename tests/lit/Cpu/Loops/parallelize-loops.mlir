// RUN: array-opt %s --array-parallelize-loops --split-input-file | FileCheck %s

// The loop takes the arguments as pointers with the LLVM attributes of @main's, and values loaded before the loop, and
// recomputes constants, views and private buffers. The piece unpacks them. Iterations are counted from 0.
// CHECK-LABEL: func.func private @main_loop0(
// CHECK-SAME:    %{{[^:]*}}: !llvm.ptr {llvm.align = 4 : i64, llvm.noalias, llvm.readonly},
// CHECK-SAME:    %{{[^:]*}}: !llvm.ptr {llvm.align = 64 : i64, llvm.noalias}, %[[SCALE:.*]]: f32, %[[LOW:.*]]: index, %[[HIGH:.*]]: index)
// CHECK-DAG:     %[[PRIVATE:.*]] = memref.alloca() {{.*}}array.private{{.*}} : memref<4xf32>
// CHECK-DAG:     %[[STEP:.*]] = arith.constant 8 : index
// CHECK-DAG:     %[[BEGIN:.*]] = arith.constant 16 : index
// CHECK-DAG:     %[[END:.*]] = arith.constant 1000 : index
// CHECK:         %[[A:.*]] = arith.muli %[[LOW]], %[[STEP]]
// CHECK:         %[[FROM:.*]] = arith.addi %[[BEGIN]], %[[A]]
// CHECK:         %[[B:.*]] = arith.muli %[[HIGH]], %[[STEP]]
// CHECK:         %[[C:.*]] = arith.addi %[[BEGIN]], %[[B]]
// CHECK:         %[[TO:.*]] = arith.minsi %[[C]], %[[END]]
// CHECK:         scf.for %[[I:.*]] = %[[FROM]] to %[[TO]] step %[[STEP]] {
// CHECK:           memref.store %{{.*}}, %[[PRIVATE]]
// CHECK:           arith.mulf %{{.*}}, %[[SCALE]]
// CHECK-LABEL: func.func private @main_piece0(
// CHECK-SAME:    %{{.*}}: !llvm.ptr, %[[CAPTURED:.*]]: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64) -> i32
// CHECK:         %[[X:.*]] = llvm.load %[[CAPTURED]] : !llvm.ptr -> !llvm.ptr
// CHECK:         call @main_loop0(%[[X]],
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[FRAME:[^:]*]]: !llvm.ptr {array.role = "frame"})
// CHECK:         %[[STRUCTURE:.*]] = llvm.alloca %{{.*}} x i8 {alignment = 64 : i64}
// CHECK-NOT:     scf.for
// CHECK:         %[[PIECE:.*]] = builtin.unrealized_conversion_cast %{{.*}} : {{.*}} to !llvm.ptr
// CHECK:         %[[AT:.*]] = llvm.getelementptr inbounds %[[FRAME]][24]
// CHECK:         %[[TABLE:.*]] = llvm.load %[[AT]]
// CHECK:         %[[SLOT:.*]] = llvm.getelementptr inbounds %[[TABLE]][8]
// CHECK:         %[[ROUTINE:.*]] = llvm.load %[[SLOT]]
// CHECK:         %[[GRAIN:.*]] = llvm.mlir.constant(20 : i64)
// CHECK:         llvm.call %[[ROUTINE]](%[[FRAME]], %[[PIECE]], %[[STRUCTURE]], %[[COUNT:.*]], %[[GRAIN]])
func.func @main(%x: memref<1000xf32> {array.role = "argument"}, %r: memref<1000xf32> {array.role = "result"}) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c1000 = arith.constant 1000 : index
  %t = memref.alloca() {array.private} : memref<4xf32>
  %scale = memref.load %x[%c0] : memref<1000xf32>
  scf.for %i = %c16 to %c1000 step %c8 {
    %0 = memref.load %x[%i] : memref<1000xf32>
    memref.store %0, %t[%c0] : memref<4xf32>
    %1 = arith.mulf %0, %scale : f32
    memref.store %1, %r[%i] : memref<1000xf32>
  } {array.parallel = 20 : i64}
  return
}

// -----

// A loop inside of a shared loop is part of it. A loop that cannot be shared stays: it uses a buffer that @main does
// not take whole.
// CHECK-LABEL: func.func private @main_loop0(
// CHECK:         scf.for
// CHECK:           scf.for
// CHECK-LABEL: func.func @main(
// CHECK-COUNT-1: llvm.call
// CHECK-NOT:     llvm.call
// CHECK:         scf.for
func.func @main(%r: memref<1000xf32> {array.role = "result"}, %s: memref<1000xf32, strided<[2]>>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1000 = arith.constant 1000 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c1000 step %c1 {
    scf.for %j = %c0 to %c1000 step %c1 {
      memref.store %zero, %r[%i] : memref<1000xf32>
    } {array.parallel = 1 : i64}
  } {array.parallel = 20 : i64}
  scf.for %i = %c0 to %c1000 step %c1 {
    memref.store %zero, %s[%i] : memref<1000xf32, strided<[2]>>
  } {array.parallel = 20 : i64}
  return
}

// -----

// Without a mark nothing changes.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %{{[^:]*}}: memref<1000xf32> {array.role = "result"}) {
// CHECK:         scf.for
// CHECK-NOT:     llvm.call
func.func @main(%r: memref<1000xf32> {array.role = "result"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1000 = arith.constant 1000 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c1000 step %c1 {
    memref.store %zero, %r[%i] : memref<1000xf32>
  }
  return
}
