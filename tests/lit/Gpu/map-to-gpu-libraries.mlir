// RUN: array-opt %s --pass-pipeline='builtin.module(func.func(array-map-to-gpu-libraries{libraries=cublaslt,cufft,cusolver},canonicalize,cse))' --split-input-file | FileCheck %s
// RUN: array-opt %s --pass-pipeline='builtin.module(func.func(array-map-to-gpu-libraries,canonicalize,cse))' --split-input-file | FileCheck %s --check-prefix=NONE
// RUN: not array-opt %s --pass-pipeline='builtin.module(func.func(array-map-to-gpu-libraries{libraries=cublas}))' --split-input-file 2>&1 | FileCheck %s --check-prefix=WRONG

#left = affine_map<(m, n, k) -> (m, k)>
#right = affine_map<(m, n, k) -> (k, n)>
#result = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>

// WRONG: error: array-map-to-gpu-libraries: expected the option 'libraries' to name some of cublaslt, cufft, cusolver, got 'cublas'

// Sizes, then the steps of left, right and result. The library also rounds the sums.
// CHECK-LABEL: func.func @rounded(
// CHECK-SAME:    %[[X:.*]]: memref<512x256xbf16>, %[[Y:.*]]: memref<256x1024xbf16>, %[[R:.*]]: memref<512x1024xbf16>
// CHECK-NOT:     memref.alloc
// CHECK-NOT:     linalg.
// CHECK:         array.runtime_call "product" params = [1, 512, 1024, 256, 0, 256, 1, 0, 1024, 1, 524288, 1024, 0]
// CHECK-SAME:      element_types = [bf16, bf16, bf16]
// CHECK-SAME:      ins(%[[X]], %[[Y]] : memref<512x256xbf16>, memref<256x1024xbf16>) outs(%[[R]] : memref<512x1024xbf16>)
// CHECK-SAME:      {array.library = "cublaslt"}
// CHECK-NOT:     linalg.
// NONE-LABEL: func.func @rounded(
// NONE-NOT:     array.runtime_call
func.func @rounded(%x: memref<512x256xbf16>, %y: memref<256x1024xbf16>, %r: memref<512x1024xbf16>) {
  %zero = arith.constant 0.0 : f32
  %sums = memref.alloc() : memref<512x1024xf32>
  linalg.fill ins(%zero : f32) outs(%sums : memref<512x1024xf32>)
  linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : memref<512x256xbf16>, memref<256x1024xbf16>) outs(%sums : memref<512x1024xf32>) {
  ^bb0(%a: bf16, %b: bf16, %c: f32):
    %wa = arith.extf %a : bf16 to f32
    %wb = arith.extf %b : bf16 to f32
    %p = arith.mulf %wa, %wb : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%sums : memref<512x1024xf32>) outs(%r : memref<512x1024xbf16>) {
  ^bb0(%s: f32, %o: bf16):
    %n = arith.truncf %s : f32 to bf16
    linalg.yield %n : bf16
  }
  return
}

// -----

#left = affine_map<(b, m, n, k) -> (b, k, m)>
#right = affine_map<(b, m, n, k) -> (n, k)>
#result = affine_map<(b, m, n, k) -> (b, m, n)>

