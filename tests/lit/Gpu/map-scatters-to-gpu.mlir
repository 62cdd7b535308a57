// RUN: array-opt %s --array-map-scatters-to-gpu --split-input-file | FileCheck %s

// A scatter of 100 rows of 4 into 7. Integers are added in any order: a thread for each of 400 elements.
#keys = affine_map<(r, w, p) -> (p)>
#updates = affine_map<(r, w, p) -> (p, w)>
#target = affine_map<(r, w, p) -> (r, w)>
// CHECK:       llvm.func @scatter_atomic_add_u32(!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64)
// CHECK-LABEL: func.func @exact(
// CHECK-SAME:    %[[KEYS:.*]]: memref<100xi64>, %[[UPDATES:.*]]: memref<100x4xi32>, %[[X:.*]]: memref<7x4xi32>
// CHECK-DAG:     %[[WIDTH:.*]] = arith.constant 4 : i64
// CHECK-DAG:     %[[COUNT:.*]] = arith.constant 400 : i64
// CHECK:         gpu.launch
// CHECK:           memref.extract_aligned_pointer_as_index %[[KEYS]]
// CHECK:           memref.extract_aligned_pointer_as_index %[[UPDATES]]
// CHECK:           memref.extract_aligned_pointer_as_index %[[X]]
// CHECK:           llvm.call @scatter_atomic_add_u32(%{{.*}}, %{{.*}}, %{{.*}}, %[[WIDTH]], %[[COUNT]])
// CHECK-NOT:     linalg.generic
func.func @exact(%keys: memref<100xi64>, %updates: memref<100x4xi32>, %x: memref<7x4xi32>) {
  linalg.generic {array.scatter = {kind = "add", element = ui32}, indexing_maps = [#keys, #updates, #target],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%keys, %updates : memref<100xi64>, memref<100x4xi32>) outs(%x : memref<7x4xi32>) {
  ^bb0(%key: i64, %update: i32, %old: i32):
    %row = linalg.index 0 : index
    %number = arith.index_cast %row : index to i64
    %here = arith.cmpi eq, %key, %number : i64
    %sum = arith.addi %old, %update : i32
    %new = arith.select %here, %sum, %old : i32
    linalg.yield %new : i32
  }
  return
}

// -----

#keys = affine_map<(r, w, p) -> (p)>
#updates = affine_map<(r, w, p) -> (p, w)>
#target = affine_map<(r, w, p) -> (r, w)>
// Floats are sorted by their rows, then summed up in pieces of 32: 4 of the updates, 1 of the 8 that these leave.
// CHECK-LABEL: func.func @sums(
// CHECK-SAME:    %[[KEYS:.*]]: memref<100xi64>, %[[UPDATES:.*]]: memref<100x4xf16>, %[[X:.*]]: memref<7x4xf16>
// CHECK:         llvm.call @sort_keys_i64(
// CHECK:         llvm.call @sort_chunks(
// CHECK:         %[[NEXT_KEYS:.*]] = memref.alloc() : memref<64xi8>
// CHECK:         %[[NEXT:.*]] = memref.alloc() : memref<128xi8>
// CHECK:         llvm.call @scatter_first_runs_add_f16(
// CHECK:         memref.extract_aligned_pointer_as_index %[[NEXT_KEYS]]
// CHECK:         memref.extract_aligned_pointer_as_index %[[NEXT]]
// CHECK:         llvm.call @scatter_next_runs_add_f16(
// CHECK-NOT:     gpu.launch
// CHECK:         return
func.func @sums(%keys: memref<100xi64>, %updates: memref<100x4xf16>, %x: memref<7x4xf16>) {
  linalg.generic {array.scatter = {kind = "add", element = f16}, indexing_maps = [#keys, #updates, #target],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%keys, %updates : memref<100xi64>, memref<100x4xf16>) outs(%x : memref<7x4xf16>) {
  ^bb0(%key: i64, %update: f16, %old: f16):
    %row = linalg.index 0 : index
    %number = arith.index_cast %row : index to i64
    %here = arith.cmpi eq, %key, %number : i64
    %sum = arith.addf %old, %update : f16
    %new = arith.select %here, %sum, %old : f16
    linalg.yield %new : f16
  }
  return
}

// Updates that follow each other need not be sorted.
// CHECK-LABEL: func.func @grouped(
// CHECK:         llvm.call @sort_keys_i64(
// CHECK-NOT:     sort_chunks
// CHECK:         llvm.call @scatter_first_runs_add_f16(
func.func @grouped(%keys: memref<100xi64>, %updates: memref<100x4xf16>, %x: memref<7x4xf16>) {
  linalg.generic {array.scatter = {kind = "add", element = f16, grouped}, indexing_maps = [#keys, #updates, #target],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%keys, %updates : memref<100xi64>, memref<100x4xf16>) outs(%x : memref<7x4xf16>) {
  ^bb0(%key: i64, %update: f16, %old: f16):
    %row = linalg.index 0 : index
    %number = arith.index_cast %row : index to i64
    %here = arith.cmpi eq, %key, %number : i64
    %sum = arith.addf %old, %update : f16
    %new = arith.select %here, %sum, %old : f16
    linalg.yield %new : f16
  }
  return
}

// -----

#keys = affine_map<(r, p) -> (p)>
#updates = affine_map<(r, p) -> (p)>
#target = affine_map<(r, p) -> (r)>
// The last one stays: an i32 for each row holds its number. If the target is a part of another buffer, the scatter uses
// a separate buffer.
// CHECK-LABEL: func.func @last(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<700xi8, strided<[2]>>
// CHECK:         %[[WHOLE:.*]] = memref.alloc() : memref<700xi8>
// CHECK:         memref.copy %[[X]], %[[WHOLE]]
// CHECK:         memref.alloc() : memref<2800xi8>
// CHECK:         llvm.call @scatter_forget(
// CHECK:         llvm.call @scatter_claim(
// CHECK:         memref.extract_aligned_pointer_as_index %[[WHOLE]]
// CHECK:         llvm.call @scatter_store_1(
// CHECK:         memref.copy %[[WHOLE]], %[[X]]
func.func @last(%keys: memref<100xi64>, %updates: memref<100xi8>, %x: memref<700xi8, strided<[2]>>) {
  linalg.generic {array.scatter = {kind = "set", element = i1}, indexing_maps = [#keys, #updates, #target],
                  iterator_types = ["parallel", "reduction"]}
      ins(%keys, %updates : memref<100xi64>, memref<100xi8>) outs(%x : memref<700xi8, strided<[2]>>) {
  ^bb0(%key: i64, %update: i8, %old: i8):
    %row = linalg.index 0 : index
    %number = arith.index_cast %row : index to i64
    %here = arith.cmpi eq, %key, %number : i64
    %new = arith.select %here, %update, %old : i8
    linalg.yield %new : i8
  }
  return
}

// No two updates meet: they are stored.
// CHECK-LABEL: func.func @unique(
// CHECK:         llvm.call @scatter_unique_set_1(
// CHECK-NOT:     gpu.launch
// CHECK:         return
func.func @unique(%keys: memref<100xi64>, %updates: memref<100xi8>, %x: memref<700xi8>) {
  linalg.generic {array.scatter = {kind = "set", element = i1, unique}, indexing_maps = [#keys, #updates, #target],
                  iterator_types = ["parallel", "reduction"]}
      ins(%keys, %updates : memref<100xi64>, memref<100xi8>) outs(%x : memref<700xi8>) {
  ^bb0(%key: i64, %update: i8, %old: i8):
    %row = linalg.index 0 : index
    %number = arith.index_cast %row : index to i64
    %here = arith.cmpi eq, %key, %number : i64
    %new = arith.select %here, %update, %old : i8
    linalg.yield %new : i8
  }
  return
}

// -----

#keys = affine_map<(r, p) -> (p)>
#target = affine_map<(r, p) -> (r)>
// Many counts in few rows: blocks of 256 threads count in shared memory, 16 updates for each thread.
// CHECK-LABEL: func.func @counts(
// CHECK:         %[[BLOCKS:.*]] = arith.constant 25 : index
// CHECK:         gpu.launch blocks(%{{.*}}, %{{.*}}, %{{.*}}) in (%{{.*}} = %[[BLOCKS]],
// CHECK-SAME:      workgroup(%{{.*}} : memref<5xi64, #gpu.address_space<workgroup>>)
// CHECK:           llvm.call @scatter_count_i32(
func.func @counts(%keys: memref<100000xi64>, %updates: memref<100000xi32>, %x: memref<10xi32>) {
  linalg.generic {array.scatter = {kind = "add", element = i32}, indexing_maps = [#keys, #keys, #target],
                  iterator_types = ["parallel", "reduction"]}
      ins(%keys, %updates : memref<100000xi64>, memref<100000xi32>) outs(%x : memref<10xi32>) {
  ^bb0(%key: i64, %update: i32, %old: i32):
    %row = linalg.index 0 : index
    %number = arith.index_cast %row : index to i64
    %here = arith.cmpi eq, %key, %number : i64
    %sum = arith.addi %old, %update : i32
    %new = arith.select %here, %sum, %old : i32
    linalg.yield %new : i32
  }
  return
}

// A few updates are taken one after the other, by a thread for each column.
// CHECK-LABEL: func.func @few(
// CHECK:         llvm.call @scatter_in_order_mul_f64(
// CHECK-NOT:     gpu.launch
// CHECK:         return
func.func @few(%keys: memref<8xi64>, %updates: memref<8xf64>, %x: memref<10xf64>) {
  linalg.generic {array.scatter = {kind = "mul", element = f64}, indexing_maps = [#keys, #keys, #target],
                  iterator_types = ["parallel", "reduction"]}
      ins(%keys, %updates : memref<8xi64>, memref<8xf64>) outs(%x : memref<10xf64>) {
  ^bb0(%key: i64, %update: f64, %old: f64):
    %row = linalg.index 0 : index
    %number = arith.index_cast %row : index to i64
    %here = arith.cmpi eq, %key, %number : i64
    %product = arith.mulf %old, %update : f64
    %new = arith.select %here, %product, %old : f64
    linalg.yield %new : f64
  }
  return
}
