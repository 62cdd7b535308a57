// RUN: array-opt %s --pass-pipeline='builtin.module(func.func(array-predicate-launches))' --split-input-file | FileCheck %s

// Both branches are launched; the threads of the one that is not taken return.
// CHECK-LABEL: func.func @branch(
// CHECK-SAME:    %[[C:.*]]: memref<i1>, %[[X:.*]]: memref<4xf32>
// CHECK:         %[[GO:.*]] = memref.load %[[C]][]
// CHECK:         %[[FLAG:.*]] = memref.alloc() : memref<i1>
// CHECK:         gpu.launch
// CHECK:           memref.store %[[GO]], %[[FLAG]][]
// CHECK:         } {array.launch_name = "condition"}
// CHECK-NOT:     scf.if
// CHECK:         gpu.launch
// CHECK:           %[[TAKEN:.*]] = memref.load %[[FLAG]][]
// CHECK-NEXT:      cf.cond_br %[[TAKEN]], ^[[THEN:.*]], ^[[END:.*]]
// CHECK-NEXT:    ^[[THEN]]:
// CHECK-NEXT:      memref.store
// CHECK-NEXT:      gpu.terminator
// CHECK-NEXT:    ^[[END]]:
// CHECK-NEXT:      gpu.terminator
// CHECK:         gpu.launch
// CHECK:           %[[OTHER:.*]] = memref.load %[[FLAG]][]
// CHECK-NEXT:      cf.cond_br %[[OTHER]], ^[[END:.*]], ^[[ELSE:.*]]
// CHECK-NEXT:    ^[[ELSE]]:
// CHECK-NEXT:      memref.store
func.func @branch(%c: memref<i1>, %x: memref<4xf32>, %f: f32, %g: f32) {
  %one = arith.constant 1 : index
  %go = memref.load %c[] : memref<i1>
  scf.if %go {
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
               threads(%tx, %ty, %tz) in (%sx = %one, %sy = %one, %sz = %one) {
      memref.store %f, %x[%tx] : memref<4xf32>
      gpu.terminator
    }
  } else {
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
               threads(%tx, %ty, %tz) in (%sx = %one, %sy = %one, %sz = %one) {
      memref.store %g, %x[%tx] : memref<4xf32>
      gpu.terminator
    }
  }
  return
}

// -----

// Eight trips are launched before the host looks.
// CHECK-LABEL: func.func @loop(
// CHECK-SAME:    %[[C:.*]]: memref<i1>, %[[X:.*]]: memref<4xf32>
// CHECK:         %[[FLAG:.*]] = memref.alloc() : memref<i1>
// CHECK:         memref.store %true, %[[FLAG]][]
// CHECK:         scf.while
// CHECK:           %[[TRIPS:.*]] = arith.constant 8 : index
// CHECK:           scf.for {{.*}} to %[[TRIPS]]
// CHECK:             gpu.launch
// CHECK:               %[[A:.*]] = memref.load %[[FLAG]][]
// CHECK:               cf.cond_br %[[A]]
// CHECK:               memref.store %{{.*}}, %[[C]][]
// CHECK:             %[[GO:.*]] = memref.load %[[C]][]
// CHECK:             gpu.launch
// CHECK:               %[[WAS:.*]] = memref.load %[[FLAG]][]
// CHECK:               %[[IS:.*]] = arith.andi %[[WAS]], %[[GO]]
// CHECK:               memref.store %[[IS]], %[[FLAG]][]
// CHECK:             } {array.launch_name = "condition"}
// CHECK:             gpu.launch
// CHECK:               memref.load %[[FLAG]][]
// CHECK:               memref.store %{{.*}}, %[[X]]
// CHECK:           %[[MORE:.*]] = memref.load %[[FLAG]][]
// CHECK-NEXT:      scf.condition(%[[MORE]])
func.func @loop(%c: memref<i1>, %x: memref<4xf32>, %f: f32, %b: i1) {
  %one = arith.constant 1 : index
  scf.while : () -> () {
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
               threads(%tx, %ty, %tz) in (%sx = %one, %sy = %one, %sz = %one) {
      memref.store %b, %c[] : memref<i1>
      gpu.terminator
    }
    %go = memref.load %c[] : memref<i1>
    scf.condition(%go)
  } do {
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
               threads(%tx, %ty, %tz) in (%sx = %one, %sy = %one, %sz = %one) {
      memref.store %f, %x[%tx] : memref<4xf32>
      gpu.terminator
    }
    scf.yield
  }
  return
}

// -----

// The host decides known conditions; effects of the host cannot be undone.
// CHECK-LABEL: func.func @kept(
// CHECK:         scf.if %{{.*}} {
// CHECK:         memref.load
// CHECK:         scf.if %{{.*}} {
// CHECK-NEXT:      array.runtime_call
func.func @kept(%known: i1, %c: memref<i1>, %x: memref<4xf32>, %y: memref<4xf32>, %f: f32) {
  %one = arith.constant 1 : index
  scf.if %known {
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
               threads(%tx, %ty, %tz) in (%sx = %one, %sy = %one, %sz = %one) {
      memref.store %f, %x[%tx] : memref<4xf32>
      gpu.terminator
    }
  }
  %go = memref.load %c[] : memref<i1>
  scf.if %go {
    array.runtime_call "host_call" params = [0] element_types = [f32, f32] ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
  }
  return
}

// -----

// Stack space stays in the first block, if it is not dynamic.
// CHECK-LABEL: func.func @stack(
// CHECK:         } {array.launch_name = "condition"}
// CHECK:         gpu.launch
// CHECK-NEXT:      %[[SIZE:.*]] = llvm.mlir.constant(4 : i64)
// CHECK-NEXT:      llvm.alloca %[[SIZE]] x f32
// CHECK-NEXT:      memref.load
// CHECK-NEXT:      cf.cond_br
func.func @stack(%c: memref<i1>, %f: f32) {
  %one = arith.constant 1 : index
  %go = memref.load %c[] : memref<i1>
  scf.if %go {
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %one, %gy = %one, %gz = %one)
               threads(%tx, %ty, %tz) in (%sx = %one, %sy = %one, %sz = %one) {
      %size = llvm.mlir.constant(4 : i64) : i64
      %space = llvm.alloca %size x f32 : (i64) -> !llvm.ptr
      llvm.store %f, %space : f32, !llvm.ptr
      gpu.terminator
    }
  }
  return
}
