// RUN: array-opt %s --array-fuse-elementwise | FileCheck %s

#id = affine_map<(d0) -> (d0)>
// A root, or a quotient, with two readers is stored once: a divider is slower than a trip through a cache. One by a
// constant is computed for each.
// CHECK-LABEL: func @roots(
// CHECK:         math.sqrt
// CHECK:         linalg.yield
// CHECK-NOT:     math.sqrt
// CHECK:         return
func.func @roots(%x: tensor<1000xf64>) -> (tensor<1000xf64>, tensor<1000xf64>) {
  %e = tensor.empty() : tensor<1000xf64>
  %one = arith.constant 1.0 : f64
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<1000xf64>) outs(%e : tensor<1000xf64>) {
  ^bb0(%a: f64, %out: f64):
    %0 = math.sqrt %a : f64
    linalg.yield %0 : f64
  } -> tensor<1000xf64>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%r : tensor<1000xf64>) outs(%e : tensor<1000xf64>) {
  ^bb0(%a: f64, %out: f64):
    %0 = arith.addf %a, %one : f64
    linalg.yield %0 : f64
  } -> tensor<1000xf64>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%r : tensor<1000xf64>) outs(%e : tensor<1000xf64>) {
  ^bb0(%a: f64, %out: f64):
    %0 = arith.subf %a, %one : f64
    linalg.yield %0 : f64
  } -> tensor<1000xf64>
  return %s, %t : tensor<1000xf64>, tensor<1000xf64>
}

// CHECK-LABEL: func @constant_quotients(
// CHECK-COUNT-2: arith.divf
func.func @constant_quotients(%x: tensor<1000xf64>) -> (tensor<1000xf64>, tensor<1000xf64>) {
  %e = tensor.empty() : tensor<1000xf64>
  %one = arith.constant 1.0 : f64
  %ten = arith.constant 10.0 : f64
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<1000xf64>) outs(%e : tensor<1000xf64>) {
  ^bb0(%a: f64, %out: f64):
    %0 = arith.divf %a, %ten : f64
    linalg.yield %0 : f64
  } -> tensor<1000xf64>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%r : tensor<1000xf64>) outs(%e : tensor<1000xf64>) {
  ^bb0(%a: f64, %out: f64):
    %0 = arith.addf %a, %one : f64
    linalg.yield %0 : f64
  } -> tensor<1000xf64>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%r : tensor<1000xf64>) outs(%e : tensor<1000xf64>) {
  ^bb0(%a: f64, %out: f64):
    %0 = arith.subf %a, %one : f64
    linalg.yield %0 : f64
  } -> tensor<1000xf64>
  return %s, %t : tensor<1000xf64>, tensor<1000xf64>
}
