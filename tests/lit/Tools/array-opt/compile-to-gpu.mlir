// --compile-to: the stages for a GPU.
// RUN: array-opt %s --compile-to=kernels --gpu-chip=sm_90 | FileCheck %s --check-prefix=KERNELS
// RUN: array-opt %s --compile-to=nvvm --gpu-chip=sm_90 | FileCheck %s --check-prefix=NVVM
// RUN: array-opt %s --compile-to=ptx --gpu-chip=sm_90 | FileCheck %s --check-prefix=PTX
// RUN: array-opt %s --compile-to=ptx | FileCheck %s --check-prefix=DEFAULT
// KERNELS: gpu.launch_func
// KERNELS: gpu.module
// NVVM-NOT: func.func @main
// NVVM:    gpu.module {{.*}}#nvvm.target<{{.*}}chip = "sm_90"
// NVVM:    llvm.func {{.*}}nvvm.kernel
// PTX:     .target sm_90
// PTX:     .visible .entry
// DEFAULT: .target sm_80
// RUN: not array-opt %s --compile-to=ptx --gpu-chip=sm_20 2>&1 | FileCheck %s --check-prefix=OLD
// OLD: error: no code can be made for the GPU 'sm_20', only for sm_75 {{.*}}sm_90a
func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = array.exp %x : tensor<64xf32>
  return %0 : tensor<64xf32>
}
