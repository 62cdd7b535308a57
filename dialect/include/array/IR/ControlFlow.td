// Control flow: while, cond, scan, the yield that ends their regions, and the barrier that keeps values apart.
#ifndef ARRAY_IR_CONTROLFLOW_TD
#define ARRAY_IR_CONTROLFLOW_TD

include "array/IR/ArrayBase.td"

def Array_YieldOp : Array_Op<"yield", [Pure, Terminator, ParentOneOf<["WhileOp", "CondOp", "ScanOp"]>]> {
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
    The operands are the first carry. While `cond` of the carry yields true, `body` of the carry yields the next one.
    The results are the last carry. Both regions may use values from outside, which are the same in every iteration. A
    loop without effects in its regions has no effects: it is erased if its results have no readers, even if it would
    not end.

    Lowering updates the carry in place: an iteration allocates nothing, and copies only tensors that its body permutes.

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

def Array_CondOp : Array_Op<"cond", [RecursiveMemoryEffects]> {
  let summary = "runs one of several branches, chosen by an index";
  let description = Array_Doc<[{
    Runs branch `index` and returns its results. An index beyond the branches, or a negative one, chooses the last.
    Branches read values from outside; they have no arguments.

    ```mlir
    %r = array.cond %i : (tensor<i32>) -> tensor<4xf32> {
      %y = array.neg %x : tensor<4xf32>
      array.yield %y : tensor<4xf32>
    }, {
      array.yield %x : tensor<4xf32>
    }
    ```
  }], [{
    - C1: there is at least one branch.
    - C2: a branch has no arguments.
    - C3: every branch yields values of types that are compatible with the results'.
  }]>.description;
  let arguments = (ins Array_BranchTensor:$index);
  let results = (outs Variadic<Array_Value>:$results);
  let regions = (region VariadicRegion<SizedRegion<1>>:$branches);
  let assemblyFormat = "$index attr-dict `:` functional-type($index, $results) $branches";
  let hasRegionVerifier = 1;
}

def Array_ScanOp : Array_Op<"scan", [RecursiveMemoryEffects, AttrSizedOperandSegments]> {
  let summary = "runs a body for every slice of arrays along their first dimension, with a carry";
  let description = Array_Doc<[{
    `inits` is the first carry. Iteration i of `length` takes the carry and slice i of each of `xs` along its first
    dimension. It yields the next carry, then slice i of each further result. With `reverse` the iterations go from the
    last slice to the first. The results are the last carry, then the stacked slices. The body may use values from
    outside. If `length` is `?`, `sizes` gives it, also if there are `xs`. `output_dims` gives the non-constant sizes of
    the stacked slices.

    Lowering updates the carry in place, reads input slices in place, and writes result slices directly to the results.

    ```mlir
    %sum, %sums = array.scan(%zero) (%x) length = 5 reverse = false
        : (tensor<f32>, tensor<5xf32>) -> (tensor<f32>, tensor<5xf32>) {
    ^bb0(%c: tensor<f32>, %e: tensor<f32>):
      %d = array.add %c, %e : tensor<f32>
      array.yield %d, %d : tensor<f32>, tensor<f32>
    }
    %s, %ss = array.scan(%zero) (%v) length = ? reverse = false sizes(%n) output_dims(%n)
        : (tensor<f32>, tensor<?xf32>, index, index) -> (tensor<f32>, tensor<?xf32>) {
    ^bb0(%c: tensor<f32>, %e: tensor<f32>):
      %d = array.add %c, %e : tensor<f32>
      array.yield %d, %d : tensor<f32>, tensor<f32>
    }
    ```
  }], [{
    - C1: `length` is not negative.
    - C2: the first dimension of each of `xs` is `length`, or dynamic.
    - C3: the arguments of the body have the types of `inits`, then those of the slices of `xs`.
    - C4: the body yields values of types that are compatible with those of `inits`, then tensors.
    - C5: the results have the types of `inits`, then types that are compatible with the joined slices.
    - C6: `sizes` has one operand if `length` is `?`, else none.
    - C7: `output_dims` has one operand for each dynamic dimension of the joined slices.
  }]>.description;
  let arguments = (ins Variadic<Array_Value>:$inits, Variadic<Array_Tensor>:$xs, I64Attr:$length, BoolAttr:$reverse,
                       Variadic<Index>:$sizes, Variadic<Index>:$output_dims);
  let results = (outs Variadic<Array_Value>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `(` $inits `)` `(` $xs `)` `length` `=` custom<Size>($length) `reverse` `=` $reverse (`sizes` `(` $sizes^ `)`)?
    (`output_dims` `(` $output_dims^ `)`)? attr-dict `:`
    functional-type(operands, $results) $body
  }];
  let hasRegionVerifier = 1;
}

def Array_OptimizationBarrierOp
    : Array_Op<"optimization_barrier", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "returns its operands and hides their origin from the compiler";
  let description = Array_Doc<[{
    Readers of a result are not merged with readers of the operand, and not fused with its producer. At run time the
    result is the operand's memory.

    ```mlir
    %y:2 = array.optimization_barrier(%a, %b) : (tensor<4xf32>, tensor<i32>) -> (tensor<4xf32>, tensor<i32>)
    ```
  }], [{
    - C1: the results have the types of the operands.
  }]>.description;
  let arguments = (ins Variadic<Array_Value>:$operands);
  let results = (outs Variadic<Array_Value>:$results);
  let assemblyFormat = "`(` $operands `)` attr-dict `:` functional-type($operands, $results)";
  let hasVerifier = 1;
}

#endif // ARRAY_IR_CONTROLFLOW_TD
