// RUN: array-opt %s --array-map-routines-to-gpu | FileCheck %s

// A special function is called for each element; f32 is computed in f64.
// CHECK:       llvm.func @special_zeta(f64, f64) -> f64
// CHECK-LABEL: func.func @special(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]
// CHECK:           arith.extf %{{.*}} : f32 to f64
// CHECK:           arith.extf %{{.*}} : f32 to f64
// CHECK:           %[[VALUE:.*]] = llvm.call @special_zeta(%{{.*}}, %{{.*}}) : (f64, f64) -> f64
// CHECK:           arith.truncf %[[VALUE]] : f64 to f32
// CHECK-NOT:     array.runtime_call
func.func @special(%s: memref<3x4xf32>, %q: memref<3x4xf32>, %out: memref<3x4xf32>) {
  array.runtime_call "special" params = [4] element_types = [f32, f32, f32]
    ins(%s, %q : memref<3x4xf32>, memref<3x4xf32>) outs(%out : memref<3x4xf32>)
  return
}

// Running sums of a long line: the totals of its chunks, the sums before each, the results. The totals are in memory
// that is allocated for it; a launch gets pointers and numbers, and shared memory last.
// CHECK-LABEL: func.func @running_sums(
// CHECK-SAME:    %[[X:.*]]: memref<3000xf32>, %[[OUT:.*]]: memref<3000xf32>
// CHECK:         %[[TOTALS:.*]] = memref.alloc() : memref<48xi8>
// CHECK:         gpu.launch {{.*}} workgroup(%[[SHARED:.*]] : memref<512xi64, #gpu.address_space<workgroup>>)
// CHECK:           memref.extract_aligned_pointer_as_index %[[X]]
// CHECK:           memref.extract_aligned_pointer_as_index %[[TOTALS]]
// CHECK:           memref.memory_space_cast %[[SHARED]]
// CHECK:           llvm.call @cumulative_totals_sum_f32(
// CHECK:         gpu.launch
// CHECK:           llvm.call @cumulative_prefixes_sum_f32(
// CHECK:         gpu.launch
// CHECK:           llvm.call @cumulative_results_sum_f32(
// CHECK-NOT:     array.runtime_call
func.func @running_sums(%x: memref<3000xf32>, %out: memref<3000xf32>) {
  array.runtime_call "cumulative" params = [0, 0, 0] element_types = [f32, f32]
    ins(%x : memref<3000xf32>) outs(%out : memref<3000xf32>)
  return
}

// A result in the place of its operand is written when all has been read.
// CHECK-LABEL: func.func @sort_in_place(
// CHECK:         llvm.call @sort_keys_i32(
// CHECK:         llvm.call @sort_chunks(
// CHECK-NOT:     llvm.call @sort_merge(
// CHECK:         llvm.call @sort_permute_4(
// CHECK:         llvm.call @sort_copy_4(
func.func @sort_in_place(%x: memref<2x100xi32>) {
  array.runtime_call "sort" params = [1, 1, 1] element_types = [i32, i32]
    ins(%x : memref<2x100xi32>) outs(%x : memref<2x100xi32>)
  return
}

// A block for each of two matrices.
// CHECK-LABEL: func.func @cholesky(
// CHECK:         %[[BLOCKS:.*]] = arith.constant 2 : index
// CHECK:         gpu.launch blocks(%{{.*}}, %{{.*}}, %{{.*}}) in (%{{.*}} = %[[BLOCKS]],
// CHECK:           llvm.call @cholesky_c64(
func.func @cholesky(%a: memref<2x9x9xcomplex<f32>>, %out: memref<2x9x9xcomplex<f32>>) {
  array.runtime_call "cholesky" params = [] element_types = [complex<f32>, complex<f32>]
    ins(%a : memref<2x9x9xcomplex<f32>>) outs(%out : memref<2x9x9xcomplex<f32>>)
  return
}

// A block for each of two matrices, of 64 threads: two pairs of columns, each shared by 32. Without vectors they are
// made in the memory to work in, and not kept.
// CHECK-LABEL: func.func @svd(
// CHECK-SAME:    %[[A:.*]]: memref<2x50x4xf64>, %[[S:.*]]: memref<2x4xf64>
// CHECK:         %[[WORK:.*]] = memref.alloc() : memref<3200xi8>
// CHECK:         %[[VECTORS:.*]] = memref.alloc() : memref<256xi8>
// CHECK-DAG:     %[[BLOCKS:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[THREADS:.*]] = arith.constant 64 : index
// CHECK:         gpu.launch blocks(%{{.*}}, %{{.*}}, %{{.*}}) in (%{{.*}} = %[[BLOCKS]],{{.*}} threads(%{{.*}}, %{{.*}}, %{{.*}}) in (%{{.*}} = %[[THREADS]],
// CHECK:           memref.extract_aligned_pointer_as_index %[[A]]
// CHECK:           memref.extract_aligned_pointer_as_index %[[S]]
// CHECK:           memref.extract_aligned_pointer_as_index %[[WORK]]
// CHECK:           memref.extract_aligned_pointer_as_index %[[VECTORS]]
// CHECK:           llvm.call @svd_f64(
func.func @svd(%a: memref<2x50x4xf64>, %s: memref<2x4xf64>) {
  array.runtime_call "svd" params = [0, 0, 0] element_types = [f64, f64]
    ins(%a : memref<2x50x4xf64>) outs(%s : memref<2x4xf64>)
  return
}

