// RUN: array-opt %s --pass-pipeline="builtin.module(func.func(array-join-reductions))" --split-input-file | FileCheck %s

// Gradients of a layer: one sum of all elements.
// CHECK-LABEL: func.func @tree(
// CHECK-SAME:    %[[A:.*]]: tensor<2x3xf32>, %[[B:.*]]: tensor<f32>, %[[C:.*]]: tensor<4xf32>)
// CHECK-DAG:     %[[X:.*]] = array.reshape %[[A]] {{.*}} -> tensor<6xf32>
// CHECK-DAG:     %[[Y:.*]] = array.reshape %[[B]] {{.*}} -> tensor<1xf32>
// CHECK-DAG:     %[[Z:.*]] = array.reshape %[[C]] {{.*}} -> tensor<4xf32>
// CHECK:         %[[ALL:.*]] = array.concatenate %[[X]], %[[Y]], %[[Z]] dimension = 0
// CHECK:         %[[SUMS:.*]] = array.all_reduce %[[ALL]] kind = "sum" groups = {{.*}} (tensor<11xf32>) -> tensor<11xf32>
// CHECK-NOT:     array.all_reduce
// CHECK:         %[[P:.*]] = array.slice %[[SUMS]] start_indices = [0] limit_indices = [6]
// CHECK:         %[[Q:.*]] = array.reshape %[[P]] {{.*}} -> tensor<2x3xf32>
// CHECK:         array.slice %[[SUMS]] start_indices = [6] limit_indices = [7]
// CHECK:         array.slice %[[SUMS]] start_indices = [7] limit_indices = [11]
func.func @tree(%a: tensor<2x3xf32>, %b: tensor<f32>, %c: tensor<4xf32>) -> (tensor<2x3xf32>, tensor<f32>, tensor<4xf32>) {
  %0 = array.all_reduce %a kind = "sum" groups = dense<[[0, 1]]> : tensor<1x2xi64> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = array.all_reduce %b kind = "sum" groups = dense<[[0, 1]]> : tensor<1x2xi64> : (tensor<f32>) -> tensor<f32>
  %2 = array.all_reduce %c kind = "sum" groups = dense<[[0, 1]]> : tensor<1x2xi64> : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2 : tensor<2x3xf32>, tensor<f32>, tensor<4xf32>
}

// -----

// A sum of a sum: the second one waits for the first.
// CHECK-LABEL: func.func @one_after_the_other(
// CHECK-COUNT-2: array.all_reduce {{.*}} (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NOT:   array.concatenate
func.func @one_after_the_other(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = array.all_reduce %a kind = "sum" groups = dense<[[0, 1]]> : tensor<1x2xi64> : (tensor<4xf32>) -> tensor<4xf32>
  %1 = array.neg %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = array.all_reduce %1 kind = "sum" groups = dense<[[0, 1]]> : tensor<1x2xi64> : (tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// Of other kinds, types and groups; and large ones.
// CHECK-LABEL: func.func @unlike(
// CHECK-NOT:   array.concatenate
func.func @unlike(%a: tensor<4xf32>, %b: tensor<4xi32>, %c: tensor<65536xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xi32>, tensor<4xi32>, tensor<65536xf32>, tensor<65536xf32>) {
  %0 = array.all_reduce %a kind = "sum" groups = dense<[[0, 1]]> : tensor<1x2xi64> : (tensor<4xf32>) -> tensor<4xf32>
  %1 = array.all_reduce %a kind = "max" groups = dense<[[0, 1]]> : tensor<1x2xi64> : (tensor<4xf32>) -> tensor<4xf32>
  %2 = array.all_reduce %b kind = "max" groups = dense<[[0, 1]]> : tensor<1x2xi64> : (tensor<4xi32>) -> tensor<4xi32>
  %3 = array.all_reduce %b kind = "max" groups = dense<[[0], [1]]> : tensor<2x1xi64> : (tensor<4xi32>) -> tensor<4xi32>
  %4 = array.all_reduce %c kind = "sum" groups = dense<[[0, 1]]> : tensor<1x2xi64> : (tensor<65536xf32>) -> tensor<65536xf32>
  %5 = array.all_reduce %c kind = "sum" groups = dense<[[0, 1]]> : tensor<1x2xi64> : (tensor<65536xf32>) -> tensor<65536xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<4xf32>, tensor<4xf32>, tensor<4xi32>, tensor<4xi32>, tensor<65536xf32>, tensor<65536xf32>
}

// -----

// Another collective between them keeps its place.
// CHECK-LABEL: func.func @across_another(
// CHECK:         array.all_reduce
// CHECK:         array.all_gather
// CHECK:         array.all_reduce
func.func @across_another(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<8xf32>, tensor<4xf32>) {
  %0 = array.all_reduce %a kind = "sum" groups = dense<[[0, 1]]> : tensor<1x2xi64> : (tensor<4xf32>) -> tensor<4xf32>
  %1 = array.all_gather %a dimension = 0 groups = dense<[[0, 1]]> : tensor<1x2xi64> : (tensor<4xf32>) -> tensor<8xf32>
  %2 = array.all_reduce %a kind = "sum" groups = dense<[[0, 1]]> : tensor<1x2xi64> : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<8xf32>, tensor<4xf32>
}
