// RUN: array-opt %s --pass-pipeline='builtin.module(func.func(array-resolve-sizes))' --split-input-file | FileCheck %s

// Dimensions without a map are symbols, numbered in the order of the arguments. Sizes are computed once.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    tensor<?x?xf32> {array.dims = affine_map<()[s0, s1] -> (s0, s1)>}
// CHECK-SAME:    tensor<4x?xf32> {array.dims = affine_map<()[s0, s1, s2] -> (4, s2)>}
// CHECK-DAG:     %[[N:.*]] = array.symbol 0 : index
// CHECK-DAG:     %[[M:.*]] = array.symbol 1 : index
// CHECK-DAG:     %[[K:.*]] = array.symbol 2 : index
// CHECK-NOT:     tensor.dim
// CHECK:         tensor.empty(%[[N]], %[[M]])
// CHECK:         tensor.empty(%[[K]])
func.func @main(%x: tensor<?x?xf32>, %y: tensor<4x?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  %m = tensor.dim %x, %c1 : tensor<?x?xf32>
  %k = tensor.dim %y, %c1 : tensor<4x?xf32>
  %a = tensor.empty(%n, %m) : tensor<?x?xf32>
  %b = tensor.empty(%k) : tensor<?xf32>
  return %a, %b : tensor<?x?xf32>, tensor<?xf32>
}

// -----

// A size propagates through ops that keep it: destinations, loops and branches.
// CHECK-LABEL: func.func @main(
// CHECK:         %[[N:.*]] = array.symbol 0 : index
// CHECK-NOT:     tensor.dim
// CHECK:         return %{{.*}}, %[[N]]
func.func @main(%x: tensor<?xf32>, %c: i1) -> (tensor<?xf32>, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%carry = %x) -> tensor<?xf32> {
    %n = tensor.dim %carry, %c0 : tensor<?xf32>
    %e = tensor.empty(%n) : tensor<?xf32>
    %y = linalg.exp ins(%carry : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %y : tensor<?xf32>
  }
  %s = scf.if %c -> tensor<?xf32> {
    scf.yield %r : tensor<?xf32>
  } else {
    scf.yield %x : tensor<?xf32>
  }
  %d = tensor.dim %s, %c0 : tensor<?xf32>
  return %s, %d : tensor<?xf32>, index
}

// -----

// 2 * n + 1 and 1 + n * 2 are one value.
// CHECK-LABEL: func.func @main(
// CHECK:         %[[N:.*]] = array.symbol 0 : index
// CHECK:         %[[TWICE:.*]] = arith.muli %[[N]], %{{.*}} : index
// CHECK:         %[[SIZE:.*]] = arith.addi %[[TWICE]], %{{.*}} : index
// CHECK:         tensor.empty(%[[SIZE]])
// CHECK:         tensor.empty(%[[SIZE]])
func.func @main(%x: tensor<?xf32> {array.dims = affine_map<()[n] -> (n)>}) -> (tensor<?xf32>, tensor<?xf32>) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = array.symbol 0 : index
  %twice = arith.muli %n, %c2 : index
  %a = arith.addi %twice, %c1 : index
  %other = arith.muli %c2, %n : index
  %b = arith.addi %c1, %other : index
  %s = tensor.empty(%a) : tensor<?xf32>
  %t = tensor.empty(%b) : tensor<?xf32>
  return %s, %t : tensor<?xf32>, tensor<?xf32>
}

// -----

// Equal terms are added up, also before bounds are used: n + (n - 1) - n + 1 is n.
// CHECK-LABEL: func.func @main(
// CHECK:         %[[N:.*]] = array.symbol 0 : index
// CHECK:         return %{{.*}}, %[[N]]
func.func @main(%x: tensor<?xf32> {array.dims = affine_map<()[n] -> (n)>}) -> (tensor<?xf32>, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = array.symbol 0 : index
  %less = arith.subi %n, %c1 : index
  %padded = arith.addi %n, %less : index
  %windows = arith.subi %padded, %n : index
  %count = arith.addi %windows, %c1 : index
  %size = arith.maxsi %count, %c0 : index
  return %x, %size : tensor<?xf32>, index
}

// -----

// The size of a `?` that is a known number: a module of symbolic sizes, called with an array of fixed ones.
// CHECK-LABEL: func.func @main(
// CHECK-NOT:     tensor.dim
// CHECK:         %[[N:.*]] = arith.constant 3 : index
// CHECK-NOT:     tensor.dim
// CHECK:         tensor.empty(%[[N]])
func.func @main(%x: tensor<3x4xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %y = tensor.cast %x : tensor<3x4xf32> to tensor<?x4xf32>
  %n = tensor.dim %y, %c0 : tensor<?x4xf32>
  %a = tensor.empty(%n) : tensor<?xf32>
  return %a : tensor<?xf32>
}
