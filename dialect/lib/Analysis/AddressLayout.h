// The position of one buffer relative to another one, within a page.
#ifndef ARRAY_LIB_ANALYSIS_ADDRESSLAYOUT_H
#define ARRAY_LIB_ANALYSIS_ADDRESSLAYOUT_H

#include "mlir/IR/Builders.h"

namespace mlir::array {

/// The distance, in elements and less than a page, by which to move a buffer at the address `own` so that it starts
/// half a page from the address `other`, modulo the page size. Background: if the addresses of a load and an earlier
/// store agree within a page, a core assumes a dependence and waits. So accumulators in memory should not share these
/// address bits with the operands that are read with them.
Value elementsToHalfPage(OpBuilder &b, Location loc, Value own, Value other, int64_t bytes);

} // namespace mlir::array

#endif // ARRAY_LIB_ANALYSIS_ADDRESSLAYOUT_H
