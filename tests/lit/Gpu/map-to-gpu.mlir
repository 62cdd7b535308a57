// RUN: array-opt %s --pass-pipeline='builtin.module(func.func(array-map-to-gpu))' --split-input-file --verify-diagnostics | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#transposed = affine_map<(d0, d1) -> (d1, d0)>

// Dense results are one long row: a thread takes four neighbours, the last two are left to single threads. Operands
// along other dimensions are read element by element.
// CHECK-LABEL: func.func @elementwise(
// CHECK-SAME:    %[[X:.*]]: memref<10x99xf32>, %[[Y:.*]]: memref<99x10xf32>, %[[R:.*]]: memref<10x99xf32>
// CHECK:         gpu.launch
// CHECK:           %[[POINT:.*]] = arith.muli %[[GROUP:.*]], %c4
// CHECK-DAG:       %[[XS:.*]] = memref.reinterpret_cast %[[X]]
// CHECK-DAG:       %[[YS:.*]] = memref.reinterpret_cast %[[Y]]
// CHECK-DAG:       %[[RS:.*]] = memref.reinterpret_cast %[[R]]
// CHECK:           %[[INSIDE:.*]] = arith.cmpi slt, %[[GROUP]], %c247
// CHECK:           scf.if %[[INSIDE]] {
// CHECK:             vector.load %[[XS]][%[[POINT]]] {alignment = 16 : i64} : memref<990xf32>, vector<4xf32>
// CHECK-COUNT-4:     memref.load %[[YS]]
// CHECK:             vector.store %{{.*}}, %[[RS]][%[[POINT]]] {alignment = 16 : i64}
// CHECK:           arith.cmpi slt, %{{.*}}, %c2
// CHECK:           scf.if
// CHECK:             %[[A:.*]] = memref.load %[[XS]]
// CHECK:             %[[B:.*]] = memref.load %[[YS]]
// CHECK:             %[[S:.*]] = arith.addf %[[A]], %[[B]]
// CHECK:             memref.store %[[S]], %[[RS]]
// CHECK:         } {array.launch_name = "map"}
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

// Values of every step are stored by the thread of the result, which takes the steps one after the other.
// CHECK-LABEL: func.func @reduction(
// CHECK:         gpu.launch
// CHECK:           scf.if
// CHECK:             %[[OLD:.*]] = memref.load %[[R:.*]][%[[J:.*]]] : memref<64xf32>
// CHECK:             %[[SUM:.*]] = scf.for {{.*}} iter_args(%[[ACC:.*]] = %[[OLD]]) -> (f32) {
// CHECK:               %[[E:.*]] = math.exp
// CHECK:               %[[NEXT:.*]] = arith.addf %[[ACC]], %[[E]]
// CHECK:               memref.store %[[E]]
// CHECK:               scf.yield %[[NEXT]]
// CHECK:             memref.store %[[SUM]], %[[R]][%[[J]]]
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

// Rows of 64 are shared by 16 lanes of a warp: four neighbouring elements each, then shuffles; the first of them stores.
// The value of the fill before it is added at the end. Lanes beyond the last row repeat it, for the shuffles' sake.
// CHECK-LABEL: func.func @rows(
// CHECK-SAME:    %[[X:.*]]: memref<100x64xf32>, %[[R:.*]]: memref<100xf32>, %[[V:.*]]: f32
// CHECK:         gpu.launch blocks({{.*}}) in (%{{.*}} = %c7
// CHECK:           %[[LANE:.*]] = arith.remui %{{.*}}, %c16
// CHECK:           arith.minui %{{.*}}, %c99
// CHECK:           %[[INSIDE:.*]] = arith.cmpi slt, %{{.*}}, %c100
// CHECK:           scf.for %{{.*}} = %[[LANE]] to %c16 step %c16 iter_args({{.*}}) -> (f32, f32, f32, f32) {
// CHECK:             vector.load {{.*}} {alignment = 16 : i64} : memref<6400xf32>, vector<4xf32>
// CHECK-COUNT-4:     arith.addf
// CHECK-COUNT-3:   arith.addf
// CHECK-COUNT-4:   gpu.shuffle xor
// CHECK-NOT:       gpu.shuffle
// CHECK-NOT:       gpu.barrier
// CHECK:           %[[FIRST:.*]] = arith.cmpi slt, %[[LANE]], %c1
// CHECK:           arith.andi %[[INSIDE]], %[[FIRST]]
// CHECK:           scf.if
// CHECK:             %[[SUM:.*]] = arith.addf %[[V]]
// CHECK:             memref.store %[[SUM]], %[[R]]
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

