// array-vectorize-linalg on argmax and argmin. Invariants: the first of equal elements wins, and a
// nan wins over numbers; every lane keeps its own best value and index, and the lanes are joined by
// the minimum index among those with the best value; or the value is found first, and then its
// index.
// RUN: array-opt %s --array-vectorize-linalg | FileCheck %s --implicit-check-not=linalg.

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>

// CHECK-LABEL: func @rows
// CHECK-DAG:     %[[LAST:.*]] = arith.constant dense<2147483647> : vector<64xi32>
// CHECK:         scf.for
// CHECK:           %[[V0:.*]] = vector.broadcast {{.*}} : f32 to vector<64xf32>
// CHECK:           %[[I0:.*]] = vector.broadcast {{.*}} : i32 to vector<64xi32>
// CHECK:           %[[R:.*]]:2 = scf.for {{.*}} iter_args(%{{.*}} = %[[V0]], %{{.*}} = %[[I0]]) -> (vector<64xf32>, vector<64xi32>)
// CHECK:           %[[NAN:.*]] = arith.cmpf uno, %[[R]]#0, %[[R]]#0
// CHECK:           %[[NUMBER:.*]] = vector.reduction <maximumf>, %[[R]]#0 fastmath<{{.*}}nnan
// CHECK:           %[[ANY:.*]] = vector.reduction <or>, %[[NAN]]
// CHECK:           %[[BEST:.*]] = arith.select %[[ANY]], %{{.*}}, %[[NUMBER]]
// CHECK:           %[[B:.*]] = vector.broadcast %[[BEST]]
// CHECK:           %[[EQ:.*]] = arith.cmpf oeq, %[[R]]#0, %[[B]]
// CHECK:           %[[HOLDS:.*]] = arith.ori %[[EQ]], %[[NAN]]
// CHECK:           %[[PLACES:.*]] = arith.select %[[HOLDS]], %[[R]]#1, %[[LAST]]
// CHECK:           %[[PLACE:.*]] = vector.reduction <minsi>, %[[PLACES]]
// CHECK:           memref.store %[[BEST]]
// CHECK:           memref.store %[[PLACE]]
func.func @rows(%a: memref<8x640xf32>, %value: memref<8xf32>, %index: memref<8xi32>) {
  linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<8x640xf32>) outs(%value, %index : memref<8xf32>, memref<8xi32>) {
  ^bb0(%x: f32, %best: f32, %at: i32):
    %j = linalg.index 1 : index
    %i = arith.index_cast %j : index to i32
    %ahead = arith.cmpf ugt, %x, %best : f32
    %numbers = arith.cmpf ord, %best, %best : f32
    %better = arith.andi %ahead, %numbers : i1
    %v = arith.select %better, %x, %best : f32
    %p = arith.select %better, %i, %at : i32
    linalg.yield %v, %p : f32, i32
  }
  return
}

// Across the vectors nothing has to be joined.
// CHECK-LABEL: func @columns
// CHECK:         scf.for {{.*}} -> (vector<64xi32>, vector<64xi32>)
// CHECK-NOT:     vector.reduction
// CHECK:         return
func.func @columns(%a: memref<8x64xi32>, %value: memref<64xi32>, %index: memref<64xi32>) {
  linalg.generic {indexing_maps = [#id, #col, #col], iterator_types = ["reduction", "parallel"]}
      ins(%a : memref<8x64xi32>) outs(%value, %index : memref<64xi32>, memref<64xi32>) {
  ^bb0(%x: i32, %best: i32, %at: i32):
    %j = linalg.index 0 : index
    %i = arith.index_cast %j : index to i32
    %better = arith.cmpi slt, %x, %best : i32
    %v = arith.select %better, %x, %best : i32
    %p = arith.select %better, %i, %at : i32
    linalg.yield %v, %p : i32, i32
  }
  return
}

// The last of equal elements wins here: that is no arg reduction, and stays in order.
// CHECK-LABEL: func @last
// CHECK:         scf.for {{.*}} -> (i32, i32)
func.func @last(%a: memref<64xi32>, %value: memref<i32>, %index: memref<i32>) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> ()>],
                  iterator_types = ["reduction"]}
      ins(%a : memref<64xi32>) outs(%value, %index : memref<i32>, memref<i32>) {
  ^bb0(%x: i32, %best: i32, %at: i32):
    %j = linalg.index 0 : index
    %i = arith.index_cast %j : index to i32
    %better = arith.cmpi sle, %x, %best : i32
    %v = arith.select %better, %x, %best : i32
    %p = arith.select %better, %i, %at : i32
    linalg.yield %v, %p : i32, i32
  }
  return
}

