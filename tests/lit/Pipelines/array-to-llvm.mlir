// RUN: array-opt --array-to-llvm < %s | FileCheck %s
// RUN: array-opt --array-to-llvm=vector-bits=256 < %s | FileCheck %s --check-prefix=AVX2
// RUN: array-opt --array-to-llvm=vector-bits=512 < %s | FileCheck %s --check-prefix=AVX512

// One function over pointers and the C entry; nothing is allocated, and there is no dialect but LLVM's.
// CHECK-LABEL: llvm.func internal @main(
// CHECK-SAME:    %{{[^:]*}}: !llvm.ptr {llvm.align = 4 : i64, llvm.noalias, llvm.readonly}
// CHECK-SAME:    %{{[^:]*}}: !llvm.ptr {llvm.align = 4 : i64, llvm.noalias, llvm.readonly}
// CHECK-SAME:    %{{[^:]*}}: !llvm.ptr {llvm.align = 64 : i64, llvm.noalias})
// CHECK-NOT:     {{(malloc|memrefCopy|unrealized_conversion_cast)}}
// CHECK:         llvm.func @pcrt_main(%{{.*}}: !llvm.ptr) -> i32
// CHECK:           llvm.call @main

// The multiplication, the addition and the sum are one loop: nothing is stored between them.
// AVX2-LABEL: llvm.func internal @main(
// AVX2-COUNT-2: llvm.load {{.*}} -> vector<32xf32>
// AVX2-NOT:     llvm.store {{.*}} : vector
// AVX2:         llvm.func @pcrt_main
// AVX512-LABEL: llvm.func internal @main(
// AVX512-COUNT-2: llvm.load {{.*}} -> vector<64xf32>
// AVX512-NOT:     llvm.store {{.*}} : vector
// AVX512:         llvm.func @pcrt_main
func.func @main(%x: tensor<256x256xf32>, %y: tensor<256x256xf32>) -> tensor<f32> {
  %0 = array.mul %x, %y : tensor<256x256xf32>
  %1 = array.constant dense<1.0> : tensor<256x256xf32>
  %2 = array.add %0, %1 : tensor<256x256xf32>
  %3 = array.reduce_sum %2 axes = [0, 1] : (tensor<256x256xf32>) -> tensor<f32>
  return %3 : tensor<f32>
}
