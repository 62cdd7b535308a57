// Sizes and strides of matmuls: numbers, or values at the start of the function.
#ifndef ARRAY_LIB_ANALYSIS_BOUNDEDSIZE_H
#define ARRAY_LIB_ANALYSIS_BOUNDEDSIZE_H

#include "IterationSpace.h"
#include "array/Analysis/SymbolicSizes.h"

namespace mlir::array {

/// A number, or a number times index values. Choices of code use its expected value; correctness relies only on its
/// bounds.
class BoundedSize {
public:
  BoundedSize(int64_t number = 1) : extent(number), facts{number, number, number, number} {}
  BoundedSize(Value value, const SizeFacts &facts) : extent(1, value), facts(facts) {}
  /// Splits products into factors, so that equal sizes compare equal.
  static BoundedSize of(OpFoldResult size);

  bool isStatic() const { return extent.isStatic(); }
  bool isStatic(int64_t number) const { return extent.isStatic(number); }
  bool operator==(const BoundedSize &other) const { return extent == other.extent; }
  bool operator!=(const BoundedSize &other) const { return !(*this == other); }
  BoundedSize operator*(const BoundedSize &other) const;
  /// Whether this stride is wider than another one.
  bool exceeds(const BoundedSize &other) const { return extent.exceeds(other.extent); }

  /// The expected value; of a number, the number.
  int64_t expected() const { return facts.expected; }
  int64_t least() const { return facts.min; }
  int64_t most() const { return facts.max; }
  bool isAtMost(int64_t bound) const { return facts.max <= bound; }
  bool isMultipleOf(int64_t unit) const { return facts.multipleOf % unit == 0; }
  bool mayBe(int64_t number) const {
    return facts.min <= number && number <= facts.max && (facts.multipleOf == 0 || number % facts.multipleOf == 0);
  }
  /// The same size, if it is known to be in [least, most].
  BoundedSize within(int64_t least, int64_t most) const;
  /// As an entry of a type's shape or strides.
  int64_t inType() const { return isStatic() ? extent.factor : ShapedType::kDynamic; }

  int64_t factor() const { return extent.factor; }
  ArrayRef<Value> symbols() const { return extent.symbols; }

private:
  loops::SymbolicSize extent;
  SizeFacts facts;
};

} // namespace mlir::array

#endif // ARRAY_LIB_ANALYSIS_BOUNDEDSIZE_H
