// RUN: array-opt %s --convert-array-to-linalg | FileCheck %s

// Bools are bytes in the carry too; the condition becomes an i1.
// CHECK-LABEL: func @while(
// CHECK-SAME: %[[P:.*]]: tensor<i8>, %[[X:.*]]: tensor<4xi32>)
func.func @while(%p: tensor<i1>, %x: tensor<4xui32>) -> (tensor<i1>, tensor<4xui32>) {
  // CHECK: %[[R:.*]]:2 = scf.while (%[[Q:.*]] = %[[P]], %[[Y:.*]] = %[[X]]) : (tensor<i8>, tensor<4xi32>) -> (tensor<i8>, tensor<4xi32>) {
  // CHECK-NEXT: %[[BYTE:.*]] = tensor.extract %[[Q]][] : tensor<i8>
  // CHECK-NEXT: %[[HOLDS:.*]] = arith.trunci %[[BYTE]] : i8 to i1
  // CHECK-NEXT: scf.condition(%[[HOLDS]]) %[[Q]], %[[Y]]
  // CHECK: } do {
  // CHECK-NEXT: ^bb0(%[[Q:.*]]: tensor<i8>, %[[Y:.*]]: tensor<4xi32>):
  // CHECK: linalg.generic
  // CHECK: arith.xori
  // CHECK: %[[Z:.*]] = linalg.generic
  // CHECK-SAME: ins(%[[Y]], %[[Y]]
  // CHECK: scf.yield %{{.*}}, %[[Z]] : tensor<i8>, tensor<4xi32>
  // CHECK: return %[[R]]#0, %[[R]]#1
  %r:2 = array.while(%p, %x) : (tensor<i1>, tensor<4xui32>) -> (tensor<i1>, tensor<4xui32>) cond {
  ^bb0(%q: tensor<i1>, %y: tensor<4xui32>):
    array.yield %q : tensor<i1>
  } body {
  ^bb0(%q: tensor<i1>, %y: tensor<4xui32>):
    %n = array.not %q : tensor<i1>
    %z = array.add %y, %y : tensor<4xui32>
    array.yield %n, %z : tensor<i1>, tensor<4xui32>
  }
  return %r#0, %r#1 : tensor<i1>, tensor<4xui32>
}

// Branches are alternatives; a third one is in the else region of the second comparison.
// CHECK-LABEL: func @cond(
// CHECK-SAME: %[[I:.*]]: tensor<i32>, %[[X:.*]]: tensor<4xi32>)
func.func @cond(%i: tensor<i32>, %x: tensor<4xui32>) -> tensor<4xui32> {
  // CHECK: %[[INDEX:.*]] = tensor.extract %[[I]][]
  // CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[INDEX]], %c0_i32
  // CHECK: %[[R:.*]] = scf.if %[[FIRST]] -> (tensor<4xi32>) {
  // CHECK-NEXT: scf.yield %[[X]]
  // CHECK-NEXT: } else {
  // CHECK: %[[SECOND:.*]] = arith.cmpi eq, %[[INDEX]], %c1_i32
  // CHECK: %[[S:.*]] = scf.if %[[SECOND]] -> (tensor<4xi32>) {
  // CHECK: arith.addi
  // CHECK: } else {
  // CHECK: arith.muli
  // CHECK: } {array.control_flow}
  // CHECK-NEXT: scf.yield %[[S]]
  // CHECK-NEXT: } {array.control_flow}
  // CHECK-NEXT: return %[[R]]
  %r = array.cond %i : (tensor<i32>) -> tensor<4xui32> {
    array.yield %x : tensor<4xui32>
  }, {
    %y = array.add %x, %x : tensor<4xui32>
    array.yield %y : tensor<4xui32>
  }, {
    %y = array.mul %x, %x : tensor<4xui32>
    array.yield %y : tensor<4xui32>
  }
  return %r : tensor<4xui32>
}

