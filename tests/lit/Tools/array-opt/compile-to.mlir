// --compile-to: @main at each stage of the compiler, for a CPU.
// RUN: array-opt %s --compile-to=array | FileCheck %s --check-prefix=ARRAY
// RUN: array-opt %s --compile-to=linalg | FileCheck %s --check-prefix=LINALG
// RUN: array-opt %s --compile-to=bufferized --mcpu=x86-64-v3 --mtriple=x86_64-linux-gnu | FileCheck %s --check-prefix=BUFFERIZED
// RUN: array-opt %s --compile-to=loops --mcpu=x86-64-v3 --mtriple=x86_64-linux-gnu | FileCheck %s --check-prefix=LOOPS
// RUN: array-opt %s --compile-to=llvm --mcpu=x86-64-v3 --mtriple=x86_64-linux-gnu | FileCheck %s --check-prefix=LLVM
// RUN: array-opt %s --compile-to=llvmir --mcpu=x86-64-v3 --mtriple=x86_64-linux-gnu | FileCheck %s --check-prefix=LLVMIR
// RUN: array-opt --compile-to=asm --mcpu=x86-64-v3 --mtriple=x86_64-linux-gnu < %s -o %t.s && FileCheck %s --check-prefix=ASM < %t.s
// RUN: array-opt %s --compile-to=asm --mtriple=aarch64-linux-gnu | FileCheck %s --check-prefix=AARCH64
// RUN: array-opt %s --compile-to=asm --mtriple=x86_64-linux-gnu --mcpu=skylake-avx512 --mattr=-avx512f | FileCheck %s --check-prefix=ASM
// ARRAY:      array.exp
// LINALG:     linalg.generic
// LINALG-NOT: array.
// BUFFERIZED: func.func @main(%{{.*}}: memref<64xf32
// LOOPS:      vector<{{.*}}xf32>
// LLVM:       llvm.func @pcrt_main
// LLVMIR:     define {{.*}}@pcrt_main(
// LLVMIR:     "target-cpu"="x86-64-v3"
// ASM-NOT:    %zmm
// ASM:        pcrt_main:
// ASM:        %ymm
// AARCH64:    pcrt_main:
// AARCH64:    fm{{[a-z]+}}{{.*}}.4s

// The object is for the runtime's loader: its code is relocatable, and its entry can be found.
// RUN: array-opt %s --compile-to=object --codegen-level=2 -o %t.o
// RUN: llvm-nm %t.o | FileCheck %s --check-prefix=OBJECT
// OBJECT: T pcrt_main

// Stages of MLIR are modules like others: to be written as bytecode, after passes of one's own.
// RUN: array-opt %s --compile-to=linalg --emit-bytecode | array-opt | FileCheck %s --check-prefix=LINALG
// RUN: array-opt %s --canonicalize --compile-to=array | FileCheck %s --check-prefix=CANONICAL
// CANONICAL-NOT: array.neg
// CANONICAL:     array.exp
// CANONICAL-NOT: array.neg

// The flags on passes hold for these too.
// RUN: array-opt %s --compile-to=loops --mlir-print-ir-after=array-fuse-elementwise -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=AFTER
// AFTER: IR Dump After {{.*}} (array-fuse-elementwise)
// RUN: array-opt %s --compile-to=asm --mlir-timing -o /dev/null 2>&1 | FileCheck %s --check-prefix=TIMING
// TIMING: CompileTo
func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = array.neg %x : tensor<64xf32>
  %1 = array.neg %0 : tensor<64xf32>
  %2 = array.exp %1 : tensor<64xf32>
  return %2 : tensor<64xf32>
}