// The derivative of the exponential is in an exponential of twice the size: eight matrices of 6 x 6 to work in.
// CHECK-LABEL: func.func @expm_frechet(
// CHECK:         memref.alloc() : memref<1152xi8>
// CHECK:         llvm.call @expm_frechet_f32(
func.func @expm_frechet(%a: memref<3x3xf32>, %e: memref<3x3xf32>, %out: memref<3x3xf32>) {
  array.runtime_call "expm_frechet" params = [16] element_types = [f32, f32, f32]
    ins(%a, %e : memref<3x3xf32>, memref<3x3xf32>) outs(%out : memref<3x3xf32>)
  return
}

// Routines without a kernel stay.
// CHECK-LABEL: func.func @host(
// CHECK:         array.runtime_call "host_call"
func.func @host(%out: memref<4xf32>) {
  array.runtime_call "host_call" params = [0] element_types = [f32] outs(%out : memref<4xf32>)
  return
}

// By a library: the call has the element types of the bits in its buffers, and no host waits for its status. Elements
// outside of the result become zero, failed ones nan.
// CHECK-LABEL: func.func @library_cholesky(
// CHECK:         %[[WORK:.*]] = memref.alloc() {{.*}} : memref<2x128x128xi64>
// CHECK:         %[[INFO:.*]] = memref.alloc() {{.*}} : memref<2xi32>
// CHECK:         array.runtime_call "cholesky" params = [] element_types = [complex<f32>, complex<f32>, i32] ins(%[[WORK]] : {{.*}}) outs(%[[WORK]], %[[INFO]] : {{.*}}) {array.library = "cusolver"}
// CHECK:         linalg.generic {{.*}} ins(%[[WORK]], %[[INFO]] :
// CHECK:           arith.constant 2143289344 : i64
func.func @library_cholesky(%x: memref<2x128x128xi64>, %out: memref<2x128x128xi64>) {
  array.runtime_call "cholesky" params = [] element_types = [complex<f32>, complex<f32>]
    ins(%x : memref<2x128x128xi64>) outs(%out : memref<2x128x128xi64>) {array.library = "cusolver"}
  return
}

// A library's inverse transform is sums: both halves of the bits are divided.
// CHECK-LABEL: func.func @library_ifft(
// CHECK-SAME:    %[[X:.*]]: memref<5x1009xi128>, %[[OUT:.*]]: memref<5x1009xi128>
// CHECK:         array.runtime_call "fft" params = [1, 5, 1009, 1] element_types = [complex<f64>, complex<f64>] ins(%[[X]] : {{.*}}) outs(%[[OUT]] : {{.*}}) {array.library = "cufft"}
// CHECK:         linalg.generic {{.*}} ins(%[[OUT]] : {{.*}}) outs(%[[OUT]] :
// CHECK-COUNT-2:   arith.mulf %{{.*}} : f64
func.func @library_ifft(%x: memref<5x1009xi128>, %out: memref<5x1009xi128>) {
  array.runtime_call "fft" params = [1, 1] element_types = [complex<f64>, complex<f64>]
    ins(%x : memref<5x1009xi128>) outs(%out : memref<5x1009xi128>) {array.library = "cufft"}
  return
}

// A part of a buffer becomes a copy; a part that is written is copied back.
// CHECK-LABEL: func.func @parts(
// CHECK-SAME:    %[[X:.*]]: memref<20xf32>, %[[OUT:.*]]: memref<20xf32>
// CHECK:         %[[FROM:.*]] = memref.subview %[[X]][3]
// CHECK:         %[[TO:.*]] = memref.subview %[[OUT]][5]
// CHECK:         %[[SOURCE:.*]] = memref.alloc() : memref<10xf32>
// CHECK:         memref.copy %[[FROM]], %[[SOURCE]]
// CHECK:         %[[TARGET:.*]] = memref.alloc() : memref<10xf32>
// CHECK:         gpu.launch
// CHECK:           memref.extract_aligned_pointer_as_index %[[SOURCE]]
// CHECK:           memref.extract_aligned_pointer_as_index %[[TARGET]]
// CHECK:         memref.copy %[[TARGET]], %[[TO]]
func.func @parts(%x: memref<20xf32>, %out: memref<20xf32>) {
  %from = memref.subview %x[3] [10] [1] : memref<20xf32> to memref<10xf32, strided<[1], offset: 3>>
  %to = memref.subview %out[5] [10] [1] : memref<20xf32> to memref<10xf32, strided<[1], offset: 5>>
  array.runtime_call "cumulative" params = [0, 0, 0] element_types = [f32, f32]
    ins(%from : memref<10xf32, strided<[1], offset: 3>>) outs(%to : memref<10xf32, strided<[1], offset: 5>>)
  return
}
