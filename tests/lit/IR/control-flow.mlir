// RUN: array-opt %s | array-opt | FileCheck %s
// RUN: array-opt %s --mlir-print-op-generic | array-opt | FileCheck %s
// RUN: array-opt %s --canonicalize | FileCheck %s --check-prefix=CLEAN
// RUN: array-opt %s --canonicalize --cse | FileCheck %s --check-prefix=MERGED

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

// A loop without effects and readers is erased.
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

// CHECK-LABEL: @choose
func.func @choose(%i: tensor<i32>, %x: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK: %[[R:.*]] = array.cond %{{.*}} : (tensor<i32>) -> tensor<?xf32> {
  // CHECK-NEXT: %[[Y:.*]] = array.neg
  // CHECK-NEXT: array.yield %[[Y]] : tensor<?xf32>
  // CHECK-NEXT: }, {
  // CHECK-NEXT: array.yield %{{.*}} : tensor<?xf32>
  // CHECK-NEXT: }
  // CHECK-NEXT: return %[[R]]
  %r = array.cond %i : (tensor<i32>) -> tensor<?xf32> {
    %y = array.neg %x : tensor<?xf32>
    array.yield %y : tensor<?xf32>
  }, {
    array.yield %x : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// CHECK-LABEL: @running
func.func @running(%c: tensor<f32>, %x: tensor<5xf32>) -> (tensor<f32>, tensor<5xf32>) {
  // CHECK: %[[R:.*]]:2 = array.scan(%{{.*}}) (%{{.*}}) length = 5 reverse = true : (tensor<f32>, tensor<5xf32>) -> (tensor<f32>, tensor<5xf32>) {
  // CHECK-NEXT: ^bb0(%[[C:.*]]: tensor<f32>, %[[E:.*]]: tensor<f32>):
  // CHECK-NEXT: %[[D:.*]] = array.add %[[C]], %[[E]]
  // CHECK-NEXT: array.yield %[[D]], %[[D]]
  %r:2 = array.scan(%c) (%x) length = 5 reverse = true : (tensor<f32>, tensor<5xf32>) -> (tensor<f32>, tensor<5xf32>) {
  ^bb0(%d: tensor<f32>, %e: tensor<f32>):
    %f = array.add %d, %e : tensor<f32>
    array.yield %f, %f : tensor<f32>, tensor<f32>
  }
  return %r#0, %r#1 : tensor<f32>, tensor<5xf32>
}

// CHECK-LABEL: @nothing_carried
func.func @nothing_carried(%x: tensor<5xf32>) -> tensor<5xf32> {
  // CHECK: array.scan() () length = 5 reverse = false : () -> tensor<5xf32> {
  %one = array.constant dense<1.0> : tensor<f32>
  %r = array.scan() () length = 5 reverse = false : () -> tensor<5xf32> {
    array.yield %one : tensor<f32>
  }
  return %r : tensor<5xf32>
}

// Barriers are not merged, but one without readers is erased.
// CHECK-LABEL: @barrier
// CLEAN-LABEL: @barrier
// MERGED-LABEL: @barrier
func.func @barrier(%x: tensor<4xf32>, %i: tensor<i32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %{{.*}}:2 = array.optimization_barrier(%{{.*}}, %{{.*}}) : (tensor<4xf32>, tensor<i32>) -> (tensor<4xf32>, tensor<i32>)
  // CLEAN-COUNT-2: array.optimization_barrier
  // CLEAN-NOT: array.optimization_barrier
  // MERGED-COUNT-2: array.optimization_barrier
  %a:2 = array.optimization_barrier(%x, %i) : (tensor<4xf32>, tensor<i32>) -> (tensor<4xf32>, tensor<i32>)
  %b:2 = array.optimization_barrier(%x, %i) : (tensor<4xf32>, tensor<i32>) -> (tensor<4xf32>, tensor<i32>)
  %c:2 = array.optimization_barrier(%x, %i) : (tensor<4xf32>, tensor<i32>) -> (tensor<4xf32>, tensor<i32>)
  return %a#0, %b#0 : tensor<4xf32>, tensor<4xf32>
}
