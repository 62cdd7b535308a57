// RUN: array-opt %s --pass-pipeline='builtin.module(func.func(array-lower-runtime-calls))' --split-input-file | FileCheck %s

// The frame is the last argument. Operands are {data, dims, rank, dtype} structures of 24 bytes, followed by their dimensions;
// unsigned 32-bit integers are dtype 7. The routine is found through frame->table, and a status that is not 0 is returned.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[X:.*]]: memref<2x3xi32>, %[[R:.*]]: memref<2x3xi32>, %[[FRAME:.*]]: !llvm.ptr {array.role = "frame"}) -> i32
// CHECK-DAG:     %[[IN:.*]] = llvm.alloca %{{.*}} x i8 {alignment = 16 : i64}
// CHECK:         %[[ADDRESS:.*]] = llvm.inttoptr
// CHECK:         llvm.store %[[ADDRESS]], %[[INPUTS:.*]] : !llvm.ptr, !llvm.ptr
// CHECK:         %[[DIMS:.*]] = llvm.getelementptr inbounds %[[INPUTS]][24]
// CHECK:         %[[AT8:.*]] = llvm.getelementptr inbounds %[[INPUTS]][8]
// CHECK:         llvm.store %[[DIMS]], %[[AT8]]
// CHECK:         %[[RANK:.*]] = llvm.mlir.constant(2 : i32)
// CHECK:         %[[AT16:.*]] = llvm.getelementptr inbounds %[[INPUTS]][16]
// CHECK:         llvm.store %[[RANK]], %[[AT16]]
// CHECK:         %[[DTYPE:.*]] = llvm.mlir.constant(7 : i32)
// CHECK:         %[[AT20:.*]] = llvm.getelementptr inbounds %[[INPUTS]][20]
// CHECK:         llvm.store %[[DTYPE]], %[[AT20]]
// CHECK:         %[[D1:.*]] = llvm.mlir.constant(3 : i64)
// CHECK:         %[[AT32:.*]] = llvm.getelementptr inbounds %[[INPUTS]][32]
// CHECK:         llvm.store %[[D1]], %[[AT32]]
// CHECK:         %[[SLOT:.*]] = llvm.getelementptr inbounds %[[FRAME]][24]
// CHECK:         %[[TABLE:.*]] = llvm.load %[[SLOT]]
// CHECK:         %[[SORT:.*]] = llvm.getelementptr inbounds %[[TABLE]][32]
// CHECK:         %[[ROUTINE:.*]] = llvm.load %[[SORT]]
// CHECK:         %[[STATUS:.*]] = llvm.call %[[ROUTINE]](%[[FRAME]], %[[INPUTS]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : !llvm.ptr, (!llvm.ptr, !llvm.ptr, i32, !llvm.ptr, i32, !llvm.ptr) -> i32
// CHECK:         %[[FAILED:.*]] = arith.cmpi ne, %[[STATUS]]
// CHECK:         cf.cond_br %[[FAILED]], ^[[LEAVE:.*]], ^[[GO:.*]]
// CHECK:       ^[[LEAVE]]:
// CHECK-NEXT:    return %[[STATUS]]
// CHECK:       ^[[GO]]:
// CHECK:         %[[OK:.*]] = llvm.mlir.constant(0 : i32)
// CHECK:         return %[[OK]]
func.func @main(%x: memref<2x3xi32>, %r: memref<2x3xi32>) {
  array.runtime_call "sort" params = [1, 1, 1] element_types = [ui32, ui32]
    ins(%x : memref<2x3xi32>) outs(%r : memref<2x3xi32>)
  return
}

// -----

// A function without calls is left alone.
// CHECK-LABEL: func.func @main(%{{.*}}: memref<2xi32>) {
func.func @main(%x: memref<2xi32>) {
  return
}

// -----

// A failure's status carries the number of the call above its low 8 bits.
// CHECK-LABEL: func.func @main(
// CHECK:         %[[STATUS:.*]] = llvm.call
// CHECK:       ^{{.*}}:
// CHECK:         %[[SITE:.*]] = llvm.mlir.constant(768 : i32)
// CHECK:         %[[WORD:.*]] = llvm.or %[[STATUS]], %[[SITE]]
// CHECK:         return %[[WORD]]
func.func @main(%x: memref<4xi32>, %r: memref<4xi32>) {
  array.runtime_call "sort" params = [0, 1, 1] element_types = [ui32, ui32]
    ins(%x : memref<4xi32>) outs(%r : memref<4xi32>) {array.call_site = 3 : i64}
  return
}

// -----

// The operations of a loop are subtracted from a counter on the stack that begins at frame->budget; below zero the run
// stops with status 5.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[FRAME:[a-z0-9]+]]: !llvm.ptr {array.role = "frame"}) -> i32
// CHECK:         %[[COUNTER:.*]] = llvm.alloca %{{.*}} x i8
// CHECK:         %[[PLACE:.*]] = llvm.getelementptr inbounds %[[FRAME]][40]
// CHECK:         %[[BUDGET:.*]] = llvm.load %[[PLACE]] : !llvm.ptr -> i64
// CHECK:         llvm.store %[[BUDGET]], %[[COUNTER]]
// CHECK:         cf.br ^[[TRIP:.*]]
// CHECK:       ^[[TRIP]]:
// CHECK:         %[[HAD:.*]] = llvm.load %[[COUNTER]] : !llvm.ptr -> i64
// CHECK:         %[[HIDDEN:.*]] = llvm.inline_asm "", "=r,0" %[[HAD]] : (i64) -> i64
// CHECK:         %[[LEFT:.*]] = llvm.sub %[[HIDDEN]], %{{.*}} : i64
// CHECK:         llvm.store %[[LEFT]], %[[COUNTER]]
// CHECK:         %[[OVER:.*]] = arith.cmpi slt, %[[LEFT]]
// CHECK:         cf.cond_br %[[OVER]], ^[[LEAVE:.*]], ^[[GO:.*]]
// CHECK:       ^[[LEAVE]]:
// CHECK-NEXT:    %[[STATUS:.*]] = llvm.mlir.constant(5 : i32)
// CHECK-NEXT:    return %[[STATUS]]
// CHECK:       ^[[GO]]:
func.func @main(%go: memref<i1>) {
  cf.br ^trip
^trip:
  array.spend 7
  %on = memref.load %go[] : memref<i1>
  cf.cond_br %on, ^trip, ^end
^end:
  return
}
