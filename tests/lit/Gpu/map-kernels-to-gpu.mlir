// RUN: array-opt %s --pass-pipeline='builtin.module(func.func(array-map-kernels-to-gpu),canonicalize)' --split-input-file | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// A block for each program. Its temporary is in shared memory; lanes of a warp join the sums of a row; a barrier comes
// between the operations, and one thread stores an element.
func.func @shared(%x: memref<64x32xf32>, %y: memref<64xf32>, %n: memref<i32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %programs = arith.constant 16 : index
  %f = arith.constant 0.0 : f32
  scf.for %i = %zero to %programs step %one {
    %four = arith.constant 4 : index
    %at = arith.muli %i, %four : index
    %block = memref.subview %x[%at, 0] [4, 32] [1, 1] : memref<64x32xf32> to memref<4x32xf32, strided<[32, 1], offset: ?>>
    %out = memref.subview %y[%at] [4] [1] : memref<64xf32> to memref<4xf32, strided<[1], offset: ?>>
    %t = memref.alloc() : memref<4x32xf32>
    linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%block : memref<4x32xf32, strided<[32, 1], offset: ?>>) outs(%t : memref<4x32xf32>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.mulf %a, %a : f32
      linalg.yield %s : f32
    }
    linalg.fill ins(%f : f32) outs(%out : memref<4xf32, strided<[1], offset: ?>>)
    linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
        ins(%t : memref<4x32xf32>) outs(%out : memref<4xf32, strided<[1], offset: ?>>) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    }
    %number = arith.index_cast %i : index to i32
    memref.store %number, %n[] : memref<i32>
  } {array.grid}
  return
}
// CHECK-LABEL: func.func @shared(
// CHECK-DAG:     %[[BLOCKS:.*]] = arith.constant 16 : index
// CHECK-DAG:     %[[THREADS:.*]] = arith.constant 128 : index
// CHECK-DAG:     %[[BYTES:.*]] = arith.constant 576 : i32
// CHECK:         gpu.launch blocks(%[[BLOCK:[^,]*]], {{.*}}) in (%{{.*}} = %[[BLOCKS]], {{.*}}) threads(%[[THREAD:[^,]*]], {{.*}}) in (%{{.*}} = %[[THREADS]], {{.*}}) dynamic_shared_memory_size %[[BYTES]]
// CHECK:           %[[SHARED:.*]] = memref.memory_space_cast
// CHECK:           %[[T:.*]] = memref.view %[[SHARED]]{{.*}} to memref<4x32xf32>
// CHECK:           scf.for %{{.*}} = %[[THREAD]] to %[[THREADS]] step %[[THREADS]]
// CHECK:             arith.mulf
// CHECK:           gpu.barrier
// CHECK:           scf.for
// CHECK:           gpu.barrier
// CHECK:           arith.addf
// CHECK:           gpu.shuffle
// CHECK:           gpu.barrier
// CHECK:           scf.if
// CHECK-NEXT:        memref.store
// CHECK-NOT:       gpu.barrier
// CHECK:         } {array.launch_name = "kernel"}

// -----

// A large temporary: each block has a part of one buffer, and runs several programs.
func.func @spilled(%x: memref<300000xf32>, %y: memref<300000xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %programs = arith.constant 3000 : index
  scf.for %i = %zero to %programs step %one {
    %t = memref.alloc() : memref<300000xf32>
    memref.copy %x, %t : memref<300000xf32> to memref<300000xf32>
    memref.copy %t, %y : memref<300000xf32> to memref<300000xf32>
  } {array.grid}
  return
}
// CHECK-LABEL: func.func @spilled(
// CHECK-DAG:     %[[BLOCKS:.*]] = arith.constant 223 : index
// CHECK-DAG:     %[[PROGRAMS:.*]] = arith.constant 3000 : index
// CHECK-DAG:     %[[PART:.*]] = arith.constant 1200000 : index
// CHECK:         %[[ALL:.*]] = memref.alloc() : memref<267600000xi8>
// CHECK:         gpu.launch blocks(%[[BLOCK:[^,]*]], {{.*}}) in (%{{.*}} = %[[BLOCKS]],
// CHECK:           %[[START:.*]] = arith.muli %[[BLOCK]], %[[PART]]
// CHECK:           memref.view %[[ALL]][%[[START]]]
// CHECK:           scf.for %{{.*}} = %[[BLOCK]] to %[[PROGRAMS]] step %[[BLOCKS]]

