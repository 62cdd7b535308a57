// RUN: array-opt --array-to-llvm < %s | mlir-translate --mlir-to-llvmir | FileCheck %s

// A sort goes through the table of the frame: no symbol is declared for it, and its status is returned.
// CHECK-NOT:   declare {{.*}}sort
// CHECK:       define internal i32 @main(
// CHECK:         %[[STATUS:.*]] = call i32 %{{.*}}(ptr %{{.*}}, ptr %{{.*}}, i32 1, ptr %{{.*}}, i32 1, ptr %{{.*}})
// CHECK:         icmp ne i32 %[[STATUS]], 0
// CHECK:         ret i32
// CHECK:       define i32 @pcrt_main(
func.func @main(%x: tensor<16xui32>) -> tensor<16xui32> {
  %0 = array.sort %x dimension = 0 num_keys = 1 is_stable = true : (tensor<16xui32>) -> tensor<16xui32>
  return %0 : tensor<16xui32>
}
