// Actions: they are logged, for certain lines alone, timed, and skipped by number.
// RUN: array-opt %s --canonicalize --log-actions-to=- -o /dev/null 2>&1 | FileCheck %s --check-prefix=LOG
// LOG: begins (no breakpoint) Action `pass-execution` running `Canonicalizer` on Operation `builtin.module`
// LOG: completed `pass-execution`
// RUN: array-opt %s --canonicalize --log-actions-to=%t.log --log-mlir-actions-filter=elsewhere.mlir:1 -o /dev/null
// RUN: not grep Canonicalizer %t.log
// RUN: array-opt %s --canonicalize --profile-actions-to=%t.json -o /dev/null
// RUN: FileCheck %s --check-prefix=PROFILE < %t.json
// PROFILE: {"name": "pass-execution", "cat": "PERF", "ph": "B"
// RUN: array-opt %s --canonicalize --mlir-debug-counter=pass-execution-skip=1 --mlir-print-debug-counter 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SKIPPED
// SKIPPED: pass-execution : {1,1,-1}
// SKIPPED-COUNT-2: array.neg
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = array.neg %x : tensor<4xf32>
  %1 = array.neg %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