// A single branch is always chosen, for any sizes.
// CHECK-LABEL: func @only(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>)
func.func @only(%i: tensor<i32>, %x: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK-NOT: scf.if
  // CHECK: %[[Y:.*]] = linalg.generic
  // CHECK: arith.negf
  // CHECK: return %[[Y]]
  %r = array.cond %i : (tensor<i32>) -> tensor<?xf32> {
    %y = array.neg %x : tensor<?xf32>
    array.yield %y : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// Slices are read and written in place, from the last one if the scan is reversed.
// CHECK-LABEL: func @scan(
// CHECK-SAME: %[[C:.*]]: tensor<4xi8>, %[[X:.*]]: tensor<5x4xi8>, %[[N:.*]]: tensor<5xi32>)
func.func @scan(%c: tensor<4xi1>, %x: tensor<5x4xi1>, %n: tensor<5xi32>)
    -> (tensor<4xi1>, tensor<5x4xi1>, tensor<5xi32>) {
  // CHECK-DAG: %[[YS:.*]] = tensor.empty() : tensor<5x4xi8>
  // CHECK-DAG: %[[MS:.*]] = tensor.empty() : tensor<5xi32>
  // CHECK: %[[R:.*]]:3 = scf.for %[[I:.*]] = %c0{{.*}} to %c5{{.*}} step %c1{{.*}} iter_args(%[[D:.*]] = %[[C]], %[[Y:.*]] = %[[YS]], %[[M:.*]] = %[[MS]])
  // CHECK: %[[AT:.*]] = arith.subi %c4{{.*}}, %[[I]]
  // CHECK: %[[E:.*]] = tensor.extract_slice %[[X]][%[[AT]], 0] [1, 4] [1, 1] : tensor<5x4xi8> to tensor<4xi8>
  // CHECK: %[[J:.*]] = tensor.extract %[[N]][%[[AT]]]
  // CHECK: tensor.from_elements %[[J]]
  // CHECK: %[[NEXT:.*]] = linalg.generic {{.*}} ins(%[[D]], %[[E]]
  // CHECK: %[[WHOLE:.*]] = tensor.insert_slice %[[D]] into %[[Y]][%{{.*}}, 0] [1, 4] [1, 1]
  // CHECK: %[[MORE:.*]] = tensor.insert %{{.*}} into %[[M]][%{{.*}}]
  // CHECK: scf.yield %[[NEXT]], %[[WHOLE]], %[[MORE]]
  // CHECK: } {array.control_flow}
  // CHECK: return %[[R]]#0, %[[R]]#1, %[[R]]#2
  %r:3 = array.scan(%c) (%x, %n) length = 5 reverse = true
      : (tensor<4xi1>, tensor<5x4xi1>, tensor<5xi32>) -> (tensor<4xi1>, tensor<5x4xi1>, tensor<5xi32>) {
  ^bb0(%d: tensor<4xi1>, %e: tensor<4xi1>, %j: tensor<i32>):
    %next = array.and %d, %e : tensor<4xi1>
    array.yield %next, %d, %j : tensor<4xi1>, tensor<4xi1>, tensor<i32>
  }
  return %r#0, %r#1, %r#2 : tensor<4xi1>, tensor<5x4xi1>, tensor<5xi32>
}

// Without iterations there is no loop.
// CHECK-LABEL: func @no_iteration(
// CHECK-SAME: %[[C:.*]]: tensor<4xf32>
func.func @no_iteration(%c: tensor<4xf32>, %x: tensor<0x4xf32>) -> (tensor<4xf32>, tensor<0x4xf32>) {
  // CHECK-NEXT: %[[E:.*]] = tensor.empty() : tensor<0x4xf32>
  // CHECK-NEXT: return %[[C]], %[[E]]
  %r:2 = array.scan(%c) (%x) length = 0 reverse = false
      : (tensor<4xf32>, tensor<0x4xf32>) -> (tensor<4xf32>, tensor<0x4xf32>) {
  ^bb0(%d: tensor<4xf32>, %e: tensor<4xf32>):
    array.yield %e, %d : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<0x4xf32>
}

// Each array has a barrier of its own; a number passes through.
// CHECK-LABEL: func @barrier(
// CHECK-SAME: %[[A:.*]]: tensor<4xi8>, %[[N:.*]]: tensor<i32>, %[[B:.*]]: tensor<2xf32>)
func.func @barrier(%a: tensor<4xi1>, %n: tensor<i32>, %b: tensor<2xf32>) -> (tensor<4xi1>, tensor<i32>, tensor<2xf32>) {
  // CHECK-DAG: %[[X:.*]] = array.optimization_barrier(%[[A]]) : (tensor<4xi8>) -> tensor<4xi8>
  // CHECK-DAG: %[[Y:.*]] = array.optimization_barrier(%[[B]])
  // CHECK: return %[[X]], %[[N]], %[[Y]]
  %r:3 = array.optimization_barrier(%a, %n, %b)
      : (tensor<4xi1>, tensor<i32>, tensor<2xf32>) -> (tensor<4xi1>, tensor<i32>, tensor<2xf32>)
  return %r#0, %r#1, %r#2 : tensor<4xi1>, tensor<i32>, tensor<2xf32>
}
