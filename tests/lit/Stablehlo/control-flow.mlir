// RUN: array-translate --stablehlo-to-array -split-input-file %s | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
// CHECK: array.while(%{{.*}}, %[[X]]) : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>) cond {
// CHECK: ^bb0(%[[I:.*]]: tensor<i32>, %{{.*}}: tensor<4xf32>):
// CHECK: %[[P:.*]] = array.lt %[[I]],
// CHECK: array.yield %[[P]] : tensor<i1>
// CHECK: } body {
// CHECK: array.call @step
// CHECK: array.yield %{{.*}}, %{{.*}} : tensor<i32>, tensor<4xf32>
// CHECK-LABEL: func.func private @step
// CHECK-NOT: @unused
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %z, %c = %x) : tensor<i32>, tensor<4xf32>
  cond {
    %n = stablehlo.constant dense<3> : tensor<i32>
    %1 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1:2 = func.call @step(%i, %c) : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>)
    stablehlo.return %1#0, %1#1 : tensor<i32>, tensor<4xf32>
  }
  return %0#1 : tensor<4xf32>
}
func.func private @step(%i: tensor<i32>, %c: tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>) {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0 = stablehlo.add %i, %one : tensor<i32>
  %1 = stablehlo.sine %c : tensor<4xf32>
  return %0, %1 : tensor<i32>, tensor<4xf32>
}
func.func private @unused(%x: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.infeed"(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// The branch for false is the first one.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[P:.*]]: tensor<i1>, %[[I:.*]]: tensor<i32>, %[[X:.*]]: tensor<4xf32>)
// CHECK: %[[C:.*]] = array.convert %[[P]] : (tensor<i1>) -> tensor<i32>
// CHECK: array.cond %[[C]]
// CHECK: array.cos
// CHECK: array.sin
// CHECK: array.cond %[[I]]
// CHECK: array.exp
// CHECK: array.log
// A choice of one thing is none.
// CHECK-NOT: array.cond
// CHECK: array.tanh
func.func @main(%p: tensor<i1>, %i: tensor<i32>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = "stablehlo.if"(%p) ({
    %3 = stablehlo.sine %x : tensor<4xf32>
    stablehlo.return %3 : tensor<4xf32>
  }, {
    %3 = stablehlo.cosine %x : tensor<4xf32>
    stablehlo.return %3 : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  %1 = "stablehlo.case"(%i) ({
    %3 = stablehlo.exponential %x : tensor<4xf32>
    stablehlo.return %3 : tensor<4xf32>
  }, {
    %3 = stablehlo.log %x : tensor<4xf32>
    stablehlo.return %3 : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  %2 = "stablehlo.case"(%i) ({
    %3 = stablehlo.tanh %x : tensor<4xf32>
    stablehlo.return %3 : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Attributes for the layout of arrays on devices have no meaning on one device.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
// CHECK-NOT: sdy
// CHECK: %[[C:.*]] = array.call @f(%[[X]])
// CHECK: %[[B:.*]]:2 = array.optimization_barrier(%[[C]], %[[X]])
// CHECK: array.constant dense<0> : tensor<ui32>
// CHECK: return %[[B]]#0
sdy.mesh @mesh = <["x"=1]>
func.func @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32> {
  %y = sdy.sharding_constraint %x <@mesh, [{"x":(1)1, ?}p1], replicated={"y"}, unreduced={"z"}> : tensor<4xf32>
  %0 = sdy.sharding_constraint %y <@mesh, [{"x", ?}]> : tensor<4xf32>
  %1 = stablehlo.composite "my.f" %0 {decomposition = @f} : (tensor<4xf32>) -> tensor<4xf32>
  %2:2 = stablehlo.optimization_barrier %1, %x : tensor<4xf32>, tensor<4xf32>
  %3 = stablehlo.partition_id : tensor<ui32>
  return %2#0 : tensor<4xf32>
}
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.sine %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Tokens of the entry are empty arrays; a call of the host program, which JAX's backend makes of callbacks.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%{{.*}}: tensor<0xi1>, %[[X:.*]]: tensor<3xf32>) -> (tensor<0xi1>, tensor<3xf32>)
// CHECK: %[[T:.*]] = array.create_token
// CHECK: %[[NEXT:.*]]:2 = array.host_call slot = 2 effectful(%[[T]], %[[X]])
// CHECK: %[[E:.*]] = array.constant dense<> : tensor<0xi1>
// CHECK: return %[[E]], %[[NEXT]]#1
func.func @main(%t: !stablehlo.token, %x: tensor<3xf32>) -> (!stablehlo.token, tensor<3xf32>) {
  %0:2 = stablehlo.custom_call @pycompiler_python_callback(%t, %x) {has_side_effect = true, mhlo.backend_config = {slot = 2 : i64}} : (!stablehlo.token, tensor<3xf32>) -> (!stablehlo.token, tensor<3xf32>)
  return %0#0, %0#1 : !stablehlo.token, tensor<3xf32>
}
