// RUN: not array-opt %s --array-lower-matmuls=vector-bits=384 2>&1 | FileCheck %s
// RUN: not array-opt %s --array-lower-convolutions=vector-bits=384 2>&1 | FileCheck %s --check-prefix=CONVOLUTIONS

// CHECK: error: array-lower-matmuls: vector-bits is 384, not 128, 256 or 512
// CONVOLUTIONS: error: array-lower-convolutions: vector-bits is 384, not 128, 256 or 512
func.func @main() {
  return
}
