// Own kernels: a body that runs for every index of a grid, on blocks of arrays. Their classes are in Kernel.h.
#ifndef ARRAY_IR_KERNEL_TD
#define ARRAY_IR_KERNEL_TD

include "array/IR/ArrayBase.td"

def Array_KernelYieldOp : Array_Op<"kernel_yield", [Pure, Terminator, ParentOneOf<["KernelCallOp"]>]> {
  let summary = "ends a region of a kernel with its offsets, or with its blocks";
  let description = [{
    ```mlir
    array.kernel_yield %row, %zero : tensor<i32>, tensor<i32>
    ```
  }];
  let arguments = (ins Variadic<Array_Tensor>:$results);
  let assemblyFormat = "($results^ `:` type($results))? attr-dict";
}

def Array_KernelCallOp : Array_Op<"kernel_call", [RecursiveMemoryEffects, AttrSizedOperandSegments]> {
  let summary = "runs a body for every index of a grid, on blocks of arrays";
  let description = Array_Doc<[{
    The grid has `grid[0] x grid[1] x ...` indices. For each of them, the last one fastest, `maps` gives the offset of a
    block in every dimension of each of `inputs`, then of each of `outputs`. `blocks` has the sizes of these blocks; 0
    is one element, whose dimension the block does not have. Offsets are clamped, so that the block lies in the array.

    `body` takes the index, the blocks of the inputs, the blocks of the outputs, and scratch memory, which is each
    further argument. It yields the next blocks of the outputs, and the next contents of the scratch memory. The first
    contents are zeros. The results are the outputs with all blocks that were yielded. Both regions may use values from
    outside.

    Dimensions of the grid in `parallel` have independent indices: for two of them, the blocks of an output do not
    overlap. These dimensions may run in any order, and before the others. Scratch memory starts with zeros for each
    index of them. `overwritten` names outputs whose operand is dead: no block reads it, and no element keeps its value.

    Lowering computes blocks in place: they are views of the operands.

    ```mlir
    %y = array.kernel_call(%x, %w) outs(%zeros) grid = [4, 2] parallel = [0, 1] overwritten = [0]
           blocks = [array<i64: 16, 8>, array<i64: 8, 0>, array<i64: 16, 0>]
           : (tensor<64x8xf32>, tensor<8x2xf32>, tensor<64x2xf32>) -> tensor<64x2xf32> maps {
    ^bb0(%i: tensor<i32>, %j: tensor<i32>):
      %size = array.constant dense<16> : tensor<i32>
      %zero = array.constant dense<0> : tensor<i32>
      %row = array.mul %i, %size : tensor<i32>
      array.kernel_yield %row, %zero, %zero, %j, %row, %j
        : tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>
    } body {
    ^bb0(%i: tensor<i32>, %j: tensor<i32>, %a: tensor<16x8xf32>, %b: tensor<8xf32>, %c: tensor<16xf32>):
      %d = array.dot_general %a, %b contracting = [1] x [0] : (tensor<16x8xf32>, tensor<8xf32>) -> tensor<16xf32>
      array.kernel_yield %d : tensor<16xf32>
    }
    ```
  }], [{
    - C1: every size of `grid` is at least 1, and their product is at most 2**31 - 1.
    - C2: `parallel` has dimensions of the grid, in increasing order.
    - C3: the inputs and the outputs have static shapes, and the results have the types of the outputs.
    - C4: `blocks` has one entry for each input and output, with a size for each dimension: 0, or from 1 to the size of
      the dimension, which is at least 1.
    - C5: `maps` takes a `tensor<i32>` for each dimension of the grid, and yields a `tensor<i32>` for each dimension of
      each input and output.
    - C6: `body` takes a `tensor<i32>` for each dimension of the grid, the blocks of the inputs and of the outputs, and
      tensors of static shapes.
    - C7: `body` yields values of the types of the blocks of the outputs and of the scratch memory.
    - C8: `overwritten` has numbers of outputs, in increasing order.
  }]>.description;
  let arguments = (ins Variadic<Array_Tensor>:$inputs, Variadic<Array_Tensor>:$outputs, DenseI64ArrayAttr:$grid,
                       DenseI64ArrayAttr:$parallel, DenseI64ArrayAttr:$overwritten,
                       TypedArrayAttrBase<DenseI64ArrayAttr, "sizes of blocks">:$blocks);
  let results = (outs Variadic<Array_Tensor>:$results);
  let regions = (region SizedRegion<1>:$maps, SizedRegion<1>:$body);
  let assemblyFormat = [{
    `(` $inputs `)` `outs` `(` $outputs `)` `grid` `=` $grid `parallel` `=` $parallel `overwritten` `=` $overwritten
    `blocks` `=` $blocks attr-dict `:` functional-type(operands, $results) `maps` $maps `body` $body
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The sizes of the blocks of input or output `number`, inputs first.
    ::llvm::ArrayRef<int64_t> blockSizes(unsigned number) {
      return ::mlir::cast<::mlir::DenseI64ArrayAttr>(getBlocks()[number]).asArrayRef();
    }
    /// The type of the block of input or output `number`, inputs first.
    ::mlir::RankedTensorType blockType(unsigned number);
  }];
}

#endif // ARRAY_IR_KERNEL_TD
