// Effects: the tokens that order them, and host_call, by which a program reaches Python.
#ifndef ARRAY_IR_EFFECTS_TD
#define ARRAY_IR_EFFECTS_TD

include "array/IR/ArrayBase.td"

def Array_CreateTokenOp : Array_Op<"create_token", [Pure]> {
  let summary = "a token without predecessors";
  let description = [{
    ```mlir
    %t = array.create_token : !array.token
    ```
  }];
  let arguments = (ins);
  let results = (outs Array_TokenType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Array_AfterAllOp : Array_Op<"after_all", [Pure]> {
  let summary = "a token that follows several tokens";
  let description = [{
    ```mlir
    %t = array.after_all %t0, %t1 : !array.token
    ```
  }];
  let arguments = (ins Variadic<Array_TokenType>:$inputs);
  let results = (outs Array_TokenType:$result);
  let assemblyFormat = "($inputs^)? attr-dict `:` type($result)";
  let hasFolder = 1;
}

def Array_HostCallOp : Array_Op<"host_call", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "calls a function of the host program";
  let description = Array_Doc<[{
    The function is entry `slot` of a table that is loaded with the executable. The tensors are its arguments and its
    results.

    There are three kinds. A call with a token happens after the producer of the token, and before the consumers of its
    own. A call with `effectful` and without a token happens once each time that its block runs, in any order. Without
    `effectful`, the function returns the same results for the same arguments and has no effects: a call without readers
    is erased, and equal calls are merged.

    Lowering erases the tokens and keeps effectful calls in program order. The function receives the sizes of its
    results; `output_dims` gives the non-constant ones.

    ```mlir
    %next, %y = array.host_call slot = 0 effectful (%token, %x)
        : (!array.token, tensor<4xf32>) -> (!array.token, tensor<4xf32>)
    array.host_call slot = 1 effectful (%x) : (tensor<4xf32>) -> ()
    %z = array.host_call slot = 2 (%x) : (tensor<4xf32>) -> tensor<4xf32>
    %w = array.host_call slot = 3 (%v) output_dims(%n) : (tensor<?xf32>, index) -> tensor<?xf32>
    ```
  }], [{
    - C1: `slot` is not negative.
    - C2: at most the first operand is a token; the first result is a token if and only if the first operand is one.
    - C3: a call with a token is `effectful`.
    - C4: a call without `effectful` has results.
    - C5: `output_dims`, the last operands, has one for each dynamic dimension of the results.
  }]>.description;
  let arguments = (ins I64Attr:$slot, UnitAttr:$effectful, Variadic<Array_ValueOrSize>:$inputs);
  let results = (outs Variadic<Array_Value>:$results);
  let assemblyFormat = [{
    `slot` `=` $slot (`effectful` $effectful^)? `(` custom<HostOperands>($inputs) attr-dict `:`
    functional-type($inputs, $results)
  }];
  let extraClassDeclaration = [{
    /// The operands of the function, after the token if there is one.
    ::mlir::ValueRange getGiven() { return getInputs().drop_back(getOutputDims().size()); }
    ::mlir::ValueRange getOutputDims();
  }];
  let hasVerifier = 1;
}

#endif // ARRAY_IR_EFFECTS_TD
