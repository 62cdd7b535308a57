// UNSUPPORTED: gpu
// Slices of no elements, which canonicalization removes with their conditions: their sizes are checked like those of
// others.

// RUN: array-run %s --entry=slice --sizes=2,2 --input=fill:1 --expect=0
// RUN: not array-run %s --entry=slice --sizes=3,2 --input=fill:1 2>&1 | FileCheck %s --check-prefix=SLICE
// SLICE: slice: takes 3 elements of dimension 0 of operand #0 from 0 on with the stride 1, which do not lie within its size, 2
func.func @slice(%x: tensor<?x?xf32> {array.dims = affine_map<()[n, m] -> (m, m)>}) -> tensor<f32> {
  %n = array.symbol 0 : index
  %s = array.slice %x start_indices = [0, 1] limit_indices = [?, 1] strides = [1, 1] sizes(%n) : (tensor<?x?xf32>) -> tensor<?x0xf32>
  %r = array.reduce_sum %s axes = [0, 1] : (tensor<?x0xf32>) -> tensor<f32>
  return %r : tensor<f32>
}

// RUN: array-run %s --entry=dynamic_slice --sizes=6,3 --input=fill:1 --input=0 --expect=0
// RUN: not array-run %s --entry=dynamic_slice --sizes=0,4 --input=fill:1 --input=0 2>&1 | FileCheck %s --check-prefix=DYNAMIC
// DYNAMIC: dynamic_slice: takes 4 elements of dimension 0 of operand #0, expected 0 to 3, its size
func.func @dynamic_slice(%x: tensor<3x?xf32> {array.dims = affine_map<()[n, m] -> (3, n)>}, %i: tensor<i32>) -> tensor<f32> {
  %m = array.symbol 1 : index
  %s = array.dynamic_slice %x at(%i, %i) slice_sizes = [?, 0] sizes(%m) : (tensor<3x?xf32>, tensor<i32>, tensor<i32>, index) -> tensor<?x0xf32>
  %r = array.reduce_sum %s axes = [0, 1] : (tensor<?x0xf32>) -> tensor<f32>
  return %r : tensor<f32>
}

// RUN: array-run %s --entry=update --sizes=2,2 --input=fill:1 --input=fill:1 --input=0 --expect=4
// RUN: not array-run %s --entry=update --sizes=2,3 --input=fill:1 --input=fill:1 --input=0 2>&1 | FileCheck %s --check-prefix=UPDATE
// UPDATE: dynamic_update_slice: takes 3 elements of dimension 0 of operand #0, expected 0 to 2, its size
func.func @update(%x: tensor<?x?xf32> {array.dims = affine_map<()[n, m] -> (n, n)>}, %y: tensor<?x0xf32> {array.dims = affine_map<()[n, m] -> (m, 0)>}, %i: tensor<i32>) -> tensor<f32> {
  %s = array.dynamic_update_slice %x, %y at(%i, %i) : (tensor<?x?xf32>, tensor<?x0xf32>, tensor<i32>, tensor<i32>) -> tensor<?x?xf32>
  %r = array.reduce_sum %s axes = [0, 1] : (tensor<?x?xf32>) -> tensor<f32>
  return %r : tensor<f32>
}
