// RUN: array-opt --array-to-llvm < %s | mlir-translate --mlir-to-llvmir | FileCheck %s
// RUN: array-opt --array-to-llvm < %s | mlir-translate --mlir-to-llvmir | llc -O1 -relocation-model=pic -filetype=obj | llvm-nm - | FileCheck %s --check-prefix=SYMBOLS

// The LLVM attributes of the pointers, and the C entry `int32_t pcrt_main(const PcrtFrame *)`.
// CHECK:       define internal void @main(ptr noalias readonly align 8 %{{.*}}, ptr noalias align 64 %{{.*}})
// CHECK:       define i32 @pcrt_main(ptr %[[FRAME:.*]])
// CHECK:         call void @main(
// CHECK-NEXT:    ret i32 0

// The entry is the one symbol that others see, and it needs none.
// SYMBOLS-NOT: {{^ *U }}
// SYMBOLS:     T pcrt_main
// SYMBOLS-NOT: {{^ *U }}
func.func @main(%x: tensor<100xf64>) -> tensor<100xf64> {
  %0 = array.mul %x, %x : tensor<100xf64>
  return %0 : tensor<100xf64>
}
