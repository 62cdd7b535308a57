// sort, top_k.
#ifndef ARRAY_IR_SORT_TD
#define ARRAY_IR_SORT_TD

include "array/IR/ArrayBase.td"

def Array_SortOp : Array_InferredOp<"sort"> {
  let summary = "arrays sorted together along one dimension, by the first num_keys of them";
  let description = Array_Doc<[{
    Ascending, by the first input, ties by the second, up to `num_keys`; the other inputs are permuted in the same way.
    nan comes last, -0 equals +0, false precedes true. With `is_stable` equal elements keep their order.

    ```mlir
    %k, %v = array.sort %keys, %values dimension = 0 num_keys = 1 is_stable = true
               : (tensor<4xf32>, tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>)
    ```
  }], [{
    - C1: there is at least one input.
    - C2: the inputs have compatible shapes.
    - C3: `dimension` is a dimension of the inputs.
    - C4: `1 <= num_keys <= number of inputs`.
  }]>.description;
  let arguments = (ins Variadic<Array_Tensor>:$inputs, I64Attr:$dimension, I64Attr:$num_keys, BoolAttr:$is_stable);
  let results = (outs Variadic<Array_Tensor>:$sorted);
  let assemblyFormat = [{
    $inputs `dimension` `=` $dimension `num_keys` `=` $num_keys `is_stable` `=` $is_stable attr-dict
    `:` functional-type(operands, results)
  }];
}

def Array_TopKOp : Array_InferredOp<"top_k"> {
  let summary = "the k largest elements along a dimension in descending order, and their positions";
  let description = Array_Doc<[{
    nan comes first; of equal elements, the first one.

    ```mlir
    %v, %i = array.top_k %x k = 2 axis = 1 : (tensor<4x5xf32>) -> (tensor<4x2xf32>, tensor<4x2xi32>)
    ```
  }], [{
    - C1: `axis` is a dimension of `operand`.
    - C2: `0 <= k <= size of the dimension`.
    - C3: `sizes` has one operand if `k` is `?`, else none.
  }]>.description;
  let arguments = (ins Array_RealTensor:$operand, I64Attr:$k, I64Attr:$axis, Variadic<Index>:$sizes);
  let results = (outs Array_RealTensor:$values, Array_IntegerTensor:$indices);
  let assemblyFormat = [{
    $operand `k` `=` custom<Size>($k) `axis` `=` $axis (`sizes` `(` $sizes^ `)`)? attr-dict
    `:` `(` type($operand) `)` `->` `(` type($values) `,` type($indices) `)`
  }];
}

#endif // ARRAY_IR_SORT_TD
