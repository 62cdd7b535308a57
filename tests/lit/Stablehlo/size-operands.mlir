// RUN: array-translate --stablehlo-to-array -split-input-file %s | FileCheck %s
// Operations whose sizes or places are operands.

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<?x4xf32>
// CHECK: array.pad %[[X]], %{{.*}} low = [?, 1] high = [0, ?] interior = [0, 0] sizes(%{{.*}}, %{{.*}}) : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x?xf32>
// CHECK: %[[N:.*]] = array.symbol 0 : index
// CHECK: array.slice %[[X]] start_indices = [1, 0] limit_indices = [?, 4] strides = [2, 1] sizes(%[[N]]) : (tensor<?x4xf32>) -> tensor<?x4xf32>
// CHECK: array.dynamic_slice %[[X]] at(%{{.*}}, %{{.*}}) slice_sizes = [?, 2] sizes(%{{.*}}) : (tensor<?x4xf32>, tensor<i32>, tensor<i32>, index) -> tensor<?x2xf32>
func.func @main(%x: tensor<?x4xf32>, %i: tensor<2xi32>) -> (tensor<?x?xf32>, tensor<?x4xf32>, tensor<?x2xf32>) {
  %f = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1> : tensor<1xi32>
  %two = stablehlo.constant dense<2> : tensor<1xi32>
  %four = stablehlo.constant dense<4> : tensor<1xi32>
  %none = stablehlo.constant dense<0> : tensor<2xi32>
  %zero = stablehlo.constant dense<0> : tensor<1xi32>
  %size = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
  %n = stablehlo.reshape %size : (tensor<i32>) -> tensor<1xi32>
  %low = stablehlo.concatenate %n, %one, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %high = stablehlo.concatenate %zero, %n, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %0 = stablehlo.dynamic_pad %x, %f, %low, %high, %none : (tensor<?x4xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  %first = stablehlo.concatenate %one, %zero, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %last = stablehlo.concatenate %n, %four, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %step = stablehlo.concatenate %two, %one, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %1 = stablehlo.real_dynamic_slice %x, %first, %last, %step : (tensor<?x4xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x4xf32>
  %less = stablehlo.subtract %n, %one : tensor<1xi32>
  %counts = stablehlo.concatenate %less, %two, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %ones = stablehlo.constant dense<1> : tensor<2xi32>
  %end = stablehlo.add %i, %counts : tensor<2xi32>
  %2 = stablehlo.real_dynamic_slice %x, %i, %end, %ones : (tensor<?x4xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x2xf32>
  return %0, %1, %2 : tensor<?x?xf32>, tensor<?x4xf32>, tensor<?x2xf32>
}

// -----

// A gather of one window is a slice where it is known to be inside, else a block at a clamped place.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<?x4xf32>
// CHECK: array.slice %[[X]] start_indices = [1, 0] limit_indices = [?, 4]
// CHECK: array.dynamic_slice %[[X]] at(%{{.*}}, %{{.*}}) slice_sizes = [2, 4]
// CHECK: array.gather %[[X]] at(%{{.*}}) slice_sizes = [?, 1] sizes(%{{.*}}) {
func.func @main(%x: tensor<?x4xf32>, %i: tensor<3x1xi32>) -> (tensor<?x4xf32>, tensor<2x4xf32>, tensor<3x?xf32>) {
  %one = stablehlo.constant dense<1> : tensor<1xi32>
  %four = stablehlo.constant dense<4> : tensor<1xi32>
  %size = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x4xf32>) -> tensor<i32>
  %n = stablehlo.reshape %size : (tensor<i32>) -> tensor<1xi32>
  %less = stablehlo.subtract %n, %one : tensor<1xi32>
  %counts = stablehlo.concatenate %less, %four, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %0 = "stablehlo.dynamic_gather"(%x, %one, %counts) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [0]>}> : (tensor<?x4xf32>, tensor<1xi32>, tensor<2xi32>) -> tensor<?x4xf32>
  %some = stablehlo.constant dense<[2, 4]> : tensor<2xi32>
  %1 = "stablehlo.dynamic_gather"(%x, %one, %some) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [0]>}> : (tensor<?x4xf32>, tensor<1xi32>, tensor<2xi32>) -> tensor<2x4xf32>
  %column = stablehlo.concatenate %less, %one, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %2 = "stablehlo.dynamic_gather"(%x, %i, %column) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>}> : (tensor<?x4xf32>, tensor<3x1xi32>, tensor<2xi32>) -> tensor<3x?xf32>
  return %0, %1, %2 : tensor<?x4xf32>, tensor<2x4xf32>, tensor<3x?xf32>
}

