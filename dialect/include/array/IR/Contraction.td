// dot_general: matrix products and their generalizations.
#ifndef ARRAY_IR_CONTRACTION_TD
#define ARRAY_IR_CONTRACTION_TD

include "array/IR/ArrayBase.td"

def Array_DotGeneralOp : Array_Op<"dot_general", [Pure]> {
  let summary = "sums of products along contracting dimensions, for each index of batch dimensions";
  let description = Array_Doc<[{
    The result has the batch dimensions, then the free dimensions of `lhs`, then those of `rhs`. Sums have the
    element type of the result (f16 and bf16 sum in f32).

    ```mlir
    %z = array.dot_general %x, %y contracting = [1] x [0] : (tensor<4x5xf32>, tensor<5x6xf32>) -> tensor<4x6xf32>
    %w = array.dot_general %u, %v batch = [0] x [0] contracting = [2] x [1]
           : (tensor<8x4x5xf32>, tensor<8x5x6xf32>) -> tensor<8x4x6xf32>
    ```

    The attributes are `lhs_contracting`, `rhs_contracting`, `lhs_batch` and `rhs_batch`.
  }], [{
    - C1: `lhs_contracting` and `rhs_contracting` have the same length, `lhs_batch` and `rhs_batch` too.
    - C2: contracting and batch dimensions are distinct dimensions of their operand.
    - C3: contracting dimensions have compatible sizes.
    - C4: batch dimensions have compatible sizes.
    - C5: `lhs` and `rhs` have the same element type.
    - C6: the shape of `result` is compatible with batch, free dimensions of `lhs`, free dimensions of `rhs`.
    - C7: the element type of `result` is that of the operands or a wider one of the same kind.
  }]>.description;
  let arguments = (ins Array_ArithmeticTensor:$lhs, Array_ArithmeticTensor:$rhs, DenseI64ArrayAttr:$lhs_contracting,
                       DenseI64ArrayAttr:$rhs_contracting, DenseI64ArrayAttr:$lhs_batch, DenseI64ArrayAttr:$rhs_batch);
  let results = (outs Array_ArithmeticTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs custom<DotDimensions>($lhs_batch, $rhs_batch, $lhs_contracting, $rhs_contracting) attr-dict
    `:` functional-type(operands, results)
  }];
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

#endif // ARRAY_IR_CONTRACTION_TD
