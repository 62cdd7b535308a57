// Ops on the bits of integers and on the formats of floats, beside `and`, `or`, `xor`, `not` and the shifts; and
// products with a logarithm, which are 0 if the factor is 0.
#ifndef ARRAY_IR_BITS_TD
#define ARRAY_IR_BITS_TD

include "array/IR/Elementwise.td"

def Array_ClzOp : Array_UnaryOp<"clz", Array_IntegerTensor, "number of leading zero bits; the width for 0">;
def Array_PopulationCountOp : Array_UnaryOp<"population_count", Array_IntegerTensor, "number of set bits">;
def Array_MulhiOp : Array_BinaryOp<"mulhi", Array_IntegerTensor, "upper half of the product of twice the width">;
def Array_NextafterOp : Array_BinaryOp<"nextafter", Array_FloatTensor,
    "number next to lhs in the direction of rhs; rhs if they are equal">;
def Array_XlogyOp : Array_BinaryOp<"xlogy", Array_FloatTensor, "lhs log(rhs); 0 if lhs is 0 and rhs is not nan">;
def Array_Xlog1pyOp : Array_BinaryOp<"xlog1py", Array_FloatTensor,
    "lhs log(1 + rhs); 0 if lhs is 0 and rhs is not nan">;

def Array_ReducePrecisionOp : Array_ElementwiseOp<"reduce_precision", [], Array_SameElement> {
  let summary = "the operand rounded to a format of fewer bits, in its own element type";
  let description = Array_Doc<[{
    Rounds to nearest, ties to even. Numbers above the format's range become infinite, numbers below its smallest normal
    number become a zero of the same sign. A format with as many bits or more changes nothing.

    ```mlir
    %y = array.reduce_precision %x exponent_bits = 5 mantissa_bits = 10 : tensor<4xf32>
    ```
  }], [{
    - C1: `operand` is a tensor of floats.
    - C2: `exponent_bits` is at least 1, `mantissa_bits` at least 0.
  }]>.description;
  let arguments = (ins Array_FloatTensor:$operand, ConfinedAttr<I64Attr, [IntMinValue<1>]>:$exponent_bits,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$mantissa_bits);
  let results = (outs Array_FloatTensor:$result);
  let assemblyFormat = [{
    $operand `exponent_bits` `=` $exponent_bits `mantissa_bits` `=` $mantissa_bits attr-dict `:`
    custom<ElementwiseTypes>(type($operand), type($result))
  }];
}

#endif // ARRAY_IR_BITS_TD
