// Ops that combine the elements along dimensions: the reductions, argmax and argmin.
#ifndef ARRAY_IR_REDUCTION_TD
#define ARRAY_IR_REDUCTION_TD

include "array/IR/ArrayBase.td"

class Array_ReduceOp<string mnemonic, Type type, string text> : Array_InferredOp<mnemonic> {
  let summary = text;
  let description = Array_Doc<[{
    ```mlir
    %y = array.}] # mnemonic # [{ %x axes = [0] : (tensor<4x5x}] # !if(!eq(type, Array_BitsTensor), "i1", "f32")
         # [{>) -> tensor<5x}] # !if(!eq(type, Array_BitsTensor), "i1", "f32") # [{>
    ```
  }], [{
    - C1: `operand` is a }] # type.summary # [{.
    - C2: `axes` are distinct dimensions of `operand`.
  }]>.description;
  let arguments = (ins type:$operand, DenseI64ArrayAttr:$axes);
  let results = (outs type:$result);
  let assemblyFormat = "$operand `axes` `=` $axes attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *context, std::optional<::mlir::Location> location, Adaptor adaptor,
        ::llvm::SmallVectorImpl<::mlir::Type> &inferred) {
      return ::mlir::array::inferReduction(location, getOperationName(), adaptor.getOperand().getType(),
                                           adaptor.getAxes(), inferred);
    }
    ::mlir::OpFoldResult $cppClass::fold(FoldAdaptor adaptor) {
      return ::mlir::array::foldReduction(getOperand(), getAxes(), getType());
    }
    void $cppClass::getCanonicalizationPatterns(::mlir::RewritePatternSet &patterns, ::mlir::MLIRContext *context) {
      ::mlir::array::populateReductionCanonicalization(patterns, getOperationName());
    }
  }];
}

def Array_ReduceSumOp : Array_ReduceOp<"reduce_sum", Array_ArithmeticTensor, "sum along axes; 0 for no elements">;
def Array_ReduceProdOp : Array_ReduceOp<"reduce_prod", Array_ArithmeticTensor, "product along axes; 1 for no elements">;
def Array_ReduceMaxOp : Array_ReduceOp<"reduce_max", Array_EqualityTensor,
    "maximum along axes, nan if there is one; the minimum of the type (-inf) for no elements">;
def Array_ReduceMinOp : Array_ReduceOp<"reduce_min", Array_EqualityTensor,
    "minimum along axes, nan if there is one; the maximum of the type (inf) for no elements">;
def Array_ReduceAndOp : Array_ReduceOp<"reduce_and", Array_BitsTensor,
    "bitwise or logical and along axes; all bits set for no elements">;
def Array_ReduceOrOp : Array_ReduceOp<"reduce_or", Array_BitsTensor, "bitwise or logical or along axes; 0 if empty">;
def Array_ReduceXorOp : Array_ReduceOp<"reduce_xor", Array_BitsTensor,
    "bitwise or logical exclusive or along axes; 0 for no elements">;

class Array_ArgReduceOp<string mnemonic, string text> : Array_InferredOp<mnemonic> {
  let summary = text;
  let description = Array_Doc<[{
    The first of equal values wins; the first nan wins over all numbers.

    ```mlir
    %i = array.}] # mnemonic # [{ %x axis = 1 index_dtype = i32 : (tensor<4x5xf32>) -> tensor<4xi32>
    ```
  }], [{
    - C1: `axis` is a dimension of `operand`.
    - C2: the dimension is not empty.
    - C3: `index_dtype` is an integer type.
  }]>.description;
  let arguments = (ins Array_RealTensor:$operand, I64Attr:$axis, TypeAttr:$index_dtype);
  let results = (outs Array_IntegerTensor:$result);
  let assemblyFormat = [{
    $operand `axis` `=` $axis `index_dtype` `=` $index_dtype attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *context, std::optional<::mlir::Location> location, Adaptor adaptor,
        ::llvm::SmallVectorImpl<::mlir::Type> &inferred) {
      return ::mlir::array::inferArgReduction(location, getOperationName(), adaptor.getOperand().getType(),
                                              adaptor.getAxis(), adaptor.getIndexDtype(), inferred);
    }
  }];
}

def Array_ArgmaxOp : Array_ArgReduceOp<"argmax", "position of the maximum along an axis">;
def Array_ArgminOp : Array_ArgReduceOp<"argmin", "position of the minimum along an axis">;

#endif // ARRAY_IR_REDUCTION_TD
