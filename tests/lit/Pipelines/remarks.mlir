// Passes report fallbacks by MLIR's remark engine, in the category `array`; the code is right.
// RUN: array-opt --array-to-llvm --remarks-filter=array %s 2>&1 | FileCheck %s
// RUN: array-opt --array-to-llvm %s 2>&1 | FileCheck %s --check-prefix=SILENT
// SILENT-NOT: remark
// SILENT:     llvm.func @pcrt_main

// The carry is copied if bufferization finds no order in which it can be updated in place: one branch overwrites the
// elements of %twice that it reads, and passes %twice on, too.
// CHECK: remarks.mlir:[[#@LINE+8]]:{{.*}}: remark: [Missed] copied-carry | Category:array | Reason="the carry of loops and branches is copied
// CHECK: llvm.func @pcrt_main
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = array.constant dense<0> : tensor<i32>
  %r:3 = array.scan(%zero, %x, %y) () length = 3 reverse = false : (tensor<i32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%i: tensor<i32>, %a: tensor<4xf32>, %b: tensor<4xf32>):
    %one = array.constant dense<1> : tensor<i32>
    %next = array.add %i, %one : tensor<i32>
    %twice = array.add %a, %a : tensor<4xf32>
    %c:2 = array.cond %i : (tensor<i32>) -> (tensor<4xf32>, tensor<4xf32>) {
      %part = array.dynamic_slice %twice at(%i) slice_sizes = [2] : (tensor<4xf32>, tensor<i32>) -> tensor<2xf32>
      %new = array.dynamic_update_slice %twice, %part at(%next) : (tensor<4xf32>, tensor<2xf32>, tensor<i32>) -> tensor<4xf32>
      array.yield %new, %twice : tensor<4xf32>, tensor<4xf32>
    }, {
      %sum = array.add %a, %twice : tensor<4xf32>
      array.yield %twice, %sum : tensor<4xf32>, tensor<4xf32>
    }
    array.yield %next, %c#0, %c#1 : tensor<i32>, tensor<4xf32>, tensor<4xf32>
  }
  return %r#1, %r#2 : tensor<4xf32>, tensor<4xf32>
}
