// The array dialect, its types, type constraints and the base classes of its ops. Every family's .td includes it.
#ifndef ARRAY_IR_ARRAYBASE_TD
#define ARRAY_IR_ARRAYBASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===----------------------------------------------------------------------===//
// Dialect and types
//===----------------------------------------------------------------------===//

def Array_Dialect : Dialect {
  let name = "array";
  let cppNamespace = "::mlir::array";
  let summary = "array programs: one op for each primitive of pycompiler";
  let description = [{
    Operations on ranked tensors, one for each primitive of a traced array program. An op has the name of its primitive
    (`add` becomes `array.add`), and its attributes have the names of the primitive's parameters.

    **Types.** Builtin ranked tensors of `i1` (a bool), signless `iN` (a signed integer), `uiN` (an unsigned integer),
    `f16`, `bf16`, `f32`, `f64`, `complex<f32>` and `complex<f64>`; and `!array.token`, which orders effects. The
    small types `i2`, `i4`, `ui2`, `ui4`, `si1` and `ui1` (`i1` is the bool), and the floats of 8, 6 and 4 bits,
    are only stored, moved and converted.

    **Shapes.** Nothing broadcasts implicitly. Any dimension may be dynamic (`?`). A dynamic dimension is compatible
    with every size, static sizes are verified, and an inferred dimension is static if it is static in any operand. If
    the operands alone do not determine a dynamic size of the result, `output_dims` gives it: one `index` operand for
    each `?` of the result type.

    An attribute that holds sizes has a `?` for each size that is not a constant. `sizes` gives these sizes: one `index`
    operand for each `?`, in the order of the op's attributes and of the entries in them. In the generic form a `?` is
    the minimum of the 64-bit integers. If an op takes any number of operands, `sizes`, then `output_dims`, are the last
    of them.

    ```mlir
    %y = array.slice %x start_indices = [0, ?] limit_indices = [?, 5] strides = [1, 1] sizes(%start, %limit)
           : (tensor<?x5xf32>) -> tensor<?x?xf32>
    ```

    **Constraints.** Each op numbers its constraints C1, C2, ...; diagnostics and tests cite the number. If the
    result types follow from operands and attributes, there is also C0: the result types are compatible with the
    inferred ones.

    **Floats** are IEEE: `max` and `min` propagate nan, and only reductions and contractions are reassociated.
  }];
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
}

class Array_Type<string name, string typeMnemonic> : TypeDef<Array_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Array_TokenType : Array_Type<"Token", "token"> {
  let summary = "token";
  let description = [{
    An op that consumes a token happens after the op that produced it. Tokens carry no data; lowering erases them.
  }];
}

//===----------------------------------------------------------------------===//
// Type constraints
//===----------------------------------------------------------------------===//

defvar Array_SignedTypes = [I8, I16, I32, I64];
defvar Array_UnsignedTypes = [UI8, UI16, UI32, UI64];
defvar Array_IntegerTypes = Array_SignedTypes # Array_UnsignedTypes;
defvar Array_FloatTypes = [F16, BF16, F32, F64];
defvar Array_NumberTypes = Array_IntegerTypes # Array_FloatTypes;
defvar Array_ComplexTypes = [Complex<F32>, Complex<F64>];
defvar Array_SmallTypes = [F8E4M3FN, F8E5M2, F8E3M4, F8E4M3, F8E4M3B11FNUZ, F8E4M3FNUZ, F8E5M2FNUZ, F8E8M0FNU, F4E2M1FN,
                           F6E2M3FN, F6E3M2FN, I<2>, I<4>, UI<2>, UI<4>, SI<1>, UI<1>];

/// Errors contain "operand #0 must be tensor of <what>".
class Array_TensorOf<list<Type> types, string what>
    : Type<RankedTensorOf<types>.predicate, "tensor of " # what, "::mlir::RankedTensorType">;

def Array_Tensor : Array_TensorOf<[I1] # Array_NumberTypes # Array_ComplexTypes # Array_SmallTypes,
    "bools (i1), integers (i8 to i64, ui8 to ui64), floats (f16, bf16, f32, f64), complex numbers or a small type">;
def Array_RealTensor : Array_TensorOf<[I1] # Array_NumberTypes,
    "bools (i1), integers (i8 to i64, ui8 to ui64) or floats (f16, bf16, f32, f64)">;
