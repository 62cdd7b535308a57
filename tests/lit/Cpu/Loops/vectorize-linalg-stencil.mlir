// array-vectorize-linalg on stencils. Invariants: two rows at once, whose common elements are loaded once; a row whose
// start is known only at run time has aligned stores from its first multiple of a register on, between two vectors that
// compute some elements again.
// RUN: array-opt %s --array-vectorize-linalg=vector-bits=256 --second-cache-bytes=524288 | FileCheck %s --implicit-check-not=linalg. --implicit-check-not=masked
// RUN: array-opt %s --array-schedule-loops=vector-bits=256 | FileCheck %s --check-prefix=SCHEDULE

#id = affine_map<(d0, d1) -> (d0, d1)>
!inside = memref<149x148xf64, strided<[150, 1], offset: 151>>

// 149 rows are 74 pairs and one more. The loads of a step: three rows and then, for the second row of the pair, the
// fourth one.
// CHECK-LABEL: func @rows
// CHECK-DAG:     %[[FOUR:.*]] = arith.constant 4 : index
// CHECK-DAG:     %[[LAST:.*]] = arith.constant 140 : index
// CHECK-DAG:     %[[END:.*]] = arith.constant 141 : index
// CHECK:         scf.for
// CHECK:           %[[PAST:.*]] = arith.remui %[[START:.*]], %[[FOUR]]
// CHECK-NEXT:      %[[FIRST:.*]] = arith.subi %[[FOUR]], %[[PAST]]
// CHECK-COUNT-4:   vector.load {{.*}} vector<4xf64>
// CHECK-COUNT-2:   vector.store {{.*}} vector<4xf64>
// CHECK-NEXT:      scf.for %{{.*}} = %[[FIRST]] to %[[END]]
// CHECK:             %[[UP:.*]] = vector.load
// CHECK-NEXT:        %[[HERE:.*]] = vector.load
// CHECK-NEXT:        %[[DOWN:.*]] = vector.load
// CHECK-NEXT:        %[[SUM:.*]] = arith.addf %[[UP]], %[[HERE]]
// CHECK-NEXT:        %[[ONE:.*]] = arith.addf %[[SUM]], %[[DOWN]]
// CHECK-NEXT:        %[[NEXT:.*]] = vector.load
// CHECK-NEXT:        %[[SUM:.*]] = arith.addf %[[HERE]], %[[DOWN]]
// CHECK-NEXT:        %[[TWO:.*]] = arith.addf %[[SUM]], %[[NEXT]]
// CHECK-NEXT:        vector.store %[[ONE]]
// CHECK-NEXT:        vector.store %[[TWO]]
// CHECK-NEXT:      }
// CHECK:           arith.addi %{{.*}}, %[[LAST]]
// CHECK-COUNT-4:   vector.load
// CHECK-COUNT-2:   vector.store
// CHECK:         } {array.parallel
// SCHEDULE-LABEL: func @rows
// SCHEDULE:      array.schedule = {jam = 0 : i64, jam_size = 2 : i64, lanes = 8 : i64, loops = ["d0: 149", "d1: 148"], vector = 1 : i64}
func.func @rows(%a: memref<151x150xf64>, %out: memref<151x150xf64>) {
  %up = memref.subview %a[0, 1] [149, 148] [1, 1] : memref<151x150xf64> to memref<149x148xf64, strided<[150, 1], offset: 1>>
  %here = memref.subview %a[1, 1] [149, 148] [1, 1] : memref<151x150xf64> to !inside
  %down = memref.subview %a[2, 1] [149, 148] [1, 1] : memref<151x150xf64> to memref<149x148xf64, strided<[150, 1], offset: 301>>
  %result = memref.subview %out[1, 1] [149, 148] [1, 1] : memref<151x150xf64> to !inside
  linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%up, %here, %down : memref<149x148xf64, strided<[150, 1], offset: 1>>, !inside,
          memref<149x148xf64, strided<[150, 1], offset: 301>>) outs(%result : !inside) {
  ^bb0(%x: f64, %y: f64, %z: f64, %o: f64):
    %s = arith.addf %x, %y : f64
    %t = arith.addf %s, %z : f64
    linalg.yield %t : f64
  }
  return
}

// Rows of different arrays, and a row that only one other row shares, are not worth it.
// SCHEDULE-LABEL: func @apart
// SCHEDULE-NOT:  jam
// SCHEDULE:      return
func.func @apart(%a: memref<151x150xf64>, %b: memref<151x150xf64>, %out: memref<151x150xf64>) {
  %up = memref.subview %a[0, 1] [149, 148] [1, 1] : memref<151x150xf64> to memref<149x148xf64, strided<[150, 1], offset: 1>>
  %here = memref.subview %a[1, 1] [149, 148] [1, 1] : memref<151x150xf64> to !inside
  %down = memref.subview %b[2, 1] [149, 148] [1, 1] : memref<151x150xf64> to memref<149x148xf64, strided<[150, 1], offset: 301>>
  %result = memref.subview %out[1, 1] [149, 148] [1, 1] : memref<151x150xf64> to !inside
  linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%up, %here, %down : memref<149x148xf64, strided<[150, 1], offset: 1>>, !inside,
          memref<149x148xf64, strided<[150, 1], offset: 301>>) outs(%result : !inside) {
  ^bb0(%x: f64, %y: f64, %z: f64, %o: f64):
    %s = arith.addf %x, %y : f64
    %t = arith.addf %s, %z : f64
    linalg.yield %t : f64
  }
  return
}
