// What the region of a reduction, a scatter or a sort says: a known combination, or a function of scalars that is then
// applied to whole arrays. Reduction, Window, Indexing and Sort ask here.
#ifndef ARRAY_LIB_STABLEHLO_REGIONS_H
#define ARRAY_LIB_STABLEHLO_REGIONS_H

#include "Rules.h"

namespace mlir::array::stablehlo {

/// An operation of two scalars that the array dialect reduces with. Where there is no op its name is empty.
struct Combination {
  StringLiteral operation;
  StringLiteral binary, reduction, window, cumulative, scatter;
};

/// The operation that result `index` of a region with `count` results is: of its arguments `index` and `count + index`,
/// in this order or, if that is all the same, in the other. Null if it is none of the combinations.
const Combination *combinationOf(Region &region, Type element, unsigned index = 0, unsigned count = 1);

/// The number of the region's argument that result `index` is; none if it is computed.
std::optional<unsigned> argumentOf(Region &region, unsigned index = 0);

/// Whether a value is the constant that changes nothing under a combination.
bool isNeutral(Value init, const Combination &combination);

/// The region's results for arrays of `shape` in the place of its scalar arguments; its operations are elementwise, or
/// else an error of `source`.
FailureOr<SmallVector<Value>> applyRegion(Source &source, Region &region, ValueRange arguments,
                                          ArrayRef<int64_t> shape);

/// Combines the slices along the first dimension of `inputs`, from the first to the last (or with `reverse` the other
/// way), by the region, starting with `inits`: the last values, then if `isRunning` all of them, joined.
FailureOr<SmallVector<Value>> scanSlices(Source &source, Region &region, ValueRange inits, ValueRange inputs,
                                         bool reverse, bool isRunning);

/// The operation that ends a region of one block.
Operation *terminatorOf(Region &region);

} // namespace mlir::array::stablehlo

#endif // ARRAY_LIB_STABLEHLO_REGIONS_H
