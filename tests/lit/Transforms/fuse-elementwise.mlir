// RUN: array-opt %s --pass-pipeline='builtin.module(func.func(array-fuse-elementwise))' --split-input-file | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
#column = affine_map<(i, j) -> (i)>

// A chain ends in the reduction that reads it; splat constants become scalars of the body.
// CHECK-LABEL: func @chain_into_sum
// CHECK-SAME: (%[[X:.*]]: tensor<8x16xf32>, %[[Y:.*]]: tensor<8x16xf32>)
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "reduction"]
// CHECK-SAME: ins(%[[X]], %[[Y]] : tensor<8x16xf32>, tensor<8x16xf32>)
// CHECK: arith.mulf
// CHECK: arith.addf {{.*}}%cst
// CHECK: arith.addf
// CHECK-NOT: linalg.generic
func.func @chain_into_sum(%x: tensor<8x16xf32>, %y: tensor<8x16xf32>) -> tensor<8xf32> {
  %one = arith.constant dense<1.0> : tensor<8x16xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x16xf32>
  %xy = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<8x16xf32>, tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b fastmath<contract> : f32
    linalg.yield %0 : f32
  } -> tensor<8x16xf32>
  %plus = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%xy, %one : tensor<8x16xf32>, tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.addf %a, %b fastmath<contract> : f32
    linalg.yield %0 : f32
  } -> tensor<8x16xf32>
  %r = tensor.empty() : tensor<8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%r : tensor<8xf32>) -> tensor<8xf32>
  %sum = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["parallel", "reduction"]}
      ins(%plus : tensor<8x16xf32>) outs(%init : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %o, %a fastmath<reassoc,contract> : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  return %sum : tensor<8xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
#vector = affine_map<(i) -> (i)>

// A broadcast is a map of its consumer, but expensive values are not recomputed for every row.
// CHECK-LABEL: func @broadcast
// CHECK: %[[EXP:.*]] = linalg.generic {{.*}} ins(%arg1 : tensor<16xf32>)
// CHECK: math.exp
// CHECK: linalg.generic
// CHECK-SAME: ins(%arg0, %[[EXP]] : tensor<8x16xf32>, tensor<16xf32>)
// CHECK: arith.addf
// CHECK-NOT: linalg.generic
func.func @broadcast(%x: tensor<8x16xf32>, %y: tensor<16xf32>) -> tensor<8x16xf32> {
  %v = tensor.empty() : tensor<16xf32>
  %e = tensor.empty() : tensor<8x16xf32>
  %exp = linalg.generic {indexing_maps = [#vector, #vector], iterator_types = ["parallel"]}
      ins(%y : tensor<16xf32>) outs(%v : tensor<16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<16xf32>
  %rows = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%exp : tensor<16xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<8x16xf32>
  %sum = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %rows : tensor<8x16xf32>, tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.addf %a, %b fastmath<contract> : f32
    linalg.yield %0 : f32
  } -> tensor<8x16xf32>
  return %sum : tensor<8x16xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#transposed = affine_map<(i, j) -> (j, i)>

// CHECK-DAG: #[[ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[T:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func @transpose
// CHECK: linalg.generic {indexing_maps = [#[[ID]], #[[T]], #[[ID]]]
// CHECK-SAME: ins(%arg0, %arg1
// CHECK-NOT: linalg.generic
func.func @transpose(%x: tensor<8x16xf32>, %y: tensor<16x8xf32>) -> tensor<8x16xf32> {
  %e = tensor.empty() : tensor<8x16xf32>
  %t = linalg.generic {indexing_maps = [#transposed, #id], iterator_types = ["parallel", "parallel"]}
      ins(%y : tensor<16x8xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<8x16xf32>
  %sum = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %t : tensor<8x16xf32>, tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<8x16xf32>
  return %sum : tensor<8x16xf32>
}

// -----

#id = affine_map<(i) -> (i)>

// With two consumers, the cheap producer is fused into both and the expensive one into none.
// CHECK-LABEL: func @two_consumers
// CHECK: %[[TANH:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<16xf32>)
// CHECK: math.tanh
// CHECK: %[[A:.*]] = linalg.generic {{.*}} ins(%[[TANH]] : tensor<16xf32>)
// CHECK: arith.negf
// CHECK: math.exp
// CHECK: %[[B:.*]] = linalg.generic {{.*}} ins(%[[TANH]] : tensor<16xf32>)
// CHECK: arith.negf
// CHECK: math.absf
// CHECK: return %[[A]], %[[B]]
func.func @two_consumers(%x: tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
  %e = tensor.empty() : tensor<16xf32>
  %tanh = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<16xf32>) outs(%e : tensor<16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.tanh %a : f32
    linalg.yield %0 : f32
  } -> tensor<16xf32>
  %neg = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%tanh : tensor<16xf32>) outs(%e : tensor<16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  } -> tensor<16xf32>
  %exp = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%neg : tensor<16xf32>) outs(%e : tensor<16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<16xf32>
  %abs = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%neg : tensor<16xf32>) outs(%e : tensor<16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.absf %a : f32
    linalg.yield %0 : f32
  } -> tensor<16xf32>
  return %exp, %abs : tensor<16xf32>, tensor<16xf32>
}

// -----

#lhs = affine_map<(i, j, k) -> (i, k)>
#rhs = affine_map<(i, j, k) -> (k, j)>
#out = affine_map<(i, j, k) -> (i, j)>
#id = affine_map<(i, j) -> (i, j)>

// A contraction stays plain: nothing is computed while its operands are read, and a constant matrix stays a matrix.
// CHECK-LABEL: func @contraction
// CHECK: %[[ONES:.*]] = arith.constant dense<1.000000e+00> : tensor<16x4xf32>
// CHECK: %[[NEG:.*]] = linalg.generic
// CHECK: arith.negf
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK-SAME: ins(%[[NEG]], %[[ONES]]
func.func @contraction(%x: tensor<8x16xf32>, %init: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %y = arith.constant dense<1.0> : tensor<16x4xf32>
  %e = tensor.empty() : tensor<8x16xf32>
  %neg = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  } -> tensor<8x16xf32>
  %dot = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%neg, %y : tensor<8x16xf32>, tensor<16x4xf32>) outs(%init : tensor<8x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x4xf32>
  return %dot : tensor<8x4xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#kept = affine_map<(i, j) -> (i, 0)>

// A mean that keeps its dimension is read as it is.
// CHECK-DAG: #[[ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[COLUMN:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func @unit_reshape
// CHECK-NOT: tensor.expand_shape
// CHECK: linalg.generic {indexing_maps = [#[[ID]], #[[COLUMN]], #[[ID]]]
// CHECK-SAME: ins(%arg0, %arg1 : tensor<?x16xf32>, tensor<?xf32>)
func.func @unit_reshape(%x: tensor<?x16xf32>, %m: tensor<?xf32>, %n: index) -> tensor<?x16xf32> {
  %e = tensor.empty(%n) : tensor<?x16xf32>
  %kept = tensor.expand_shape %m [[0, 1]] output_shape [%n, 1] : tensor<?xf32> into tensor<?x1xf32>
  %sum = linalg.generic {indexing_maps = [#id, #kept, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %kept : tensor<?x16xf32>, tensor<?x1xf32>) outs(%e : tensor<?x16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.subf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<?x16xf32>
  return %sum : tensor<?x16xf32>
}

// -----

#vector = affine_map<(i) -> (i)>

// x, y = y, rem(x, y): all but the last two have a second consumer until that has taken in the others.
// CHECK-LABEL: func @long_chain
// CHECK-COUNT-1: linalg.generic
// CHECK-COUNT-12: arith.remsi
// CHECK-NOT: linalg.generic
// CHECK-NOT: arith.remsi
func.func @long_chain(%v0: tensor<16xi32>, %v1: tensor<16xi32>) -> tensor<16xi32> {
  %e = tensor.empty() : tensor<16xi32>
  %v2 = linalg.generic {indexing_maps = [#vector, #vector, #vector], iterator_types = ["parallel"]}
      ins(%v0, %v1 : tensor<16xi32>, tensor<16xi32>) outs(%e : tensor<16xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %0 = arith.remsi %a, %b : i32
    linalg.yield %0 : i32
  } -> tensor<16xi32>
  %v3 = linalg.generic {indexing_maps = [#vector, #vector, #vector], iterator_types = ["parallel"]}
      ins(%v1, %v2 : tensor<16xi32>, tensor<16xi32>) outs(%e : tensor<16xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %0 = arith.remsi %a, %b : i32
    linalg.yield %0 : i32
  } -> tensor<16xi32>
  %v4 = linalg.generic {indexing_maps = [#vector, #vector, #vector], iterator_types = ["parallel"]}
      ins(%v2, %v3 : tensor<16xi32>, tensor<16xi32>) outs(%e : tensor<16xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %0 = arith.remsi %a, %b : i32
    linalg.yield %0 : i32
  } -> tensor<16xi32>
  %v5 = linalg.generic {indexing_maps = [#vector, #vector, #vector], iterator_types = ["parallel"]}
      ins(%v3, %v4 : tensor<16xi32>, tensor<16xi32>) outs(%e : tensor<16xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %0 = arith.remsi %a, %b : i32
    linalg.yield %0 : i32
  } -> tensor<16xi32>
  %v6 = linalg.generic {indexing_maps = [#vector, #vector, #vector], iterator_types = ["parallel"]}
      ins(%v4, %v5 : tensor<16xi32>, tensor<16xi32>) outs(%e : tensor<16xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %0 = arith.remsi %a, %b : i32
    linalg.yield %0 : i32
  } -> tensor<16xi32>
  %v7 = linalg.generic {indexing_maps = [#vector, #vector, #vector], iterator_types = ["parallel"]}
      ins(%v5, %v6 : tensor<16xi32>, tensor<16xi32>) outs(%e : tensor<16xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %0 = arith.remsi %a, %b : i32
    linalg.yield %0 : i32
  } -> tensor<16xi32>
  %v8 = linalg.generic {indexing_maps = [#vector, #vector, #vector], iterator_types = ["parallel"]}
      ins(%v6, %v7 : tensor<16xi32>, tensor<16xi32>) outs(%e : tensor<16xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %0 = arith.remsi %a, %b : i32
    linalg.yield %0 : i32
  } -> tensor<16xi32>
  %v9 = linalg.generic {indexing_maps = [#vector, #vector, #vector], iterator_types = ["parallel"]}
      ins(%v7, %v8 : tensor<16xi32>, tensor<16xi32>) outs(%e : tensor<16xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %0 = arith.remsi %a, %b : i32
    linalg.yield %0 : i32
  } -> tensor<16xi32>
  %v10 = linalg.generic {indexing_maps = [#vector, #vector, #vector], iterator_types = ["parallel"]}
      ins(%v8, %v9 : tensor<16xi32>, tensor<16xi32>) outs(%e : tensor<16xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %0 = arith.remsi %a, %b : i32
    linalg.yield %0 : i32
  } -> tensor<16xi32>
  %v11 = linalg.generic {indexing_maps = [#vector, #vector, #vector], iterator_types = ["parallel"]}
      ins(%v9, %v10 : tensor<16xi32>, tensor<16xi32>) outs(%e : tensor<16xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %0 = arith.remsi %a, %b : i32
    linalg.yield %0 : i32
  } -> tensor<16xi32>
  %v12 = linalg.generic {indexing_maps = [#vector, #vector, #vector], iterator_types = ["parallel"]}
      ins(%v10, %v11 : tensor<16xi32>, tensor<16xi32>) outs(%e : tensor<16xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %0 = arith.remsi %a, %b : i32
    linalg.yield %0 : i32
  } -> tensor<16xi32>
  %v13 = linalg.generic {indexing_maps = [#vector, #vector, #vector], iterator_types = ["parallel"]}
      ins(%v11, %v12 : tensor<16xi32>, tensor<16xi32>) outs(%e : tensor<16xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %0 = arith.remsi %a, %b : i32
    linalg.yield %0 : i32
  } -> tensor<16xi32>
  return %v13 : tensor<16xi32>
}

// The variance of a large array is that of blocks: their first elements, then one sweep for the sums of the deviations
// from those and of their squares, then the differences between the blocks. A small array is read twice.
// CHECK-LABEL: func @variance
// CHECK:         %[[X:.*]] = tensor.expand_shape %{{.*}} : tensor<65536xf32> into tensor<8x8192xf32>
// CHECK:         %[[FIRST:.*]] = tensor.extract_slice %[[X]][0, 0] [8, 64] [1, 1]
// CHECK:         %[[CENTER:.*]] = linalg.generic {{.*}} ins(%[[FIRST]] :
// CHECK:         %[[SUMS:.*]]:2 = linalg.generic {{.*}} ins(%[[X]], %[[CENTER]] :
// CHECK:           arith.subf
// CHECK:         %[[TOTAL:.*]] = linalg.generic {{.*}} ins(%[[CENTER]], %[[SUMS]]#0 :
// CHECK:         %[[R:.*]] = linalg.generic {{.*}} ins(%[[CENTER]], %[[SUMS]]#0, %[[SUMS]]#1, %[[TOTAL]] :
// CHECK-NOT:     linalg.generic
// CHECK:         return %[[R]]
func.func @variance(%x: tensor<65536xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<f32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<f32>) -> tensor<f32>
  %sum = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<65536xf32>) outs(%init : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %out, %in fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  %squares = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> ()>],
                             iterator_types = ["reduction"]}
      ins(%x, %sum : tensor<65536xf32>, tensor<f32>) outs(%init : tensor<f32>) {
  ^bb0(%in: f32, %total: f32, %out: f32):
    %inverse = arith.constant 1.52587890625e-05 : f32
    %mean = arith.mulf %total, %inverse : f32
    %d = arith.subf %in, %mean : f32
    %q = arith.mulf %d, %d : f32
    %s = arith.addf %out, %q fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %squares : tensor<f32>
}

// CHECK-LABEL: func @small_variance
// CHECK-NOT:     tensor.expand_shape
// CHECK:         return
func.func @small_variance(%x: tensor<1024xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<f32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<f32>) -> tensor<f32>
  %sum = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<1024xf32>) outs(%init : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %out, %in fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  %squares = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> ()>],
                             iterator_types = ["reduction"]}
      ins(%x, %sum : tensor<1024xf32>, tensor<f32>) outs(%init : tensor<f32>) {
  ^bb0(%in: f32, %total: f32, %out: f32):
    %inverse = arith.constant 0.0009765625 : f32
    %mean = arith.mulf %total, %inverse : f32
    %d = arith.subf %in, %mean : f32
    %q = arith.mulf %d, %d : f32
    %s = arith.addf %out, %q fastmath<reassoc> : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %squares : tensor<f32>
}

// An op that adds to its result is not computed for each element of a broadcast: each would add again.
// CHECK-LABEL: func @broadcast_of_a_sum
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = []
// CHECK: arith.addf
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel"]
// CHECK-NOT: arith.addf
// CHECK: return
func.func @broadcast_of_a_sum(%x: tensor<f32>) -> tensor<2xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<f32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<f32>) -> tensor<f32>
  %sum = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []}
      ins(%x : tensor<f32>) outs(%init : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %out, %in : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  %wide = tensor.empty() : tensor<2xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%sum : tensor<f32>) outs(%wide : tensor<2xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<2xf32>
  return %r : tensor<2xf32>
}
