// RUN: array-opt %s --array-emulate-gpu --split-input-file | FileCheck %s
// RUN: array-opt %s --array-emulate-gpu --convert-scf-to-cf --expand-strided-metadata --lower-affine --convert-to-llvm \
// RUN:   --reconcile-unrealized-casts --split-input-file | FileCheck %s --check-prefix=LLVM \
// RUN:   --implicit-check-not=unrealized_conversion_cast

// LLVM-LABEL: llvm.func @lanes(
// CHECK-LABEL: func.func @lanes(
// CHECK-SAME: %[[THREAD:.*]]: !llvm.ptr, %{{.*}}: !llvm.ptr)
gpu.module @kernels {
  gpu.func @lanes(%out: memref<8xindex>) kernel {
    // CHECK: builtin.unrealized_conversion_cast %{{.*}} to memref<8xindex>
    // CHECK: %[[X:.*]] = arith.index_castui
    // CHECK: llvm.getelementptr inbounds %[[THREAD]][4]
    // CHECK: %[[Y:.*]] = arith.index_castui
    // CHECK: llvm.getelementptr inbounds %[[THREAD]][8]
    // CHECK: %[[Z:.*]] = arith.index_castui
    // CHECK: llvm.getelementptr inbounds %[[THREAD]][24]
    // CHECK: %[[SIZEX:.*]] = arith.index_castui
    // CHECK: llvm.getelementptr inbounds %[[THREAD]][28]
    // CHECK: %[[SIZEY:.*]] = arith.index_castui
    // CHECK: %[[PLANE:.*]] = arith.muli %[[SIZEY]], %[[Z]]
    // CHECK: %[[ROW:.*]] = arith.addi %[[Y]], %[[PLANE]]
    // CHECK: %[[ROWS:.*]] = arith.muli %[[SIZEX]], %[[ROW]]
    // CHECK: %[[NUMBER:.*]] = arith.addi %[[X]], %[[ROWS]]
    // CHECK: arith.remui %[[NUMBER]], %c32
    %lane = gpu.lane_id
    // CHECK: arith.divui %{{.*}}, %c32
    %warp = gpu.subgroup_id : index
    // CHECK: arith.ceildivui
    %warps = gpu.num_subgroups : index
    // CHECK: %[[SIZE:.*]] = arith.constant 32 : index
    %size = gpu.subgroup_size : index
    %grid = gpu.grid_dim z
    // CHECK: memref.store %[[SIZE]]
    memref.store %size, %out[%lane] : memref<8xindex>
    memref.store %warp, %out[%warps] : memref<8xindex>
    memref.store %grid, %out[%warps] : memref<8xindex>
    gpu.return
  }
}

// -----

// LLVM-LABEL: llvm.func @exchange(
// CHECK-LABEL: func.func @exchange(
// CHECK-SAME: %[[THREAD:.*]]: !llvm.ptr, %{{.*}}: !llvm.ptr)
gpu.module @kernels {
  gpu.func @exchange(%f: f32, %d: f64, %h: f16, %in: memref<4xf16>, %out: memref<4xf64>) kernel {
    %two = arith.constant 2 : i32
    %width = arith.constant 32 : i32
    %zero = arith.constant 0 : index
    // CHECK: %[[VALID:.*]] = llvm.alloca %{{.*}} x i8
    // CHECK: %[[TWO:.*]] = arith.constant 2
    // CHECK: %[[WIDTH:.*]] = arith.constant 32

    // CHECK: %[[WORD:.*]] = arith.bitcast %{{.*}} : f32 to i32
    // CHECK: llvm.getelementptr inbounds %[[THREAD]][64]
    // CHECK: %[[FUNCTION:.*]] = llvm.load
    // CHECK: %[[DOWN:.*]] = llvm.mlir.constant(2 : i32)
    // CHECK: %[[GOT:.*]] = llvm.call %[[FUNCTION]](%[[THREAD]], %[[DOWN]], %[[WORD]], %[[TWO]], %[[WIDTH]], %[[VALID]])
    // CHECK: %[[BYTE:.*]] = llvm.load %[[VALID]] : !llvm.ptr -> i8
    // CHECK: arith.trunci %[[BYTE]] : i8 to i1
    // CHECK: arith.bitcast %[[GOT]] : i32 to f32
    %a, %valid = gpu.shuffle down %f, %two, %width : f32

    // Two halves.
    // CHECK: %[[HALVES:.*]] = llvm.bitcast %{{.*}} : f64 to vector<2xi32>
    // CHECK: vector.extract %[[HALVES]][0]
    // CHECK: vector.extract %[[HALVES]][1]
    // CHECK: %[[UP:.*]] = llvm.mlir.constant(1 : i32)
    // CHECK: %[[LOW:.*]] = llvm.call %{{.*}}(%[[THREAD]], %[[UP]],
    // CHECK: %[[HIGH:.*]] = llvm.call %{{.*}}(%[[THREAD]], %[[UP]],
    // CHECK: %[[BOTH:.*]] = vector.from_elements %[[LOW]], %[[HIGH]] : vector<2xi32>
    // CHECK: llvm.bitcast %[[BOTH]] : vector<2xi32> to f64
    %b, %validB = gpu.shuffle up %d, %two, %width : f64

    // CHECK: arith.bitcast %{{.*}} : f16 to i16
    // CHECK: arith.extui %{{.*}} : i16 to i32
    // CHECK: llvm.mlir.constant(0 : i32)
    // CHECK: %[[WIDE:.*]] = llvm.call
    // CHECK: %[[NARROW:.*]] = arith.trunci %[[WIDE]] : i32 to i16
    // CHECK: arith.bitcast %[[NARROW]] : i16 to f16
    %c, %validC = gpu.shuffle xor %h, %two, %width : f16

    // CHECK: vector.bitcast %{{.*}} : vector<4xf16> to vector<2xi32>
    // CHECK: llvm.mlir.constant(3 : i32)
    // CHECK-COUNT-2: llvm.call
    // CHECK: vector.bitcast %{{.*}} : vector<2xi32> to vector<4xf16>
    %v = vector.load %in[%zero] : memref<4xf16>, vector<4xf16>
    %e, %validE = gpu.shuffle idx %v, %two, %width : vector<4xf16>

    scf.if %valid {
      vector.store %e, %in[%zero] : memref<4xf16>, vector<4xf16>
      memref.store %c, %in[%zero] : memref<4xf16>
      %wide = arith.extf %a : f32 to f64
      %sum = arith.addf %wide, %b : f64
      memref.store %sum, %out[%zero] : memref<4xf64>
    }
    gpu.return
  }
}

