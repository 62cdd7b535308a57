// Shared declarations of the lowering array -> linalg: storage types, the builder of parallel generics, and the list of
// families. Private to this directory.
#ifndef ARRAY_CONVERSION_ARRAYTOLINALG_LOWERING_H
#define ARRAY_CONVERSION_ARRAYTOLINALG_LOWERING_H

#include "array/IR/Array.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::array {

/// Array types -> storage types: i1 -> i8, uiN -> iN, complex -> an integer of twice the width, small types -> i8,
/// tokens -> nothing.
class StorageTypeConverter : public TypeConverter {
public:
  StorageTypeConverter();
};

/// Types that are only stored and converted: floats of 8 bits, and narrower types except bool.
bool isSmall(Type element);
/// The scalar type of bodies: uiN is signless, bool stays i1. A complex number is an integer whose low half holds the
/// bits of the real part, so ops that only move elements handle it like any integer.
Type bodyType(Type element);
/// The scalar type of a stored element: like bodyType, but bool is i8.
Type storageType(Type element);
RankedTensorType storageType(RankedTensorType type);
/// Element types with unsigned order and division; bool is one.
bool isUnsigned(Type element);
/// f16 and bf16, which accumulate and call math functions in f32.
bool isHalf(Type element);
/// f32 for f16 and bf16, else the body type.
Type accumulatorType(Type element);

/// A scalar read from storage as its body type, and back. `element` is the array op's element type.
Value fromStorage(ImplicitLocOpBuilder &b, Value stored, Type element);
Value toStorage(ImplicitLocOpBuilder &b, Value computed, Type element);

/// A scalar constant of an integer or float type; integers are taken modulo their width.
Value constant(ImplicitLocOpBuilder &b, Type type, double value);
Value intConstant(ImplicitLocOpBuilder &b, Type type, int64_t value);

/// The flags of the floating-point contract: `contract`, for reductions with `reassoc`.
arith::FastMathFlagsAttr contractFlags(OpBuilder &b);
arith::FastMathFlagsAttr reductionFlags(OpBuilder &b);

/// The sizes of `result`: static ones from the type, the others from the same dims of `like`.
SmallVector<OpFoldResult> sizesLike(OpBuilder &b, Location loc, RankedTensorType result, Value like);
/// The sizes of `result`: static ones from the type, the others from `dynamicSizes` in order.
SmallVector<OpFoldResult> sizesFrom(OpBuilder &b, RankedTensorType result, ValueRange dynamicSizes);

/// The map to the first `count` of `loops` loops.
AffineMap leadingLoops(OpBuilder &b, int64_t loops, int64_t count);

using ScalarBody = function_ref<Value(ImplicitLocOpBuilder &b, ValueRange stored)>;

/// A linalg.generic over `sizes` with parallel iterators and the identity as its output map. `stored` is its element
/// type.
Value parallelGeneric(OpBuilder &b, Location loc, Type stored, ArrayRef<OpFoldResult> sizes, ValueRange inputs,
                      ArrayRef<AffineMap> inputMaps, ScalarBody body);

/// Replaces an op by values in storage types, cast to the types of its results: sizes from operands may be more precise
/// than its types, or less.
void replaceTyped(ConversionPatternRewriter &rewriter, Operation *op, ValueRange values);

/// tensor.empty filled with a scalar.
Value filled(OpBuilder &b, Location loc, ArrayRef<OpFoldResult> sizes, Value scalar);

/// Replaces `op` by a call of a library routine (runtime/Abi.h) on operands in storage types. The call has the operands
/// of `op` without operands that are sizes, and its results. `sizes` has the sizes of each result, and `ofParams` the
/// values for each `?` in the params.
void replaceByRoutine(ConversionPatternRewriter &rewriter, Operation *op, StringRef routine, ArrayRef<int64_t> params,
                      ValueRange operands, ArrayRef<SmallVector<OpFoldResult>> sizes, ValueRange ofParams = {});

// One per family.
void populateElementwise(const TypeConverter &converter, RewritePatternSet &patterns);
void populateCreation(const TypeConverter &converter, RewritePatternSet &patterns);
void populateMovement(const TypeConverter &converter, RewritePatternSet &patterns);
void populateIndexing(const TypeConverter &converter, RewritePatternSet &patterns);
void populateGather(const TypeConverter &converter, RewritePatternSet &patterns);
void populateScatter(const TypeConverter &converter, RewritePatternSet &patterns, bool hasThreads);
void populateReduction(const TypeConverter &converter, RewritePatternSet &patterns);
void populateContraction(const TypeConverter &converter, RewritePatternSet &patterns);
void populateConvolution(const TypeConverter &converter, RewritePatternSet &patterns);
void populateCumulative(const TypeConverter &converter, RewritePatternSet &patterns);
void populateWindow(const TypeConverter &converter, RewritePatternSet &patterns, bool hasThreads);
void populateRandom(const TypeConverter &converter, RewritePatternSet &patterns);
void populateLinearAlgebra(const TypeConverter &converter, RewritePatternSet &patterns);
void populateBits(const TypeConverter &converter, RewritePatternSet &patterns);
void populateSpecial(const TypeConverter &converter, RewritePatternSet &patterns);
void populateFft(const TypeConverter &converter, RewritePatternSet &patterns);
void populateCollectives(const TypeConverter &converter, RewritePatternSet &patterns);
void populateCalls(const TypeConverter &converter, RewritePatternSet &patterns);
void populateEffects(const TypeConverter &converter, RewritePatternSet &patterns);
void populateControlFlow(const TypeConverter &converter, RewritePatternSet &patterns);
void populateKernels(const TypeConverter &converter, RewritePatternSet &patterns);

} // namespace mlir::array

#endif // ARRAY_CONVERSION_ARRAYTOLINALG_LOWERING_H
