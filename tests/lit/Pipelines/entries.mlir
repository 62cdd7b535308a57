// Every public function is an entry: @f has the C entry @pcrt_f. Private functions are callees of entries.
// RUN: split-file %s %t
// RUN: array-opt --array-to-llvm %t/one.mlir | FileCheck %s --check-prefix=ONE
// RUN: array-opt --array-to-llvm %t/several.mlir | FileCheck %s --check-prefix=SEVERAL
// RUN: array-opt --array-to-llvm %t/called.mlir | FileCheck %s --check-prefix=CALLED
// RUN: array-opt --compile-to=llvm %t/called.mlir | FileCheck %s --check-prefix=MAIN
// RUN: not array-opt --array-to-llvm %t/none.mlir 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: array-opt --array-to-llvm %t/sites.mlir | FileCheck %s --check-prefix=SITES

//--- one.mlir
// ONE:      llvm.func internal @f(
// ONE:      llvm.func @pcrt_f(%{{.*}}: !llvm.ptr) -> i32
// ONE:        llvm.call @f(
// ONE-NOT:  main
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = array.neg %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

//--- several.mlir
// SEVERAL-DAG: llvm.func internal @main(
// SEVERAL-DAG: llvm.func @pcrt_main(
// SEVERAL-DAG: llvm.func internal @half(
// SEVERAL-DAG: llvm.func @pcrt_half(
// SEVERAL-NOT: @twice
func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = array.add %x, %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @twice(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @half(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @twice(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %y = array.div %x, %0 : tensor<4xf32>
  return %y : tensor<4xf32>
}

//--- called.mlir
// A public function that another one calls is an entry, and is inlined into its callers. A compilation of @main alone
// treats it as private.
// CALLED-DAG: llvm.func @pcrt_main(
// CALLED-DAG: llvm.func @pcrt_f(
// MAIN:     llvm.func internal @main(
// MAIN:     llvm.func @pcrt_main(
// MAIN-NOT: @f
// MAIN-NOT: @pcrt_f
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = array.neg %x : tensor<4xf32>
  return %y : tensor<4xf32>
}

//--- none.mlir
// NONE: error: the module has no public function to compile
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

//--- sites.mlir
// Operations that can fail are numbered for each entry.
// SITES-DAG: llvm.func @pcrt_f({{.*}} attributes {array.call_sites = {{\[\[}}"cholesky"
// SITES-DAG: llvm.func @pcrt_g({{.*}} attributes {array.call_sites = {{\[\[}}"cholesky"
func.func @f(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %y = array.cholesky %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}
func.func @g(%x: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %y = array.cholesky %x : (tensor<3x3xf32>) -> tensor<3x3xf32>
  return %y : tensor<3x3xf32>
}
