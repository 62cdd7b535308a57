// IR between passes: after and before them, after changes, after a failure, into a tree of files; and its form.
// RUN: array-opt %s --canonicalize --cse --mlir-print-ir-after-all -o /dev/null 2>&1 | FileCheck %s --check-prefix=ALL
// ALL: IR Dump After Canonicalizer (canonicalize)
// ALL: IR Dump After CSE (cse)
// RUN: array-opt %s --canonicalize --cse --mlir-print-ir-after-all --mlir-print-ir-after-change -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=CHANGE
// CHANGE:     IR Dump After Canonicalizer (canonicalize)
// CHANGE-NOT: IR Dump After CSE
// RUN: array-opt %s --canonicalize --cse --mlir-print-ir-before=cse --mlir-print-ir-after=cse -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ONE
// ONE-NOT: Canonicalizer
// ONE:     IR Dump Before CSE (cse)
// ONE:     IR Dump After CSE (cse)
// RUN: not array-opt %s --canonicalize --array-to-llvm --mlir-print-ir-after-failure -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FAILURE
// FAILURE-NOT: IR Dump After Canonicalizer
// FAILURE:     IR Dump After {{.*}} Failed
// RUN: array-opt %s --mlir-disable-threading --pass-pipeline='builtin.module(func.func(canonicalize))' \
// RUN:   --mlir-print-ir-before-all --mlir-print-ir-module-scope -o /dev/null 2>&1 | FileCheck %s --check-prefix=SCOPE
// SCOPE: IR Dump Before Canonicalizer (canonicalize) ('func.func' operation: @main)
// SCOPE-NEXT: module {
// RUN: rm -rf %t && array-opt %s --canonicalize --cse --mlir-print-ir-after-all --mlir-print-ir-tree-dir=%t -o /dev/null
// RUN: cat %t/builtin_module_no-symbol-name/0_canonicalize.mlir | FileCheck %s --check-prefix=TREE
// RUN: ls %t/builtin_module_no-symbol-name/1_cse.mlir
// TREE: func.func @main

// RUN: array-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC
// GENERIC: "array.neg"(%{{.*}}) : (tensor<?xf32>) -> tensor<?xf32>
// RUN: array-opt %s --mlir-print-debuginfo | FileCheck %s --check-prefix=DEBUGINFO
// DEBUGINFO: array.neg {{.*}} loc(
// RUN: array-opt %s --mlir-print-value-users | FileCheck %s --check-prefix=USERS
// USERS: array.neg {{.*}} // user:
// RUN: array-opt %s --mlir-print-skip-regions | FileCheck %s --check-prefix=SKIP
// SKIP: module {...}
func.func @main(%x: tensor<?xf32> {array.dims = affine_map<()[n] -> (n, n)>}) -> tensor<?xf32> {
  %0 = array.neg %x : tensor<?xf32>
  %1 = array.neg %0 : tensor<?xf32>
  return %1 : tensor<?xf32>
}
