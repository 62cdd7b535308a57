// RUN: array-opt %s --pass-pipeline='builtin.module(func.func(array-map-to-gpu))' --split-input-file --verify-diagnostics | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#transposed = affine_map<(d0, d1) -> (d1, d0)>

// One thread a point, the last dimension running fastest; those past the end do nothing.
// CHECK-LABEL: func.func @elementwise(
// CHECK-SAME:    %[[X:.*]]: memref<10x99xf32>, %[[Y:.*]]: memref<99x10xf32>, %[[R:.*]]: memref<10x99xf32>
// CHECK-DAG:     %[[GRID:.*]] = arith.constant 4 : index
// CHECK-DAG:     %[[BLOCK:.*]] = arith.constant 256 : index
// CHECK:         gpu.launch blocks(%[[B:.*]], %{{.*}}, %{{.*}}) in ({{.*}} = %[[GRID]], {{.*}}) threads(%[[T:.*]], %{{.*}}, %{{.*}}) in ({{.*}} = %[[BLOCK]]
// CHECK:           %[[FIRST:.*]] = arith.muli %[[B]],
// CHECK:           %[[THREAD:.*]] = arith.addi %[[FIRST]], %[[T]]
// CHECK:           %[[END:.*]] = arith.constant 990 : index
// CHECK:           %[[INSIDE:.*]] = arith.cmpi ult, %[[THREAD]], %[[END]]
// CHECK:           scf.if %[[INSIDE]] {
// CHECK:             %[[SHORT:.*]] = arith.index_cast %[[THREAD]] : index to i32
// CHECK:             %[[COL:.*]] = arith.remui %[[SHORT]], %{{.*}} : i32
// CHECK:             %[[ROW:.*]] = arith.divui %[[SHORT]], %{{.*}} : i32
// CHECK:             %[[J:.*]] = arith.index_castui %[[COL]]
// CHECK:             %[[I:.*]] = arith.index_castui %[[ROW]]
// CHECK:             %[[A:.*]] = memref.load %[[X]][%[[I]], %[[J]]]
// CHECK:             %[[C:.*]] = memref.load %[[Y]][%[[J]], %[[I]]]
// CHECK:             %[[S:.*]] = arith.addf %[[A]], %[[C]]
// CHECK:             memref.store %[[S]], %[[R]][%[[I]], %[[J]]]
// CHECK:         } {array.kernel = "map"}
func.func @elementwise(%x: memref<10x99xf32>, %y: memref<99x10xf32>, %r: memref<10x99xf32>) {
  linalg.generic {indexing_maps = [#id, #transposed, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : memref<10x99xf32>, memref<99x10xf32>) outs(%r : memref<10x99xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>

// A reduction is a loop of its thread, with the sum in a register; what is stored for every element is stored in it.
// CHECK-LABEL: func.func @reduction(
// CHECK-SAME:    %[[X:.*]]: memref<7x64xf32>, %[[Y:.*]]: memref<7x64xf32>, %[[R:.*]]: memref<64xf32>
// CHECK:         gpu.launch
// CHECK-NOT:       scf.if
// CHECK:           %[[OLD:.*]] = memref.load %[[R]][%[[J:.*]]]
// CHECK:           %[[SUM:.*]] = scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[ACC:.*]] = %[[OLD]]) -> (f32) {
// CHECK:             %[[A:.*]] = memref.load %[[X]][%[[I]], %[[J]]]
// CHECK:             %[[E:.*]] = math.exp %[[A]]
// CHECK:             %[[NEXT:.*]] = arith.addf %[[ACC]], %[[E]]
// CHECK:             memref.store %[[E]], %[[Y]][%[[I]], %[[J]]]
// CHECK:             scf.yield %[[NEXT]]
// CHECK:           memref.store %[[SUM]], %[[R]][%[[J]]]
// CHECK:         } {array.kernel = "reduce"}
func.func @reduction(%x: memref<7x64xf32>, %y: memref<7x64xf32>, %r: memref<64xf32>) {
  linalg.generic {indexing_maps = [#id, #id, #column], iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<7x64xf32>) outs(%y, %r : memref<7x64xf32>, memref<64xf32>) {
  ^bb0(%a: f32, %o: f32, %acc: f32):
    %e = math.exp %a : f32
    %s = arith.addf %acc, %e : f32
    linalg.yield %e, %s : f32, f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// A reduction along memory is shared by a warp: neighbours take neighbouring elements, their sums are joined by shuffles,
// and the first lane stores. The value of the fill before it is added at the end.
// CHECK-LABEL: func.func @rows(
// CHECK-SAME:    %[[X:.*]]: memref<100x64xf32>, %[[R:.*]]: memref<100xf32>, %[[V:.*]]: f32
// CHECK-DAG:     %[[BLOCKS:.*]] = arith.constant 13 : index
// CHECK:         gpu.launch blocks({{.*}}) in (%{{.*}} = %[[BLOCKS]]
// CHECK:           %[[WITHIN:.*]] = arith.divui
// CHECK:           %[[LANE:.*]] = arith.remui
// CHECK:           scf.if
// CHECK:             %[[PART:.*]] = scf.for %{{.*}} = %[[LANE]] to %{{.*}} step %{{.*}} iter_args(%{{.*}} = %{{.*}}) -> (f32) {
// CHECK:               arith.addf
// CHECK:             %[[OTHER:.*]], %{{.*}} = gpu.shuffle xor %[[PART]], %{{.*}}, %{{.*}} : f32
// CHECK:             arith.addf %[[PART]], %[[OTHER]]
// CHECK-COUNT-4:     gpu.shuffle
// CHECK-NOT:         gpu.barrier
// CHECK:             scf.if
// CHECK:               %[[SUM:.*]] = arith.addf %[[V]]
// CHECK:               memref.store %[[SUM]], %[[R]]
// CHECK-NOT:     gpu.launch
func.func @rows(%x: memref<100x64xf32>, %r: memref<100xf32>, %v: f32) {
  linalg.fill ins(%v : f32) outs(%r : memref<100xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<100x64xf32>) outs(%r : memref<100xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Long rows are shared by a block, whose warps meet in shared memory. 64 bits are moved in halves.
// CHECK-LABEL: func.func @longRows(
// CHECK:         gpu.launch {{.*}} workgroup(%[[SHARED:.*]] : memref<8xf64, #gpu.address_space<workgroup>>)
// CHECK-COUNT-10:  gpu.shuffle
// CHECK:           scf.if
// CHECK:             memref.store %{{.*}}, %[[SHARED]]
// CHECK:           gpu.barrier
// CHECK:           scf.if
// CHECK:             memref.load %[[SHARED]]
// CHECK-COUNT-10:  gpu.shuffle
// CHECK:           scf.if
// CHECK:             %[[OLD:.*]] = memref.load
// CHECK:             arith.maximumf %[[OLD]]
func.func @longRows(%x: memref<100x5000xf64>, %r: memref<100xf64>) {
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<100x5000xf64>) outs(%r : memref<100xf64>) {
  ^bb0(%a: f64, %acc: f64):
    %s = arith.maximumf %acc, %a : f64
    linalg.yield %s : f64
  }
  return
}

// -----

// Copies and fills are kernels too; what a loop does is launched in every iteration.
// CHECK-LABEL: func.func @copies(
// CHECK:         scf.for
// CHECK:           gpu.launch
// CHECK:             memref.store %{{.*}}, %{{.*}}[%{{.*}}] : memref<40xi32, strided<[2], offset: ?>>
// CHECK:           } {array.kernel = "copy"}
// CHECK:         gpu.launch
// CHECK:         } {array.kernel = "fill"}
func.func @copies(%x: memref<40xi32>, %r: memref<80xi32>, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %i = %zero to %n step %one {
    %part = memref.subview %r[%i] [40] [2] : memref<80xi32> to memref<40xi32, strided<[2], offset: ?>>
    memref.copy %x, %part : memref<40xi32> to memref<40xi32, strided<[2], offset: ?>>
  }
  %seven = arith.constant 7 : i32
  linalg.fill ins(%seven : i32) outs(%x : memref<40xi32>)
  return
}

// -----

// Of nothing there is no kernel.
// CHECK-LABEL: func.func @nothing(
// CHECK-NEXT:    return
func.func @nothing(%x: memref<0x3xf32>, %y: memref<0x3xf32>) {
  memref.copy %x, %y : memref<0x3xf32> to memref<0x3xf32>
  return
}

// -----

func.func @dynamic(%x: memref<?xf32>, %v: f32) {
  // expected-error @below {{a kernel is made of operations on buffers of static shapes}}
  linalg.fill ins(%v : f32) outs(%x : memref<?xf32>)
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>

// A thread takes as many neighbours as are 16 bytes of the widest operand. What does not lie side by side is read element
// by element, and all that is read comes before what is written.
// CHECK-LABEL: func.func @neighbours(
// CHECK-SAME:    %[[X:.*]]: memref<10x64xf32>, %[[H:.*]]: memref<10x64xf16>, %[[Y:.*]]: memref<64xf32>
// CHECK:         gpu.launch
// CHECK:           %[[FOUR:.*]] = arith.constant 4 : index
// CHECK:           arith.muli %{{.*}}, %[[FOUR]]
// CHECK:           vector.load %[[H]][{{.*}}] {alignment = 8 : i64} : memref<10x64xf16>, vector<4xf16>
// CHECK:           vector.load %[[X]][{{.*}}] {alignment = 16 : i64} : memref<10x64xf32>, vector<4xf32>
// CHECK-COUNT-4:   memref.load %[[Y]]
// CHECK:           %[[ALL:.*]] = vector.from_elements
// CHECK:           vector.store %[[ALL]], %[[X]][{{.*}}] {alignment = 16 : i64} : memref<10x64xf32>, vector<4xf32>
func.func @neighbours(%x: memref<10x64xf32>, %h: memref<10x64xf16>, %y: memref<64xf32>) {
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%h, %y : memref<10x64xf16>, memref<64xf32>) outs(%x : memref<10x64xf32>) {
  ^bb0(%a: f16, %b: f32, %o: f32):
    %w = arith.extf %a : f16 to f32
    %s = arith.addf %w, %b : f32
    %t = arith.addf %s, %o : f32
    linalg.yield %t : f32
  }
  return
}
