// array-vectorize-linalg on ops without reductions. Invariants: contiguous operands become one loop; whole vectors
// first, then one step for the rest: a vector that ends with the row and may compute elements of the last whole vector
// again; it is masked only if the op changes its own operand, or the row is shorter; values that are uniform along
// the vectors are loaded and computed outside of their loop; no linalg is left.
// RUN: array-opt %s --array-vectorize-linalg | FileCheck %s --implicit-check-not=linalg. --implicit-check-not=memref.copy
// RUN: array-opt %s --array-schedule-loops --array-vectorize-linalg | FileCheck %s --implicit-check-not=linalg. --implicit-check-not=memref.copy

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>

// 10x100 is one loop of 1000 = 31 * 32 + 8, and 8 is a vector of its own.
// CHECK-LABEL: func @coalesced
// CHECK-SAME:    (%[[A:.*]]: memref<10x100xf32>, %[[OUT:.*]]: memref<10x100xf32>)
// CHECK-DAG:     %[[TWO:.*]] = arith.constant dense<2.0{{.*}}> : vector<32xf32>
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C32:.*]] = arith.constant 32 : index
// CHECK-DAG:     %[[C992:.*]] = arith.constant 992 : index
// CHECK:         %[[FLAT:.*]] = memref.reinterpret_cast %[[A]] to offset: [0], sizes: [1000], strides: [1]
// CHECK:         scf.for %[[I:.*]] = %[[C0]] to %[[C992]] step %[[C32]] {
// CHECK-NEXT:      %[[X:.*]] = vector.load %[[FLAT]][%[[I]]] : memref<1000xf32>, vector<32xf32>
// CHECK-NEXT:      %[[Y:.*]] = arith.mulf %[[X]], %[[TWO]] fastmath<contract>
// CHECK-NEXT:      vector.store %[[Y]]
// CHECK-NEXT:    }
// CHECK-NEXT:    vector.load %[[FLAT]][%[[C992]]] : memref<1000xf32>, vector<8xf32>
// CHECK:         vector.store {{.*}} vector<8xf32>
func.func @coalesced(%a: memref<10x100xf32>, %out: memref<10x100xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<10x100xf32>) outs(%out : memref<10x100xf32>) {
  ^bb0(%x: f32, %o: f32):
    %two = arith.constant 2.0 : f32
    %y = arith.mulf %x, %two fastmath<contract> : f32
    linalg.yield %y : f32
  }
  return
}

// A value for each row, and operations on it alone, are loaded and computed once for a row.
// CHECK-LABEL: func @uniform
// CHECK-DAG:     %[[LAST:.*]] = arith.constant 987 : index
// CHECK:         scf.for %[[I:.*]] =
// CHECK:           %[[V:.*]] = memref.load %{{.*}}[%[[I]]] : memref<7xf32>
// CHECK:           %[[E:.*]] = math.exp %[[V]] : f32
// CHECK:           scf.for
// CHECK:             vector.load %{{.*}} vector<32xf32>
// CHECK:             vector.load %{{.*}} : memref<1003xf32>, vector<32xf32>
// CHECK:             vector.broadcast %[[E]] : f32 to vector<32xf32>
// CHECK:           vector.load %{{.*}}[%[[LAST]]] : memref<1003xf32>, vector<16xf32>
// CHECK:           vector.store {{.*}} vector<16xf32>
func.func @uniform(%a: memref<7x1003xf32>, %v: memref<7xf32>, %w: memref<1003xf32>, %out: memref<7x1003xf32>) {
  linalg.generic {indexing_maps = [#id, #row, #col, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %v, %w : memref<7x1003xf32>, memref<7xf32>, memref<1003xf32>) outs(%out : memref<7x1003xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32, %o: f32):
    %e = math.exp %y : f32
    %s = arith.addf %x, %z : f32
    %m = arith.mulf %s, %e : f32
    linalg.yield %m : f32
  }
  return
}

// Mixed widths share the number of lanes, that of the widest; a comparison is i1 in the vector and i8 in memory.
// CHECK-LABEL: func @compare
// CHECK:         vector.load {{.*}} vector<16xf64>
// CHECK:         arith.cmpf olt, {{.*}} vector<16xf64>
// CHECK:         arith.extui {{.*}} vector<16xi1> to vector<16xi8>
// CHECK:         vector.store {{.*}} vector<16xi8>
func.func @compare(%a: memref<64xf64>, %b: memref<64xf64>, %out: memref<64xi8>) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
                  iterator_types = ["parallel"]}
      ins(%a, %b : memref<64xf64>, memref<64xf64>) outs(%out : memref<64xi8>) {
  ^bb0(%x: f64, %y: f64, %o: i8):
    %c = arith.cmpf olt, %x, %y : f64
    %e = arith.extui %c : i1 to i8
    linalg.yield %e : i8
  }
  return
}

