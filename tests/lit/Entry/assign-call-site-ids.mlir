// RUN: array-opt %s --array-assign-call-site-ids --split-input-file | FileCheck %s

// Each op at each place has one id, from 1; a special function has its own name; the place of inlined code is its own.
// Operations that cannot fail get no id.
// CHECK-LABEL: module
// CHECK-SAME:    array.call_sites = {{\[\[}}"sort", "model.py:3"], ["lgamma", "model.py:7"], ["sort", ""], ["sort", "inner.py:1"]]
// CHECK:         array.runtime_call "sort" {{.*}} {array.call_site = 1 : i64}
// CHECK:         array.runtime_call "special" {{.*}} {array.call_site = 2 : i64}
// CHECK:         array.runtime_call "sort" {{.*}} {array.call_site = 1 : i64}
// CHECK:         array.runtime_call "sort" {{.*}} {array.call_site = 3 : i64}
// CHECK:         array.runtime_call "sort" {{.*}} {array.call_site = 4 : i64}
// CHECK:         memref.copy
// CHECK-NOT:     array.site
func.func @main(%x: memref<4xf32>, %r: memref<4xf32>) {
  array.runtime_call "sort" params = [0, 1, 1] element_types = [f32, f32]
    ins(%x : memref<4xf32>) outs(%r : memref<4xf32>) loc("model.py":3:5)
  array.runtime_call "special" params = [0] element_types = [f32, f32]
    ins(%x : memref<4xf32>) outs(%r : memref<4xf32>) loc(fused["array", "model.py":7:9])
  array.runtime_call "sort" params = [0, 1, 1] element_types = [f32, f32]
    ins(%x : memref<4xf32>) outs(%r : memref<4xf32>) loc("f"("model.py":3:5))
  array.runtime_call "sort" params = [0, 1, 1] element_types = [f32, f32]
    ins(%x : memref<4xf32>) outs(%r : memref<4xf32>) loc(unknown)
  array.runtime_call "sort" params = [0, 1, 1] element_types = [f32, f32]
    ins(%x : memref<4xf32>) outs(%r : memref<4xf32>) loc(callsite("inner.py":1:1 at "outer.py":2:2))
  memref.copy %x, %r : memref<4xf32> to memref<4xf32> loc("model.py":9:1)
  return
}

// -----

// CHECK-LABEL: module
// CHECK-NOT:     array.call_sites
// CHECK:         func.func @main
func.func @main(%x: memref<4xf32>) {
  return
}

// -----

// A file may name a place in bytes that are no text: they are replaced, so that Python can read the table.
// CHECK-LABEL: module
// CHECK-SAME:    array.call_sites = {{\[\[}}"sort", "mo\EF\BF\BDdel.py:3"]]
func.func @main(%x: memref<4xf32>, %r: memref<4xf32>) {
  array.runtime_call "sort" params = [0, 1, 1] element_types = [f32, f32]
    ins(%x : memref<4xf32>) outs(%r : memref<4xf32>) loc("mo\ABdel.py":3:5)
  return
}
