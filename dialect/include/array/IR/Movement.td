// Ops that move elements by positions known at compile time: broadcast_in_dim, reshape, transpose, slice, pad,
// concatenate, reverse.
#ifndef ARRAY_IR_MOVEMENT_TD
#define ARRAY_IR_MOVEMENT_TD

include "array/IR/ArrayBase.td"

def Array_BroadcastInDimOp : Array_Op<"broadcast_in_dim", [Pure]> {
  let summary = "the operand repeated along new dimensions and along those of size 1";
  let description = Array_Doc<[{
    Dimension i of the operand becomes dimension `broadcast_dimensions[i]` of the result.

    ```mlir
    %y = array.broadcast_in_dim %x broadcast_dimensions = [1] : (tensor<5xf32>) -> tensor<4x5xf32>
    %z = array.broadcast_in_dim %x broadcast_dimensions = [1] output_dims(%n) : (tensor<5xf32>) -> tensor<?x5xf32>
    ```
  }], [{
    - C1: `operand` and `result` have the same element type.
    - C2: `broadcast_dimensions` has one entry for each dimension of `operand`.
    - C3: `broadcast_dimensions` are strictly increasing dimensions of `result`.
    - C4: a dimension of `operand` has size 1 or that of its dimension of `result`.
    - C5: `output_dims` is empty or has one operand for each dynamic dimension of `result`; it may be empty only if each
      dynamic dimension of `result` comes from a dimension of `operand` that is not 1.
  }]>.description;
  let arguments = (ins Array_Tensor:$operand, DenseI64ArrayAttr:$broadcast_dimensions, Variadic<Index>:$output_dims);
  let results = (outs Array_Tensor:$result);
  let assemblyFormat = [{
    $operand `broadcast_dimensions` `=` $broadcast_dimensions (`output_dims` `(` $output_dims^ `)`)? attr-dict
    `:` `(` type($operand) `)` `->` type($result)
  }];
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

def Array_ReshapeOp : Array_Op<"reshape", [Pure]> {
  let summary = "the operand's elements, in row-major order, in another shape";
  let description = Array_Doc<[{
    ```mlir
    %y = array.reshape %x : (tensor<4x5xf32>) -> tensor<20xf32>
    %z = array.reshape %v output_dims(%n, %m) : (tensor<?xf32>) -> tensor<?x?xf32>
    ```
  }], [{
    - C1: `operand` and `result` have the same element type.
    - C2: `operand` and `result` have the same number of elements, where both are known.
    - C3: `output_dims` is empty or has one operand for each dynamic dimension of `result`; it may be empty only if at
      most one is dynamic.
  }]>.description;
  let arguments = (ins Array_Tensor:$operand, Variadic<Index>:$output_dims);
  let results = (outs Array_Tensor:$result);
  let assemblyFormat = [{
    $operand (`output_dims` `(` $output_dims^ `)`)? attr-dict `:` `(` type($operand) `)` `->` type($result)
  }];
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

def Array_TransposeOp : Array_InferredOp<"transpose"> {
  let summary = "dimensions in another order";
  let description = Array_Doc<[{
    Dimension i of the result is dimension `permutation[i]` of the operand.

    ```mlir
    %y = array.transpose %x permutation = [1, 0] : (tensor<4x5xf32>) -> tensor<5x4xf32>
    ```
  }], [{
    - C1: `permutation` is a permutation of the dimensions of `operand`.
  }]>.description;
  let arguments = (ins Array_Tensor:$operand, DenseI64ArrayAttr:$permutation);
  let results = (outs Array_Tensor:$result);
  let assemblyFormat = "$operand `permutation` `=` $permutation attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Array_SliceOp : Array_InferredOp<"slice"> {
  let summary = "the elements from start_indices up to but not including limit_indices, every strides-th";
  let description = Array_Doc<[{
    A limit above the size of a dynamic dimension, and `sizes` that violate C2, are undefined behaviour.

    ```mlir
    %y = array.slice %x start_indices = [0, 1] limit_indices = [4, 5] strides = [1, 2]
           : (tensor<4x5xf32>) -> tensor<4x2xf32>
    %z = array.slice %v start_indices = [1] limit_indices = [?] strides = [1] sizes(%n)
           : (tensor<?xf32>) -> tensor<?xf32>
    ```
  }], [{
    - C1: `start_indices`, `limit_indices` and `strides` have one entry for each dimension of `operand`.
    - C2: `0 <= start_indices[i] <= limit_indices[i] <= size of dimension i`.
    - C3: `strides[i] >= 1`.
    - C4: `sizes` has one operand for each `?` in `start_indices` and `limit_indices`.
  }]>.description;
  let arguments = (ins Array_Tensor:$operand, DenseI64ArrayAttr:$start_indices, DenseI64ArrayAttr:$limit_indices,
                       DenseI64ArrayAttr:$strides, Variadic<Index>:$sizes);
  let results = (outs Array_Tensor:$result);
  let assemblyFormat = [{
    $operand `start_indices` `=` custom<Sizes>($start_indices) `limit_indices` `=` custom<Sizes>($limit_indices)
    `strides` `=` $strides (`sizes` `(` $sizes^ `)`)? attr-dict `:` `(` type($operand) `)` `->` type($result)
  }];
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Array_PadOp : Array_InferredOp<"pad"> {
  let summary = "the operand with padding before, behind and between its elements";
  let description = Array_Doc<[{
    Dimension i of size n gets the size `low[i] + n + max(n - 1, 0) * interior[i] + high[i]`. A negative `low` or
    `high` drops elements (after interior padding).

    ```mlir
    %y = array.pad %x, %zero low = [1] high = [2] interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<7xf32>
    %z = array.pad %v, %zero low = [?] high = [0] interior = [0] sizes(%n)
           : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
    ```
  }], [{
    - C1: `padding_value` is a scalar of the element type of `operand`.
    - C2: `low`, `high` and `interior` have one entry for each dimension of `operand`.
    - C3: `interior[i] >= 0`.
    - C4: no dimension of the result gets a negative size.
    - C5: `sizes` has one operand for each `?` in `low` and `high`.
  }]>.description;
  let arguments = (ins Array_Tensor:$operand, Array_Tensor:$padding_value, DenseI64ArrayAttr:$low,
                       DenseI64ArrayAttr:$high, DenseI64ArrayAttr:$interior, Variadic<Index>:$sizes);
  let results = (outs Array_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` $padding_value `low` `=` custom<Sizes>($low) `high` `=` custom<Sizes>($high) `interior` `=` $interior
    (`sizes` `(` $sizes^ `)`)? attr-dict `:` `(` type($operand) `,` type($padding_value) `)` `->` type($result)
  }];
  let hasFolder = 1;
}

def Array_ConcatenateOp : Array_InferredOp<"concatenate"> {
  let summary = "arrays one after the other along one dimension";
  let description = Array_Doc<[{
    ```mlir
    %z = array.concatenate %x, %y dimension = 0 : (tensor<4xf32>, tensor<5xf32>) -> tensor<9xf32>
    ```
  }], [{
    - C1: there is at least one input.
    - C2: the inputs have the same element type and rank.
    - C3: `dimension` is a dimension of the inputs.
    - C4: the sizes of the inputs are compatible in the other dimensions.
  }]>.description;
  let arguments = (ins Variadic<Array_Tensor>:$inputs, I64Attr:$dimension);
  let results = (outs Array_Tensor:$result);
  let assemblyFormat = "$inputs `dimension` `=` $dimension attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def Array_ReverseOp : Array_InferredOp<"reverse"> {
  let summary = "the order of the elements reversed along dimensions";
  let description = Array_Doc<[{
    ```mlir
    %y = array.reverse %x dimensions = [0] : tensor<4x5xf32>
    ```
  }], [{
    - C1: `dimensions` are distinct dimensions of `operand`.
  }]>.description;
  let arguments = (ins Array_Tensor:$operand, DenseI64ArrayAttr:$dimensions);
  let results = (outs Array_Tensor:$result);
  let assemblyFormat = [{
    $operand `dimensions` `=` $dimensions attr-dict `:` custom<ElementwiseTypes>(type($operand), type($result))
  }];
  let hasFolder = 1;
}

#endif // ARRAY_IR_MOVEMENT_TD
