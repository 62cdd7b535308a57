// UNSUPPORTED: gpu
// Code for a GPU is of fixed sizes.
// What @main requires of the sizes of its arguments is checked by the code, unless the bounds of the symbols prove it.
// RUN: array-run %s --sizes=2,3 --input='[1, 2]' --input='[3, 4, 5]' | FileCheck %s
// CHECK: result 0: tensor<2xf32> = [4, 6]
// RUN: not array-run %s --sizes=4,3 --input=fill:1 --input=fill:1 2>&1 | FileCheck %s --check-prefix=LESS
// LESS: main: shape_assertion: y is no shorter than x: s1: takes 4 elements {{.*}}, expected 0 to 3
// RUN: not array-run %s --sizes=2,6 --input=fill:1 --input=fill:1 2>&1 | FileCheck %s --check-prefix=EQUAL
// EQUAL: main: shape_assertion: y is odd: {{.*}} 0, expected 1
// RUN: array-opt %s --array-check-input | FileCheck %s --check-prefix=CHECKS
// CHECKS-COUNT-2: array.runtime_call "check"
// CHECKS-NOT: array.runtime_call "check" {{.*}}shape_assertion
func.func @main(%x: tensor<?xf32> {array.dims = affine_map<()[n, m] -> (n)>}, %y: tensor<?xf32> {array.dims = affine_map<()[n, m] -> (m)>}) -> tensor<?xf32>
    attributes {array.symbols = [{min = 1 : i64, name = "n"}, {min = 1 : i64, name = "m"}], array.requires = [
      {condition = "at_least", sizes = affine_map<(n, m) -> (n, 1)>, message = "x is not empty"},
      {condition = "at_least", sizes = affine_map<(n, m) -> (m, n, m)>, message = "y is no shorter than x: {0}"},
      {condition = "equal", sizes = affine_map<(n, m) -> (m mod 2, 1)>, message = "y is odd"}]} {
  %n = array.symbol 0 : index
  %0 = array.slice %y start_indices = [0] limit_indices = [?] strides = [1] sizes(%n) : (tensor<?xf32>) -> tensor<?xf32>
  %1 = array.add %x, %0 : tensor<?xf32>
  return %1 : tensor<?xf32>
}
