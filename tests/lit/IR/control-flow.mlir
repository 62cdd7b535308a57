// RUN: array-opt %s | array-opt | FileCheck %s
// RUN: array-opt %s --mlir-print-op-generic | array-opt | FileCheck %s
// RUN: array-opt %s --canonicalize | FileCheck %s --check-prefix=CLEAN

// CHECK-LABEL: @count
// CLEAN-LABEL: @count
func.func @count(%n: tensor<i32>, %x: tensor<?xf32>) -> (tensor<i32>, tensor<?xf32>) {
  %zero = array.constant dense<0> : tensor<i32>
  %one = array.constant dense<1> : tensor<i32>
  // CHECK: %[[R:.*]]:2 = array.while(%{{.*}}, %{{.*}}) : (tensor<i32>, tensor<?xf32>) -> (tensor<i32>, tensor<?xf32>) cond {
  // CHECK-NEXT: ^bb0(%[[I:.*]]: tensor<i32>, %{{.*}}: tensor<?xf32>):
  // CHECK-NEXT: %[[P:.*]] = array.lt %[[I]], %{{.*}}
  // CHECK-NEXT: array.yield %[[P]] : tensor<i1>
  // CHECK-NEXT: } body {
  // CHECK: array.yield %{{.*}}, %{{.*}} : tensor<i32>, tensor<?xf32>
  // CHECK: return %[[R]]#0, %[[R]]#1
  %r:2 = array.while(%zero, %x) : (tensor<i32>, tensor<?xf32>) -> (tensor<i32>, tensor<?xf32>) cond {
  ^bb0(%i: tensor<i32>, %v: tensor<?xf32>):
    %p = array.lt %i, %n : tensor<i32>
    array.yield %p : tensor<i1>
  } body {
  ^bb0(%i: tensor<i32>, %v: tensor<?xf32>):
    %j = array.add %i, %one : tensor<i32>
    %w = array.neg %v : tensor<?xf32>
    array.yield %j, %w : tensor<i32>, tensor<?xf32>
  }
  return %r#0, %r#1 : tensor<i32>, tensor<?xf32>
}

// A loop without effects that nobody reads is erased.
// CLEAN-LABEL: @unread
// CLEAN-NOT: array.while
func.func @unread(%p: tensor<i1>) {
  %r = array.while(%p) : (tensor<i1>) -> tensor<i1> cond {
  ^bb0(%q: tensor<i1>):
    array.yield %q : tensor<i1>
  } body {
  ^bb0(%q: tensor<i1>):
    array.yield %q : tensor<i1>
  }
  return
}