// A block shares each long row, and its warps meet in shared memory. 64 bits are moved in halves. Four loads of a
// thread are in flight, each of 16 bytes.
// CHECK-LABEL: func.func @longRows(
// CHECK:         gpu.launch {{.*}} workgroup(%[[SHARED:.*]] : memref<8xf64, #gpu.address_space<workgroup>>)
// CHECK:           scf.for
// CHECK-COUNT-4:     vector.load {{.*}} vector<2xf64>
// CHECK-NOT:         vector.load
// CHECK:             scf.yield
// CHECK:           scf.for
// CHECK-COUNT-10:  gpu.shuffle
// CHECK:           scf.if
// CHECK:             memref.store %{{.*}}, %[[SHARED]]
// CHECK:           gpu.barrier
// CHECK:           memref.load %[[SHARED]]
// CHECK-COUNT-6:   gpu.shuffle
// CHECK-NOT:       gpu.shuffle
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

// Copies and fills are kernels too; the ops of a loop are launched in every iteration.
// CHECK-LABEL: func.func @copies(
// CHECK:         scf.for
// CHECK:           gpu.launch
// CHECK:             memref.store %{{.*}}, %{{.*}}[%{{.*}}] : memref<?xi32>
// CHECK:           } {array.launch_name = "copy"}
// CHECK:         gpu.launch
// CHECK:         } {array.launch_name = "fill"}
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

// Empty buffers have no kernel.
// CHECK-LABEL: func.func @nothing(
// CHECK-NOT:     gpu.launch
// CHECK:         return
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

// Operands of other widths are moved in smaller pieces, and so is a repeated row; all reads come before the
// writes.
// CHECK-LABEL: func.func @neighbours(
// CHECK:         gpu.launch
// CHECK:           vector.load %{{.*}} {alignment = 8 : i64} : memref<640xf16>, vector<4xf16>
// CHECK:           vector.load %{{.*}} {alignment = 16 : i64} : memref<64xf32>, vector<4xf32>
// CHECK:           vector.load %{{.*}} {alignment = 16 : i64} : memref<640xf32>, vector<4xf32>
// CHECK:           %[[ALL:.*]] = vector.from_elements
// CHECK:           vector.store %[[ALL]], %{{.*}} {alignment = 16 : i64} : memref<640xf32>, vector<4xf32>
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
// -----

#all = affine_map<(d0) -> (d0)>
#one = affine_map<(d0) -> ()>

// A reduction to one value is shared by several blocks: each leaves a part in a temporary, and a second kernel adds them
// to the value of the fill.
// CHECK-LABEL: func.func @everything(
// CHECK-SAME:    %{{.*}}: memref<100003xf32>, %[[R:.*]]: memref<f32>, %[[V:.*]]: f32
// CHECK:         %[[PARTS:.*]] = memref.alloc() : memref<24xf32>
// CHECK:         gpu.launch blocks({{.*}}) in (%{{.*}} = %c24
// CHECK:           memref.store %{{.*}}, %[[PARTS]]
// CHECK:         } {array.launch_name = "reduce"}
// CHECK:         gpu.launch blocks({{.*}}) in (%{{.*}} = %c1
// CHECK:           vector.load %[[PARTS]]
// CHECK:           arith.addf %[[V]]
// CHECK:         } {array.launch_name = "join"}
// CHECK-NOT:     linalg
func.func @everything(%x: memref<100003xf32>, %r: memref<f32>, %v: f32) {
  linalg.fill ins(%v : f32) outs(%r : memref<f32>)
  linalg.generic {indexing_maps = [#all, #one], iterator_types = ["reduction"]}
      ins(%x : memref<100003xf32>) outs(%r : memref<f32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    linalg.yield %s : f32
  }
  return
}

// -----
#id = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>

// The columns of a matrix: a thread has four of them. The rows of threads of a block share the steps, and so do blocks.
// CHECK-LABEL: func.func @columns(
// CHECK:         %[[PARTS:.*]] = memref.alloc() : memref<3072xf32>
// CHECK:         gpu.launch blocks({{.*}}) in (%{{.*}} = %c24{{.*}} workgroup(%[[SHARED:.*]] : memref<8x4x32xf32, #gpu.address_space<workgroup>>)
// CHECK:           scf.for
// CHECK-COUNT-4:     vector.load {{.*}} vector<4xf32>
// CHECK:           memref.store %{{.*}}, %[[SHARED]]
// CHECK:           gpu.barrier
// CHECK:           scf.if
// CHECK:             memref.load %[[SHARED]]
// CHECK:             memref.store %{{.*}}, %[[PARTS]]
// CHECK:         } {array.launch_name = "reduce"}
// CHECK:         } {array.launch_name = "join"}
func.func @columns(%x: memref<6144x128xf32>, %r: memref<128xf32>) {
  linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<6144x128xf32>) outs(%r : memref<128xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    linalg.yield %s : f32
  }
  return
}
