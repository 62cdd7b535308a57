// A file with a pipeline in it, written on demand, or if a pass fails; and run.
// RUN: array-opt %s --canonicalize --cse --mlir-generate-reproducer=%t.asked.mlir -o /dev/null
// RUN: FileCheck %s --check-prefix=ASKED < %t.asked.mlir
// RUN: array-opt %t.asked.mlir --run-reproducer | FileCheck %s --check-prefix=RAN
// ASKED: func.func @main
// ASKED: mlir_reproducer: {
// ASKED: pipeline: "builtin.module(canonicalize{{.*}},cse)"
// RAN:      func.func @main(%[[X:.*]]: tensor<?xf32> {
// RAN-NEXT: return %[[X]]

// The whole pipeline; then only the pass that failed, on the module as it was before it.
// RUN: not array-opt %s --cse --array-to-llvm --mlir-pass-pipeline-crash-reproducer=%t.failed.mlir 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SAID
// RUN: FileCheck %s --check-prefix=FAILED < %t.failed.mlir
// RUN: not array-opt %t.failed.mlir --run-reproducer 2>&1 | FileCheck %s --check-prefix=AGAIN
// RUN: not array-opt %s --cse --array-to-llvm --mlir-pass-pipeline-crash-reproducer=%t.local.mlir \
// RUN:   --mlir-pass-pipeline-local-reproducer --mlir-disable-threading 2>/dev/null
// RUN: FileCheck %s --check-prefix=LOCAL < %t.local.mlir
// SAID:   error: {{.*}}but its array.dims is
// SAID:   error: Failures have been detected while processing an MLIR pass pipeline
// SAID:   note: Pipeline failed while executing
// SAID:   reproducer generated at `{{.*}}failed.mlir`
// FAILED: pipeline: "builtin.module(cse,
// AGAIN:  error: {{.*}}but its array.dims is
// LOCAL:  pipeline: "builtin.module(
// LOCAL-NOT: cse,
func.func @main(%x: tensor<?xf32> {array.dims = affine_map<()[n] -> (n, n)>}) -> tensor<?xf32> {
  %0 = array.neg %x : tensor<?xf32>
  %1 = array.neg %0 : tensor<?xf32>
  return %1 : tensor<?xf32>
}
