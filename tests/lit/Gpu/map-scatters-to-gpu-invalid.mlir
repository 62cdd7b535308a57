// RUN: array-opt %s --array-map-scatters-to-gpu --split-input-file --verify-diagnostics

func.func @no_kind(%keys: memref<20xi64>, %x: memref<10xi64>) {
  // expected-error @+1 {{'array.scatter' is of an op of keys and updates into one operand, and names its 'kind' and 'element'}}
  linalg.generic {array.scatter = {element = i64},
                  indexing_maps = [affine_map<(r, p) -> (p)>, affine_map<(r, p) -> (p)>, affine_map<(r, p) -> (r)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%keys, %keys : memref<20xi64>, memref<20xi64>) outs(%x : memref<10xi64>) {
  ^bb0(%key: i64, %update: i64, %old: i64):
    linalg.yield %old : i64
  }
  return
}

// -----

func.func @too_many(%keys: memref<2147483648xi64>, %updates: memref<2147483648xi8>, %x: memref<10xi8>) {
  // expected-error @+1 {{a scatter on a GPU has at most 2147483647 updates, but this one has 2147483648: cut it}}
  linalg.generic {array.scatter = {kind = "set", element = i8},
                  indexing_maps = [affine_map<(r, p) -> (p)>, affine_map<(r, p) -> (p)>, affine_map<(r, p) -> (r)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%keys, %updates : memref<2147483648xi64>, memref<2147483648xi8>) outs(%x : memref<10xi8>) {
  ^bb0(%key: i64, %update: i8, %old: i8):
    linalg.yield %old : i8
  }
  return
}