// Index vectors are made in the type that they are cast to.
// CHECK-LABEL: func @iota
// CHECK-DAG:     %[[STEP:.*]] = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7]> : vector<8xi32>
// CHECK:         scf.for %[[I:.*]] =
// CHECK:           %[[BASE:.*]] = arith.index_cast {{.*}} : index to i32
// CHECK-NEXT:      %[[B:.*]] = vector.broadcast %[[BASE]] : i32 to vector<8xi32>
// CHECK-NEXT:      arith.addi %[[B]], %[[STEP]]
func.func @iota(%out: memref<3x8xi32>) {
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%out : memref<3x8xi32>) {
  ^bb0(%o: i32):
    %j = linalg.index 1 : index
    %c = arith.index_cast %j : index to i32
    linalg.yield %c : i32
  }
  return
}

// A load in the body at [uniform, lane] is a load of neighbours, one that runs backwards is reversed.
// CHECK-LABEL: func @rows
// CHECK:         scf.for %[[I:.*]] =
// CHECK:           %[[N:.*]] = memref.load %{{.*}}[%[[I]]] : memref<5xi32>
// CHECK:           %[[ROW:.*]] = arith.index_cast %[[N]] : i32 to index
// CHECK:           vector.load {{.*}} vector<32xf32>
// CHECK-LABEL: func @reversed
// CHECK:         %[[X:.*]] = vector.load {{.*}} vector<16xf32>
// CHECK:         vector.shuffle %[[X]], %[[X]] [15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]
func.func @rows(%x: memref<100x64xf32>, %rows: memref<5xi32>, %out: memref<5x64xf32>) {
  linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%rows : memref<5xi32>) outs(%out : memref<5x64xf32>) {
  ^bb0(%row: i32, %o: f32):
    %i = arith.index_cast %row : i32 to index
    %j = linalg.index 1 : index
    %v = memref.load %x[%i, %j] : memref<100x64xf32>
    linalg.yield %v : f32
  }
  return
}
func.func @reversed(%x: memref<16xf32>, %out: memref<16xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%out : memref<16xf32>) {
  ^bb0(%o: f32):
    %c15 = arith.constant 15 : index
    %i = linalg.index 0 : index
    %j = arith.subi %c15, %i : index
    %v = memref.load %x[%j] : memref<16xf32>
    linalg.yield %v : f32
  }
  return
}

// Copies and fills are ops like any other; views keep their offset in the index, not in the type.
// CHECK-LABEL: func @slice
// CHECK-SAME:    (%[[A:.*]]: memref<20x40xf32>, %[[OUT:.*]]: memref<4x8xf32>)
// CHECK-DAG:     %[[C84:.*]] = arith.constant 84 : index
// CHECK-DAG:     %[[C40:.*]] = arith.constant 40 : index
// CHECK:         scf.for %[[I:.*]] =
// CHECK:           %[[ROW:.*]] = arith.muli %[[I]], %[[C40]]
// CHECK:           %[[AT:.*]] = arith.addi %[[C84]], %[[ROW]]
// CHECK:           vector.load %{{.*}}[%[[AT]]] : {{.*}}, vector<8xf32>
func.func @slice(%a: memref<20x40xf32>, %out: memref<4x8xf32>) {
  %view = memref.subview %a[2, 4] [4, 8] [1, 1] : memref<20x40xf32> to memref<4x8xf32, strided<[40, 1], offset: 84>>
  memref.copy %view, %out : memref<4x8xf32, strided<[40, 1], offset: 84>> to memref<4x8xf32>
  return
}
// CHECK-LABEL: func @fill_empty
// CHECK-NEXT:    arith.constant
// CHECK-NEXT:    return
func.func @fill_empty(%out: memref<0x8xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%out : memref<0x8xf32>)
  return
}

