// RUN: array-opt %s | array-opt | FileCheck %s
// RUN: array-opt %s --emit-bytecode | array-opt | FileCheck %s

// CHECK-LABEL: func.func @main(
// CHECK-SAME:    tensor<?x4xf32> {array.dims = affine_map<()[s0] -> (s0, 4)>}
// CHECK:         array.symbol 0 : index
func.func @main(%x: tensor<?x4xf32> {array.dims = affine_map<()[n] -> (n, 4)>}) -> index
    attributes {array.symbols = [{min = 1 : i64, max = 4096 : i64}]} {
  %n = array.symbol 0 : index
  return %n : index
}

// CHECK-LABEL: func.func @threads(
// CHECK:         array.threads : index
func.func @threads() -> index {
  %n = array.threads : index
  return %n : index
}
