// RUN: array-opt %s --array-emit-entry --split-input-file | FileCheck %s
// RUN: array-opt %s --array-emit-entry --split-input-file --convert-to-llvm --reconcile-unrealized-casts | FileCheck %s --check-prefix=LLVM

// Arguments are aligned to their element, results and the arena to 64 bytes.
// CHECK-LABEL: func.func private @main(
// CHECK-SAME:    %[[X:[^:]*]]: !llvm.ptr {llvm.align = 8 : i64, llvm.noalias, llvm.readonly}
// CHECK-SAME:    %[[R:[^:]*]]: !llvm.ptr {llvm.align = 64 : i64, llvm.noalias}
// CHECK-SAME:    %[[A:[^:]*]]: !llvm.ptr {llvm.align = 64 : i64, llvm.noalias})
// CHECK-SAME:    llvm.linkage = #llvm.linkage<internal>, passthrough = ["alwaysinline"]
// CHECK-DAG:     %[[XM:.*]] = builtin.unrealized_conversion_cast %{{.*}} to memref<4xf64>
// CHECK-DAG:     %[[RM:.*]] = builtin.unrealized_conversion_cast %{{.*}} to memref<2x2xf64>
// CHECK:         memref.load %[[XM]]
// CHECK:         memref.store %{{.*}}, %[[RM]]

// The frame is {args, results, arena, table}.
// CHECK-LABEL: func.func @pcrt_main(
// CHECK-SAME:    %[[FRAME:.*]]: !llvm.ptr) -> i32
// CHECK-DAG:     %[[ARGS:.*]] = llvm.load %[[FRAME]]
// CHECK-DAG:     %[[X:.*]] = llvm.load %[[ARGS]]
// CHECK-DAG:     %[[AT8:.*]] = llvm.getelementptr inbounds %[[FRAME]][8]
// CHECK-DAG:     %[[RESULTS:.*]] = llvm.load %[[AT8]]
// CHECK-DAG:     %[[R:.*]] = llvm.load %[[RESULTS]]
// CHECK-DAG:     %[[AT16:.*]] = llvm.getelementptr inbounds %[[FRAME]][16]
// CHECK-DAG:     %[[ARENA:.*]] = llvm.load %[[AT16]]
// CHECK:         call @main(%[[X]], %[[R]], %[[ARENA]])
// CHECK:         %[[OK:.*]] = llvm.mlir.constant(0 : i32)
// CHECK:         return %[[OK]]

// LLVM-LABEL: llvm.func internal @main(
// LLVM-NOT:     builtin.unrealized_conversion_cast
// LLVM-LABEL: llvm.func @pcrt_main(
// LLVM:         llvm.call @main(
func.func @main(%x: memref<4xf64> {array.role = "argument"}, %r: memref<2x2xf64> {array.role = "result"},
                %arena: memref<128xi8> {array.role = "arena"}) attributes {array.arena_bytes = 128 : i64} {
  %c1 = arith.constant 1 : index
  %0 = memref.load %x[%c1] : memref<4xf64>
  memref.store %0, %r[%c1, %c1] : memref<2x2xf64>
  return
}

// -----

// With library calls, @main takes the frame and returns a status, which the entry passes on.
// CHECK-LABEL: func.func @pcrt_main(
// CHECK-SAME:    %[[FRAME:.*]]: !llvm.ptr) -> i32
// CHECK:         %[[STATUS:.*]] = call @main(%{{.*}}, %[[FRAME]])
// CHECK-NEXT:    return %[[STATUS]]
func.func @main(%r: memref<4xf64> {array.role = "result"}, %frame: !llvm.ptr {array.role = "frame"}) -> i32 {
  %0 = llvm.load %frame : !llvm.ptr -> i32
  return %0 : i32
}

// -----

// An argument that is given up is written: it is not read-only.
// CHECK-LABEL: func.func private @main(
// CHECK-SAME:    %[[X:[^:]*]]: !llvm.ptr {llvm.align = 4 : i64, llvm.noalias},
// CHECK-SAME:    %[[Y:[^:]*]]: !llvm.ptr {llvm.align = 4 : i64, llvm.noalias, llvm.readonly},
// CHECK-SAME:    %[[R:[^:]*]]: !llvm.ptr {llvm.align = 64 : i64, llvm.noalias})
func.func @main(%x: memref<4xf32> {array.role = "argument", array.written}, %y: memref<4xf32> {array.role = "argument"},
                %r: memref<4xf32> {array.role = "result"}) {
  memref.copy %y, %x : memref<4xf32> to memref<4xf32>
  return
}
