// Ops whose positions are data: dynamic_slice, dynamic_update_slice, gather_rows, scatter_add_rows.
#ifndef ARRAY_IR_INDEXING_TD
#define ARRAY_IR_INDEXING_TD

include "array/IR/ArrayBase.td"

def Array_DynamicSliceOp : Array_InferredOp<"dynamic_slice"> {
  let summary = "a block of a fixed size at a position that is data";
  let description = Array_Doc<[{
    Each start is clamped to `[0, size - slice_sizes[i]]`, so that the block lies inside.

    ```mlir
    %y = array.dynamic_slice %x at(%i, %j) slice_sizes = [2, 3]
           : (tensor<4x5xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
    ```
  }], [{
    - C1: there is one start index for each dimension of `operand`.
    - C2: the start indices have the same element type.
    - C3: `slice_sizes` has one entry for each dimension of `operand`.
    - C4: `0 <= slice_sizes[i] <= size of dimension i`.
  }]>.description;
  let arguments = (ins Array_Tensor:$operand, Variadic<Array_StartTensor>:$start_indices,
                       DenseI64ArrayAttr:$slice_sizes);
  let results = (outs Array_Tensor:$result);
  let assemblyFormat = [{
    $operand `at` `(` $start_indices `)` `slice_sizes` `=` $slice_sizes attr-dict `:` functional-type(operands, results)
  }];
  let hasFolder = 1;
}

def Array_DynamicUpdateSliceOp : Array_InferredOp<"dynamic_update_slice"> {
  let summary = "the operand with a block replaced, at a position that is data";
  let description = Array_Doc<[{
    Each start is clamped to `[0, size - size of update]`, so that the block lies inside.

    ```mlir
    %y = array.dynamic_update_slice %x, %block at(%i, %j)
           : (tensor<4x5xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<4x5xf32>
    ```
  }], [{
    - C1: `update` has the element type and the rank of `operand`.
    - C2: no dimension of `update` is larger than that of `operand`.
    - C3: there is one start index for each dimension of `operand`.
    - C4: the start indices have the same element type.
  }]>.description;
  let arguments = (ins Array_Tensor:$operand, Array_Tensor:$update, Variadic<Array_StartTensor>:$start_indices);
  let results = (outs Array_Tensor:$result);
  let assemblyFormat = [{
    $operand `,` $update `at` `(` $start_indices `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasFolder = 1;
}

def Array_GatherRowsOp : Array_InferredOp<"gather_rows"> {
  let summary = "the rows (entries along dimension 0) that indices name";
  let description = Array_Doc<[{
    `result[b..., r...] = operand[clamp(indices[b...]), r...]`: an index is clamped into the operand.

    ```mlir
    %y = array.gather_rows %x, %i : (tensor<100x8xf32>, tensor<4xi32>) -> tensor<4x8xf32>
    ```
  }], [{
    - C1: `operand` has at least one dimension.
    - C2: dimension 0 of `operand` is not empty, unless `indices` is.
  }]>.description;
  let arguments = (ins Array_Tensor:$operand, Array_IndexTensor:$indices);
  let results = (outs Array_Tensor:$result);
  let assemblyFormat = "$operand `,` $indices attr-dict `:` functional-type(operands, results)";
}

def Array_ScatterAddRowsOp : Array_InferredOp<"scatter_add_rows"> {
  let summary = "the operand with updates added to the rows that indices name";
  let description = Array_Doc<[{
    A row that is named several times gets the sum, in the order of the indices. Updates for an index outside the
    operand are dropped.

    ```mlir
    %y = array.scatter_add_rows %x, %i, %u : (tensor<100x8xf32>, tensor<4xi32>, tensor<4x8xf32>) -> tensor<100x8xf32>
    ```
  }], [{
    - C1: `operand` has at least one dimension.
    - C2: `updates` has the element type of `operand`.
    - C3: the shape of `updates` is compatible with that of `indices` followed by that of a row.
  }]>.description;
  let arguments = (ins Array_ArithmeticTensor:$operand, Array_IndexTensor:$indices, Array_ArithmeticTensor:$updates);
  let results = (outs Array_ArithmeticTensor:$result);
  let assemblyFormat = "$operand `,` $indices `,` $updates attr-dict `:` functional-type(operands, results)";
}

#endif // ARRAY_IR_INDEXING_TD