// A transposed left factor that is a part of a buffer, a transposed right one that all of the batch share. Nothing is
// copied: a view of the elements that are used goes to the call.
// CHECK-LABEL: func.func @layouts(
// CHECK-SAME:    %[[X:.*]]: memref<4x256x300xf32>, %[[Y:.*]]: memref<256x256xf32>, %[[R:.*]]: memref<4x256x256xf32>
// CHECK-NOT:     linalg.
// CHECK:         %[[VIEW:.*]] = memref.reinterpret_cast %{{.*}} to offset: [20], sizes: [307156], strides: [1]
// CHECK:         array.runtime_call "product" params = [4, 256, 256, 256, 76800, 1, 300, 0, 1, 256, 65536, 256, 0]
// CHECK-SAME:      ins(%[[VIEW]], %[[Y]] : memref<307156xf32, strided<[1], offset: 20>>, memref<256x256xf32>)
// NONE-LABEL: func.func @layouts(
// NONE-NOT:     array.runtime_call
func.func @layouts(%x: memref<4x256x300xf32>, %y: memref<256x256xf32>, %r: memref<4x256x256xf32>) {
  %part = memref.subview %x[0, 0, 20] [4, 256, 256] [1, 1, 1]
      : memref<4x256x300xf32> to memref<4x256x256xf32, strided<[76800, 300, 1], offset: 20>>
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%r : memref<4x256x256xf32>)
  linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%part, %y : memref<4x256x256xf32, strided<[76800, 300, 1], offset: 20>>, memref<256x256xf32>) outs(%r : memref<4x256x256xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#left = affine_map<(m, n, k) -> (m, k)>
#right = affine_map<(m, n, k) -> (k, n)>
#result = affine_map<(m, n, k) -> (m, n)>
#row = affine_map<(m, n) -> (n)>
#id = affine_map<(m, n) -> (m, n)>

// With few terms, the epilogue is better computed in registers; so is a small matmul, and one that is added to its
// result.
// CHECK-LABEL: func.func @left_to_kernels(
// CHECK-NOT:     array.runtime_call
// CHECK:         return
func.func @left_to_kernels(%x: memref<1024x256xf32>, %y: memref<256x1024xf32>, %bias: memref<1024xf32>, %r: memref<1024x1024xf32>,
                           %small: memref<64x64xf32>, %sum: memref<64x64xf32>, %total: memref<1024x1024xf32>) {
  %zero = arith.constant 0.0 : f32
  %sums = memref.alloc() : memref<1024x1024xf32>
  linalg.fill ins(%zero : f32) outs(%sums : memref<1024x1024xf32>)
  linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : memref<1024x256xf32>, memref<256x1024xf32>) outs(%sums : memref<1024x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%sums, %bias : memref<1024x1024xf32>, memref<1024xf32>) outs(%r : memref<1024x1024xf32>) {
  ^bb0(%s: f32, %b: f32, %o: f32):
    %t = arith.addf %s, %b : f32
    linalg.yield %t : f32
  }
  linalg.fill ins(%zero : f32) outs(%sum : memref<64x64xf32>)
  linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%small, %small : memref<64x64xf32>, memref<64x64xf32>) outs(%sum : memref<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#left, #right, #result], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : memref<1024x256xf32>, memref<256x1024xf32>) outs(%total : memref<1024x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// Routines stay calls, with the name of the library: a length with a large factor, a large matrix. Short ones, and many
// small matrices, have kernels.
// CHECK-LABEL: func.func @routines(
// CHECK:         array.runtime_call "fft" {{.*}}memref<5x1009xi64>{{.*}} {array.library = "cufft"}
// CHECK:         array.runtime_call "fft" {{.*}}outs(%{{.*}} : memref<64x256xi64>){{$}}
// CHECK:         array.runtime_call "cholesky" {{.*}}memref<2x128x128xf32>{{.*}} {array.library = "cusolver"}
// CHECK:         array.runtime_call "cholesky" {{.*}}outs(%{{.*}} : memref<100x128x128xf32>){{$}}
// NONE-LABEL: func.func @routines(
// NONE-NOT:     array.library
func.func @routines(%a: memref<5x1009xi64>, %b: memref<5x1009xi64>, %c: memref<64x256xi64>,
                    %d: memref<64x256xi64>, %e: memref<2x128x128xf32>, %f: memref<2x128x128xf32>,
                    %g: memref<100x128x128xf32>, %h: memref<100x128x128xf32>) {
  array.runtime_call "fft" params = [0, 1] element_types = [complex<f32>, complex<f32>]
    ins(%a : memref<5x1009xi64>) outs(%b : memref<5x1009xi64>)
  array.runtime_call "fft" params = [0, 1] element_types = [complex<f32>, complex<f32>]
    ins(%c : memref<64x256xi64>) outs(%d : memref<64x256xi64>)
  array.runtime_call "cholesky" params = [] element_types = [f32, f32]
    ins(%e : memref<2x128x128xf32>) outs(%f : memref<2x128x128xf32>)
  array.runtime_call "cholesky" params = [] element_types = [f32, f32]
    ins(%g : memref<100x128x128xf32>) outs(%h : memref<100x128x128xf32>)
  return
}
