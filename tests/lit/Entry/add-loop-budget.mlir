// RUN: array-opt %s --array-add-loop-budget --split-input-file | FileCheck %s

// Each trip spends its operations: a comparison and a sum.
// CHECK:       module attributes {array.loop_budget}
// CHECK-LABEL: func.func @main
// CHECK:         scf.while
// CHECK-NEXT:      array.spend 2
// CHECK-NEXT:      arith.cmpf
func.func @main(%x: memref<f32> {array.role = "argument"}, %r: memref<f32> {array.role = "result"}) {
  %limit = arith.constant 100.0 : f32
  %start = memref.load %x[] : memref<f32>
  %end = scf.while (%value = %start) : (f32) -> f32 {
    %small = arith.cmpf olt, %value, %limit : f32
    scf.condition(%small) %value : f32
  } do {
  ^bb0(%value: f32):
    %next = arith.addf %value, %value : f32
    scf.yield %next : f32
  }
  memref.store %end, %r[] : memref<f32>
  return
}

// -----

// A vector is one operation, an inner loop counts its iterations (8 of four and its own), a kernel its contents, a
// library call a hundred thousand; an inner loop of unknown length counts for itself.
// CHECK:       module attributes {array.loop_budget}
// CHECK-LABEL: func.func @main
// CHECK:         scf.while
// CHECK-NEXT:      array.spend 100043
// CHECK:           scf.while
// CHECK-NEXT:        array.spend 1
func.func private @kernel(%a: memref<64xf32>) attributes {array.kernel} {
  %zero = arith.constant 0 : index
  %one = vector.load %a[%zero] : memref<64xf32>, vector<8xf32>
  vector.store %one, %a[%zero] : memref<64xf32>, vector<8xf32>
  return
}
func.func @main(%a: memref<64xf32> {array.role = "arena"}, %go: memref<i1> {array.role = "argument"}) {
  %zero = arith.constant 0 : index
  %eight = arith.constant 8 : index
  %all = arith.constant 64 : index
  scf.while : () -> () {
    %on = memref.load %go[] : memref<i1>
    scf.condition(%on)
  } do {
    scf.for %i = %zero to %all step %eight {
      %x = vector.load %a[%i] : memref<64xf32>, vector<8xf32>
      %y = arith.mulf %x, %x : vector<8xf32>
      %z = arith.addf %y, %x : vector<8xf32>
      vector.store %z, %a[%i] : memref<64xf32>, vector<8xf32>
    }
    func.call @kernel(%a) : (memref<64xf32>) -> ()
    array.runtime_call "sort" params = [0, 1, 1] element_types = [f32, f32]
      ins(%a : memref<64xf32>) outs(%a : memref<64xf32>)
    scf.while : () -> () {
      %on = memref.load %go[] : memref<i1>
      scf.condition(%on)
    } do {
      scf.yield
    }
    scf.yield
  }
  return
}

// -----

// Nothing to count: how long it takes is known.
// CHECK-NOT: loop_budget
// CHECK-NOT: array.spend
func.func @main(%x: memref<f32> {array.role = "argument"}, %r: memref<f32> {array.role = "result"}) {
  memref.copy %x, %r : memref<f32> to memref<f32>
  return
}

// -----

// A run that writes an argument's memory cannot be repeated.
// CHECK-NOT: loop_budget
// CHECK-NOT: array.spend
func.func @main(%x: memref<f32> {array.role = "argument", array.written}) {
  %limit = arith.constant 100.0 : f32
  scf.while : () -> () {
    %value = memref.load %x[] : memref<f32>
    %small = arith.cmpf olt, %value, %limit : f32
    scf.condition(%small)
  } do {
    memref.store %limit, %x[] : memref<f32>
    scf.yield
  }
  return
}

// -----

// Nor may a callback be called twice.
// CHECK-NOT: loop_budget
// CHECK-NOT: array.spend
func.func @main(%go: memref<i1> {array.role = "argument"}) {
  scf.while : () -> () {
    %on = memref.load %go[] : memref<i1>
    scf.condition(%on)
  } do {
    array.runtime_call "host_call" effectful params = [0] element_types = [i1] ins(%go : memref<i1>)
    scf.yield
  }
  return
}

// -----

// Only @main has a frame.
// CHECK-NOT: loop_budget
// CHECK-NOT: array.spend
func.func private @kernel(%go: memref<i1>) attributes {array.kernel} {
  scf.while : () -> () {
    %on = memref.load %go[] : memref<i1>
    scf.condition(%on)
  } do {
    scf.yield
  }
  return
}
func.func @main(%go: memref<i1> {array.role = "argument"}) {
  func.call @kernel(%go) : (memref<i1>) -> ()
  return
}
