// Effects: the tokens that order them, and host_call, by which a program reaches Python.
#ifndef ARRAY_IR_EFFECTS_TD
#define ARRAY_IR_EFFECTS_TD

include "array/IR/ArrayBase.td"

def Array_CreateTokenOp : Array_Op<"create_token", [Pure]> {
  let summary = "a token that orders after nothing";
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
  let summary = "a token that orders after several";
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
    The function is entry `slot` of a table that the executable is loaded with; the tensors are its arguments and its
    results.

    Three kinds. With a token it happens after what gave the token, and before what takes its own. With `effectful` and
    without a token it happens once each time that its block runs, in any order. Without `effectful` the function gives
    the same results for the same arguments and does nothing else: one whose results nobody reads is erased, and two that
    are equal are one.

    Lowering erases the tokens, and keeps what is effectful in the order of the program. The function is told the sizes
    of its results, which `output_dims` give where they are not constants.

    ```mlir
    %next, %y = array.host_call slot = 0 effectful (%token, %x)
        : (!array.token, tensor<4xf32>) -> (!array.token, tensor<4xf32>)
    array.host_call slot = 1 effectful (%x) : (tensor<4xf32>) -> ()
    %z = array.host_call slot = 2 (%x) : (tensor<4xf32>) -> tensor<4xf32>
    %w = array.host_call slot = 3 (%v) output_dims(%n) : (tensor<?xf32>, index) -> tensor<?xf32>
    ```
  }], [{
    - C1: `slot` is not negative.
    - C2: among the operands is at most one token, the first; the results have one, the first, just when they do.
    - C3: with a token it is `effectful`.
    - C4: what is not `effectful` has results.
    - C5: `output_dims`, the last operands, has one for each dynamic dimension of the results.
  }]>.description;
  let arguments = (ins I64Attr:$slot, UnitAttr:$effectful, Variadic<Array_ValueOrSize>:$inputs);
  let results = (outs Variadic<Array_Value>:$results);
  let assemblyFormat = [{
    `slot` `=` $slot (`effectful` $effectful^)? `(` custom<HostOperands>($inputs) attr-dict `:`
    functional-type($inputs, $results)
  }];
  let extraClassDeclaration = [{
    /// What is given to the function, after the token if there is one.
    ::mlir::ValueRange getGiven() { return getInputs().drop_back(getOutputDims().size()); }
    ::mlir::ValueRange getOutputDims();
  }];
  let hasVerifier = 1;
}

#endif // ARRAY_IR_EFFECTS_TD
