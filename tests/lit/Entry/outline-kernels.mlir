// RUN: array-opt %s --array-outline-kernels --split-input-file | FileCheck %s
// RUN: array-opt %s --array-outline-kernels --array-parallelize-loops --array-emit-entry --split-input-file | FileCheck %s --check-prefix=ENTRY

// The same on other buffers: one function. Constants are in it, the value that was loaded before is passed.
// CHECK-LABEL: func.func private @kernel0(
// CHECK-SAME:    %[[FROM:[^:]*]]: memref<64xf32> {array.role = "argument", array.written}, %[[K:[^:]*]]: f32,
// CHECK-SAME:    %[[TO:[^:]*]]: memref<64xf32> {array.role = "argument", array.written}) attributes {array.kernel
// CHECK:         scf.for
// CHECK:           memref.load %[[FROM]]
// CHECK:           arith.mulf %{{.*}}, %[[K]]
// CHECK:           memref.store %{{.*}}, %[[TO]]
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[X:[^:]*]]: memref<64xf32> {{{[^}]*}}}, %[[R:[^:]*]]: memref<64xf32> {{{[^}]*}}}, %[[ARENA:[^:]*]]: memref<512xi8>
// CHECK-NOT:     scf
// CHECK:         %[[T:.*]] = memref.view %[[ARENA]]
// CHECK:         %[[SCALE:.*]] = memref.load %[[X]]
// CHECK-NEXT:    call @kernel0(%[[X]], %[[SCALE]], %[[T]])
// CHECK-NEXT:    call @kernel0(%[[T]], %[[SCALE]], %[[R]])
// CHECK-NEXT:    return

