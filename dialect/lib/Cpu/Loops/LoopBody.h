// The body of a linalg op, cloned for one step of a loop: for one element, or for some lanes of a 1-D vector. Values
// that are the same for all lanes stay scalars and are broadcast if a vector needs them. LoopNest.cpp makes the loops
// around it.
#ifndef ARRAY_LIB_CPU_LOOPS_LOOPBODY_H
#define ARRAY_LIB_CPU_LOOPS_LOOPBODY_H

#include "Analysis/IterationSpace.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::array::loops {

/// The combination of an accumulator's lanes: `op` is the body's combining operation.
struct Combiner {
  Operation *op;
  vector::CombiningKind kind;
  TypedAttr neutral;
};

/// The combiner of output `number` of the op: its yielded value is `combine(accumulator, x)`, and x does not
/// depend on the accumulator.
std::optional<Combiner> matchCombiner(linalg::LinalgOp op, unsigned number);

/// Two outputs that keep the first extreme value and its index: `better = x > value`, then select(better, x, value) and
/// select(better, linalg.index, index). With floats a nan counts as better than any number.
struct ArgReduction {
  unsigned value, index; // numbers of the outputs
  unsigned dim;          // the op's dimension that is counted
  vector::CombiningKind kind;
};
std::optional<ArgReduction> matchArgReduction(linalg::LinalgOp op);

/// Whether elements of this stride are loaded and stored by whole registers, including the elements between them.
inline bool isInterleaved(const SymbolicSize &stride) {
  constexpr int64_t farthest = 8;
  return stride.isStatic() && stride.factor > 1 && stride.factor <= farthest;
}

/// Whether every op of the body has a form on vectors.
bool canVectorize(Block &body);

class BodyCloner {
public:
  BodyCloner(OpBuilder &b, IndexBuilder &indices, int64_t registerBits)
      : b(b), indices(indices), registerBits(registerBits) {}

  /// From here on a step has `lanes` lanes (0: one scalar); those of `mask` are live (null: all).
  void setLanes(int64_t newLanes, Value newMask) {
    lanes = newLanes;
    mask = newMask;
  }
  int64_t getLanes() const { return lanes; }
  Value getMask() const { return mask; }

  void map(Value bodyValue, Value value);
  /// `bodyValue` is base + lane * step.
  void mapLinear(Value bodyValue, Value base, int64_t step);
  void mapMemref(Value memref, FlatView view) { views[memref] = std::move(view); }
  void clone(Operation *op);
  /// The clone of a body value: a scalar if it is the same for all lanes, otherwise a vector.
  Value lookup(Value bodyValue);
  /// The same for a value that was mapped, not computed from the lanes' numbers.
  Value mapped(Value bodyValue) const { return mapping.lookup(bodyValue); }
  /// As a vector, when there are lanes.
  Value lookupVector(Value bodyValue) { return toVector(lookup(bodyValue)); }
  Value toVector(Value value);

  /// The elements flat[index + lane * stride].
  Value load(Location loc, Value flat, Value index, const SymbolicSize &stride);
  void store(Location loc, Value value, Value flat, Value index, const SymbolicSize &stride);
  /// Stores the columns of a dense matrix with as many rows as there are lanes, from flat[index] on.
  void storeColumns(Location loc, ArrayRef<Value> columns, Value flat, Value index);

private:
  struct Linear {
    Value base;
    int64_t step;
  };
  bool isUniform(Value bodyValue) const;
  VectorType vectorOf(Type element) const { return VectorType::get({lanes}, element); }
  Value zero(VectorType type);
  Value allLanes();
  Value laneOffsets(Location loc, const SymbolicSize &stride);
  Value gather(Location loc, Value flat, Value index, Value offsets);
  std::optional<int64_t> liveLanes() const;
  Value loadInterleaved(Location loc, Value flat, Value index, int64_t stride, int64_t live);
  void storeInterleaved(Location loc, Value value, Value flat, Value index, int64_t stride, int64_t live);
  bool cloneLinear(Operation *op);
  void cloneLoad(Operation *op);
  void cloneOnVectors(Operation *op);

  OpBuilder &b;
  IndexBuilder &indices;
  int64_t registerBits;
  int64_t lanes = 0;
  Value mask;
  IRMapping mapping;
  DenseMap<Value, Linear> linear;
  DenseMap<Value, FlatView> views;
};

} // namespace mlir::array::loops

#endif // ARRAY_LIB_CPU_LOOPS_LOOPBODY_H
