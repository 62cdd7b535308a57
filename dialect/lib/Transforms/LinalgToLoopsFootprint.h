// The bytes of memory that an operand of a linalg op touches, row by row: what decides whether ops may share the loop
// over their rows (LinalgToLoopsCluster.cpp), or a kernel (lib/Gpu/RowCluster.cpp).
#ifndef ARRAY_LIB_TRANSFORMS_LINALGTOLOOPSFOOTPRINT_H
#define ARRAY_LIB_TRANSFORMS_LINALGTOLOOPSFOOTPRINT_H

#include "LinalgToLoopsSpace.h"

namespace mlir::array::loops {

/// The buffer that a view is of, whatever its offset.
Value rootOf(Value memref);

/// The bytes that an access touches: [first, first + span) for each row, rows `stride` apart. `end` is behind the last
/// one. Rows are the first dimension of the space.
struct Footprint {
  Value root;
  bool known = false;
  int64_t first = 0, span = 0, stride = 0, end = 0;

  bool rowsAreApart() const { return known && stride >= span && stride > 0; }
  bool hasSameRows(const Footprint &other) const {
    return known && other.known && first == other.first && stride == other.stride;
  }
};

Footprint footprintOf(const Access &access, const IterationSpace &space);

bool mayOverlap(const Footprint &a, const Footprint &b);

} // namespace mlir::array::loops

#endif // ARRAY_LIB_TRANSFORMS_LINALGTOLOOPSFOOTPRINT_H
