// --compile-to on several programs in one file.
// RUN: array-opt %s --compile-to=linalg --split-input-file | FileCheck %s
// CHECK:      linalg.generic
// CHECK:      math.exp
// CHECK:      // -----
// CHECK:      linalg.generic
// CHECK:      math.sqrt
func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = array.exp %x : tensor<64xf32>
  return %0 : tensor<64xf32>
}

// -----

func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = array.sqrt %x : tensor<64xf32>
  return %0 : tensor<64xf32>
}
