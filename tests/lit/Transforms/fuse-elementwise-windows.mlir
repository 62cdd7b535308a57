// array-fuse-elementwise on ops that read one tensor at several places.
// RUN: array-opt %s --array-fuse-elementwise --split-input-file | FileCheck %s

#id = affine_map<(d0) -> (d0)>
#even = affine_map<(d0) -> (d0 * 2)>
#odd = affine_map<(d0) -> (d0 * 2 + 1)>

// Windows that do not overlap read each element once, so a dear producer is computed in the one that reads it.
// CHECK-LABEL: func @apart
// CHECK:         linalg.generic
// CHECK-COUNT-2: math.exp
// CHECK-NOT:     linalg.generic
func.func @apart(%x: tensor<8xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  %f = tensor.empty() : tensor<4xf32>
  %z = linalg.generic {indexing_maps = [#even, #odd, #id], iterator_types = ["parallel"]}
      ins(%y, %y : tensor<8xf32>, tensor<8xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  return %z : tensor<4xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
#first = affine_map<(d0) -> (d0 * 2)>
#second = affine_map<(d0) -> (d0 * 2 + 1)>
#third = affine_map<(d0) -> (d0 * 2 + 2)>

// Windows that overlap would compute it again; a sign is computed again.
// CHECK-LABEL: func @overlapping
// CHECK:         linalg.generic
// CHECK-COUNT-1: math.exp
// CHECK:         linalg.generic
// CHECK-NOT:     math.exp
// CHECK-COUNT-3: arith.negf
// CHECK-NOT:     linalg.generic
func.func @overlapping(%x: tensor<9xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<9xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<9xf32>) outs(%e : tensor<9xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<9xf32>
  %n = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<9xf32>) outs(%e : tensor<9xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  } -> tensor<9xf32>
  %f = tensor.empty() : tensor<4xf32>
  %z = linalg.generic {indexing_maps = [#first, #second, #third, #first, #second, #third, #id], iterator_types = ["parallel"]}
      ins(%y, %y, %y, %n, %n, %n : tensor<9xf32>, tensor<9xf32>, tensor<9xf32>, tensor<9xf32>, tensor<9xf32>, tensor<9xf32>)
      outs(%f : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %g: f32, %h: f32, %o: f32):
    %0 = arith.addf %a, %b : f32
    %1 = arith.addf %0, %c : f32
    %2 = arith.addf %1, %d : f32
    %3 = arith.addf %2, %g : f32
    %4 = arith.addf %3, %h : f32
    linalg.yield %4 : f32
  } -> tensor<4xf32>
  return %z : tensor<4xf32>
}