// Sizes that are known at run time: whole vectors to size - size mod 32, then a masked step if something is left.
// CHECK-LABEL: func @dynamic
// CHECK:         %[[N:.*]] = memref.dim
// CHECK:         %[[REST:.*]] = arith.remui %[[N]]
// CHECK:         %[[MAIN:.*]] = arith.subi %[[N]], %[[REST]]
// CHECK:         scf.for {{.*}} to %[[MAIN]]
// CHECK:         scf.if
// CHECK:           %[[COUNT:.*]] = arith.index_cast %[[REST]] : index to i32
// CHECK:           %[[BOUND:.*]] = vector.broadcast %[[COUNT]]
// CHECK:           %[[MASK:.*]] = arith.cmpi slt, %{{.*}}, %[[BOUND]] : vector<32xi32>
// CHECK:           vector.maskedload %{{.*}}[%[[MAIN]]], %[[MASK]]
func.func @dynamic(%a: memref<?xf32>, %out: memref<?xf32>) {
  linalg.copy ins(%a : memref<?xf32>) outs(%out : memref<?xf32>)
  return
}

// Lanes that are masked off must not divide by zero.
// CHECK-LABEL: func @divide
// CHECK:         %[[MASK:.*]] = arith.constant dense<[{{(true, ){5}(false, ){2}false}}]> : vector<8xi1>
// CHECK:         %[[D:.*]] = arith.select %[[MASK]], %{{.*}}, %{{.*}} : vector<8xi1>, vector<8xi32>
// CHECK:         arith.divsi %{{.*}}, %[[D]]
func.func @divide(%a: memref<5xi32>, %b: memref<5xi32>, %out: memref<5xi32>) {
  linalg.div ins(%a, %b : memref<5xi32>, memref<5xi32>) outs(%out : memref<5xi32>)
  return
}

// A result that starts within a cache line: one register, then aligned ones from the next line on, so that no store of
// a register crosses two, then the end of the row.
// CHECK-LABEL: func @within_line
// CHECK-DAG:     %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[C15:.*]] = arith.constant 15 : index
// CHECK-DAG:     %[[C991:.*]] = arith.constant 991 : index
// CHECK-DAG:     %[[C990:.*]] = arith.constant 990 : index
// CHECK:         vector.load %{{.*}}[%[[C0]]] : {{.*}} vector<16xf32>
// CHECK:         vector.store {{.*}} vector<16xf32>
// CHECK:         scf.for %[[I:.*]] = %[[C15]] to %[[C991]] step %{{.*}} {
// CHECK:           vector.store {{.*}} vector<32xf32>
// CHECK:         }
// CHECK:         vector.load %{{.*}}[%[[C990]]] : {{.*}} vector<32xf32>
// CHECK:         vector.store {{.*}} vector<32xf32>
func.func @within_line(%a: memref<1022xf32>, %out: memref<1024xf32>) {
  %inner = memref.subview %out[1] [1022] [1] : memref<1024xf32> to memref<1022xf32, strided<[1], offset: 1>>
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%a : memref<1022xf32>) outs(%inner : memref<1022xf32, strided<[1], offset: 1>>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %x, %x : f32
    linalg.yield %y : f32
  }
  return
}

// An op that changes its own operand computes each element once: masks at both ends.
// CHECK-LABEL: func @in_place
// CHECK:         vector.maskedstore {{.*}} vector<16xf32>
// CHECK:         scf.for
// CHECK:           vector.store {{.*}} vector<32xf32>
// CHECK:         }
// CHECK:         vector.maskedstore {{.*}} vector<16xf32>
func.func @in_place(%out: memref<1024xf32>) {
  %inner = memref.subview %out[1] [1022] [1] : memref<1024xf32> to memref<1022xf32, strided<[1], offset: 1>>
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%inner : memref<1022xf32, strided<[1], offset: 1>>) outs(%inner : memref<1022xf32, strided<[1], offset: 1>>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %x, %x : f32
    linalg.yield %y : f32
  }
  return
}
