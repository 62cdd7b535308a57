// The bytes of memory that an operand of a linalg op touches, row by row. They decide whether ops may share the loop
// over their rows (Cpu/Loops/RowFusion.cpp), or a kernel (Gpu/RowFusion/RowFusionForm.cpp).
#ifndef ARRAY_LIB_ANALYSIS_FOOTPRINT_H
#define ARRAY_LIB_ANALYSIS_FOOTPRINT_H

#include "IterationSpace.h"

namespace mlir::array::loops {

/// The root buffer of a view, at any offset.
Value rootOf(Value memref);

/// The bytes that an access touches: [first, first + span) for each row, rows `stride` apart. `end` is the end of the
/// last row. Rows are the first dimension of the space. The numbers are valid if all sizes are `known`. Otherwise
/// positions are compared as products of sizes.
struct Footprint {
  Value root;
  bool known = false;
  int64_t first = 0, span = 0, stride = 0, end = 0;

  bool isLinear = false;        // the next three are there
  SymbolicSize firstByte = 0;   // start of the first row
  SymbolicSize bytesOfStep = 0; // distance from one row to the next one
  bool isApart = false;         // no row reaches into the next one

  bool rowsAreApart() const { return known ? stride >= span && stride > 0 : isApart; }
  /// Whether row i of each is apart from all other rows of both. Known ones may begin at different places in a row,
  /// such as a padded buffer and its inside.
  bool hasSameRows(const Footprint &other) const {
    if (known && other.known)
      return stride == other.stride &&
             (first == other.first ||
              std::max(first + span, other.first + other.span) - std::min(first, other.first) <= stride);
    return isLinear && other.isLinear && firstByte == other.firstByte && bytesOfStep == other.bytesOfStep;
  }
};

Footprint footprintOf(const Access &access, const IterationSpace &space);

bool mayOverlap(const Footprint &a, const Footprint &b);

/// Whether an op, whose iteration space is `writer`, writes memory that the body of `reader` loads.
bool writesLoaded(const IterationSpace &writer, linalg::LinalgOp reader);

} // namespace mlir::array::loops

#endif // ARRAY_LIB_ANALYSIS_FOOTPRINT_H