// The buffers are pointers in the end, each to memory of its own.
// ENTRY-LABEL: func.func private @kernel0(
// ENTRY-SAME:    !llvm.ptr {llvm.align = 4 : i64, llvm.noalias}, %{{.*}}: f32, %{{.*}}: !llvm.ptr {llvm.align = 4 : i64, llvm.noalias})
// ENTRY-LABEL: func.func private @main(
// ENTRY:         %[[ADDRESS:.*]] = llvm.inttoptr
// ENTRY:         call @kernel0(%[[ADDRESS]],
func.func @main(%x: memref<64xf32> {array.role = "argument"}, %r: memref<64xf32> {array.role = "result"},
                %arena: memref<512xi8> {array.role = "arena"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %t = memref.view %arena[%c0][] : memref<512xi8> to memref<64xf32>
  %k = memref.load %x[%c0] : memref<64xf32>
  scf.execute_region {
    scf.for %i = %c0 to %c64 step %c1 {
      %0 = memref.load %x[%i] : memref<64xf32>
    %1 = arith.mulf %0, %k : f32
    %2 = arith.mulf %1, %k : f32
    %3 = arith.mulf %2, %k : f32
    %4 = arith.mulf %3, %k : f32
    %5 = arith.mulf %4, %k : f32
    %6 = arith.mulf %5, %k : f32
    %7 = arith.mulf %6, %k : f32
    %8 = arith.mulf %7, %k : f32
    %9 = arith.mulf %8, %k : f32
    %10 = arith.mulf %9, %k : f32
    %11 = arith.mulf %10, %k : f32
    %12 = arith.mulf %11, %k : f32
    %13 = arith.mulf %12, %k : f32
    %14 = arith.mulf %13, %k : f32
    %15 = arith.mulf %14, %k : f32
    %16 = arith.mulf %15, %k : f32
    %17 = arith.mulf %16, %k : f32
    %18 = arith.mulf %17, %k : f32
    %19 = arith.mulf %18, %k : f32
    %20 = arith.mulf %19, %k : f32
    %21 = arith.mulf %20, %k : f32
    %22 = arith.mulf %21, %k : f32
    %23 = arith.mulf %22, %k : f32
    %24 = arith.mulf %23, %k : f32
      memref.store %24, %t[%i] : memref<64xf32>
    }
    scf.yield
  } {array.kernel}
  scf.execute_region {
    scf.for %i = %c0 to %c64 step %c1 {
      %0 = memref.load %t[%i] : memref<64xf32>
    %1 = arith.mulf %0, %k : f32
    %2 = arith.mulf %1, %k : f32
    %3 = arith.mulf %2, %k : f32
    %4 = arith.mulf %3, %k : f32
    %5 = arith.mulf %4, %k : f32
    %6 = arith.mulf %5, %k : f32
    %7 = arith.mulf %6, %k : f32
    %8 = arith.mulf %7, %k : f32
    %9 = arith.mulf %8, %k : f32
    %10 = arith.mulf %9, %k : f32
    %11 = arith.mulf %10, %k : f32
    %12 = arith.mulf %11, %k : f32
    %13 = arith.mulf %12, %k : f32
    %14 = arith.mulf %13, %k : f32
    %15 = arith.mulf %14, %k : f32
    %16 = arith.mulf %15, %k : f32
    %17 = arith.mulf %16, %k : f32
    %18 = arith.mulf %17, %k : f32
    %19 = arith.mulf %18, %k : f32
    %20 = arith.mulf %19, %k : f32
    %21 = arith.mulf %20, %k : f32
    %22 = arith.mulf %21, %k : f32
    %23 = arith.mulf %22, %k : f32
    %24 = arith.mulf %23, %k : f32
      memref.store %24, %r[%i] : memref<64xf32>
    }
    scf.yield
  } {array.kernel}
  return
}

// -----

// Overlapping ranges of the arena are passed as one, because buffers of functions must not overlap. Parts that do not
// repeat, or are short, replace their region.
// CHECK-LABEL: func.func private @kernel0(
// CHECK-SAME:    %{{[^:]*}}: f32, %[[BOTH:[^:]*]]: memref<320xi8>
// CHECK-DAG:     %[[FIRST:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[SECOND:.*]] = arith.constant 64 : index
// CHECK-DAG:     memref.view %[[BOTH]][%[[FIRST]]]
// CHECK-DAG:     memref.view %[[BOTH]][%[[SECOND]]]
// CHECK-LABEL: func.func @main(
// CHECK-NOT:     scf.execute_region
// CHECK:         memref.view %{{.*}} memref<1024xi8> to memref<320xi8>
// CHECK:         call @kernel0
// CHECK:         memref.view %{{.*}} memref<1024xi8> to memref<320xi8>
// CHECK:         call @kernel0
// CHECK:         scf.for
// CHECK:           arith.mulf
// CHECK-COUNT-2: memref.store
// CHECK:         return
func.func @main(%x: memref<64xf32> {array.role = "argument"}, %arena: memref<1024xi8> {array.role = "arena"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %c576 = arith.constant 576 : index
  %k = memref.load %x[%c0] : memref<64xf32>
  %a = memref.view %arena[%c0][] : memref<1024xi8> to memref<64xf32>
  %b = memref.view %arena[%c64][] : memref<1024xi8> to memref<64xf32>
  %c = memref.view %arena[%c512][] : memref<1024xi8> to memref<64xf32>
  %d = memref.view %arena[%c576][] : memref<1024xi8> to memref<64xf32>
  scf.execute_region {
    scf.for %i = %c0 to %c64 step %c1 {
      %0 = memref.load %a[%i] : memref<64xf32>
    %1 = arith.mulf %0, %k : f32
    %2 = arith.mulf %1, %k : f32
    %3 = arith.mulf %2, %k : f32
    %4 = arith.mulf %3, %k : f32
    %5 = arith.mulf %4, %k : f32
    %6 = arith.mulf %5, %k : f32
    %7 = arith.mulf %6, %k : f32
    %8 = arith.mulf %7, %k : f32
    %9 = arith.mulf %8, %k : f32
    %10 = arith.mulf %9, %k : f32
    %11 = arith.mulf %10, %k : f32
    %12 = arith.mulf %11, %k : f32
    %13 = arith.mulf %12, %k : f32
    %14 = arith.mulf %13, %k : f32
    %15 = arith.mulf %14, %k : f32
    %16 = arith.mulf %15, %k : f32
    %17 = arith.mulf %16, %k : f32
    %18 = arith.mulf %17, %k : f32
    %19 = arith.mulf %18, %k : f32
    %20 = arith.mulf %19, %k : f32
    %21 = arith.mulf %20, %k : f32
    %22 = arith.mulf %21, %k : f32
    %23 = arith.mulf %22, %k : f32
    %24 = arith.mulf %23, %k : f32
      memref.store %24, %b[%i] : memref<64xf32>
    }
    scf.yield
  } {array.kernel}
  scf.execute_region {
    scf.for %i = %c0 to %c64 step %c1 {
      %0 = memref.load %c[%i] : memref<64xf32>
    %1 = arith.mulf %0, %k : f32
    %2 = arith.mulf %1, %k : f32
    %3 = arith.mulf %2, %k : f32
    %4 = arith.mulf %3, %k : f32
    %5 = arith.mulf %4, %k : f32
    %6 = arith.mulf %5, %k : f32
    %7 = arith.mulf %6, %k : f32
    %8 = arith.mulf %7, %k : f32
    %9 = arith.mulf %8, %k : f32
    %10 = arith.mulf %9, %k : f32
    %11 = arith.mulf %10, %k : f32
    %12 = arith.mulf %11, %k : f32
    %13 = arith.mulf %12, %k : f32
    %14 = arith.mulf %13, %k : f32
    %15 = arith.mulf %14, %k : f32
    %16 = arith.mulf %15, %k : f32
    %17 = arith.mulf %16, %k : f32
    %18 = arith.mulf %17, %k : f32
    %19 = arith.mulf %18, %k : f32
    %20 = arith.mulf %19, %k : f32
    %21 = arith.mulf %20, %k : f32
    %22 = arith.mulf %21, %k : f32
    %23 = arith.mulf %22, %k : f32
    %24 = arith.mulf %23, %k : f32
      memref.store %24, %d[%i] : memref<64xf32>
    }
    scf.yield
  } {array.kernel}
  scf.execute_region {
    scf.for %i = %c0 to %c64 step %c1 {
      %0 = memref.load %a[%i] : memref<64xf32>
    %1 = arith.mulf %0, %k : f32
    %2 = arith.mulf %1, %k : f32
    %3 = arith.mulf %2, %k : f32
    %4 = arith.mulf %3, %k : f32
    %5 = arith.mulf %4, %k : f32
    %6 = arith.mulf %5, %k : f32
    %7 = arith.mulf %6, %k : f32
    %8 = arith.mulf %7, %k : f32
    %9 = arith.mulf %8, %k : f32
    %10 = arith.mulf %9, %k : f32
    %11 = arith.mulf %10, %k : f32
    %12 = arith.mulf %11, %k : f32
    %13 = arith.mulf %12, %k : f32
    %14 = arith.mulf %13, %k : f32
    %15 = arith.mulf %14, %k : f32
    %16 = arith.mulf %15, %k : f32
    %17 = arith.mulf %16, %k : f32
    %18 = arith.mulf %17, %k : f32
    %19 = arith.mulf %18, %k : f32
    %20 = arith.mulf %19, %k : f32
    %21 = arith.mulf %20, %k : f32
    %22 = arith.mulf %21, %k : f32
    %23 = arith.mulf %22, %k : f32
    %24 = arith.mulf %23, %k : f32
      memref.store %24, %c[%i] : memref<64xf32>
    }
    scf.yield
  } {array.kernel}
  scf.execute_region {
    memref.store %k, %x[%c1] : memref<64xf32>
    scf.yield
  } {array.kernel}
  scf.execute_region {
    memref.store %k, %x[%c64] : memref<64xf32>
    scf.yield
  } {array.kernel}
  return
}

// -----

// A loop for threads takes the call frame with it.
// CHECK-LABEL: func.func private @kernel0(
// CHECK-SAME:    !llvm.ptr {array.role = "frame"})
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[FRAME:[^:]*]]: !llvm.ptr {array.role = "frame"})
// CHECK-COUNT-2: call @kernel0({{.*}}, %[[FRAME]])
// ENTRY-DAG:   func.func private @kernel0_loop0(
// ENTRY-DAG:   func.func private @kernel0_piece0(
func.func @main(%x: memref<64xf32> {array.role = "argument"}, %r: memref<64xf32> {array.role = "result"},
                %s: memref<64xf32> {array.role = "result"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %k = memref.load %x[%c0] : memref<64xf32>
  scf.execute_region {
    scf.for %i = %c0 to %c64 step %c1 {
      %0 = memref.load %x[%i] : memref<64xf32>
    %1 = arith.mulf %0, %k : f32
    %2 = arith.mulf %1, %k : f32
    %3 = arith.mulf %2, %k : f32
    %4 = arith.mulf %3, %k : f32
    %5 = arith.mulf %4, %k : f32
    %6 = arith.mulf %5, %k : f32
    %7 = arith.mulf %6, %k : f32
    %8 = arith.mulf %7, %k : f32
    %9 = arith.mulf %8, %k : f32
    %10 = arith.mulf %9, %k : f32
    %11 = arith.mulf %10, %k : f32
    %12 = arith.mulf %11, %k : f32
    %13 = arith.mulf %12, %k : f32
    %14 = arith.mulf %13, %k : f32
    %15 = arith.mulf %14, %k : f32
    %16 = arith.mulf %15, %k : f32
    %17 = arith.mulf %16, %k : f32
    %18 = arith.mulf %17, %k : f32
    %19 = arith.mulf %18, %k : f32
    %20 = arith.mulf %19, %k : f32
    %21 = arith.mulf %20, %k : f32
    %22 = arith.mulf %21, %k : f32
    %23 = arith.mulf %22, %k : f32
    %24 = arith.mulf %23, %k : f32
      memref.store %24, %r[%i] : memref<64xf32>
    } {array.parallel = 8 : i64}
    scf.yield
  } {array.kernel}
  scf.execute_region {
    scf.for %i = %c0 to %c64 step %c1 {
      %0 = memref.load %x[%i] : memref<64xf32>
    %1 = arith.mulf %0, %k : f32
    %2 = arith.mulf %1, %k : f32
    %3 = arith.mulf %2, %k : f32
    %4 = arith.mulf %3, %k : f32
    %5 = arith.mulf %4, %k : f32
    %6 = arith.mulf %5, %k : f32
    %7 = arith.mulf %6, %k : f32
    %8 = arith.mulf %7, %k : f32
    %9 = arith.mulf %8, %k : f32
    %10 = arith.mulf %9, %k : f32
    %11 = arith.mulf %10, %k : f32
    %12 = arith.mulf %11, %k : f32
    %13 = arith.mulf %12, %k : f32
    %14 = arith.mulf %13, %k : f32
    %15 = arith.mulf %14, %k : f32
    %16 = arith.mulf %15, %k : f32
    %17 = arith.mulf %16, %k : f32
    %18 = arith.mulf %17, %k : f32
    %19 = arith.mulf %18, %k : f32
    %20 = arith.mulf %19, %k : f32
    %21 = arith.mulf %20, %k : f32
    %22 = arith.mulf %21, %k : f32
    %23 = arith.mulf %22, %k : f32
    %24 = arith.mulf %23, %k : f32
      memref.store %24, %s[%i] : memref<64xf32>
    } {array.parallel = 8 : i64}
    scf.yield
  } {array.kernel}
  return
}

// -----

// A loop with regions in it is one part. If it does not repeat, the regions are parts.
// CHECK-LABEL: func.func private @kernel0(
// CHECK:         scf.for
// CHECK-NOT:     scf.execute_region
// CHECK-LABEL: func.func private @kernel1(
// CHECK:         scf.for
// CHECK-NOT:     scf.for
// CHECK-LABEL: func.func @main(
// CHECK-COUNT-2: call @kernel0(
// CHECK:         scf.for
// CHECK-COUNT-2:   call @kernel1(
// CHECK:           memref.store
func.func @main(%x: memref<64xf32> {array.role = "argument"}, %r: memref<64xf32> {array.role = "result"},
                %s: memref<64xf32> {array.role = "result"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %k = memref.load %x[%c0] : memref<64xf32>
  scf.for %j = %c0 to %c64 step %c1 {
  scf.execute_region {
    scf.for %i = %c0 to %c64 step %c1 {
      %0 = memref.load %x[%i] : memref<64xf32>
    %1 = arith.mulf %0, %k : f32
    %2 = arith.mulf %1, %k : f32
    %3 = arith.mulf %2, %k : f32
    %4 = arith.mulf %3, %k : f32
    %5 = arith.mulf %4, %k : f32
    %6 = arith.mulf %5, %k : f32
    %7 = arith.mulf %6, %k : f32
    %8 = arith.mulf %7, %k : f32
    %9 = arith.mulf %8, %k : f32
    %10 = arith.mulf %9, %k : f32
    %11 = arith.mulf %10, %k : f32
    %12 = arith.mulf %11, %k : f32
    %13 = arith.mulf %12, %k : f32
    %14 = arith.mulf %13, %k : f32
    %15 = arith.mulf %14, %k : f32
    %16 = arith.mulf %15, %k : f32
    %17 = arith.mulf %16, %k : f32
    %18 = arith.mulf %17, %k : f32
    %19 = arith.mulf %18, %k : f32
    %20 = arith.mulf %19, %k : f32
    %21 = arith.mulf %20, %k : f32
    %22 = arith.mulf %21, %k : f32
    %23 = arith.mulf %22, %k : f32
    %24 = arith.mulf %23, %k : f32
      memref.store %24, %r[%i] : memref<64xf32>
    }
    scf.yield
  } {array.kernel}
  }
  scf.for %j = %c0 to %c64 step %c1 {
  scf.execute_region {
    scf.for %i = %c0 to %c64 step %c1 {
      %0 = memref.load %x[%i] : memref<64xf32>
    %1 = arith.mulf %0, %k : f32
    %2 = arith.mulf %1, %k : f32
    %3 = arith.mulf %2, %k : f32
    %4 = arith.mulf %3, %k : f32
    %5 = arith.mulf %4, %k : f32
    %6 = arith.mulf %5, %k : f32
    %7 = arith.mulf %6, %k : f32
    %8 = arith.mulf %7, %k : f32
    %9 = arith.mulf %8, %k : f32
    %10 = arith.mulf %9, %k : f32
    %11 = arith.mulf %10, %k : f32
    %12 = arith.mulf %11, %k : f32
    %13 = arith.mulf %12, %k : f32
    %14 = arith.mulf %13, %k : f32
    %15 = arith.mulf %14, %k : f32
    %16 = arith.mulf %15, %k : f32
    %17 = arith.mulf %16, %k : f32
    %18 = arith.mulf %17, %k : f32
    %19 = arith.mulf %18, %k : f32
    %20 = arith.mulf %19, %k : f32
    %21 = arith.mulf %20, %k : f32
    %22 = arith.mulf %21, %k : f32
    %23 = arith.mulf %22, %k : f32
    %24 = arith.mulf %23, %k : f32
      memref.store %24, %s[%i] : memref<64xf32>
    }
    scf.yield
  } {array.kernel}
  }
  scf.for %j = %c0 to %c64 step %c1 {
  scf.execute_region {
    scf.for %i = %c0 to %c64 step %c1 {
      %0 = memref.load %x[%i] : memref<64xf32>
    %1 = arith.mulf %0, %k : f32
    %2 = arith.mulf %1, %k : f32
    %3 = arith.mulf %2, %k : f32
    %4 = arith.mulf %3, %k : f32
    %5 = arith.mulf %4, %k : f32
    %6 = arith.mulf %5, %k : f32
    %7 = arith.mulf %6, %k : f32
    %8 = arith.mulf %7, %k : f32
    %9 = arith.mulf %8, %k : f32
    %10 = arith.mulf %9, %k : f32
    %11 = arith.mulf %10, %k : f32
    %12 = arith.mulf %11, %k : f32
    %13 = arith.mulf %12, %k : f32
    %14 = arith.mulf %13, %k : f32
    %15 = arith.mulf %14, %k : f32
    %16 = arith.mulf %15, %k : f32
    %17 = arith.mulf %16, %k : f32
    %18 = arith.mulf %17, %k : f32
    %19 = arith.mulf %18, %k : f32
    %20 = arith.mulf %19, %k : f32
    %21 = arith.mulf %20, %k : f32
    %22 = arith.mulf %21, %k : f32
    %23 = arith.mulf %22, %k : f32
    %24 = arith.mulf %23, %k : f32
      memref.store %24, %s[%i] : memref<64xf32>
    }
    scf.yield
  } {array.kernel}
  scf.execute_region {
    scf.for %i = %c0 to %c64 step %c1 {
      %0 = memref.load %s[%i] : memref<64xf32>
    %1 = arith.mulf %0, %k : f32
    %2 = arith.mulf %1, %k : f32
    %3 = arith.mulf %2, %k : f32
    %4 = arith.mulf %3, %k : f32
    %5 = arith.mulf %4, %k : f32
    %6 = arith.mulf %5, %k : f32
    %7 = arith.mulf %6, %k : f32
    %8 = arith.mulf %7, %k : f32
    %9 = arith.mulf %8, %k : f32
    %10 = arith.mulf %9, %k : f32
    %11 = arith.mulf %10, %k : f32
    %12 = arith.mulf %11, %k : f32
    %13 = arith.mulf %12, %k : f32
    %14 = arith.mulf %13, %k : f32
    %15 = arith.mulf %14, %k : f32
    %16 = arith.mulf %15, %k : f32
    %17 = arith.mulf %16, %k : f32
    %18 = arith.mulf %17, %k : f32
    %19 = arith.mulf %18, %k : f32
    %20 = arith.mulf %19, %k : f32
    %21 = arith.mulf %20, %k : f32
    %22 = arith.mulf %21, %k : f32
    %23 = arith.mulf %22, %k : f32
    %24 = arith.mulf %23, %k : f32
      memref.store %24, %r[%i] : memref<64xf32>
    }
    scf.yield
  } {array.kernel}
    memref.store %k, %s[%j] : memref<64xf32>
  }
  return
}