// -----

// Reductions are made of shuffles: five, as a warp has 32 lanes; numbers of 64 bits take two each.
// LLVM-LABEL: llvm.func @sum(
// CHECK-LABEL: func.func @sum(
// CHECK-COUNT-15: llvm.call %{{.*}} : !llvm.ptr, (!llvm.ptr, i32, i32, i32, i32, !llvm.ptr) -> i32
// CHECK-NOT: llvm.call
gpu.module @kernels {
  gpu.func @sum(%out: memref<2xf64>, %x: f32, %y: f64) kernel {
    %i = gpu.thread_id x
    %a = gpu.subgroup_reduce add %x : (f32) -> f32
    %b = gpu.subgroup_reduce maximumf %y : (f64) -> f64
    %wide = arith.extf %a : f32 to f64
    %sum = arith.addf %wide, %b : f64
    memref.store %sum, %out[%i] : memref<2xf64>
    gpu.return
  }
}

// -----

// A reduction over the block exchanges through shared memory, which counts.
// LLVM-DAG: llvm.mlir.global external constant @block_shared(128 : i64)
// CHECK-DAG: llvm.mlir.global external constant @block_shared(128 : i64)
// CHECK-LABEL: func.func @block(
// CHECK: llvm.call %{{.*}} : !llvm.ptr, (!llvm.ptr, i32) -> ()
gpu.module @kernels {
  gpu.func @block(%out: memref<2xf32>, %x: f32) kernel {
    %i = gpu.thread_id x
    %a = gpu.all_reduce add %x uniform {} : (f32) -> f32
    memref.store %a, %out[%i] : memref<2xf32>
    gpu.return
  }
}

// -----

// One thread runs at a time. The results are the former values.
// LLVM-LABEL: llvm.func @atomics(
// CHECK-LABEL: func.func @atomics(
gpu.module @kernels {
  gpu.func @atomics(%x: memref<4xf32>, %seen: memref<4xf32>, %v: f32, %i: index) kernel {
    // CHECK: %[[V:.*]] = llvm.load %{{.*}} -> f32
    // CHECK: %[[OLD:.*]] = memref.load %[[X:.*]][%[[I:.*]]] :
    // CHECK: %[[NEW:.*]] = arith.addf %[[OLD]], %[[V]]
    // CHECK: memref.store %[[NEW]], %[[X]][%[[I]]]
    // CHECK: memref.store %[[OLD]], %[[SEEN:.*]][%[[I]]]
    %old = memref.atomic_rmw addf %v, %x[%i] : (f32, memref<4xf32>) -> f32
    memref.store %old, %seen[%i] : memref<4xf32>
    // CHECK: %[[OLD:.*]] = memref.load %[[X]]
    // CHECK: memref.store %[[V]], %[[X]]
    // CHECK: memref.store %[[OLD]], %[[SEEN]]
    %swapped = memref.atomic_rmw assign %v, %x[%i] : (f32, memref<4xf32>) -> f32
    memref.store %swapped, %seen[%i] : memref<4xf32>
    // CHECK: %[[OLD:.*]] = memref.load %[[X]]
    // CHECK: %[[NEW:.*]] = arith.mulf %[[OLD]], %[[V]]
    // CHECK: memref.store %[[NEW]], %[[X]]
    // CHECK: memref.store %[[OLD]], %[[SEEN]]
    %product = memref.generic_atomic_rmw %x[%i] : memref<4xf32> {
    ^bb0(%current: f32):
      %new = arith.mulf %current, %v : f32
      memref.atomic_yield %new : f32
    }
    memref.store %product, %seen[%i] : memref<4xf32>
    gpu.return
  }
}
