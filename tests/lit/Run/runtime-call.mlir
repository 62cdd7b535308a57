// A library routine by its name; and modules of linalg, which the pipeline takes too.

// RUN: array-run %s --entry=routine --input='[3, -1, 2]' --expect='[-1, 2, 3]'
func.func @routine(%x: tensor<3xi32>) -> tensor<3xi32> {
  %init = tensor.empty() : tensor<3xi32>
  %y = array.runtime_call "sort" params = [0, 1, 1] element_types = [i32, i32]
         ins(%x : tensor<3xi32>) outs(%init : tensor<3xi32>) -> tensor<3xi32>
  return %y : tensor<3xi32>
}

// RUN: array-run %s --entry=generic --input='[[1, 2], [3, 4]]' --input='[[1, 1], [0, 1]]' \
// RUN:   --expect='[[-1, -3], [-3, -7]]'
func.func @generic(%x: tensor<2x2xf32>, %y: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x2xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x2xf32>) -> tensor<2x2xf32>
  %p = linalg.matmul ins(%x, %y : tensor<2x2xf32>, tensor<2x2xf32>) outs(%init : tensor<2x2xf32>) -> tensor<2x2xf32>
  %n = array.neg %p : tensor<2x2xf32>
  return %n : tensor<2x2xf32>
}
