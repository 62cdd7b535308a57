// UNSUPPORTED: gpu
// Code for a GPU is of fixed sizes.
// Reductions of arrays of sizes that a call decides.

// RUN: array-run %s --entry=reduced --sizes=2,3 --input='[[1, 5, 3], [4, 2, 6]]' --expect='[9, 12]' --expect='[4, 5, 6]' --expect='21' \
// RUN:   --expect='[1, 2]' --expect='[1, 0, 1]'
// RUN: array-run %s --entry=reduced --sizes=1,1 --input='[[7]]' --expect='[7]' --expect='[7]' --expect='7' --expect='[0]' --expect='[0]'
func.func @reduced(%x: tensor<?x?xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<f32>, tensor<?xi32>, tensor<?xi32>) {
  %0 = array.reduce_sum %x axes = [1] : (tensor<?x?xf32>) -> tensor<?xf32>
  %1 = array.reduce_max %x axes = [0] : (tensor<?x?xf32>) -> tensor<?xf32>
  %2 = array.reduce_sum %x axes = [0, 1] : (tensor<?x?xf32>) -> tensor<f32>
  %3 = array.argmax %x axis = 1 index_dtype = i32 : (tensor<?x?xf32>) -> tensor<?xi32>
  %4 = array.argmax %x axis = 0 index_dtype = i32 : (tensor<?x?xf32>) -> tensor<?xi32>
  return %0, %1, %2, %3, %4 : tensor<?xf32>, tensor<?xf32>, tensor<f32>, tensor<?xi32>, tensor<?xi32>
}

// An empty reduction is the neutral element.
// RUN: array-run %s --entry=neutral --sizes=0 --input='[]' --expect='0' --expect='1' --expect='-inf' --expect='0'
// RUN: array-run %s --entry=neutral --sizes=3 --input='[2, 3, 4]' --expect='9' --expect='24' --expect='4' --expect='3'
func.func @neutral(%x: tensor<?xf32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<i32>) {
  %n = array.symbol 0 : index
  %0 = array.reduce_sum %x axes = [0] : (tensor<?xf32>) -> tensor<f32>
  %1 = array.reduce_prod %x axes = [0] : (tensor<?xf32>) -> tensor<f32>
  %2 = array.reduce_max %x axes = [0] : (tensor<?xf32>) -> tensor<f32>
  %3 = array.dim_as_value sizes(%n) : tensor<i32>
  return %0, %1, %2, %3 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<i32>
}

// softmax: values with the size of the rows are combined with every element.
// RUN: array-run %s --entry=softmax --sizes=2,2 --input='[[0, 0], [0, 1.0986123]]' --expect='[[0.5, 0.5], [0.25, 0.75]]' --rtol=1e-5
// RUN: array-run %s --entry=softmax --sizes=1,1 --input='[[7]]' --expect='[[1]]'
// RUN: array-run %s --entry=softmax --sizes=0,3 --input='random:normal' --expect='fill:0'
func.func @softmax(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %n = array.symbol 0 : index
  %m = array.symbol 1 : index
  %0 = array.reduce_max %x axes = [1] : (tensor<?x?xf32>) -> tensor<?xf32>
  %1 = array.broadcast_in_dim %0 broadcast_dimensions = [0] output_dims(%n, %m) : (tensor<?xf32>) -> tensor<?x?xf32>
  %2 = array.sub %x, %1 : tensor<?x?xf32>
  %3 = array.exp %2 : tensor<?x?xf32>
  %4 = array.reduce_sum %3 axes = [1] : (tensor<?x?xf32>) -> tensor<?xf32>
  %5 = array.broadcast_in_dim %4 broadcast_dimensions = [0] output_dims(%n, %m) : (tensor<?xf32>) -> tensor<?x?xf32>
  %6 = array.div %3, %5 : tensor<?x?xf32>
  return %6 : tensor<?x?xf32>
}

// RUN: array-run %s --entry=product --sizes=2,3,2 --input='[[1, 2, 3], [4, 5, 6]]' --input='[[1, 0], [0, 1], [1, 1]]' --expect='[[4, 5], [10, 11]]'
// RUN: array-run %s --entry=product --sizes=1,1,1 --input='[[3]]' --input='[[5]]' --expect='[[15]]'
func.func @product(%x: tensor<?x?xf32> {array.dims = affine_map<()[n, k, m] -> (n, k)>},
                   %y: tensor<?x?xf32> {array.dims = affine_map<()[n, k, m] -> (k, m)>}) -> tensor<?x?xf32> {
  %0 = array.dot_general %x, %y contracting = [1] x [0] : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
