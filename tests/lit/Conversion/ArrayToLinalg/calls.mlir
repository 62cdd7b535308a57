// RUN: array-opt %s --convert-array-to-linalg | FileCheck %s

// Signatures hold storage types; tokens are gone from them.
// CHECK-LABEL: func private @layer(
// CHECK-SAME: %{{.*}}: tensor<4xi8>) -> tensor<4xi8>
func.func private @layer(%t: !array.token, %x: tensor<4xi1>) -> (tensor<4xi1>, !array.token) {
  return %x, %t : tensor<4xi1>, !array.token
}

// CHECK-LABEL: func @main(
// CHECK-SAME: %[[X:.*]]: tensor<4xi8>) -> tensor<4xi8>
// CHECK-NEXT: %[[Y:.*]] = call @layer(%[[X]]) : (tensor<4xi8>) -> tensor<4xi8>
// CHECK-NEXT: %[[Z:.*]] = call @layer(%[[Y]])
// CHECK-NEXT: return %[[Z]]
func.func @main(%x: tensor<4xi1>) -> tensor<4xi1> {
  %t0 = array.create_token : !array.token
  %y, %t1 = array.call @layer(%t0, %x) : (!array.token, tensor<4xi1>) -> (tensor<4xi1>, !array.token)
  %t2 = array.after_all %t0, %t1 : !array.token
  %z, %t3 = func.call @layer(%t2, %y) : (!array.token, tensor<4xi1>) -> (tensor<4xi1>, !array.token)
  return %z : tensor<4xi1>
}

// The runtime gets the element types that storage types do not determine.
// CHECK-LABEL: func @sort(
// CHECK-SAME: %[[K:.*]]: tensor<?xi32>, %[[V:.*]]: tensor<?xi8>)
// CHECK-DAG: %[[KE:.*]] = tensor.empty(%{{.*}}) : tensor<?xi32>
// CHECK-DAG: %[[VE:.*]] = tensor.empty(%{{.*}}) : tensor<?xi8>
// CHECK: array.runtime_call "sort" params = [0, 1, 1] element_types = [ui32, i1, ui32, i1]
// CHECK-SAME: ins(%[[K]], %[[V]] : tensor<?xi32>, tensor<?xi8>) outs(%[[KE]], %[[VE]] : tensor<?xi32>, tensor<?xi8>)
func.func @sort(%k: tensor<?xui32>, %v: tensor<?xi1>) -> (tensor<?xui32>, tensor<?xi1>) {
  %0, %1 = array.sort %k, %v dimension = 0 num_keys = 1 is_stable = true
      : (tensor<?xui32>, tensor<?xi1>) -> (tensor<?xui32>, tensor<?xi1>)
  return %0, %1 : tensor<?xui32>, tensor<?xi1>
}

// Operations of other dialects on types that change are retyped.
// CHECK-LABEL: func @sizes(
// CHECK: tensor.cast %arg0 : tensor<?xi8> to tensor<4xi8>
// CHECK: tensor.dim %arg0, %{{.*}} : tensor<?xi8>
func.func @sizes(%x: tensor<?xi1>) -> (tensor<4xi1>, index) {
  %c0 = arith.constant 0 : index
  %y = tensor.cast %x : tensor<?xi1> to tensor<4xi1>
  %n = tensor.dim %x, %c0 : tensor<?xi1>
  return %y, %n : tensor<4xi1>, index
}
