// RUN: array-opt %s --pass-pipeline='builtin.module(func.func(array-scalarize-carries))' --split-input-file | FileCheck %s

#id = affine_map<(i) -> (i)>
#back = affine_map<(i) -> (1 - i)>

// The elements are carried. Reads of an array from before the loop are there; a row of a larger result gets them at once.
// CHECK-LABEL: func.func @pair(
// CHECK-SAME:      %[[Y:.*]]: tensor<2xf32>, %[[W:.*]]: tensor<2x8xf32>, %[[ROWS:.*]]: tensor<9x2xf32>)
// CHECK-DAG:     %[[A:.*]] = tensor.extract %[[Y]][%c0{{.*}}]
// CHECK-DAG:     %[[B:.*]] = tensor.extract %[[Y]][%c1{{.*}}]
// CHECK-DAG:     %[[W0:.*]] = tensor.extract %[[W]]
// CHECK:         %[[LOOP:.*]]:3 = scf.for {{.*}} iter_args(%[[P:.*]] = %[[A]], %[[Q:.*]] = %[[B]], %{{.*}} = %[[ROWS]]) -> (f32, f32, tensor<9x2xf32>)
// CHECK:           %[[S:.*]] = arith.addf %[[Q]], %{{.*}}
// CHECK:           %[[T:.*]] = arith.addf %[[P]], %{{.*}}
// CHECK:           tensor.from_elements %[[S]], %[[T]] : tensor<2xf32>
// CHECK:           tensor.insert_slice
// CHECK:           scf.yield %[[S]], %[[T]], %{{.*}} : f32, f32, tensor<9x2xf32>
// CHECK:         %[[LAST:.*]] = tensor.from_elements %[[LOOP]]#0, %[[LOOP]]#1 : tensor<2xf32>
// CHECK:         return %[[LAST]], %[[LOOP]]#2
func.func @pair(%y: tensor<2xf32>, %w: tensor<2x8xf32>, %rows: tensor<9x2xf32>) -> (tensor<2xf32>, tensor<9x2xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %nine = arith.constant 9 : index
  %r:2 = scf.for %i = %zero to %nine step %one iter_args(%c = %y, %s = %rows) -> (tensor<2xf32>, tensor<9x2xf32>) {
    %e = tensor.empty() : tensor<2xf32>
    %n = linalg.generic {indexing_maps = [#back, affine_map<(i) -> (i, 3)>, #id], iterator_types = ["parallel"]}
        ins(%c, %w : tensor<2xf32>, tensor<2x8xf32>) outs(%e : tensor<2xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %t = arith.addf %a, %b : f32
      linalg.yield %t : f32
    } -> tensor<2xf32>
    %t = tensor.insert_slice %n into %s[%i, 0] [1, 2] [1, 1] : tensor<2xf32> into tensor<9x2xf32>
    scf.yield %n, %t : tensor<2xf32>, tensor<9x2xf32>
  }
  return %r#0, %r#1 : tensor<2xf32>, tensor<9x2xf32>
}

// -----

// A while loop; the sum of few elements is a chain.
// CHECK-LABEL: func.func @until(
// CHECK:         scf.while (%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) : (f32, f32) -> (f32, f32) {
// CHECK:           %[[ONE:.*]] = arith.addf
// CHECK:           %[[TWO:.*]] = arith.addf %[[ONE]]
// CHECK:           scf.condition
// CHECK:         } do {
// CHECK:           scf.yield %{{.*}}, %{{.*}} : f32, f32
func.func @until(%y: tensor<2xf32>, %limit: f32) -> tensor<2xf32> {
  %z = arith.constant 0.0 : f32
  %r = scf.while (%c = %y) : (tensor<2xf32>) -> tensor<2xf32> {
    %e = tensor.empty() : tensor<f32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<f32>) -> tensor<f32>
    %s = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
        ins(%c : tensor<2xf32>) outs(%f : tensor<f32>) {
    ^bb0(%a: f32, %o: f32):
      %t = arith.addf %o, %a : f32
      linalg.yield %t : f32
    } -> tensor<f32>
    %v = tensor.extract %s[] : tensor<f32>
    %more = arith.cmpf olt, %v, %limit : f32
    scf.condition(%more) %c : tensor<2xf32>
  } do {
  ^bb0(%c: tensor<2xf32>):
    %e = tensor.empty() : tensor<2xf32>
    %n = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%c : tensor<2xf32>) outs(%e : tensor<2xf32>) {
    ^bb0(%a: f32, %o: f32):
      %t = arith.addf %a, %a : f32
      linalg.yield %t : f32
    } -> tensor<2xf32>
    scf.yield %n : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}

// -----

// An element at an index that the program computes needs memory; five elements are too many.
// CHECK-LABEL: func.func @others(
// CHECK:         scf.for {{.*}} -> (tensor<2xf32>)
// CHECK:         scf.for {{.*}} -> (tensor<5xf32>)
func.func @others(%y: tensor<2xf32>, %z: tensor<5xf32>, %k: index) -> (tensor<2xf32>, tensor<5xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %nine = arith.constant 9 : index
  %r = scf.for %i = %zero to %nine step %one iter_args(%c = %y) -> (tensor<2xf32>) {
    %v = tensor.extract %c[%k] : tensor<2xf32>
    %n = tensor.insert %v into %c[%k] : tensor<2xf32>
    scf.yield %n : tensor<2xf32>
  }
  %s = scf.for %i = %zero to %nine step %one iter_args(%c = %z) -> (tensor<5xf32>) {
    %e = tensor.empty() : tensor<5xf32>
    %n = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%c : tensor<5xf32>) outs(%e : tensor<5xf32>) {
    ^bb0(%a: f32, %o: f32):
      %t = arith.addf %a, %a : f32
      linalg.yield %t : f32
    } -> tensor<5xf32>
    scf.yield %n : tensor<5xf32>
  }
  return %r, %s : tensor<2xf32>, tensor<5xf32>
}