// From the neutral value on, a row is swept part by part: the lanes keep the extreme number, whether there are nans,
// and the part of their last improvement. The first part of all lanes with the row's number is then searched for it,
// without a branch; the last vector ends with the row. With nans the whole row is searched for the first one.
// CHECK-LABEL: func @search
// CHECK-DAG:     %[[LEAST:.*]] = arith.constant dense<0xFF800000> : vector<64xf32>
// CHECK-DAG:     %[[NONE:.*]] = arith.constant dense<65536> : vector<64xi32>
// CHECK-DAG:     %[[QUIET:.*]] = arith.constant 0x7FC00000 : f32
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[LANES:.*]] = arith.constant 64 : index
// CHECK-DAG:     %[[LAST:.*]] = arith.constant 236 : index
// CHECK-DAG:     %[[PART:.*]] = arith.constant 256 : index
// CHECK-DAG:     %[[SIZE:.*]] = arith.constant 300 : index
// CHECK:         scf.for
// CHECK:           %[[WHOLE:.*]]:2 = scf.for %{{.*}} = %[[ZERO]] to %[[PART]] step %[[LANES]] iter_args(%{{.*}} = %[[LEAST]], %{{.*}} = %{{.*}}) -> (vector<64xf32>, vector<32xf32>)
// CHECK-NOT:         linalg.index
// CHECK:           %[[AHEAD:.*]] = arith.cmpf ogt, %[[WHOLE]]#0, %[[LEAST]]
// CHECK:           %[[FIRST_PART:.*]] = arith.select %[[AHEAD]]
// The rest of the row is a part of its own.
// CHECK:           vector.maskedload
// CHECK:           %[[BETTER:.*]] = arith.cmpf ogt, %{{.*}}, %[[WHOLE]]#0
// CHECK:           %[[NUMBERS:.*]] = arith.select %[[BETTER]], %{{.*}}, %[[WHOLE]]#0
// CHECK:           %[[AHEAD_LATER:.*]] = arith.cmpf ogt, %[[NUMBERS]], %[[WHOLE]]#0
// CHECK:           %[[PARTS:.*]] = arith.select %[[AHEAD_LATER]], %{{.*}}, %[[FIRST_PART]]
// CHECK:           %[[NUMBER:.*]] = vector.reduction <maximumf>, %[[NUMBERS]] fastmath<{{.*}}nnan
// CHECK:           %[[ANY:.*]] = vector.reduction <or>
// CHECK:           %[[HOLDS:.*]] = arith.cmpf oeq, %[[NUMBERS]]
// CHECK:           %[[HELD:.*]] = arith.select %[[HOLDS]], %[[PARTS]], %[[NONE]]
// CHECK:           %[[BEGIN:.*]] = vector.reduction <minui>, %[[HELD]]
// CHECK:           %[[FROM:.*]] = arith.index_castui %[[BEGIN]]
// CHECK:           %[[EVERYWHERE:.*]] = vector.broadcast %[[NUMBER]]
// CHECK:           %[[TO:.*]] = arith.addi %[[FROM]], %[[PART]]
// CHECK:           %[[FOUND:.*]] = scf.for %[[I:.*]] = %[[FROM]] to %[[TO]] step %[[LANES]] iter_args(%[[FIRST:.*]] = %[[SIZE]]) -> (index)
// CHECK:             %[[AT:.*]] = arith.minui %[[I]], %[[LAST]]
// CHECK:             arith.cmpf oeq, %{{.*}}, %[[EVERYWHERE]]
// CHECK:             %[[NO_HIT:.*]] = arith.cmpi eq, %{{.*}}, %{{.*}} : i64
// CHECK:             math.cttz
// CHECK:             %[[HERE:.*]] = arith.addi %[[AT]]
// CHECK:             %[[LEAST_PLACE:.*]] = arith.minui %[[FIRST]], %[[HERE]]
// CHECK:             %[[NEXT:.*]] = arith.select %[[NO_HIT]], %[[FIRST]], %[[LEAST_PLACE]]
// CHECK:             scf.yield %[[NEXT]]
// CHECK:           %[[VALUE:.*]] = arith.select %[[ANY]], %[[QUIET]], %[[NUMBER]]
// CHECK:           %[[PLACE:.*]] = scf.if %[[ANY]]
// CHECK:             scf.for %{{.*}} = %[[ZERO]] to %[[SIZE]] step %[[LANES]]
// CHECK:               arith.cmpf uno
// CHECK:           } else {
// CHECK-NEXT:        scf.yield %[[FOUND]]
// CHECK:           memref.store %[[VALUE]]
// CHECK:           memref.store
func.func @search(%a: memref<8x300xf32>, %value: memref<8xf32>, %index: memref<8xi32>) {
  %least = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0 : i32
  linalg.fill ins(%least : f32) outs(%value : memref<8xf32>)
  linalg.fill ins(%zero : i32) outs(%index : memref<8xi32>)
  linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<8x300xf32>) outs(%value, %index : memref<8xf32>, memref<8xi32>) {
  ^bb0(%x: f32, %best: f32, %at: i32):
    %j = linalg.index 1 : index
    %i = arith.index_cast %j : index to i32
    %ahead = arith.cmpf ugt, %x, %best : f32
    %numbers = arith.cmpf ord, %best, %best : f32
    %better = arith.andi %ahead, %numbers : i1
    %v = arith.select %better, %x, %best : f32
    %p = arith.select %better, %i, %at : i32
    linalg.yield %v, %p : f32, i32
  }
  return
}
