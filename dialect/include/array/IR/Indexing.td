// Ops whose positions are data: dynamic_slice, dynamic_update_slice, gather, scatter.
#ifndef ARRAY_IR_INDEXING_TD
#define ARRAY_IR_INDEXING_TD

include "array/IR/ArrayBase.td"

def Array_DynamicSliceOp : Array_InferredOp<"dynamic_slice"> {
  let summary = "a block at a position from data";
  let description = Array_Doc<[{
    Each start is clamped to `[0, size - slice_sizes[i]]`, so the block lies inside.

    ```mlir
    %y = array.dynamic_slice %x at(%i, %j) slice_sizes = [2, 3]
           : (tensor<4x5xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
    %z = array.dynamic_slice %v at(%i) slice_sizes = [?] sizes(%n)
           : (tensor<?xf32>, tensor<i32>, index) -> tensor<?xf32>
    ```
  }], [{
    - C1: there is one start index for each dimension of `operand`.
    - C2: the start indices have the same element type.
    - C3: `slice_sizes` has one entry for each dimension of `operand`.
    - C4: `0 <= slice_sizes[i] <= size of dimension i`.
    - C5: `sizes` has one operand for each `?` in `slice_sizes`.
  }]>.description;
  let arguments = (ins Array_Tensor:$operand, Variadic<Array_StartOrSize>:$starts_and_sizes,
                       DenseI64ArrayAttr:$slice_sizes);
  let results = (outs Array_Tensor:$result);
  let assemblyFormat = [{
    $operand custom<Slice>($starts_and_sizes, $slice_sizes) attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    ::mlir::ValueRange getStartIndices() { return getStartsAndSizes().take_front(getSliceSizes().size()); }
    ::mlir::ValueRange getSizes() { return getStartsAndSizes().drop_front(getSliceSizes().size()); }
  }];
  let hasFolder = 1;
}

