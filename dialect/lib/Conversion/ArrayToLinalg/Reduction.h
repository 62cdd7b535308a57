// How reductions combine elements: over whole dimensions (Reduction.cpp), and over windows (WindowLoops.cpp). Private
// to this directory.
#ifndef ARRAY_CONVERSION_ARRAYTOLINALG_REDUCTION_H
#define ARRAY_CONVERSION_ARRAYTOLINALG_REDUCTION_H

#include "Lowering.h"

namespace mlir::array {

/// Bool needs no separate row: and, or, min and max of stored 0 and 1 are stored 0 and 1.
struct ReductionRow {
  StringRef op;
  Value (*neutral)(ImplicitLocOpBuilder &b, Type element, Type type);
  Value (*combine)(ImplicitLocOpBuilder &b, Type element, Value accumulator, Value x);
  /// f16 and bf16 are summed and compared in f32, for which processors have instructions.
  bool accumulatesInSingle;

  /// The type of the accumulators of an element type.
  Type accumulator(Type element) const {
    return accumulatesInSingle && isHalf(element) ? accumulatorType(element) : storageType(element);
  }
};

ArrayRef<ReductionRow> reductionRows();
/// The row of the op with this name, such as array.reduce_sum.
const ReductionRow &reductionRow(StringRef op);

/// Whether `x` replaces the extremum `best`: the first of equal elements stays, and a nan is better than all numbers.
Value isBetter(ImplicitLocOpBuilder &b, Type element, bool isMax, Value x, Value best);

/// An element in the type of an accumulator, and back.
Value toAccumulator(ImplicitLocOpBuilder &b, Value x, Type accumulator);
Value fromAccumulator(ImplicitLocOpBuilder &b, Value x, Type stored);

} // namespace mlir::array

#endif // ARRAY_CONVERSION_ARRAYTOLINALG_REDUCTION_H
