// The region of a reduction, a scatter or a sort: a known combination, or a function of scalars that is applied to
// whole arrays. Used by Reduction, Window, Indexing and Sort.
#ifndef ARRAY_LIB_STABLEHLO_REGIONS_H
#define ARRAY_LIB_STABLEHLO_REGIONS_H

#include "Rules.h"

namespace mlir::array::stablehlo {

/// An operation of two scalars by which the array dialect reduces. Its name is empty if there is no op.
struct Combination {
  StringLiteral operation;
  StringLiteral binary, reduction, window, cumulative, scatter;
};

/// The operation for result `index` of a region with `count` results. Its operands are arguments `index` and `count +
/// index`, in this order or, if it is commutative, in the other one. Null if it is none of the combinations.
const Combination *combinationOf(Region &region, Type element, unsigned index = 0, unsigned count = 1);

/// The number of the region's argument that is result `index`; none if the result is computed.
std::optional<unsigned> argumentOf(Region &region, unsigned index = 0);

/// Whether a value is the neutral constant of a combination.
bool isNeutral(Value init, const Combination &combination);

/// The region's results for arrays of a shape in place of its scalar arguments. Its operations must be elementwise;
/// otherwise the error belongs to `source`.
FailureOr<SmallVector<Value>> applyRegion(Source &source, Region &region, ValueRange arguments, const Extents &extents);

/// Puts the bodies of functions where the regions of such operations call them, as for a `jnp.where` in a reduction.
void inlineComputations(ModuleOp module);

/// Combines the slices along the first dimension of `inputs`, which have the shape `extents`, by the region, from the
/// first to the last (with `reverse`, from the last to the first), starting with `inits`. Returns the last values,
/// then, if `isRunning`, all of them, joined.
FailureOr<SmallVector<Value>> scanSlices(Source &source, Region &region, ValueRange inits, ValueRange inputs,
                                         const Extents &extents, bool reverse, bool isRunning);

/// A scan over the slices along the first dimension of `inputs`, which has the size `length`. `step` gives the next
/// carries, and then, if `isRunning`, a value to join for each input, from the carries and the slices; it builds by the
/// Source that it gets. Returns the last carries, then the joined values, each of the shape `joined`.
using Step = llvm::function_ref<FailureOr<SmallVector<Value>>(Source &within, ValueRange carries, ValueRange slices)>;
FailureOr<SmallVector<Value>> scan(Source &source, ValueRange carries, ValueRange inputs, AffineExpr length,
                                   bool reverse, const std::optional<Extents> &joined, Step step);

/// The operation that ends a region of one block.
Operation *terminatorOf(Region &region);

} // namespace mlir::array::stablehlo

#endif // ARRAY_LIB_STABLEHLO_REGIONS_H