// -----

// Windows over all elements before are a running sum; others have sizes.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<?xf32>
// CHECK: array.cumsum %[[X]] axis = 0 reverse = false
// CHECK: array.reduce_window_sum %[[X]] window_dimensions = [?] window_strides = [1] low = [0] high = [0]
func.func @main(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<1xf32>) {
  %f = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1> : tensor<1xi32>
  %zero = stablehlo.constant dense<0> : tensor<1xi32>
  %size = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %n = stablehlo.reshape %size : (tensor<i32>) -> tensor<1xi32>
  %less = stablehlo.subtract %n, %one : tensor<1xi32>
  %pair = stablehlo.concatenate %less, %zero, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %pad = stablehlo.reshape %pair : (tensor<2xi32>) -> tensor<1x2xi32>
  %0 = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%x, %f, %n, %one, %one, %one, %pad) {called_computations = [@sum]} : (tensor<?xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1x2xi32>) -> tensor<?xf32>
  %no = stablehlo.constant dense<0> : tensor<1x2xi32>
  %1 = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%x, %f, %n, %one, %one, %one, %no) {called_computations = [@sum]} : (tensor<?xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1x2xi32>) -> tensor<1xf32>
  return %0, %1 : tensor<?xf32>, tensor<1xf32>
}
func.func @sum(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.add %a, %b : tensor<f32>
  return %0 : tensor<f32>
}

// -----

// The shapes of results that have no operand of sizes.
// CHECK-DAG: #[[SHAPE:.*]] = affine_map<()[s0, s1] -> (s0, s0 floordiv 2, 5)>
// CHECK-LABEL: func.func @main
// CHECK-SAME: {array.dims = #[[SHAPE]]}
// CHECK: array.conv_general_dilated
// CHECK-SAME: low = [1] high = [0]
// CHECK: array.is_
// CHECK: array.top_k %{{.*}} k = ? axis = 0 sizes(
func.func @main(%x: tensor<?x?x3xf32>, %k: tensor<3x3x5xf32>, %v: tensor<?xf32>) -> (tensor<?x?x5xf32>, tensor<?x?x5xi1>, tensor<?xf32>, tensor<?xi32>) {
  %two = stablehlo.constant dense<2> : tensor<i32>
  %a = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x?x3xf32>) -> tensor<i32>
  %b = stablehlo.get_dimension_size %x, dim = 1 : (tensor<?x?x3xf32>) -> tensor<i32>
  %0 = stablehlo.compare EQ, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%0) {error_message = "same", has_side_effect = true} : (tensor<i1>) -> ()
  %1 = stablehlo.compare GE, %a, %two, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.custom_call @shape_assertion(%1) {error_message = "two", has_side_effect = true} : (tensor<i1>) -> ()
  %pad = stablehlo.constant dense<[[1, 0]]> : tensor<1x2xi32>
  %2 = "stablehlo.dynamic_conv"(%x, %k, %pad) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, window_strides = array<i64: 2>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<?x?x3xf32>, tensor<3x3x5xf32>, tensor<1x2xi32>) -> tensor<?x?x5xf32>
  %3 = stablehlo.is_finite %2 : (tensor<?x?x5xf32>) -> tensor<?x?x5xi1>
  %4:2 = stablehlo.custom_call @stablehlo.dynamic_top_k(%v, %a) : (tensor<?xf32>, tensor<i32>) -> (tensor<?xf32>, tensor<?xi32>)
  return %2, %3, %4#0, %4#1 : tensor<?x?x5xf32>, tensor<?x?x5xi1>, tensor<?xf32>, tensor<?xi32>
}
