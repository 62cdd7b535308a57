// Passes and dialects of a shared library (tests/plugin). Its passes can be named in a --pass-pipeline.
// RUN: array-opt %s --load-dialect-plugin=%array_plugin --load-pass-plugin=%array_plugin \
// RUN:   --pass-pipeline='builtin.module(find-additions)' 2>&1 | FileCheck %s
// CHECK: plugins.mlir:[[# @LINE + 6]]:8: remark: an addition of 'tensor<4xf32>'
// CHECK: "plugged.anything"()
// RUN: not array-opt %s 2>&1 | FileCheck %s --check-prefix=WITHOUT
// WITHOUT: plugins.mlir:[[# @LINE + 2]]:21: error: {{.*}}unregistered dialect
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  "plugged.anything"() : () -> ()
  %0 = array.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// RUN: not array-opt %s --load-pass-plugin=%t.nothing.so 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: Failed to load passes from '{{.*}}nothing.so'
