// --compile-to: conflicting flags, and modules that can't be compiled. Nothing is written then.
// RUN: not array-opt %s --compile-to=machine 2>&1 | FileCheck %s --check-prefix=STAGE
// STAGE: for the --compile-to option: Cannot find option named 'machine'!
// RUN: not array-opt %s --mcpu=x86-64 2>&1 | FileCheck %s --check-prefix=ALONE
// ALONE: array-opt: --mcpu is a part of --compile-to=<stage>, which is missing
// RUN: not array-opt %s --compile-to=asm --emit-bytecode 2>&1 | FileCheck %s --check-prefix=BYTECODE
// BYTECODE: array-opt: --emit-bytecode is for MLIR, which the stage 'asm' is not
// RUN: not array-opt %s --compile-to=object --split-input-file 2>&1 | FileCheck %s --check-prefix=SPLIT
// SPLIT: array-opt: --compile-to=object takes one module, so there is no --split-input-file
// RUN: not array-opt %s --compile-to=asm --mcpu=abacus 2>&1 | FileCheck %s --check-prefix=CPU
// CPU: error: unknown CPU 'abacus'
// RUN: not array-opt %s --compile-to=asm --mtriple=abacus 2>&1 | FileCheck %s --check-prefix=TRIPLE
// TRIPLE: error: LLVM can't generate code for abacus
// RUN: not array-opt %s --compile-to=asm --codegen-level=7 2>&1 | FileCheck %s --check-prefix=LEVEL
// LEVEL: error: the code generation level must be 0 to 3, not 7
// RUN: not array-opt %s --pass-pipeline='builtin.module(array-compile-to{stage=machine})' 2>&1 | FileCheck %s --check-prefix=PASS
// PASS: error: array-compile-to: there is no stage 'machine'
// RUN: rm -f %t.s && not array-opt %s --compile-to=asm -o %t.s 2>&1 | FileCheck %s --check-prefix=DYNAMIC
// RUN: not ls %t.s
// DYNAMIC: compile-to-invalid.mlir:[[# @LINE + 7]]:{{.*}}: error: argument #0 of @main is {{.*}}, but its array.dims is
// RUN: not array-opt %s --compile-to=asm --mlir-pass-pipeline-crash-reproducer=%t.failed.mlir 2>/dev/null
// RUN: FileCheck %s --check-prefix=FAILED < %t.failed.mlir
// RUN: not array-opt %t.failed.mlir --run-reproducer 2>&1 | FileCheck %s --check-prefix=AGAIN
// FAILED: pipeline: "builtin.module(array-compile-to{{.*}}stage=asm
// AGAIN: error: argument #0 of @main is {{.*}}, but its array.dims is
// RUN: not array-opt %s.missing --compile-to=asm 2>&1 | FileCheck %s --check-prefix=MISSING
func.func @main(%x: tensor<?xf32> {array.dims = affine_map<()[n] -> (n, n)>}) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}
// MISSING: cannot open input file
