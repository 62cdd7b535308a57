// Collectives: exchanges between the participants of one program. Each participant runs the program on its own device.
#ifndef ARRAY_IR_COLLECTIVE_TD
#define ARRAY_IR_COLLECTIVE_TD

include "array/IR/ArrayBase.td"

def Array_ParticipantOp : Array_InferredOp<"participant"> {
  let summary = "the number of the participant that runs the program";
  let description = [{
    From 0 up to the number of participants. A program that runs alone has no participants, and the op fails.

    ```mlir
    %p = array.participant : () -> tensor<i32>
    ```
  }];
  let arguments = (ins);
  let results = (outs Array_BranchTensor:$result);
  let assemblyFormat = "attr-dict `:` functional-type(operands, results)";
}

/// All members of a group run the same collectives in the same order, so each one is an effect: none is erased, shared
/// or moved across another.
class Array_CollectiveOp<string mnemonic, string text>
    : Array_Op<mnemonic, [InferTypeOpAdaptor, Array_InferredResults, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = text;
  let results = (outs Array_Tensor:$result);
}

class Array_CollectiveDoc<string text, string constraints> {
  string description = Array_Doc<text # [{

    Each row of `groups` has the members of a group, in the order in which their values are combined. Each participant
    that runs the op is a member of one group. The members run their collectives in the same order.
  }], [{
    - C1: `groups` has rows of at least one participant; each participant, 0 or more, is in it once.
  }] # constraints>.description;
}

def Array_AllReduceOp : Array_CollectiveOp<"all_reduce", "the values of all members, combined element by element"> {
  let description = Array_CollectiveDoc<[{
    All members get the same bits.

    ```mlir
    %y = array.all_reduce %x kind = "sum" groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>
           : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }], [{
    - C2: `kind` is one of sum, prod (of numbers), max, min (of bools and real numbers), and, or (of bools and
      integers).
  }]>.description;
  let arguments = (ins Array_Tensor:$operand, StrAttr:$kind, I64ElementsAttr:$groups);
  let assemblyFormat = [{
    $operand `kind` `=` $kind `groups` `=` $groups attr-dict `:` functional-type(operands, results)
  }];
}

def Array_AllGatherOp : Array_CollectiveOp<"all_gather", "the values of all members, one after the other"> {
  let description = Array_CollectiveDoc<[{
    ```mlir
    %y = array.all_gather %x dimension = 0 groups = dense<[[0, 1]]> : tensor<1x2xi64>
           : (tensor<4x5xf32>) -> tensor<8x5xf32>
    ```
  }], [{
    - C2: `dimension` is a dimension of `operand`.
  }]>.description;
  let arguments = (ins Array_Tensor:$operand, I64Attr:$dimension, I64ElementsAttr:$groups);
  let assemblyFormat = [{
    $operand `dimension` `=` $dimension `groups` `=` $groups attr-dict `:` functional-type(operands, results)
  }];
}

def Array_ReduceScatterOp : Array_CollectiveOp<"reduce_scatter",
    "the member's part of the combined values of all members"> {
  let description = Array_CollectiveDoc<[{
    ```mlir
    %y = array.reduce_scatter %x kind = "sum" dimension = 0 groups = dense<[[0, 1]]> : tensor<1x2xi64>
           : (tensor<8x5xf32>) -> tensor<4x5xf32>
    ```
  }], [{
    - C2: `kind` is one of those of all_reduce.
    - C3: `dimension` is a dimension of `operand`.
    - C4: the number of members divides the dimension.
  }]>.description;
  let arguments = (ins Array_Tensor:$operand, StrAttr:$kind, I64Attr:$dimension, I64ElementsAttr:$groups);
  let assemblyFormat = [{
    $operand `kind` `=` $kind `dimension` `=` $dimension `groups` `=` $groups attr-dict
    `:` functional-type(operands, results)
  }];
}

def Array_AllToAllOp : Array_CollectiveOp<"all_to_all", "one part of the value of each member, one after the other"> {
  let description = Array_CollectiveDoc<[{
    Each value is split along `split_axis` into one part for each member. A member concatenates its parts along
    `concat_axis`.

    ```mlir
    %y = array.all_to_all %x split_axis = 0 concat_axis = 1 groups = dense<[[0, 1]]> : tensor<1x2xi64>
           : (tensor<4x5xf32>) -> tensor<2x10xf32>
    ```
  }], [{
    - C2: `split_axis` and `concat_axis` are dimensions of `operand`.
    - C3: the number of members divides the dimension `split_axis`.
  }]>.description;
  let arguments = (ins Array_Tensor:$operand, I64Attr:$split_axis, I64Attr:$concat_axis, I64ElementsAttr:$groups);
  let assemblyFormat = [{
    $operand `split_axis` `=` $split_axis `concat_axis` `=` $concat_axis `groups` `=` $groups attr-dict
    `:` functional-type(operands, results)
  }];
}

def Array_CollectivePermuteOp : Array_CollectiveOp<"collective_permute", "the value of the member that sends here"> {
  let description = Array_CollectiveDoc<[{
    `pairs` alternates between senders and receivers, as places in the rows of `groups`. A member that receives nothing
    gets zeros. One member may send to several.

    ```mlir
    %y = array.collective_permute %x pairs = [0, 1, 1, 0] groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>
           : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }], [{
    - C2: `pairs` has an even number of places in a row of `groups`.
    - C3: no place receives twice.
  }]>.description;
  let arguments = (ins Array_Tensor:$operand, DenseI64ArrayAttr:$pairs, I64ElementsAttr:$groups);
  let assemblyFormat = [{
    $operand `pairs` `=` $pairs `groups` `=` $groups attr-dict `:` functional-type(operands, results)
  }];
}

#endif // ARRAY_IR_COLLECTIVE_TD
