// Ops that make arrays without array operands: constant, iota, dim_as_value.
#ifndef ARRAY_IR_CREATION_TD
#define ARRAY_IR_CREATION_TD

include "array/IR/ArrayBase.td"

def Array_ConstantOp : Array_Op<"constant", [Pure, ConstantLike, AllTypesMatch<["value", "result"]>]> {
  let summary = "a constant";
  let description = Array_Doc<[{
    ```mlir
    %x = array.constant dense<1.0> : tensor<4xf32>
    ```
  }], [{
    - C1: `result` has the type of `value`.
  }]>.description;
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Array_Tensor:$result);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
}

def Array_IotaOp : Array_Op<"iota", [Pure]> {
  let summary = "each element is its index along one dimension";
  let description = Array_Doc<[{
    ```mlir
    %x = array.iota dimension = 0 : tensor<4xi32>
    %y = array.iota dimension = 1 output_dims(%n) : tensor<?x8xf32>
    ```
  }], [{
    - C1: `dimension` is a dimension of `result`.
    - C2: `output_dims` has one operand for each dynamic dimension of `result`.
    - C3: `result` is a tensor of numbers.
  }]>.description;
  let arguments = (ins I64Attr:$dimension, Variadic<Index>:$output_dims);
  let results = (outs Array_NumberTensor:$result);
  let assemblyFormat = "`dimension` `=` $dimension (`output_dims` `(` $output_dims^ `)`)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Array_DimAsValueOp : Array_Op<"dim_as_value", [Pure]> {
  let summary = "a size as a scalar array";
  let description = Array_Doc<[{
    The value wraps modulo the width of the result.

    ```mlir
    %x = array.dim_as_value sizes(%n) : tensor<i32>
    ```
  }], [{
    - C1: `result` is a scalar tensor of i32 or i64.
  }]>.description;
  let arguments = (ins Index:$sizes);
  let results = (outs Array_StartTensor:$result);
  let assemblyFormat = "`sizes` `(` $sizes `)` attr-dict `:` type($result)";
}

#endif // ARRAY_IR_CREATION_TD
