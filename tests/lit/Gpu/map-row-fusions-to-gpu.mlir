// RUN: array-opt %s --pass-pipeline='builtin.module(func.func(array-map-row-fusions-to-gpu))' --split-input-file | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Sixteen lanes share a row of 64, in groups of 16 bytes. It is read once and written once, values of rows and of
// elements in between are the kernel's; the temporaries go away, with the views of them.
// CHECK-LABEL: func.func @softmax(
// CHECK-SAME:    %[[X:.*]]: memref<100x64xf32>, %[[R:.*]]: memref<100x64xf32>
// CHECK-NOT:     memref.alloc
// CHECK:         gpu.launch blocks({{.*}}) in (%{{.*}} = %c13{{.*}} threads({{.*}}) in (%{{.*}} = %c128
// CHECK:           arith.remui %{{.*}}, %c16
// CHECK:           arith.minui %{{.*}}, %c99
// CHECK:           %[[INSIDE:.*]] = arith.cmpi slt, %{{.*}}, %c100
// CHECK:           vector.load {{.*}} {alignment = 16 : i64} : memref<6400xf32>, vector<4xf32>
// CHECK-NOT:       memref.store
// CHECK-COUNT-4:   gpu.shuffle
// CHECK-COUNT-4:   math.exp
// CHECK-COUNT-4:   gpu.shuffle
// CHECK-NOT:       math.exp
// CHECK:           scf.if %[[INSIDE]] {
// CHECK-COUNT-4:     arith.divf
// CHECK:             vector.store {{.*}} {alignment = 16 : i64}
// CHECK-NOT:       vector.load
// CHECK-NOT:       memref.store
// CHECK:         } {array.launch_name = "rows"}
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @softmax(%x: memref<100x64xf32>, %r: memref<100x64xf32>, %least: f32, %zero: f32) {
  %m = memref.alloc() : memref<100x1xf32>
  %flat = memref.collapse_shape %m [[0, 1]] : memref<100x1xf32> into memref<100xf32>
  linalg.fill ins(%least : f32) outs(%flat : memref<100xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<100x64xf32>) outs(%flat : memref<100xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.maximumf %acc, %a : f32
    linalg.yield %s : f32
  }
  // The element-wise exponential is in the result's memory.
  linalg.generic {indexing_maps = [#id, affine_map<(d0, d1) -> (d0, 0)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %m : memref<100x64xf32>, memref<100x1xf32>) outs(%r : memref<100x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %e = math.exp %d : f32
    linalg.yield %e : f32
  }
  %t = memref.alloc() : memref<100xf32>
  linalg.fill ins(%zero : f32) outs(%t : memref<100xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%r : memref<100x64xf32>) outs(%t : memref<100xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%r, %t : memref<100x64xf32>, memref<100xf32>) outs(%r : memref<100x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %q = arith.divf %a, %b : f32
    linalg.yield %q : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>

// A block has each longer row: its warps meet in shared memory. The last of the groups of a thread may be beyond the
// end. The sum is read outside, and stored by one thread. The sums of columns, which do not fit, come after the kernel
// that computes their operands; an independent op is a member all the same.
// CHECK-LABEL: func.func @longRows(
// CHECK-SAME:    %[[X:.*]]: memref<300x5000xf32>, %[[R:.*]]: memref<300xf32>, %[[C:.*]]: memref<5000xf32>, %[[Q:.*]]: memref<300x5000xf32>
// CHECK:         gpu.launch {{.*}} in (%{{.*}} = %c300{{.*}} in (%{{.*}} = %c256{{.*}} workgroup(%{{.*}} : memref<8xf32
// CHECK-COUNT-5:   vector.load
// CHECK-NOT:       vector.load
// CHECK:           arith.select
// CHECK:           gpu.barrier
// CHECK:           scf.if
// CHECK-NEXT:        memref.store
// CHECK-COUNT-5:   vector.store
// CHECK:         } {array.launch_name = "rows"}
// CHECK:         linalg.generic {{.*}}["reduction", "parallel"]{{.*}} outs(%[[C]]
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @longRows(%x: memref<300x5000xf32>, %r: memref<300xf32>, %c: memref<5000xf32>, %q: memref<300x5000xf32>) {
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<300x5000xf32>) outs(%r : memref<300xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #column], iterator_types = ["reduction", "parallel"]}
      ins(%x, %r : memref<300x5000xf32>, memref<300xf32>) outs(%c : memref<5000xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %r : memref<300x5000xf32>, memref<300xf32>) outs(%q : memref<300x5000xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.divf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// A row that registers do not hold is loaded again to be stored.
// CHECK-LABEL: func.func @veryLongRows(
// CHECK:         gpu.launch {{.*}} in (%{{.*}} = %c512
// CHECK:           scf.for
// CHECK:             vector.load
// CHECK:           gpu.barrier
// CHECK:           scf.for
// CHECK:             vector.load
// CHECK:             vector.store
// CHECK-NOT:     linalg.generic
func.func @veryLongRows(%x: memref<300x100000xf32>, %r: memref<300x100000xf32>) {
  %t = memref.alloc() : memref<300xf32>
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<300x100000xf32>) outs(%t : memref<300xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %t : memref<300x100000xf32>, memref<300xf32>) outs(%r : memref<300x100000xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.divf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Values of rows that are overwritten are loaded by all threads of the row before one stores the new ones.
// CHECK-LABEL: func.func @inPlace(
// CHECK-SAME:    %[[X:.*]]: memref<8x32xf32>, %[[R:.*]]: memref<8xf32>
// CHECK:         gpu.launch
// CHECK:           %[[OLD:.*]] = memref.load %[[R]]
// CHECK:           gpu.barrier
// CHECK:           memref.store %{{.*}}, %[[R]]
// CHECK:           vector.store
// CHECK-NOT:     linalg.generic
func.func @inPlace(%x: memref<8x32xf32>, %r: memref<8xf32>) {
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<8x32xf32>) outs(%r : memref<8xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %r : memref<8x32xf32>, memref<8xf32>) outs(%x : memref<8x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.divf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Another row's sum is not there yet: no cluster.
// CHECK-LABEL: func.func @otherRows(
// CHECK-NOT:     gpu.launch
// CHECK-COUNT-2: linalg.generic
func.func @otherRows(%x: memref<8x32xf32>, %t: memref<9xf32>, %r: memref<8x32xf32>) {
  %own = memref.subview %t[0] [8] [1] : memref<9xf32> to memref<8xf32, strided<[1]>>
  %next = memref.subview %t[1] [8] [1] : memref<9xf32> to memref<8xf32, strided<[1], offset: 1>>
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<8x32xf32>) outs(%own : memref<8xf32, strided<[1]>>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %next : memref<8x32xf32>, memref<8xf32, strided<[1], offset: 1>>) outs(%r : memref<8x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.divf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Nor are other columns of a row: they belong to other threads. The reduction would read overwritten elements.
// CHECK-LABEL: func.func @otherColumns(
// CHECK-NOT:     gpu.launch
// CHECK-COUNT-2: linalg.generic
func.func @otherColumns(%x: memref<8x33xf32>, %t: memref<8xf32>) {
  %left = memref.subview %x[0, 0] [8, 32] [1, 1] : memref<8x33xf32> to memref<8x32xf32, strided<[33, 1]>>
  %right = memref.subview %x[0, 1] [8, 32] [1, 1] : memref<8x33xf32> to memref<8x32xf32, strided<[33, 1], offset: 1>>
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%left : memref<8x32xf32, strided<[33, 1]>>) outs(%t : memref<8xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%t : memref<8xf32>) outs(%right : memref<8x32xf32, strided<[33, 1], offset: 1>>) {
  ^bb0(%b: f32, %o: f32):
    linalg.yield %b : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// A body may load any element, but none of a member's output.
// CHECK-LABEL: func.func @gather(
// CHECK-NOT:     gpu.launch
// CHECK-COUNT-2: linalg.generic
func.func @gather(%x: memref<8x32xf32>, %t: memref<8xf32>, %r: memref<8x32xf32>) {
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<8x32xf32>) outs(%t : memref<8xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    linalg.yield %s : f32
  }
  %c3 = arith.constant 3 : index
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<8x32xf32>) outs(%r : memref<8x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = memref.load %t[%c3] : memref<8xf32>
    %s = arith.divf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Few long rows are left to several blocks each; an op between two others that may touch their memory keeps them
// apart.
// CHECK-LABEL: func.func @fewLongRows(
// CHECK-NOT:     gpu.launch
// CHECK-COUNT-4: linalg.generic
func.func @fewLongRows(%x: memref<2x8192xf32>, %t: memref<2xf32>, %y: memref<8x32xf32>, %u: memref<8xf32>,
                       %i: index, %v: f32) {
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<2x8192xf32>) outs(%t : memref<2xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%t : memref<2xf32>) outs(%x : memref<2x8192xf32>) {
  ^bb0(%b: f32, %o: f32):
    linalg.yield %b : f32
  }
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%y : memref<8x32xf32>) outs(%u : memref<8xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    linalg.yield %s : f32
  }
  memref.store %v, %u[%i] : memref<8xf32>
  linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%u : memref<8xf32>) outs(%y : memref<8x32xf32>) {
  ^bb0(%b: f32, %o: f32):
    linalg.yield %b : f32
  }
  return
}
