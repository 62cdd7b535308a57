// array-vectorize-linalg on long sums, and on reductions that exceed the second cache. Invariants: a long
// sum of floats is one of blocks of blocks, each from the negative zero, to which the first addition folds
// away; blocks depend on sizes alone. A prefetched line may be beyond the buffer, so its address implies no
// bounds.
// RUN: array-opt %s --array-vectorize-linalg=vector-bits=512 --split-input-file | FileCheck %s
// RUN: array-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(array-vectorize-linalg{vector-bits=512}),convert-to-llvm)' \
// RUN:   | FileCheck %s --check-prefix=LLVM
// RUN: array-opt %s '--array-vectorize-linalg=vector-bits=512 prefetch-distance=0' --split-input-file | FileCheck %s --check-prefix=ALONE
// ALONE-NOT: memref.prefetch

// A row in registers: blocks of 4 rows, 16, 64 and 256.
// CHECK-LABEL: func.func @registers(
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant dense<-0.0{{.*}}> : vector<64xf32>
// CHECK:         %[[TOTAL:.*]] = scf.for %[[I:.*]] = %c0 to %c2000 step %c256 iter_args(%[[T:.*]] = %{{.*}})
// CHECK:           %[[STOP:.*]] = arith.minui %{{.*}}, %c2000
// CHECK:           %[[SUM:.*]] = scf.for %[[J:.*]] = %[[I]] to %[[STOP]] step %c64 iter_args(%{{.*}} = %[[ZERO]])
// CHECK:             scf.for %[[K:.*]] = %[[J]] to %{{.*}} step %c16 iter_args(%{{.*}} = %[[ZERO]])
// CHECK:               scf.for %[[L:.*]] = %[[K]] to %{{.*}} step %c4 iter_args(%[[BEFORE:.*]] = %[[ZERO]])
// CHECK:                 %[[SHORTEST:.*]] = scf.for %{{.*}} = %[[L]] to %{{.*}} step %c1 iter_args(%{{.*}} = %[[ZERO]])
// CHECK:                 arith.addf %[[SHORTEST]], %[[BEFORE]] : vector<64xf32>
// CHECK:           %[[NEXT:.*]] = arith.addf %[[SUM]], %[[T]]
// CHECK:           scf.yield %[[NEXT]]
// CHECK:         vector.store %[[TOTAL]]
// CHECK-NOT:     memref.prefetch
func.func @registers(%x: memref<2000x64xf32>, %r: memref<64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>],
                  iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<2000x64xf32>) outs(%r : memref<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// A row of 128 fits in registers as well: one vector.
// CHECK-LABEL: func.func @wide(
// CHECK:         scf.for {{.*}} iter_args({{.*}}) -> (vector<128xf32>)
func.func @wide(%x: memref<100x128xf32>, %r: memref<128xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>],
                  iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<100x128xf32>) outs(%r : memref<128xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// A row in memory: blocks of 128 rows have a row on the stack, which is set to zero and then added to the results.
// Blocks of 8 rows in those of 32 have one as well, without sweeps: the first tile of four rows sets it, and the last
// one continues from it in the row of the longer block.
// CHECK-LABEL: func.func @memory(
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant dense<-0.0{{.*}}> : vector<64xf32>
// CHECK:         scf.for %[[I:.*]] = %c0 to %c800 step %c128 {
// CHECK:           vector.store %{{.*}}, %[[LONG:.*]][
// CHECK:           %[[STOP:.*]] = arith.minui %{{.*}}, %c800
// CHECK:           scf.for %{{.*}} = %[[I]] to %[[STOP]] step %c32
// CHECK:             scf.for %[[J:.*]] = %c0 to %c256 step %c64
// CHECK-COUNT-4:       arith.addf
// CHECK-NEXT:          vector.store %{{.*}}, %[[SHORT:.*]][%[[J]]]
// CHECK:             scf.for %[[J:.*]] = %c0 to %c256 step %c64
// CHECK:               vector.load %[[SHORT]][%[[J]]]
// CHECK-COUNT-4:       %[[EIGHT:.*]] = arith.addf
// CHECK-NEXT:          vector.store %[[EIGHT]], %[[MIDDLE:.*]][%[[J]]]
// CHECK:             vector.load %[[MIDDLE]]
// CHECK:             vector.load %[[LONG]]
// CHECK:           %[[SUM:.*]] = vector.load %[[LONG]]
// CHECK:           %[[TOTAL:.*]] = vector.load %arg1
// CHECK:           %[[NEXT:.*]] = arith.addf %[[SUM]], %[[TOTAL]]
// CHECK:           vector.store %[[NEXT]], %arg1
func.func @memory(%x: memref<800x300xf32>, %r: memref<300xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>],
                  iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<800x300xf32>) outs(%r : memref<300xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %o : f32
    linalg.yield %0 : f32
  }
  return
}

// -----

// Reductions beside a sum are divided like the sum; a maximum alone is not divided.
// CHECK-LABEL: func.func @both(
// CHECK:         scf.for {{.*}} step %c512 iter_args(%[[T:.*]] = %{{.*}}, %[[M:.*]] = %{{.*}})
// CHECK:           %[[R:.*]]:2 = scf.for {{.*}} step %c128
// CHECK:           arith.addf %[[R]]#0, %[[T]]
// CHECK:           arith.cmpf ogt, %[[R]]#1, %[[M]]
// CHECK-LABEL: func.func @maximum(
// CHECK:         scf.for {{.*}} = %c0 to %c2000 step %c1
// CHECK-NOT:       scf.for
func.func @both(%x: memref<2000x64xf32>, %s: memref<64xf32>, %m: memref<64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (j)>],
                  iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<2000x64xf32>) outs(%s, %m : memref<64xf32>, memref<64xf32>) {
  ^bb0(%a: f32, %o: f32, %best: f32):
    %0 = arith.addf %a, %o : f32
    %1 = arith.maximumf %a, %best : f32
    linalg.yield %0, %1 : f32, f32
  }
  return
}
func.func @maximum(%x: memref<2000x64xf32>, %m: memref<64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>],
                  iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<2000x64xf32>) outs(%m : memref<64xf32>) {
  ^bb0(%a: f32, %best: f32):
    %1 = arith.maximumf %a, %best : f32
    linalg.yield %1 : f32
  }
  return
}

// -----

// Larger than the second cache of any machine: each cache line is prefetched.
// CHECK-LABEL: func.func @large(
// CHECK:         %[[X:.*]] = vector.load %{{.*}} : memref<268435456xf32>, vector<64xf32>
// CHECK-COUNT-4: memref.prefetch %{{.*}}, read, locality<3>, data : memref<268435456xf32>
// LLVM-LABEL:  func @large(
// LLVM:          llvm.load {{.*}} -> vector<64xf32>
// LLVM:          %[[AT:.*]] = llvm.getelementptr %{{.*}}[%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, f32
// LLVM-NEXT:     "llvm.intr.prefetch"(%[[AT]])
func.func @large(%x: memref<268435456xf32>, %r: memref<f32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%x : memref<268435456xf32>) outs(%r : memref<f32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.maximumf %a, %o : f32
    linalg.yield %0 : f32
  }
  return
}