// -----

// A contraction with many results: a thread computes 4 x 4 of them.
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @tiles(%a: memref<128x64xf32>, %b: memref<64x64xf32>, %c: memref<128x64xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %programs = arith.constant 2 : index
  scf.for %i = %zero to %programs step %one {
    linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : memref<128x64xf32>, memref<64x64xf32>) outs(%c : memref<128x64xf32>) {
    ^bb0(%l: f32, %r: f32, %s: f32):
      %p = arith.mulf %l, %r : f32
      %t = arith.addf %p, %s : f32
      linalg.yield %t : f32
    }
  } {array.grid}
  return
}
// CHECK-LABEL: func.func @tiles(
// CHECK:         scf.for {{.*}} iter_args
// CHECK-COUNT-8:   memref.load
// CHECK-NOT:       memref.load
// CHECK:           scf.yield
// CHECK-COUNT-16:  memref.store

// -----

// Tensor cores: a warp has 16 rows, and up to 32 columns whose instructions share the left factor.
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @cores(%a: memref<128x64xbf16>, %b: memref<64x64xbf16>, %c: memref<128x64xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %programs = arith.constant 2 : index
  scf.for %i = %zero to %programs step %one {
    linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : memref<128x64xbf16>, memref<64x64xbf16>) outs(%c : memref<128x64xf32>) {
    ^bb0(%l: bf16, %r: bf16, %s: f32):
      %x = arith.extf %l : bf16 to f32
      %y = arith.extf %r : bf16 to f32
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
    }
  } {array.grid}
  return
}
// CHECK-LABEL: func.func @cores(
// CHECK:         scf.for {{.*}} step %{{.*}} {
// CHECK:           scf.for {{.*}} iter_args
// CHECK-COUNT-4:     nvgpu.mma.sync({{.*}}) {mmaShape = [16, 8, 16]}
// CHECK-NOT:         nvgpu.mma.sync
// CHECK:             scf.yield

// -----

// The runtime's library is the host's.
func.func @calls(%x: memref<4xi32>, %y: memref<4xi32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %programs = arith.constant 2 : index
  scf.for %i = %zero to %programs step %one {
    array.runtime_call "sort" params = [0, 1, 1] element_types = [i32, i32] ins(%x : memref<4xi32>) outs(%y : memref<4xi32>)
  } {array.grid}
  return
}
// CHECK-LABEL: func.func @calls(
// CHECK-NOT:     gpu.launch
// CHECK:         scf.for
// CHECK-NEXT:      array.runtime_call
// CHECK-NOT:     array.grid

// -----

// All threads read the bound of a loop. A barrier follows if the kernel writes it.
func.func @bounds(%n: memref<2xindex>, %y: memref<2xf32>, %f: f32) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %programs = arith.constant 2 : index
  scf.for %i = %zero to %programs step %one {
    %end = memref.load %n[%i] : memref<2xindex>
    scf.for %j = %zero to %end step %one {
      %old = memref.load %y[%i] : memref<2xf32>
      %new = arith.addf %old, %f : f32
      memref.store %new, %y[%i] : memref<2xf32>
    }
  } {array.grid}
  return
}
// CHECK-LABEL: func.func @bounds(
// CHECK:         gpu.launch
// CHECK:           memref.load
// CHECK-NEXT:      scf.for
// CHECK-NEXT:        memref.load
// CHECK-NEXT:        gpu.barrier
// CHECK:             scf.if
// CHECK-NEXT:          memref.store
// CHECK-NEXT:        }
// CHECK-NEXT:        gpu.barrier
