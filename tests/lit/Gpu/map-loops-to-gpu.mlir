// RUN: array-opt %s --pass-pipeline='builtin.module(func.func(array-map-loops-to-gpu))' --split-input-file | FileCheck %s

#scalar = affine_map<() -> ()>

// A loop over a few elements is one thread's, with its condition; its temporary is allocated outside.
// CHECK-LABEL: func.func @newton(
// CHECK-SAME:    %[[X:.*]]: memref<f32>
// CHECK:         %[[T:.*]] = memref.alloc() : memref<f32>
// CHECK:         gpu.launch
// CHECK:           scf.while
// CHECK-NOT:         linalg
// CHECK:             %[[V:.*]] = memref.load %[[X]][]
// CHECK:             memref.store %{{.*}}, %[[T]][]
// CHECK:         } {array.launch_name = "loop"}
func.func @newton(%x: memref<f32>, %eps: f32) {
  scf.while : () -> () {
    %v = memref.load %x[] : memref<f32>
    %c = arith.cmpf ogt, %v, %eps : f32
    scf.condition(%c)
  } do {
    %t = memref.alloc() : memref<f32>
    linalg.generic {indexing_maps = [#scalar, #scalar], iterator_types = []} ins(%x : memref<f32>) outs(%t : memref<f32>) {
    ^bb0(%a: f32, %b: f32):
      %h = arith.mulf %a, %eps : f32
      linalg.yield %h : f32
    }
    memref.copy %t, %x : memref<f32> to memref<f32>
    scf.yield
  }
  return
}

// -----

#id = affine_map<(d0) -> (d0)>

// A loop over many elements is the host's; a small one in it is one thread's.
// CHECK-LABEL: func.func @outer(
// CHECK:         scf.for
// CHECK:           linalg.fill
// CHECK:           gpu.launch
// CHECK:             scf.for
// CHECK:           } {array.launch_name = "loop"}
func.func @outer(%x: memref<100000xf32>, %y: memref<4xf32>, %f: f32) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %ten = arith.constant 10 : index
  scf.for %i = %zero to %ten step %one {
    linalg.fill ins(%f : f32) outs(%x : memref<100000xf32>)
    scf.for %j = %zero to %ten step %one {
      linalg.fill ins(%f : f32) outs(%y : memref<4xf32>)
    }
  }
  return
}

// -----

// Calls of the runtime stay.
// CHECK-LABEL: func.func @calls(
// CHECK-NOT:     gpu.launch
// CHECK:         array.runtime_call
func.func @calls(%x: memref<4xi32>, %y: memref<4xi32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %i = %zero to %one step %one {
    array.runtime_call "sort" params = [0, 1, 1] element_types = [i32, i32] ins(%x : memref<4xi32>) outs(%y : memref<4xi32>)
  }
  return
}
