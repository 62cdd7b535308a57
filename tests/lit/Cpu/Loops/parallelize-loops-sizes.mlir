// array-parallelize-loops on symbolic sizes. A buffer is passed as its 1-D elements, and gets its shape from the sizes,
// which are passed too. The runtime counts the iterations, and leaves a short loop to one thread.
// RUN: array-opt %s --array-parallelize-loops --split-input-file | FileCheck %s

// CHECK-LABEL: func.func private @main_loop0(
// CHECK-SAME:    %{{[^:]*}}: !llvm.ptr {llvm.align = 4 : i64, llvm.noalias, llvm.readonly}, %{{[^:]*}}: !llvm.ptr {{[^%]*}}, %[[N:[^:]*]]: index, %{{[^:]*}}: index, %{{[^:]*}}: index)
// CHECK:         %[[ROW:.*]] = builtin.unrealized_conversion_cast {{.*}} to memref<?xf32>
// CHECK-NOT:     array.symbol
// CHECK:         memref.reinterpret_cast %[[ROW]] to offset: [0], sizes: [%[[N]], 8], strides: [8, 1] : memref<?xf32> to memref<?x8xf32>
// CHECK:         scf.for
// CHECK-LABEL: func.func @main(
// CHECK:         %[[TRIPS:.*]] = arith.divsi
// CHECK:         %[[COUNT:.*]] = arith.index_cast %[[TRIPS]]
// CHECK:         %[[GRAIN:.*]] = llvm.mlir.constant(20 : i64)
// CHECK:         llvm.call %{{.*}}(%{{.*}}, %{{.*}}, %{{.*}}, %[[COUNT]], %[[GRAIN]])
func.func @main(%x: memref<?x8xf32> {array.role = "argument", array.dims = affine_map<()[n] -> (n, 8)>},
                %r: memref<?x8xf32> {array.role = "result", array.dims = affine_map<()[n] -> (n, 8)>}) {
  %n = array.symbol 0 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.load %x[%i, %c0] : memref<?x8xf32>
    memref.store %v, %r[%i, %c0] : memref<?x8xf32>
  } {array.parallel = 20 : i64}
  return
}

// -----

// Iterations that are pieces are passed as they are.
// CHECK-LABEL: func.func @main(
// CHECK:         %[[GRAIN:.*]] = llvm.mlir.constant(1 : i64)
// CHECK:         llvm.call %{{.*}}(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[GRAIN]])
func.func @main(%r: memref<?xf32> {array.role = "result", array.dims = affine_map<()[n] -> (n)>}) {
  %n = array.symbol 0 : index
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %step = arith.divui %n, %c4 : index
  scf.for %i = %c0 to %n step %step {
    memref.store %zero, %r[%i] : memref<?xf32>
  } {array.parallel = 1 : i64}
  return
}

// -----

// A number of many operations is computed once, in @main, and passed. Short ones are computed again.
// CHECK-LABEL: func.func private @main_loop0(
// CHECK-SAME:    !llvm.ptr {{[^%]*}}, %[[N:[^:]*]]: index, %[[LONG:[^:]*]]: index, %{{[^:]*}}: index, %{{[^:]*}}: index)
// CHECK:         arith.addi %[[N]], %{{.*}} : index
// CHECK-NOT:     arith.divui
// CHECK:         memref.store {{.*}}
func.func @main(%r: memref<?xindex> {array.role = "result", array.dims = affine_map<()[n] -> (n)>}) {
  %n = array.symbol 0 : index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %short = arith.addi %n, %c3 : index
  %d0 = arith.divui %n, %c3 : index
  %d1 = arith.muli %d0, %n : index
  %d2 = arith.divui %d1, %c3 : index
  %d3 = arith.maxui %d2, %n : index
  %d4 = arith.divui %d3, %c3 : index
  %d5 = arith.muli %d4, %n : index
  %d6 = arith.divui %d5, %c3 : index
  %d7 = arith.maxui %d6, %n : index
  %d8 = arith.divui %d7, %c3 : index
  %d9 = arith.muli %d8, %n : index
  %d10 = arith.divui %d9, %c3 : index
  %d11 = arith.maxui %d10, %n : index
  %long = arith.addi %d11, %c1 : index
  scf.for %i = %c0 to %n step %c1 {
    %v = arith.addi %long, %short : index
    memref.store %v, %r[%i] : memref<?xindex>
  } {array.parallel = 20 : i64}
  return
}
