// RUN: array-opt %s --array-to-gpu | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: array-opt %s --array-to-gpu=chip=sm_90a | FileCheck %s --check-prefixes=CHECK,SM90
// RUN: not array-opt %s --array-to-gpu=chip=sm_20 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// UNKNOWN: Cannot find option named 'sm_20'

// CHECK:         module attributes {array.call_sites = {{\[}}["reduce", "{{.*}}array-to-gpu.mlir:{{[0-9]+}}"]], array.kernels = ["reduce"]
// The fill is the reduction's initial value: there is one launch, through the frame's table.
// CHECK-LABEL: llvm.func internal @main(
// CHECK:         %[[TABLE:.*]] = llvm.load %{{.*}} : !llvm.ptr -> !llvm.ptr
// CHECK:         llvm.getelementptr inbounds %[[TABLE]][16]
// CHECK:         llvm.call
// CHECK-NOT:     llvm.call
// CHECK-LABEL: llvm.func @pcrt_main(
// SM80:        gpu.binary @kernels [#gpu.object<#nvvm.target<O = 3, chip = "sm_80", features = "+ptx70">
// SM90:        gpu.binary @kernels [#gpu.object<#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">
// SM80-SAME:   .target sm_80
// SM90-SAME:   .target sm_90a
// CHECK-SAME:  .visible .entry reduce(
// CHECK-SAME:  .maxntid 256, 1, 1
// CHECK-SAME:  fma.rn.f32
module {
  func.func @main(%x: tensor<100x30xf32>) -> tensor<100xf32> {
    %e = array.exp %x : tensor<100x30xf32>
    %r = array.reduce_sum %e axes = [1] : (tensor<100x30xf32>) -> tensor<100xf32>
    return %r : tensor<100xf32>
  }
}
