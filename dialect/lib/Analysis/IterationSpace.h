// The iteration space of a linalg op on memrefs for array-vectorize-linalg: loop dimensions, and for each operand a
// flat buffer with one stride for each dimension (like the operands of NumPy's nditer). VectorizeLinalg.cpp builds it,
// and LoopNest.cpp emits loops from it. Sizes and index arithmetic are in IndexBuilder.cpp.
#ifndef ARRAY_LIB_ANALYSIS_ITERATIONSPACE_H
#define ARRAY_LIB_ANALYSIS_ITERATIONSPACE_H

#include "array/Analysis/SymbolicSizes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Builders.h"
#include <map>
#include <memory>

namespace mlir::array::loops {

/// A constant times index values. Sizes and strides of row-major buffers have this form, also with dynamic dimensions.
/// Two such sizes are compared without the IR.
struct SymbolicSize {
  int64_t factor = 0;
  SmallVector<Value, 1> symbols; // empty when the factor is 0

  SymbolicSize(int64_t factor = 0) : factor(factor) {}
  SymbolicSize(int64_t factor, Value symbol) : factor(factor) { symbols.push_back(symbol); }
  /// A size, as a product of its visible factors.
  static SymbolicSize of(OpFoldResult size);

  bool isZero() const { return factor == 0; }
  bool isStatic() const { return symbols.empty(); }
  bool isStatic(int64_t value) const { return symbols.empty() && factor == value; }
  SymbolicSize operator*(const SymbolicSize &other) const;
  bool operator==(const SymbolicSize &other) const;
  /// Whether this stride is the wider one: a symbol counts as more than any constant.
  bool exceeds(const SymbolicSize &other) const;
  /// The extent whose product with `other` is this size, if it exists for all values of the symbols.
  std::optional<SymbolicSize> dividedBy(const SymbolicSize &other) const;
  /// Whether it is at least `other` for all non-zero values of the symbols.
  bool covers(const SymbolicSize &other) const;

  SizeFacts facts() const;
  /// The number to decide by.
  int64_t expected() const { return isStatic() ? factor : facts().expected; }
  /// Whether it is a multiple of `unit`, and at most `bound`, in every call.
  bool isMultipleOf(int64_t unit) const { return facts().multipleOf % unit == 0; }
  bool isAtMost(int64_t bound) const { return facts().max <= bound; }
};

/// Values that a function has once, at its start (constants, arithmetic on sizes, and scratch buffers), and index
/// arithmetic that folds.
class IndexBuilder {
public:
  explicit IndexBuilder(Block &entry) : entry(entry) {}
  /// The size of a dimension of a memref. It is created at `b` if it does not follow from the sizes of the function's
  /// arguments.
  SymbolicSize sizeOf(OpBuilder &b, Location loc, Value memref, unsigned dim);
  Value constant(OpBuilder &b, TypedAttr attr);
  Value index(OpBuilder &b, int64_t value) { return constant(b, b.getIndexAttr(value)); }
  /// The value of an extent; at `b`.
  Value get(OpBuilder &b, Location loc, const SymbolicSize &extent);
  /// base + value * extent
  Value advance(OpBuilder &b, Location loc, Value base, Value value, const SymbolicSize &extent);
  Value add(OpBuilder &b, Location loc, Value lhs, Value rhs);
  Value mul(OpBuilder &b, Location loc, Value lhs, Value rhs);
  Value sub(OpBuilder &b, Location loc, Value lhs, Value rhs);
  Value remainder(OpBuilder &b, Location loc, Value lhs, int64_t rhs);
  Value minimum(OpBuilder &b, Location loc, Value lhs, Value rhs);
  Value maximum(OpBuilder &b, Location loc, Value lhs, Value rhs);
  /// lhs / rhs, rounded up; a divisor that is zero counts as one.
  Value ceilDiv(OpBuilder &b, Location loc, Value lhs, Value rhs);
  /// lhs < rhs ? less : other
  Value ifLess(OpBuilder &b, Location loc, Value lhs, Value rhs, Value less, Value other);
  /// Creates an op once for its operands: at the start of the function if the operands are available there; else at
  /// `b`.
  Value once(OpBuilder &b, Location loc, StringRef name, ValueRange operands, function_ref<Value(OpBuilder &b)> make);
  /// The sum of two extents. Unlike ones become a new value.
  SymbolicSize sum(OpBuilder &b, Location loc, const SymbolicSize &lhs, const SymbolicSize &rhs);
  /// The vector 0, step, 2 * step, ...
  Value ramp(OpBuilder &b, Type element, int64_t lanes, int64_t step);
  /// A mask of the first `count` lanes.
  Value firstLanes(OpBuilder &b, int64_t lanes, int64_t count);
  Value firstLanes(OpBuilder &b, Location loc, int64_t lanes, Value count);
  /// A buffer on the stack. All ops of the function with this type and number share it. Its contents do not survive an
  /// iteration of a parallel loop, unless the iterations share it (`shared`).
  Value scratch(OpBuilder &b, MemRefType type, unsigned number, bool shared = false);
  /// Space for `elements` in such a buffer, and the index of its start, which is half a page from the start of `other`
  /// (AddressLayout.h).
  std::pair<Value, Value> scratchApartFrom(OpBuilder &b, Location loc, Value other, int64_t elements, Type element,
                                           unsigned number, bool shared = false);

private:
  Block &entry;
  std::shared_ptr<SymbolicSizes> sizes; // created on demand
  DenseMap<Attribute, Value> constants;
  std::map<std::pair<std::string, std::vector<const void *>>, Value> values;
  std::map<std::tuple<const void *, unsigned, bool>, Value> buffers;
};

/// A memref as a flat 1-D view of its elements: `element(i...) = flat[offset + sum(i * stride)]`.
struct FlatView {
  Value flat;
  SymbolicSize offset;
  SmallVector<SymbolicSize, 4> strides;
};

/// The flat view of `memref`, whose sizes are `sizes`. Fails for layouts without strides.
FailureOr<FlatView> flatten(OpBuilder &b, Location loc, IndexBuilder &indices, Value memref,
                            ArrayRef<SymbolicSize> sizes);
/// The sizes of a memref: equal ones compare equal.
SmallVector<SymbolicSize, 4> sizesOf(OpBuilder &b, Location loc, IndexBuilder &indices, Value memref);

/// The bytes of an element in memory.
int64_t bytesOf(Type element);

struct LoopDim {
  SymbolicSize size;
  bool reduced = false;                // some output does not move along it
  std::optional<unsigned> indexSource; // the op's dimension whose linalg.index the body uses
  SmallVector<unsigned, 2> sources;    // the op's dimensions that this one consists of, the outermost first
};

/// One operand of the op. `scalar` is an operand that is not a memref.
struct Access {
  Value scalar;
  Value memref, flat;
  Type element;
  SymbolicSize start;                   // the element at the origin of the space
  SmallVector<SymbolicSize, 4> strides; // one for each dimension of the space
  BlockArgument argument;
  bool isOutput = false;
  Value init;                  // the value of all elements of an output before the op, if it is one value that was not
                               // stored
  bool isOneRow = false;       // the first dimension's elements share the memory of one (RowTemporaries.h)
  SymbolicSize strideOfBlocks; // then: distance to the buffer of the next block of rows; 0: each thread has its own

