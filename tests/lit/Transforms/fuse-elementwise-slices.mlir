// RUN: array-opt %s --pass-pipeline="builtin.module(func.func(array-fuse-elementwise))" --split-input-file | FileCheck %s

#id = affine_map<(i) -> (i)>

// Second differences: the first ones are computed again at each place, and the slices of slices are slices of x.
// CHECK-LABEL: func.func @differences(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<100xf32>)
// CHECK-DAG:     tensor.extract_slice %[[X]][2] [98] [1]
// CHECK-DAG:     tensor.extract_slice %[[X]][1] [98] [1]
// CHECK-DAG:     tensor.extract_slice %[[X]][0] [98] [1]
// CHECK:         linalg.generic
// CHECK-SAME:      ins(%{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}} : tensor<98xf32>, tensor<98xf32>, tensor<98xf32>)
// CHECK-COUNT-3:   arith.subf
// CHECK-NOT:     linalg.generic
func.func @differences(%x: tensor<100xf32>) -> tensor<98xf32> {
  %x1 = tensor.extract_slice %x[1] [99] [1] : tensor<100xf32> to tensor<99xf32>
  %x0 = tensor.extract_slice %x[0] [99] [1] : tensor<100xf32> to tensor<99xf32>
  %e = tensor.empty() : tensor<99xf32>
  %d = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x1, %x0 : tensor<99xf32>, tensor<99xf32>) outs(%e : tensor<99xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.subf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<99xf32>
  %d1 = tensor.extract_slice %d[1] [98] [1] : tensor<99xf32> to tensor<98xf32>
  %d0 = tensor.extract_slice %d[0] [98] [1] : tensor<99xf32> to tensor<98xf32>
  %e2 = tensor.empty() : tensor<98xf32>
  %dd = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%d1, %d0 : tensor<98xf32>, tensor<98xf32>) outs(%e2 : tensor<98xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.subf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<98xf32>
  return %dd : tensor<98xf32>
}

// -----

#id = affine_map<(i) -> (i)>

// An expensive value is computed once.
// CHECK-LABEL: func.func @expensive(
// CHECK:         math.exp
// CHECK-NOT:     math.exp
func.func @expensive(%x: tensor<100xf32>) -> tensor<97xf32> {
  %e = tensor.empty() : tensor<100xf32>
  %d = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<100xf32>) outs(%e : tensor<100xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32
  } -> tensor<100xf32>
  %d2 = tensor.extract_slice %d[3] [97] [1] : tensor<100xf32> to tensor<97xf32>
  %d1 = tensor.extract_slice %d[1] [97] [1] : tensor<100xf32> to tensor<97xf32>
  %d0 = tensor.extract_slice %d[0] [97] [1] : tensor<100xf32> to tensor<97xf32>
  %e2 = tensor.empty() : tensor<97xf32>
  %dd = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%d2, %d1, %d0 : tensor<97xf32>, tensor<97xf32>, tensor<97xf32>) outs(%e2 : tensor<97xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %s = arith.subf %a, %b : f32
    %t = arith.addf %s, %c : f32
    linalg.yield %t : f32
  } -> tensor<97xf32>
  return %dd : tensor<97xf32>
}
