// Where one buffer lies beside another one.
#ifndef ARRAY_LIB_ANALYSIS_ADDRESSLAYOUT_H
#define ARRAY_LIB_ANALYSIS_ADDRESSLAYOUT_H

#include "mlir/IR/Builders.h"

namespace mlir::array {

/// The elements of `bytes` bytes, fewer than those of a page, by which what begins at the address `own` has to be moved
/// to lie half a page from the address `other`, as seen within pages. Cores take a load for one of what a store beside
/// it has just written when the addresses agree within a page, and wait: accumulators in memory had better lie apart
/// from what is read with them.
Value elementsToHalfPage(OpBuilder &b, Location loc, Value own, Value other, int64_t bytes);

} // namespace mlir::array

#endif // ARRAY_LIB_ANALYSIS_ADDRESSLAYOUT_H
