// Passes and pipelines by name, as text and with options; and their lists.
// RUN: array-opt %s --canonicalize | FileCheck %s
// RUN: array-opt --canonicalize < %s | FileCheck %s
// RUN: array-opt %s --pass-pipeline='builtin.module(func.func(canonicalize{max-iterations=2}),cse)' -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: array-opt %s --pass-pipeline='builtin.module(array-to-linalg,canonicalize)' | FileCheck %s --check-prefix=LINALG
// RUN: array-opt %s --array-to-llvm=vector-bits=256 | FileCheck %s --check-prefix=LLVM
// RUN: array-opt %s --array-to-gpu="chip=sm_90" | FileCheck %s --check-prefix=GPU

// CHECK:      func.func @main(%[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT:   %[[SUM:.*]] = array.add %[[X]], %[[X]]
// CHECK-NEXT:   return %[[SUM]]
// LINALG:     linalg.generic
// LLVM:       llvm.func @pcrt_main
// GPU:        gpu.binary
// GPU-SAME:   sm_90
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = array.add %x, %x : tensor<4xf32>
  %1 = array.neg %0 : tensor<4xf32>
  %2 = array.neg %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// RUN: array-opt %s --pass-pipeline='builtin.module(func.func(canonicalize),cse)' --dump-pass-pipeline -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=DUMP
// DUMP:      Pass Manager with 2 passes:
// DUMP-NEXT: builtin.module(
// DUMP-NEXT:   func.func(
// DUMP-NEXT:     canonicalize{
// DUMP-NEXT:   ),
// DUMP-NEXT:   cse

// RUN: array-opt --list-passes | FileCheck %s --check-prefix=PASSES
// PASSES:     Passes:
// PASSES-DAG: --array-compile-to
// PASSES-DAG: --array-fuse-elementwise
// PASSES-DAG: --canonicalize
// PASSES-DAG: --convert-array-to-linalg

// RUN: array-opt --show-dialects | FileCheck %s --check-prefix=DIALECTS
// DIALECTS: Available Dialects: {{.*}},array,{{.*}},linalg,

// RUN: array-opt --help | FileCheck %s --check-prefix=HELP
// HELP-DAG: array-opt: array programs
// HELP-DAG: --array-to-gpu
// HELP-DAG: --array-to-linalg
// HELP-DAG: --array-to-llvm
// HELP-DAG: --compile-to=<value>

// RUN: not array-opt %s --pass-pipeline='builtin.module(nope)' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: 'nope' does not refer to a registered pass or pass pipeline
// RUN: not array-opt %s --pass-pipeline='builtin.module(cse' 2>&1 | FileCheck %s --check-prefix=OPEN
// OPEN: error: expected pass pipeline to be wrapped with the anchor operation type
// RUN: not array-opt %s --array-to-llvm=vector-bits=many 2>&1 | FileCheck %s --check-prefix=VALUE
// VALUE: 'many' value invalid for uint argument
// RUN: not array-opt %s --pass-pipeline='builtin.module(array-to-llvm{lanes=8})' 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: no such option lanes
