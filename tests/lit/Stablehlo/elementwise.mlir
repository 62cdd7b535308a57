// RUN: array-translate --stablehlo-to-array %s | FileCheck %s
// One for one, in the forms that are printed: one type, a function type, CHLO's arrow, the generic form.

module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  // CHECK-LABEL: module @jit_f {
  // CHECK: func.func @main(%[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>) -> tensor<4xf32> {
  func.func public @main(%x: tensor<4xf32> {mhlo.sharding = "{replicated}"}, %y: tensor<4xf32>) -> (tensor<4xf32> {jax.result_info = "result"}) {
    // CHECK: array.cos %[[X]] : tensor<4xf32>
    %0 = stablehlo.cosine %x : tensor<4xf32>
    // CHECK: array.sub %{{.*}}, %[[Y]] : tensor<4xf32>
    %1 = stablehlo.subtract %0, %y : tensor<4xf32>
    // CHECK: array.erf
    %2 = chlo.erf %1 : tensor<4xf32> -> tensor<4xf32>
    // CHECK: array.nextafter
    %3 = chlo.next_after %2, %y : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
    // CHECK: array.exp
    %4 = stablehlo.exponential %3 {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<4xf32>
    // CHECK: array.max
    %5 = "stablehlo.maximum"(%4, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    // CHECK: %[[P:.*]] = array.is_finite
    %6 = stablehlo.is_finite %5 : (tensor<4xf32>) -> tensor<4xi1>
    // CHECK: array.select %[[P]], %{{.*}}, %[[Y]] : tensor<4xf32>
    %7 = stablehlo.select %6, %5, %y : tensor<4xi1>, tensor<4xf32>
    // CHECK: array.reduce_precision %{{.*}} exponent_bits = 5 mantissa_bits = 10
    %8 = stablehlo.reduce_precision %7, format = e5m10 : tensor<4xf32>
    // CHECK: array.mul %[[S:.*]], %[[S]]
    %9 = chlo.square %8 : tensor<4xf32> -> tensor<4xf32>
    return %9 : tensor<4xf32>
  }
}
