// Running results along a dimension: cumsum, cumprod, cummax, cummin, cumlogsumexp.
#ifndef ARRAY_IR_CUMULATIVE_TD
#define ARRAY_IR_CUMULATIVE_TD

include "array/IR/ArrayBase.td"

class Array_CumulativeOp<string mnemonic, Type type, string text> : Array_InferredOp<mnemonic> {
  let summary = text;
  let description = Array_Doc<[{
    Element i of a line combines the elements up to and including i; with `reverse`, the elements from i on.

    ```mlir
    %y = array.}] # mnemonic # [{ %x axis = 0 reverse = false : (tensor<4x5xf32>) -> tensor<4x5xf32>
    ```
  }], [{
    - C1: `axis` is a dimension of `operand`.
  }]>.description;
  let arguments = (ins type:$operand, I64Attr:$axis, BoolAttr:$reverse);
  let results = (outs type:$result);
  let assemblyFormat = [{
    $operand `axis` `=` $axis `reverse` `=` $reverse attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *context, std::optional<::mlir::Location> location, Adaptor adaptor,
        ::llvm::SmallVectorImpl<::mlir::Type> &inferred) {
      return ::mlir::array::inferCumulative(location, getOperationName(), adaptor.getOperand().getType(),
                                            adaptor.getAxis(), inferred);
    }
  }];
}

let hasCanonicalizer = 1 in {
def Array_CumsumOp : Array_CumulativeOp<"cumsum", Array_ArithmeticTensor, "running sums">;
def Array_CumprodOp : Array_CumulativeOp<"cumprod", Array_ArithmeticTensor, "running products">;
let hasFolder = 1 in {
def Array_CummaxOp : Array_CumulativeOp<"cummax", Array_RealTensor, "running maxima; nan from the first nan on">;
def Array_CumminOp : Array_CumulativeOp<"cummin", Array_RealTensor, "running minima; nan from the first nan on">;
} // hasFolder
} // hasCanonicalizer
def Array_CumlogsumexpOp : Array_CumulativeOp<"cumlogsumexp", Array_FloatTensor,
    "running logarithms of sums of exponentials">;

#endif // ARRAY_IR_CUMULATIVE_TD
