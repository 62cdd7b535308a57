// conv_general_dilated.
#ifndef ARRAY_IR_CONVOLUTION_TD
#define ARRAY_IR_CONVOLUTION_TD

include "array/IR/ArrayBase.td"

def Array_ConvGeneralDilatedOp : Array_Op<"conv_general_dilated", [Pure]> {
  let summary = "sums of products over windows and features, with strides, padding, dilations and groups";
  let description = Array_Doc<[{
    `lhs_spec` names the dimensions of `lhs`: batch, feature, then the spatial ones; `rhs_spec` those of `rhs`: output
    feature, input feature, spatial; `out_spec` those of the result: batch, feature, spatial. `lhs` is dilated by
    `lhs_dilation` and padded with zeros by `low` and `high` (negative padding removes elements). `rhs` is dilated by
    `rhs_dilation` and not reversed. With `feature_group_count` G, group g of the output features reads group g
    of the input features; with `batch_group_count` G, group g of the output features reads group g of the batch. Sums
    have the element type of the result (f16 and bf16 sum in f32).

    ```mlir
    %y = array.conv_general_dilated %x, %w window_strides = [1] low = [1] high = [1] lhs_dilation = [1]
           rhs_dilation = [1] lhs_spec = [0, 1, 2] rhs_spec = [0, 1, 2] out_spec = [0, 1, 2] feature_group_count = 1
           batch_group_count = 1 : (tensor<2x3x8xf32>, tensor<4x3x3xf32>) -> tensor<2x4x8xf32>
    ```
  }], [{
    - C1: `lhs`, `rhs` and `result` have the same rank, at least 2, and one element type for `lhs` and `rhs`.
    - C2: `lhs_spec`, `rhs_spec` and `out_spec` are permutations of the dimensions.
    - C3: `window_strides`, `low`, `high`, `lhs_dilation` and `rhs_dilation` have one entry for each spatial dimension;
      strides and dilations are at least 1.
    - C4: group counts are at least 1, at most one of them is not 1, and they divide the features and the batch.
    - C5: the input features of `lhs` are `feature_group_count` times those of `rhs`.
    - C6: the shape of `result` is compatible with the shape that follows from the operands.
    - C7: the element type of `result` is that of the operands or a wider one of the same kind.
    - C8: `sizes` has one operand for each `?` in `low` and `high`.
  }]>.description;
  let arguments = (ins Array_ArithmeticTensor:$lhs, Array_ArithmeticTensor:$rhs, DenseI64ArrayAttr:$window_strides,
                       DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high, DenseI64ArrayAttr:$lhs_dilation,
                       DenseI64ArrayAttr:$rhs_dilation, DenseI64ArrayAttr:$lhs_spec, DenseI64ArrayAttr:$rhs_spec,
                       DenseI64ArrayAttr:$out_spec, I64Attr:$feature_group_count, I64Attr:$batch_group_count,
                       Variadic<Index>:$sizes);
  let results = (outs Array_ArithmeticTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `window_strides` `=` $window_strides `low` `=` custom<Sizes>($low) `high` `=` custom<Sizes>($high)
    `lhs_dilation` `=` $lhs_dilation `rhs_dilation` `=` $rhs_dilation `lhs_spec` `=` $lhs_spec
    `rhs_spec` `=` $rhs_spec `out_spec` `=` $out_spec `feature_group_count` `=` $feature_group_count
    `batch_group_count` `=` $batch_group_count (`sizes` `(` $sizes^ `)`)? attr-dict
    `:` `(` type($lhs) `,` type($rhs) `)` `->` type($result)
  }];
  let hasVerifier = 1;
}

#endif // ARRAY_IR_CONVOLUTION_TD
