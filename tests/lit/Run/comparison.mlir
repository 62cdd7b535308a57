// Comparison, selection, and whether a number is finite.

// A nan is different from every number, and no other relation holds.
// RUN: array-run %s --entry=floats --input='[1, 2, nan, -0]' --input='[2, 2, 1, 0]' \
// RUN:   --expect='[false, true, false, true]' --expect='[true, false, true, false]' \
// RUN:   --expect='[true, false, false, false]' --expect='[true, true, false, true]' \
// RUN:   --expect='[false, false, false, false]' --expect='[false, true, false, true]'
func.func @floats(%x: tensor<4xf32>, %y: tensor<4xf32>)
    -> (tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>) {
  %0 = array.eq %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %1 = array.ne %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %2 = array.lt %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %3 = array.le %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %4 = array.gt %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %5 = array.ge %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return %0, %1, %2, %3, %4, %5 : tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>
}

// RUN: array-run %s --entry=integers --input='[-1, 5, 127]' --input='[1, 5, -128]' --expect='[false, true, false]' \
// RUN:   --expect='[true, false, true]' --expect='[true, false, false]' --expect='[true, true, false]' \
// RUN:   --expect='[false, false, true]' --expect='[false, true, true]'
func.func @integers(%x: tensor<3xi8>, %y: tensor<3xi8>)
    -> (tensor<3xi1>, tensor<3xi1>, tensor<3xi1>, tensor<3xi1>, tensor<3xi1>, tensor<3xi1>) {
  %0 = array.eq %x, %y : (tensor<3xi8>, tensor<3xi8>) -> tensor<3xi1>
  %1 = array.ne %x, %y : (tensor<3xi8>, tensor<3xi8>) -> tensor<3xi1>
  %2 = array.lt %x, %y : (tensor<3xi8>, tensor<3xi8>) -> tensor<3xi1>
  %3 = array.le %x, %y : (tensor<3xi8>, tensor<3xi8>) -> tensor<3xi1>
  %4 = array.gt %x, %y : (tensor<3xi8>, tensor<3xi8>) -> tensor<3xi1>
  %5 = array.ge %x, %y : (tensor<3xi8>, tensor<3xi8>) -> tensor<3xi1>
  return %0, %1, %2, %3, %4, %5 : tensor<3xi1>, tensor<3xi1>, tensor<3xi1>, tensor<3xi1>, tensor<3xi1>, tensor<3xi1>
}

// RUN: array-run %s --entry=unsigned --input='[255, 1]' --input='[1, 255]' --expect='[false, true]'
func.func @unsigned(%x: tensor<2xui8>, %y: tensor<2xui8>) -> tensor<2xi1> {
  %0 = array.lt %x, %y : (tensor<2xui8>, tensor<2xui8>) -> tensor<2xi1>
  return %0 : tensor<2xi1>
}

// RUN: array-run %s --entry=choice --input='[true, false, true]' --input='[1, 2, 3]' --input='[4, 5, 6]' \
// RUN:   --expect='[1, 5, 3]'
func.func @choice(%p: tensor<3xi1>, %x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
  %0 = array.select %p, %x, %y : tensor<3xf32>
  return %0 : tensor<3xf32>
}

// RUN: array-run %s --entry=finite --input='[1, nan, -inf, 0]' --expect='[true, false, false, true]'
func.func @finite(%x: tensor<4xf32>) -> tensor<4xi1> {
  %0 = array.is_finite %x : (tensor<4xf32>) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}
