// Ops that compute each element of the result from the elements at the same position: arithmetic, math, bits,
// comparison, selection, conversion, and the threefry2x32 hash.
#ifndef ARRAY_IR_ELEMENTWISE_TD
#define ARRAY_IR_ELEMENTWISE_TD

include "array/IR/ArrayBase.td"

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

/// `resultElement` is C++ for the result's element type, from the operand types `types`.
class Array_ElementwiseOp<string mnemonic, list<Trait> traits, string resultElement>
    : Array_InferredOp<mnemonic, traits> {
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *context, std::optional<::mlir::Location> location, Adaptor adaptor,
        ::llvm::SmallVectorImpl<::mlir::Type> &inferred) {
      ::mlir::TypeRange types = adaptor.getOperands().getTypes();
      return ::mlir::array::inferElementwise(location, getOperationName(), types, }] # resultElement # [{, inferred);
    }
  }];
}

defvar Array_SameElement = "::mlir::getElementTypeOrSelf(types.back())";
defvar Array_PartElement = "::mlir::array::partElement(::mlir::getElementTypeOrSelf(types.back()))";
defvar Array_ComplexElement = "::mlir::ComplexType::get(::mlir::getElementTypeOrSelf(types.back()))";
defvar Array_BoolElement = "::mlir::IntegerType::get(context, 1)";

/// An element type for the examples in the documentation.
class Array_ExampleElement<Type type> {
  string name = !if(!or(!eq(type, Array_BitsTensor), !eq(type, Array_IntegerTensor)), "i32", "f32");
}

/// The assembly directive for the types: one type, unless dynamic dimensions make them differ.
class Array_TypesDirective<string resultElement> {
  string name = !if(!eq(resultElement, Array_BoolElement), "PredicateTypes", "ElementwiseTypes");
}

class Array_UnaryOp<string mnemonic, Type type, string text, list<Trait> traits = [], Type resultType = type,
                    string resultElement = Array_SameElement>
    : Array_ElementwiseOp<mnemonic, traits, resultElement> {
  let summary = text;
  let description = Array_Doc<[{
    ```mlir
    %y = array.}] # mnemonic # [{ %x : tensor<4x}] # Array_ExampleElement<type>.name # [{>
    ```
  }], [{
    - C1: `operand` is a }] # type.summary # [{.
  }]>.description;
  let arguments = (ins type:$operand);
  let results = (outs resultType:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<" # Array_TypesDirective<resultElement>.name
                       # ">(type($operand), type($result))";
}