def Array_DynamicUpdateSliceOp : Array_InferredOp<"dynamic_update_slice"> {
  let summary = "the operand with a block replaced, at a position from data";
  let description = Array_Doc<[{
    Each start is clamped to `[0, size - size of update]`, so the block lies inside.

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

// Dimension numbers as in XLA, except that each component of an index vector is a separate operand: computed components
// need not be joined in memory before they are read.

def Array_GatherOp : Array_InferredOp<"gather"> {
  let summary = "windows of the operand at positions from data";
  let description = Array_Doc<[{
    Reads one window of `slice_sizes` for each position in the common shape of the indices. The window starts at index
    `k` in the dimension `start_index_map[k]` of the operand, and at 0 in the others. The dimensions of the window,
    without the collapsed ones, become the dimensions `offset_dims` of the result; the dimensions of the indices become
    the others, in order. The position in a dimension of `start_indices_batching_dims` indexes the corresponding
    dimension of `operand_batching_dims`.

    If a window is not inside the operand, it is clamped to the operand (`mode = "clip"`), or replaced by a scalar, the
    last input (`"fill"`); `"promise_in_bounds"` excludes such windows. The attributes "sorted" and "unique" are hints.
    `-1` in `slice_sizes` is the whole dimension.

    With a `?` in `slice_sizes`, the sizes are written before the other attributes:
    `%x at(%i) slice_sizes = [1, ?] sizes(%n) {...}`.

    ```mlir
    %y = array.gather %x at(%i) {collapsed_slice_dims = array<i64: 0>, mode = "clip", offset_dims = array<i64: 1>,
           slice_sizes = array<i64: 1, 8>, start_index_map = array<i64: 0>}
           : (tensor<100x8xf32>, tensor<4xi32>) -> tensor<4x8xf32>
    ```
  }], [{
    - C1: there is one index for each entry of `start_index_map`, and with `fill` a scalar of the operand's element type.
    - C2: the indices are i32 or i64, of compatible shapes.
    - C3: `collapsed_slice_dims` and `operand_batching_dims` are distinct dimensions of the operand, the former increasing;
      the entries of `start_index_map` are distinct dimensions that are no batching dimensions.
    - C4: `slice_sizes` has an entry for each dimension of the operand, which is at most its size, and 1 for a collapsed
      or batching dimension.
    - C5: `offset_dims` has a dimension of the result, in increasing order, for each dimension that the window keeps.
    - C6: `start_indices_batching_dims` are distinct dimensions of the indices, compatible with `operand_batching_dims`.
    - C7: `mode` is `clip`, `fill` or `promise_in_bounds`.
    - C8: `sizes`, the last inputs, has one operand for each `?` in `slice_sizes`.
  }]>.description;
  let arguments = (ins Array_Tensor:$operand, Variadic<Array_TensorOrSize>:$inputs,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$offset_dims,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$collapsed_slice_dims,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$start_index_map,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$operand_batching_dims,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$start_indices_batching_dims,
                       DenseI64ArrayAttr:$slice_sizes, StrAttr:$mode,
                       DefaultValuedAttr<BoolAttr, "false">:$indices_are_sorted,
                       DefaultValuedAttr<BoolAttr, "false">:$unique_indices);
  let results = (outs Array_Tensor:$result);
  let hasCustomAssemblyFormat = 1;
  let hasFolder = 1;
  let extraClassDeclaration = [{
    /// The indices, and with the mode fill the scalar.
    ::mlir::ValueRange getTensorInputs() { return getInputs().drop_back(getSizes().size()); }
    ::mlir::ValueRange getSizes();
  }];
}

def Array_ScatterOp : Array_InferredOp<"scatter"> {
  let summary = "the operand with windows changed at positions from data";
  let description = Array_Doc<[{
    The dimensions `update_window_dims` of the updates are those of a window, the others those of the indices. For each
    position of the indices, in row-major order, a window of the operand is combined with the window of the updates:
    replaced by it (`kind = "set"`), or `add`, `mul`, `min`, `max`. The window starts at index `k` in the dimension
    `scatter_dims_to_operand_dims[k]`. With `set`, the last update of an element wins. `inserted_window_dims` and
    `operand_batching_dims` are dimensions of the operand in which the window has size 1; the updates lack them.

    If a window is not inside the operand, it is clamped to the operand (`mode = "clip"`), or dropped (`"fill"`);
    `"promise_in_bounds"` excludes such windows.

    ```mlir
    %y = array.scatter %x, %u at(%i) {inserted_window_dims = array<i64: 0>, kind = "add", mode = "fill",
           scatter_dims_to_operand_dims = array<i64: 0>, update_window_dims = array<i64: 1>}
           : (tensor<100x8xf32>, tensor<4x8xf32>, tensor<4xi32>) -> tensor<100x8xf32>
    ```
  }], [{
    - C1: there is one index for each entry of `scatter_dims_to_operand_dims`.
    - C2: the indices are of compatible shapes.
    - C3: `inserted_window_dims` and `operand_batching_dims` are distinct dimensions of the operand, the former
      increasing; the entries of `scatter_dims_to_operand_dims` are distinct dimensions that are no batching dimensions.
    - C4: `update_window_dims` has an increasing dimension of the updates for each other dimension of the operand, in
      which the window lies in the operand.
    - C5: the other dimensions of the updates are compatible with those of the indices.
    - C6: `scatter_indices_batching_dims` are distinct dimensions of the indices, compatible with
      `operand_batching_dims`.
    - C7: `mode` is `clip`, `fill` or `promise_in_bounds`; `kind` is `set`, for numbers `add` or `mul`, for bools and
      numbers `min` or `max`, which order complex numbers by their real, then their imaginary parts.
    - C8: `updates` has the element type of `operand`.
  }]>.description;
  let arguments = (ins Array_Tensor:$operand, Array_Tensor:$updates, Variadic<Array_IndexTensor>:$indices,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$update_window_dims,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$inserted_window_dims,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$scatter_dims_to_operand_dims,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$operand_batching_dims,
                       DefaultValuedAttr<DenseI64ArrayAttr, "{}">:$scatter_indices_batching_dims,
                       StrAttr:$kind, StrAttr:$mode,
                       DefaultValuedAttr<BoolAttr, "false">:$indices_are_sorted,
                       DefaultValuedAttr<BoolAttr, "false">:$unique_indices);
  let results = (outs Array_Tensor:$result);
  let assemblyFormat = "$operand `,` $updates `at` `(` $indices `)` attr-dict `:` functional-type(operands, results)";
}

#endif // ARRAY_IR_INDEXING_TD
