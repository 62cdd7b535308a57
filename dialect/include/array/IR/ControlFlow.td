// Control flow: while, and the yield that ends its regions.
#ifndef ARRAY_IR_CONTROLFLOW_TD
#define ARRAY_IR_CONTROLFLOW_TD

include "array/IR/ArrayBase.td"

def Array_YieldOp : Array_Op<"yield", [Pure, Terminator, ParentOneOf<["WhileOp"]>]> {
  let summary = "ends a region of control flow with its results";
  let description = [{
    ```mlir
    array.yield %x, %y : tensor<4xf32>, tensor<i32>
    ```
  }];
  let arguments = (ins Variadic<Array_Value>:$results);
  let assemblyFormat = "($results^ `:` type($results))? attr-dict";
}

def Array_WhileOp : Array_Op<"while", [RecursiveMemoryEffects]> {
  let summary = "runs a body while a condition holds";
  let description = Array_Doc<[{
    The carry starts as the operands. As long as `cond` of the carry yields true, `body` of the carry yields the next one;
    the results are the last. Both regions may use values from outside, which are the same in every iteration. Without
    effects in the regions there are none: a loop whose results nobody reads is erased, whether it would end or not.

    Lowering updates the carry in place: an iteration allocates nothing, and copies only what its body permutes.

    ```mlir
    %r = array.while(%zero) : (tensor<i32>) -> tensor<i32> cond {
    ^bb0(%i: tensor<i32>):
      %p = array.lt %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      array.yield %p : tensor<i1>
    } body {
    ^bb0(%i: tensor<i32>):
      %next = array.add %i, %one : tensor<i32>
      array.yield %next : tensor<i32>
    }
    ```
  }], [{
    - C1: the arguments of `cond` have the types of the operands.
    - C2: `cond` yields one `tensor<i1>`.
    - C3: the arguments of `body` have the types of the operands.
    - C4: `body` yields values of types that are compatible with the operands'.
    - C5: the results have the types of the operands.
  }]>.description;
  let arguments = (ins Variadic<Array_Value>:$inits);
  let results = (outs Variadic<Array_Value>:$results);
  let regions = (region SizedRegion<1>:$cond, SizedRegion<1>:$body);
  let assemblyFormat = [{
    `(` $inits `)` attr-dict `:` functional-type($inits, $results) `cond` $cond `body` $body
  }];
  let hasRegionVerifier = 1;
}

#endif // ARRAY_IR_CONTROLFLOW_TD