class Array_BinaryOp<string mnemonic, Type type, string text, list<Trait> traits = [], Type resultType = type,
                     string resultElement = Array_SameElement>
    : Array_ElementwiseOp<mnemonic, traits, resultElement> {
  let summary = text;
  let description = Array_Doc<[{
    ```mlir
    %z = array.}] # mnemonic # [{ %x, %y : tensor<4x}] # Array_ExampleElement<type>.name # [{>
    ```
  }], [{
    - C1: `lhs` and `rhs` are each a }] # type.summary # [{.
    - C2: `lhs` and `rhs` have compatible shapes and the same element type.
  }]>.description;
  let arguments = (ins type:$lhs, type:$rhs);
  let results = (outs resultType:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` custom<" # Array_TypesDirective<resultElement>.name
                       # ">(type($lhs), type($rhs), type($result))";
}

class Array_CompareOp<string mnemonic, string text, list<Trait> traits = [], Type type = Array_RealTensor>
    : Array_BinaryOp<mnemonic, type, text, traits, Array_BoolTensor, Array_BoolElement>;

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

let hasFolder = 1 in {
def Array_AbsOp : Array_UnaryOp<"abs", Array_MagnitudeTensor,
    "magnitude; of the minimum integer itself; real for complex numbers", [], Array_SignedTensor, Array_PartElement>;
def Array_NegOp : Array_UnaryOp<"neg", Array_ArithmeticTensor, "negative; integers wrap">;
def Array_NotOp : Array_UnaryOp<"not", Array_BitsTensor, "complement of each bit, or of a bool">;
def Array_StopGradientOp : Array_UnaryOp<"stop_gradient", Array_Tensor, "the operand; derivatives don't pass">;
} // hasFolder

def Array_SignOp : Array_UnaryOp<"sign", Array_ArithmeticTensor, "-1, 0 or 1; a float zero or nan itself; z / |z| if complex">;
def Array_FloorOp : Array_UnaryOp<"floor", Array_FloatTensor, "maximum integral number that is not above the operand">;
def Array_CeilOp : Array_UnaryOp<"ceil", Array_FloatTensor, "minimum integral number that is not below the operand">;
def Array_RoundOp : Array_UnaryOp<"round", Array_FloatTensor, "nearest integral number, ties to even">;
def Array_ExpOp : Array_UnaryOp<"exp", Array_InexactTensor, "exponential">;
def Array_Exp2Op : Array_UnaryOp<"exp2", Array_InexactTensor, "power of two">;
def Array_Expm1Op : Array_UnaryOp<"expm1", Array_InexactTensor, "exponential minus one, accurate near zero">;
def Array_LogOp : Array_UnaryOp<"log", Array_InexactTensor, "natural logarithm">;
def Array_Log1pOp : Array_UnaryOp<"log1p", Array_InexactTensor,
    "natural logarithm of one plus the operand, accurate near zero">;
def Array_SinOp : Array_UnaryOp<"sin", Array_InexactTensor, "sine of an angle in radians">;
def Array_CosOp : Array_UnaryOp<"cos", Array_InexactTensor, "cosine of an angle in radians">;
def Array_TanOp : Array_UnaryOp<"tan", Array_InexactTensor, "tangent of an angle in radians">;
def Array_TanhOp : Array_UnaryOp<"tanh", Array_InexactTensor, "hyperbolic tangent">;
def Array_SqrtOp : Array_UnaryOp<"sqrt", Array_InexactTensor, "square root; nan for a negative number">;
def Array_RsqrtOp : Array_UnaryOp<"rsqrt", Array_InexactTensor, "reciprocal of the square root">;
def Array_CbrtOp : Array_UnaryOp<"cbrt", Array_FloatTensor, "cube root, with the sign of the operand">;
def Array_LogisticOp : Array_UnaryOp<"logistic", Array_InexactTensor, "1 / (1 + exp(-x))">;
def Array_ErfOp : Array_UnaryOp<"erf", Array_FloatTensor, "error function">;
def Array_ErfInvOp : Array_UnaryOp<"erf_inv", Array_FloatTensor, "inverse of the error function">;
def Array_ErfcOp : Array_UnaryOp<"erfc", Array_FloatTensor,
    "one minus the error function, accurate if the result is tiny">;
def Array_Log2Op : Array_UnaryOp<"log2", Array_FloatTensor, "logarithm to base 2">;
def Array_Log10Op : Array_UnaryOp<"log10", Array_FloatTensor, "logarithm to base 10">;
def Array_AsinOp : Array_UnaryOp<"asin", Array_FloatTensor, "angle in radians whose sine is the operand">;
def Array_AcosOp : Array_UnaryOp<"acos", Array_FloatTensor, "angle in radians whose cosine is the operand">;
def Array_AtanOp : Array_UnaryOp<"atan", Array_FloatTensor, "angle in radians whose tangent is the operand">;
def Array_SinhOp : Array_UnaryOp<"sinh", Array_FloatTensor, "hyperbolic sine">;
def Array_CoshOp : Array_UnaryOp<"cosh", Array_FloatTensor, "hyperbolic cosine">;
def Array_AsinhOp : Array_UnaryOp<"asinh", Array_FloatTensor, "inverse of the hyperbolic sine">;
def Array_AcoshOp : Array_UnaryOp<"acosh", Array_FloatTensor, "inverse of the hyperbolic cosine; nan below 1">;
def Array_AtanhOp : Array_UnaryOp<"atanh", Array_FloatTensor, "inverse of the hyperbolic tangent; nan beyond 1">;
def Array_IsFiniteOp : Array_UnaryOp<"is_finite", Array_FloatTensor, "true if neither infinite nor nan", [],
                                     Array_BoolTensor, Array_BoolElement>;

//===----------------------------------------------------------------------===//
// Binary
//===----------------------------------------------------------------------===//

let hasFolder = 1 in {
def Array_AddOp : Array_BinaryOp<"add", Array_ArithmeticTensor, "sum; integers wrap", [Commutative]>;
def Array_SubOp : Array_BinaryOp<"sub", Array_ArithmeticTensor, "difference; integers wrap">;
def Array_MulOp : Array_BinaryOp<"mul", Array_ArithmeticTensor, "product; integers wrap", [Commutative]>;
def Array_DivOp : Array_BinaryOp<"div", Array_ArithmeticTensor,
    "quotient; integers truncate towards zero; n / 0 has all bits set; the minimum by -1 is itself"> {
  let hasCanonicalizer = 1;
}
def Array_RemOp : Array_BinaryOp<"rem", Array_NumberTensor,
    "remainder of the truncated quotient, with the sign of lhs; lhs for an integer by zero">;
def Array_MaxOp : Array_BinaryOp<"max", Array_EqualityTensor,
    "maximum; nan if either is; or of bools; complex numbers are ordered by (re, im)", [Commutative]>;
def Array_MinOp : Array_BinaryOp<"min", Array_EqualityTensor,
    "minimum; nan if either is; and of bools; complex numbers are ordered by (re, im)", [Commutative]>;
def Array_AndOp : Array_BinaryOp<"and", Array_BitsTensor, "bitwise or logical and", [Commutative]>;
def Array_OrOp : Array_BinaryOp<"or", Array_BitsTensor, "bitwise or logical or", [Commutative]>;
def Array_XorOp : Array_BinaryOp<"xor", Array_BitsTensor, "bitwise or logical exclusive or", [Commutative]>;
def Array_EqOp : Array_CompareOp<"eq", "true if equal; false if either is nan", [Commutative], Array_EqualityTensor>;
def Array_NeOp : Array_CompareOp<"ne", "true if different; true if either is nan", [Commutative],
                                   Array_EqualityTensor>;
def Array_LtOp : Array_CompareOp<"lt", "true if lhs is less; false if either is nan">;
def Array_LeOp : Array_CompareOp<"le", "true if lhs is less or equal; false if either is nan">;
def Array_GtOp : Array_CompareOp<"gt", "true if lhs is greater; false if either is nan">;
def Array_GeOp : Array_CompareOp<"ge", "true if lhs is greater or equal; false if either is nan">;
} // hasFolder

def Array_PowOp : Array_BinaryOp<"pow", Array_ArithmeticTensor, "lhs to the power of rhs">;
def Array_Atan2Op : Array_BinaryOp<"atan2", Array_FloatTensor, "angle in radians of the point (rhs, lhs)">;
def Array_ShiftLeftOp : Array_BinaryOp<"shift_left", Array_IntegerTensor,
    "lhs shifted left by rhs; 0 if rhs, as an unsigned number, is not below the width">;
def Array_ShiftRightArithmeticOp : Array_BinaryOp<"shift_right_arithmetic", Array_IntegerTensor,
    "lhs shifted right by rhs, filled with the sign; only the sign if rhs is not below the width">;
def Array_ShiftRightLogicalOp : Array_BinaryOp<"shift_right_logical", Array_IntegerTensor,
    "lhs shifted right by rhs, filled with zeros; 0 if rhs is not below the width">;

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

def Array_SelectOp : Array_InferredOp<"select"> {
  let summary = "on_true if pred is true, else on_false";
  let description = Array_Doc<[{
    ```mlir
    %z = array.select %pred, %x, %y : tensor<4xf32>
    ```
  }], [{
    - C1: `pred` is a tensor of bools.
    - C2: `on_true` and `on_false` have compatible shapes and the same element type, and `pred` a compatible shape.
  }]>.description;
  let arguments = (ins Array_BoolTensor:$pred, Array_Tensor:$on_true, Array_Tensor:$on_false);
  let results = (outs Array_Tensor:$result);
  let assemblyFormat = [{
    $pred `,` $on_true `,` $on_false attr-dict `:`
    custom<SelectTypes>(type($pred), type($on_true), type($on_false), type($result))
  }];
  let hasFolder = 1;
}

let hasFolder = 1 in {
def Array_RealOp : Array_UnaryOp<"real", Array_ComplexTensor, "real part", [], Array_PartTensor, Array_PartElement>;
def Array_ImagOp : Array_UnaryOp<"imag", Array_ComplexTensor, "imaginary part", [], Array_PartTensor,
                                 Array_PartElement>;
def Array_ComplexOp : Array_BinaryOp<"complex", Array_PartTensor, "complex number of its parts (lhs, rhs)", [],
                                     Array_ComplexTensor, Array_ComplexElement>;
} // hasFolder

def Array_ConvertOp : Array_Op<"convert", [Pure]> {
  let summary = "the operand's values in another element type";
  let description = Array_Doc<[{
    A float becomes an integer by truncation towards zero, with saturation; nan becomes 0. Integers wrap. Conversion to
    `i1` is `!= 0`; `i1` becomes 0 or 1. Floats round to nearest even. Only the real part of a complex number is
    converted, unless the result is complex or a bool. A real number becomes a complex number with imaginary part 0. A
    number that a small float cannot represent becomes its infinity, its nan, or its maximum, the first that it has. A
    negative number becomes the nan of a type without a sign.

    ```mlir
    %y = array.convert %x : (tensor<4xf32>) -> tensor<4xi32>
    ```
  }], [{
    - C1: `operand` and `result` have compatible shapes.
  }]>.description;
  let arguments = (ins Array_Tensor:$operand);
  let results = (outs Array_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

def Array_BitcastOp : Array_Op<"bitcast", [Pure]> {
  let summary = "the operand's bits as another element type of the same width";
  let description = Array_Doc<[{
    ```mlir
    %y = array.bitcast %x : (tensor<4xf32>) -> tensor<4xui32>
    ```
  }], [{
    - C1: `operand` and `result` have compatible shapes.
    - C2: the element types of `operand` and `result` have the same width, and neither is complex.
  }]>.description;
  let arguments = (ins Array_Tensor:$operand);
  let results = (outs Array_Tensor:$result);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

def Array_Threefry2x32Op : Array_InferredOp<"threefry2x32"> {
  let summary = "the threefry2x32 hash of 20 rounds, of a counter (x0, x1) under a key (k0, k1)";
  let description = Array_Doc<[{
    Salmon et al., Parallel random numbers: as easy as 1, 2, 3 (2011).

    ```mlir
    %y0, %y1 = array.threefry2x32 %k0, %k1, %x0, %x1 : tensor<4xui32>
    ```
  }], [{
    - C1: each operand is a tensor of ui32.
    - C2: the operands have compatible shapes.
  }]>.description;
  let arguments = (ins Array_UI32Tensor:$k0, Array_UI32Tensor:$k1, Array_UI32Tensor:$x0, Array_UI32Tensor:$x1);
  let results = (outs Array_UI32Tensor:$y0, Array_UI32Tensor:$y1);
  let assemblyFormat = [{
    $k0 `,` $k1 `,` $x0 `,` $x1 attr-dict `:`
    custom<ThreefryTypes>(type($k0), type($k1), type($x0), type($x1), type($y0), type($y1))
  }];
}

#endif // ARRAY_IR_ELEMENTWISE_TD
