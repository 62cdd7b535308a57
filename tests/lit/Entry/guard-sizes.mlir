// RUN: array-opt %s --pass-pipeline='builtin.module(func.func(array-resolve-sizes,array-guard-sizes))' | FileCheck %s

module attributes {array.checked} {
  // Two symbols may differ.
  // CHECK-LABEL: func.func @main
  // CHECK-DAG:     %[[N:.*]] = array.symbol 0
  // CHECK-DAG:     %[[M:.*]] = array.symbol 1
  // CHECK:         array.runtime_call "check" effectful params = [4, -1, 0, 4, 1, ?] element_types = [] sizes(%[[N]]) {array.stands_for = "tensor.empty"}
  // CHECK-NEXT:    array.runtime_call "check" effectful params = [0, 1, 0, ?, ?] element_types = [] sizes(%[[M]], %[[N]]) {array.stands_for = "linalg.add"}
  // CHECK-NOT:     runtime_call
  // CHECK:         tensor.empty(%[[N]])
  // CHECK:         linalg.add
  // CHECK-NOT:     runtime_call
  // CHECK:         linalg.add
  func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
    %zero = arith.constant 0 : index
    %n = tensor.dim %x, %zero : tensor<?xf32>
    %init = tensor.empty(%n) : tensor<?xf32>
    %s = linalg.add ins(%x, %y : tensor<?xf32>, tensor<?xf32>) outs(%init : tensor<?xf32>) -> tensor<?xf32>
    // The sizes of one thing are equal.
    %other = tensor.empty(%n) : tensor<?xf32>
    %t = linalg.add ins(%x, %s : tensor<?xf32>, tensor<?xf32>) outs(%other : tensor<?xf32>) -> tensor<?xf32>
    return %t : tensor<?xf32>
  }

  // A branch computes into the memory of the result: it checks its sizes first.
  // CHECK-LABEL: func.func @branches
  // CHECK:         scf.if
  // CHECK:         else
  // CHECK:           array.runtime_call "check" {{.*}} params = [0, 0, 0, ?, ?] {{.*}} {array.stands_for = "scf.if"}
  // CHECK-NOT:       runtime_call
  // CHECK:           linalg.exp
  func.func @branches(%p: i1, %x: tensor<?xf32> {array.dims = affine_map<()[n, m] -> (n)>},
                      %y: tensor<?xf32> {array.dims = affine_map<()[n, m] -> (m)>}) -> tensor<?xf32> {
    %m = array.symbol 1 : index
    %init = tensor.empty(%m) : tensor<?xf32>
    %r = scf.if %p -> tensor<?xf32> {
      scf.yield %x : tensor<?xf32>
    } else {
      %e = linalg.exp ins(%y : tensor<?xf32>) outs(%init : tensor<?xf32>) -> tensor<?xf32>
      scf.yield %e : tensor<?xf32>
    }
    return %r : tensor<?xf32>
  }
}
