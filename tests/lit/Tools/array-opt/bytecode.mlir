// Bytecode in and out, through stdin and stdout too; the round trip; and truncated files or other versions.
// RUN: array-opt %s --emit-bytecode -o %t.mlirbc
// RUN: array-opt %t.mlirbc | FileCheck %s
// RUN: array-opt %s --emit-bytecode | array-opt --array-to-linalg | FileCheck %s --check-prefix=LINALG
// RUN: array-opt %s --emit-bytecode --emit-bytecode-version=5 | array-opt | FileCheck %s
// RUN: array-opt %s --verify-roundtrip | FileCheck %s
// CHECK:  array.reduce_sum
// LINALG: linalg.generic
// RUN: not array-opt %s --emit-bytecode --emit-bytecode-version=99 -o /dev/null 2>&1 | FileCheck %s --check-prefix=VERSION
// VERSION: error: unsupported version requested 99, must be in range
// RUN: head -c 60 %t.mlirbc > %t.cut.mlirbc
// RUN: not array-opt %t.cut.mlirbc 2>&1 | FileCheck %s --check-prefix=CUT
// CUT: error: attempting to parse {{.*}} bytes when only
func.func @main(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %0 = array.reduce_sum %x axes = [1] : (tensor<4x8xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
