// Reductions over windows, and the gather and scatter from and to the elements that windows choose.
#ifndef ARRAY_IR_WINDOW_TD
#define ARRAY_IR_WINDOW_TD

include "array/IR/ArrayBase.td"

defvar Array_WindowConstraints = [{
    - C1: `window_dimensions`, `window_strides`, `low`, `high`, `base_dilation` and `window_dilation` have one entry for
      each dimension of `operand`.
    - C2: windows, strides and dilations are at least 1.
    - C3: no dimension of the padded operand has a negative size.
}];

defvar Array_WindowSizes = [{: `sizes` has one operand for each `?` in `window_dimensions`, `low` and `high`.
}];

class Array_ReduceWindowOp<string mnemonic, Type type, string text> : Array_InferredOp<mnemonic> {
  let summary = text;
  let description = Array_Doc<[{
    The operand is dilated by `base_dilation` and padded by `low` and `high` (negative padding removes elements), with
    the neutral element. Window i takes the elements `i * window_strides + k * window_dilation`. There are as many
    windows as fit in the padded operand.

    ```mlir
    %y = array.}] # mnemonic # [{ %x window_dimensions = [2] window_strides = [2] low = [0] high = [1]
           base_dilation = [1] window_dilation = [1] : (tensor<5xf32>) -> tensor<3xf32>
    ```
  }], Array_WindowConstraints # "    - C4" # Array_WindowSizes>.description;
  let arguments = (ins type:$operand, DenseI64ArrayAttr:$window_dimensions, DenseI64ArrayAttr:$window_strides,
                       DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high, DenseI64ArrayAttr:$base_dilation,
                       DenseI64ArrayAttr:$window_dilation, Variadic<Index>:$sizes);
  let results = (outs type:$result);
  let assemblyFormat = [{
    $operand `window_dimensions` `=` custom<Sizes>($window_dimensions) `window_strides` `=` $window_strides
    `low` `=` custom<Sizes>($low) `high` `=` custom<Sizes>($high) `base_dilation` `=` $base_dilation
    `window_dilation` `=` $window_dilation (`sizes` `(` $sizes^ `)`)? attr-dict
    `:` `(` type($operand) `)` `->` type($result)
  }];
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *context, std::optional<::mlir::Location> location, Adaptor adaptor,
        ::llvm::SmallVectorImpl<::mlir::Type> &inferred) {
      return ::mlir::array::inferWindows(
          location, getOperationName(), adaptor.getOperand().getType(),
          {adaptor.getWindowDimensions(), adaptor.getWindowStrides(), adaptor.getLow(), adaptor.getHigh(),
           adaptor.getBaseDilation(), adaptor.getWindowDilation(), adaptor.getSizes().size(), "C4"}, inferred);
    }
  }];
}

def Array_ReduceWindowSumOp : Array_ReduceWindowOp<"reduce_window_sum", Array_ArithmeticTensor, "sums over windows">;
def Array_ReduceWindowProdOp : Array_ReduceWindowOp<"reduce_window_prod", Array_NumberTensor, "products over windows">;
def Array_ReduceWindowMaxOp : Array_ReduceWindowOp<"reduce_window_max", Array_RealTensor,
    "maximum of each window, nan if there is one">;
def Array_ReduceWindowMinOp : Array_ReduceWindowOp<"reduce_window_min", Array_RealTensor,
    "minimum of each window, nan if there is one">;

class Array_SelectOp<string mnemonic, string text, string example> : Array_Op<mnemonic, [Pure]> {
  let summary = text;
  let description = Array_Doc<[{
    The windows are those of `reduce_window_max`. Each window chooses its first maximum (with `greatest = false`, its
    first minimum), or its first nan. A window of only padding chooses nothing.

    ```mlir
    %y = array.}] # mnemonic # [{ %s, %x greatest = true window_dimensions = [2] window_strides = [2] low = [0]
           high = [1] base_dilation = [1] window_dilation = [1] : }] # example # [{
    ```
  }], Array_WindowConstraints # [{
    - C4: `source` and `operand` have the same element type.
    - C5: the shapes of `source` and `result` are compatible with the windows of `operand`.
    - C6}] # Array_WindowSizes>.description;
  let arguments = (ins Array_FloatTensor:$source, Array_FloatTensor:$operand, BoolAttr:$greatest,
                       DenseI64ArrayAttr:$window_dimensions, DenseI64ArrayAttr:$window_strides,
                       DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high, DenseI64ArrayAttr:$base_dilation,
                       DenseI64ArrayAttr:$window_dilation, Variadic<Index>:$sizes);
  let results = (outs Array_FloatTensor:$result);
  let assemblyFormat = [{
    $source `,` $operand `greatest` `=` $greatest `window_dimensions` `=` custom<Sizes>($window_dimensions)
    `window_strides` `=` $window_strides `low` `=` custom<Sizes>($low) `high` `=` custom<Sizes>($high)
    `base_dilation` `=` $base_dilation `window_dilation` `=` $window_dilation (`sizes` `(` $sizes^ `)`)? attr-dict
    `:` `(` type($source) `,` type($operand) `)` `->` type($result)
  }];
  let hasVerifier = 1;
}

def Array_SelectAndGatherOp : Array_SelectOp<"select_and_gather",
    "the elements of source at the extrema of the windows of operand; 0 for windows of padding",
    "(tensor<5xf32>, tensor<5xf32>) -> tensor<3xf32>">;
def Array_SelectAndScatterOp : Array_SelectOp<"select_and_scatter",
    "the elements of source, one for each window, added at the extrema of the windows of operand",
    "(tensor<3xf32>, tensor<5xf32>) -> tensor<5xf32>">;

#endif // ARRAY_IR_WINDOW_TD
