// Windows whose numbers are known when the program is compiled, as loops. Private to this directory.
#ifndef ARRAY_CONVERSION_ARRAYTOLINALG_WINDOWLOOPS_H
#define ARRAY_CONVERSION_ARRAYTOLINALG_WINDOWLOOPS_H

#include "Reduction.h"

namespace mlir::array {

/// The windows of an op, one entry for each dimension. Sizes of a dimension that they do not divide may be unknown.
struct KnownWindows {
  SmallVector<int64_t> sizes, strides, low, high, base, dilation;
  SmallVector<int64_t> lengths; ///< the shape of the operand

  /// None if a number of a divided dimension is unknown, or if there is no element or no window.
  template <typename Op> static std::optional<KnownWindows> get(Op op) {
    KnownWindows known{llvm::to_vector(op.getWindowDimensions()),
                       llvm::to_vector(op.getWindowStrides()),
                       llvm::to_vector(op.getLow()),
                       llvm::to_vector(op.getHigh()),
                       llvm::to_vector(op.getBaseDilation()),
                       llvm::to_vector(op.getWindowDilation()),
                       llvm::to_vector(op.getOperand().getType().getShape())};
    return known.isKnown() ? std::optional(known) : std::nullopt;
  }

  int64_t rank() const { return int64_t(sizes.size()); }
  bool divides(int64_t dim) const {
    return sizes[dim] != 1 || strides[dim] != 1 || low[dim] != 0 || high[dim] != 0 || base[dim] != 1;
  }
  bool isKnown() const;
  bool isPadded() const;
  bool isDilated() const {
    return llvm::any_of(base, [](int64_t dilation) { return dilation != 1; });
  }
  /// The number of windows along a dimension.
  int64_t count(int64_t dim) const;
  SmallVector<int64_t> counts() const;
  /// The number of positions in a window.
  int64_t positions() const;
  /// A position in a window, from its number: the last dimension is the fastest.
  SmallVector<int64_t> position(int64_t number) const;
  /// The same windows over an operand that was padded and dilated by a separate op.
  KnownWindows afterPadding() const;
};

/// The input of a generic over windows: a tensor and its map.
struct WindowRead {
  Value tensor;
  AffineMap map;
};

/// Element `stride * loop + start` of each dimension, for `counts` loops: a slice along dimensions that are read
/// densely, because the size of a loop must be that of a dimension that it indexes alone.
WindowRead readFrom(OpBuilder &b, Location loc, Value tensor, ArrayRef<int64_t> strides, ArrayRef<int64_t> starts,
                    ArrayRef<OpFoldResult> counts);
/// The elements of all windows at one position, from an operand without padding.
WindowRead readPosition(OpBuilder &b, Location loc, Value operand, const KnownWindows &windows, int64_t number,
                        ArrayRef<OpFoldResult> counts);

/// An operand in storage type, padded by a scalar, and dilated, as the windows say.
Value padForWindows(OpBuilder &b, Location loc, Value operand, const KnownWindows &windows, Value scalar);

/// Which elements of a source each element of a result takes from: element `step * q + phase` of a dimension takes
/// element `q + shift` for the position `position` of a window. In this form, elements see windows with a stride, and
/// windows see dilated operands.
struct Phases {
  struct Term {
    int64_t position, shift;
  };
  struct Dim {
    int64_t step = 1, sourceLength, length;
    SmallVector<SmallVector<Term>> terms; ///< for each phase
    int64_t count(int64_t phase) const { return (length - phase + step - 1) / step; }
  };
  SmallVector<Dim> dims;

  /// Element i of a result takes the element (i + offset + position * dilation) / step of the source, if that is whole.
  /// The terms are in the order of the source.
  void addDim(int64_t step, int64_t offset, int64_t dilation, int64_t window, int64_t sourceLength, int64_t length);

  /// Whether the terms are few enough for one operation each.
  bool areFew() const;

  /// One term: elements of the sources, and the number of the position in the window. In a loop over positions the
  /// number is a value.
  struct Given {
    SmallVector<Value> elements;
    Value position;
  };
  using Body = function_ref<Value(ImplicitLocOpBuilder &b, ArrayRef<Given> terms)>;
  /// The result: `body` combines the terms of an element. A source counts as surrounded by its scalar. `window` has the
  /// sizes of windows; their positions have numbers of type `number`.
  Value emit(ImplicitLocOpBuilder &b, ArrayRef<Value> sources, ArrayRef<Value> scalars, Type stored, Type number,
             ArrayRef<int64_t> window, Value like, RankedTensorType result, Body body) const;

private:
  bool isOneEach() const;
};

void populateWindowLoops(const TypeConverter &converter, RewritePatternSet &patterns, PatternBenefit benefit);
void populateWindowSelection(const TypeConverter &converter, RewritePatternSet &patterns, PatternBenefit benefit);

} // namespace mlir::array

#endif // ARRAY_CONVERSION_ARRAYTOLINALG_WINDOWLOOPS_H