  bool moves(unsigned dim) const { return !scalar && !strides[dim].isZero(); }
};

/// A dimension that was divided into blocks, which the first dimension counts: its size is that of a block, and the
/// last one may be shorter.
struct BlockedDim {
  unsigned dim;
  SymbolicSize total; // of all blocks
};

struct IterationSpace {
  SmallVector<LoopDim, 4> dims;
  std::optional<BlockedDim> blocked; // none if all blocks have the same length
  SmallVector<Access, 4> accesses;   // inputs, then outputs
  unsigned numInputs = 0;

  ArrayRef<Access> inputs() const { return ArrayRef(accesses).take_front(numInputs); }
  ArrayRef<Access> outputs() const { return ArrayRef(accesses).drop_front(numInputs); }
  bool hasReduction() const {
    return llvm::any_of(dims, [](const LoopDim &dim) { return dim.reduced; });
  }
  /// The expected bytes of the elements that an access touches.
  int64_t bytesTouched(const Access &access) const;
  /// Inserts a dimension of blocks of `block` elements of `dim` in front; `dim` becomes dimension `dim` + 1.
  void cutIntoBlocks(OpBuilder &b, Location loc, IndexBuilder &indices, unsigned dim, const SymbolicSize &block);
  /// Replaces a dimension by two: `outer` steps of `inner` elements. Its size is their product.
  void split(unsigned dim, const SymbolicSize &outer, const SymbolicSize &inner);

  /// Reads `op`. Drops unit dimensions, orders the others from the widest stride to the narrowest, parallel ones first,
  /// and merges neighbours with compatible strides in every operand. Reductions are ordered only with
  /// `reorderReductions`. Fails for indexing maps that are not linear.
  static FailureOr<IterationSpace> get(OpBuilder &b, IndexBuilder &indices, linalg::LinalgOp op,
                                       bool reorderReductions);

private:
  void classify();
  void sort(bool reorderReductions);
  void coalesce();
  void erase(unsigned dim);
};

} // namespace mlir::array::loops

#endif // ARRAY_LIB_ANALYSIS_ITERATIONSPACE_H