def Array_ComplexTensor : Array_TensorOf<Array_ComplexTypes, "complex numbers (complex<f32>, complex<f64>)">;
def Array_PartTensor : Array_TensorOf<[F32, F64], "floats (f32, f64)">;
def Array_EqualityTensor : Array_TensorOf<[I1] # Array_NumberTypes # Array_ComplexTypes,
    "bools (i1), integers (i8 to i64, ui8 to ui64), floats (f16, bf16, f32, f64) or complex numbers">;
def Array_ArithmeticTensor : Array_TensorOf<Array_NumberTypes # Array_ComplexTypes,
    "integers (i8 to i64, ui8 to ui64), floats (f16, bf16, f32, f64) or complex numbers">;
def Array_InexactTensor : Array_TensorOf<Array_FloatTypes # Array_ComplexTypes,
    "floats (f16, bf16, f32, f64) or complex numbers">;
def Array_MagnitudeTensor : Array_TensorOf<Array_SignedTypes # Array_FloatTypes # Array_ComplexTypes,
    "signed integers (i8 to i64), floats (f16, bf16, f32, f64) or complex numbers">;
def Array_BoolTensor : Array_TensorOf<[I1], "bools (i1)">;
def Array_NumberTensor : Array_TensorOf<Array_NumberTypes,
    "integers (i8 to i64, ui8 to ui64) or floats (f16, bf16, f32, f64)">;
def Array_SignedTensor : Array_TensorOf<Array_SignedTypes # Array_FloatTypes,
    "signed integers (i8 to i64) or floats (f16, bf16, f32, f64)">;
def Array_IntegerTensor : Array_TensorOf<Array_IntegerTypes, "integers (i8 to i64, ui8 to ui64)">;
def Array_BitsTensor : Array_TensorOf<[I1] # Array_IntegerTypes, "bools (i1) or integers (i8 to i64, ui8 to ui64)">;
def Array_FloatTensor : Array_TensorOf<Array_FloatTypes, "floats (f16, bf16, f32, f64)">;
def Array_UI32Tensor : Array_TensorOf<[UI32], "ui32">;
def Array_IndexTensor : Array_TensorOf<[I32, I64], "indices (i32, i64)">;
def Array_StartTensor : Type<0DTensorOf<[I32, I64]>.predicate, "scalar tensor of an index (i32, i64)",
                             "::mlir::RankedTensorType">;
def Array_BranchTensor : Type<0DTensorOf<[I32]>.predicate, "scalar tensor of i32", "::mlir::RankedTensorType">;
def Array_Value : AnyTypeOf<[Array_Tensor, Array_TokenType]>;

// For ops with a variable number of operands, the last of which are sizes.
def Array_TensorOrSize : AnyTypeOf<[Array_Tensor, Index], Array_Tensor.summary>;
def Array_StartOrSize : AnyTypeOf<[Array_StartTensor, Index], Array_StartTensor.summary>;
def Array_ValueOrSize : AnyTypeOf<[Array_Tensor, Array_TokenType, Index], Array_Value.summary>;

//===----------------------------------------------------------------------===//
// Op classes
//===----------------------------------------------------------------------===//

class Array_Op<string mnemonic, list<Trait> traits = []> : Op<Array_Dialect, mnemonic, traits>;

/// The parts of an op's documentation, joined in one way.
class Array_Doc<string text, string constraints> {
  string description = text # "\n    **Constraints**\n" # constraints;
}

/// Verifies the result types against the inferred ones (C0). The interface itself would report a failed inference
/// twice, so its own check is replaced: `refineReturnTypes` keeps the types that are given.
def Array_InferredResults : NativeOpTrait<"InferredResults", [], [{
  static bool isCompatibleReturnTypes(::mlir::TypeRange inferred, ::mlir::TypeRange given) {
    return ::mlir::array::areCompatible(inferred, given);
  }
  static ::llvm::LogicalResult refineReturnTypes(::mlir::MLIRContext *, std::optional<::mlir::Location>,
                                                 ::mlir::ValueRange, ::mlir::DictionaryAttr, ::mlir::OpaqueProperties,
                                                 ::mlir::RegionRange, ::llvm::SmallVectorImpl<::mlir::Type> &) {
    return ::mlir::success();
  }
}]> {
  let cppNamespace = "::mlir::array";
}

/// An op without effects whose result types follow from its operands and attributes. Its `inferReturnTypes` checks the
/// constraints on the operands, so that builders and the verifier report the same errors.
class Array_InferredOp<string mnemonic, list<Trait> traits = []>
    : Array_Op<mnemonic, [Pure, InferTypeOpAdaptor, Array_InferredResults] # traits>;

#endif // ARRAY_IR_ARRAYBASE_TD
