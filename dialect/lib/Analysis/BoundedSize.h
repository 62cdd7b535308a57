// Sizes and strides of products: numbers, or values that the function knows where it starts.
#ifndef ARRAY_LIB_ANALYSIS_BOUNDEDSIZE_H
#define ARRAY_LIB_ANALYSIS_BOUNDEDSIZE_H

#include "IterationSpace.h"
#include "array/Analysis/SymbolicSizes.h"

namespace mlir::array {

/// A number, or a number times index values. Decisions take what is expected of it; that the code is right rests on
/// its bounds alone.
class BoundedSize {
public:
  BoundedSize(int64_t number = 1) : extent(number), facts{number, number, number, number} {}
  BoundedSize(Value value, const SizeFacts &facts) : extent(1, value), facts(facts) {}
  /// Takes products apart, so that sizes that are equal are equal here.
  static BoundedSize of(OpFoldResult size);

  bool isStatic() const { return extent.isStatic(); }
  bool isStatic(int64_t number) const { return extent.isStatic(number); }
  bool operator==(const BoundedSize &other) const { return extent == other.extent; }
  bool operator!=(const BoundedSize &other) const { return !(*this == other); }
  BoundedSize operator*(const BoundedSize &other) const;
  /// Whether this is the wider one of two strides.
  bool exceeds(const BoundedSize &other) const { return extent.exceeds(other.extent); }

  /// Of a number, itself.
  int64_t expected() const { return facts.expected; }
  int64_t least() const { return facts.min; }
  int64_t most() const { return facts.max; }
  bool isAtMost(int64_t bound) const { return facts.max <= bound; }
  bool isMultipleOf(int64_t unit) const { return facts.multipleOf % unit == 0; }
  bool mayBe(int64_t number) const {
    return facts.min <= number && number <= facts.max && (facts.multipleOf == 0 || number % facts.multipleOf == 0);
  }
  /// The same size where it is known to be at least `least` and at most `most`.
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
