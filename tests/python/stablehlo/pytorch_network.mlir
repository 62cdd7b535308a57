// A model of PyTorch (a convolution, a batch norm, relu, a max pool, a linear layer), as torch_xla's exporter writes
// StableHLO: in the generic form, weights as arguments.
module @IrToHlo.42 attributes {mhlo.cross_program_prefetches = [], mhlo.input_output_alias = [], mhlo.is_dynamic = false, mhlo.use_auto_spmd_partitioning = false} {
  func.func @main(%arg0: tensor<5x32xf32>, %arg1: tensor<2xf32>, %arg2: tensor<2xf32>, %arg3: tensor<2xf32>, %arg4: tensor<2xf32>, %arg5: tensor<2x3x3x3xf32>, %arg6: tensor<4x3x8x8xf32>) -> tensor<4x5xf32> {
    %0 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<4x2x8x8xf32>}> : () -> tensor<4x2x8x8xf32>
    %2 = "stablehlo.convolution"(%arg6, %arg5) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]>, feature_group_count = 1 : i64, padding = dense<1> : tensor<2x2xi64>, rhs_dilation = array<i64: 1, 1>, window_strides = array<i64: 1, 1>}> : (tensor<4x3x8x8xf32>, tensor<2x3x3x3xf32>) -> tensor<4x2x8x8xf32>
    %3 = "stablehlo.batch_norm_inference"(%2, %arg1, %arg2, %arg3, %arg4) <{epsilon = 9.99999974E-6 : f32, feature_index = 1 : i64}> : (tensor<4x2x8x8xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<4x2x8x8xf32>
    %4 = "stablehlo.maximum"(%3, %1) : (tensor<4x2x8x8xf32>, tensor<4x2x8x8xf32>) -> tensor<4x2x8x8xf32>
    %5 = "stablehlo.reduce_window"(%4, %0) <{padding = dense<0> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 1, 2, 2>, window_strides = array<i64: 1, 1, 2, 2>}> ({
    ^bb0(%arg7: tensor<f32>, %arg8: tensor<f32>):
      %9 = "stablehlo.maximum"(%arg7, %arg8) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%9) : (tensor<f32>) -> ()
    }) : (tensor<4x2x8x8xf32>, tensor<f32>) -> tensor<4x2x4x4xf32>
    %6 = "stablehlo.reshape"(%5) : (tensor<4x2x4x4xf32>) -> tensor<4x32xf32>
    %7 = "stablehlo.transpose"(%arg0) <{permutation = array<i64: 1, 0>, result_layout = dense<[0, 1]> : tensor<2xindex>, xla_shape = "f32[32,5]{0,1}"}> : (tensor<5x32xf32>) -> tensor<32x5xf32>
    %8 = "stablehlo.dot_general"(%6, %7) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x32xf32>, tensor<32x5xf32>) -> tensor<4x5xf32>
    "func.return"(%8) : (tensor<4x5xf32>) -> ()
  }
}
