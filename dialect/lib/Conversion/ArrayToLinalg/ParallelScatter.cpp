// scatter as one op with concurrent updates (array/Analysis/ScatterForm.h). The target of each update is computed
// beforehand, from the dimension numbers and the mode.
#include "Scatter.h"
#include "array/Analysis/ScatterForm.h"

using namespace mlir;
using namespace mlir::array;

namespace {

/// Scatters with at most this many update elements are loops: one thread needs only the time of a few launches.
constexpr int64_t kFewElements = 16;

class ParallelScatter {
public:
  ParallelScatter(ImplicitLocOpBuilder &b, ScatterOp op, Value target, Value updates, ValueRange indices)
      : b(b), op(op), target(target), updates(updates), indices(indices),
        shape(cast<RankedTensorType>(target.getType()).getShape()),
        updatesShape(cast<RankedTensorType>(updates.getType()).getShape()) {
    const int64_t *windowDim = op.getUpdateWindowDims().begin();
    for (int64_t dim = 0; dim < int64_t(shape.size()); ++dim)
      inUpdates.push_back(isDropped(op, dim) ? -1 : *windowDim++);
    rowRank = shape.size();
    while (rowRank > 0 && isWhole(rowRank - 1))
      --rowRank;
    orderPositions();
  }

  Value build() {
    SmallVector<int64_t> order = positions;
    llvm::append_range(order, ArrayRef(inUpdates).drop_front(rowRank));
    int64_t rank = shape.size(), loops = rank + positions.size();
    SmallVector<AffineExpr> ofKeys, ofUpdates;
    for (int64_t loop = rank; loop < loops; ++loop)
      ofKeys.push_back(b.getAffineDimExpr(loop));
    ofUpdates = ofKeys;
    for (int64_t dim = rowRank; dim < rank; ++dim)
      ofUpdates.push_back(b.getAffineDimExpr(dim));
    AffineMap maps[] = {AffineMap::get(loops, 0, ofKeys, b.getContext()),
                        AffineMap::get(loops, 0, ofUpdates, b.getContext()), leadingLoops(b, loops, rank)};
    SmallVector<utils::IteratorType> iterators(loops, utils::IteratorType::reduction);
    std::fill_n(iterators.begin(), rank, utils::IteratorType::parallel);
    Value keys = computeKeys(), ordered = inOrder(order);
    auto scatter = linalg::GenericOp::create(
        b, target.getType(), ValueRange{keys, ordered}, target, maps, iterators,
        [&](OpBuilder &nested, Location loc, ValueRange stored) {
          ImplicitLocOpBuilder body(loc, nested);
          Value row = numberOfRow(body, [&](int64_t dim) { return linalg::IndexOp::create(body, dim).getResult(); });
          Value goesHere = arith::CmpIOp::create(body, arith::CmpIPredicate::eq, stored[0], row);
          Value changed = combined(body, op.getKind(), getElementTypeOrSelf(op.getType()), stored[2], stored[1]);
          linalg::YieldOp::create(body, arith::SelectOp::create(body, goesHere, changed, stored[2]).getResult());
        });
    scatter->setAttr(kScatterAttr, describe());
    return scatter.getResult(0);
  }

private:
  bool isIndexed(int64_t dim) { return llvm::is_contained(op.getScatterDimsToOperandDims(), dim); }
  bool isWhole(int64_t dim) {
    return inUpdates[dim] >= 0 && !isIndexed(dim) && updatesShape[inUpdates[dim]] == shape[dim];
  }
  bool isOfIndices(int64_t updateDim) { return !llvm::is_contained(op.getUpdateWindowDims(), updateDim); }

  /// Orders the updates' dimensions outside of the window. Dimensions in which windows may overlap come last, because
  /// updates of one element must follow the order of the indices.
  void orderPositions() {
    auto operandDim = [&](int64_t updateDim) { return llvm::find(inUpdates, updateDim) - inUpdates.begin(); };
    for (int64_t dim = 0; dim < int64_t(updatesShape.size()); ++dim) {
      if (isOfIndices(dim))
        indexDims.push_back(dim);
      else if (operandDim(dim) >= rowRank)
        continue;
      else if (isIndexed(operandDim(dim)) && updatesShape[dim] > 1) {
        overlapping.push_back(dim);
        continue;
      }
      positions.push_back(dim);
    }
    llvm::append_range(positions, overlapping);
  }

  unsigned loopOf(int64_t updateDim) { return llvm::find(positions, updateDim) - positions.begin(); }

  /// The number of a row, given its index in each dimension.
  Value numberOfRow(ImplicitLocOpBuilder &body, function_ref<Value(int64_t)> indexIn) {
    Value number;
    for (int64_t dim = 0; dim < rowRank; ++dim) {
      Value index = indexIn(dim);
      if (number)
        index = arith::AddIOp::create(
            body, arith::MulIOp::create(body, number, arith::ConstantIndexOp::create(body, shape[dim])), index);
      number = index;
    }
    if (!number)
      number = arith::ConstantIndexOp::create(body, 0);
    return arith::IndexCastOp::create(body, body.getI64Type(), number);
  }

  /// For each position, the number of the row that it changes; -1 if it changes none.
  Value computeKeys() {
    SmallVector<AffineExpr> loops;
    for (int64_t dim : indexDims)
      loops.push_back(b.getAffineDimExpr(loopOf(dim)));
    SmallVector<AffineMap> maps(indices.size(), AffineMap::get(positions.size(), 0, loops, b.getContext()));
    SmallVector<OpFoldResult> sizes;
    for (int64_t dim : positions)
      sizes.push_back(b.getIndexAttr(updatesShape[dim]));
    return parallelGeneric(
        b, b.getLoc(), b.getI64Type(), sizes, indices, maps, [&](ImplicitLocOpBuilder &body, ValueRange starts) {
          Value inside;
          Value row = numberOfRow(body, [&](int64_t dim) { return place(body, dim, starts, inside); });
          if (!inside)
            return row;
          Value none = intConstant(body, body.getI64Type(), -1);
          return arith::SelectOp::create(body, inside, row, none).getResult();
        });
  }

  /// The index of an update in a dimension of the rows; `inside` is set to whether its window is inside, if that needs
  /// a check.
  Value place(ImplicitLocOpBuilder &body, int64_t dim, ValueRange starts, Value &inside) {
    auto indexOf = [&](int64_t updateDim) { return linalg::IndexOp::create(body, loopOf(updateDim)).getResult(); };
    auto number = [&](int64_t value) { return arith::ConstantIndexOp::create(body, value).getResult(); };
    for (auto [batchDim, ofIndices] : llvm::zip(op.getOperandBatchingDims(), op.getScatterIndicesBatchingDims()))
      if (batchDim == dim)
        return indexOf(indexDims[ofIndices]);
    int64_t updateDim = inUpdates[dim], size = updateDim < 0 ? 1 : updatesShape[updateDim];
    Value offset = size == 1 ? Value() : indexOf(updateDim);
    if (!isIndexed(dim))
      return offset ? offset : number(0);
    int64_t which = llvm::find(op.getScatterDimsToOperandDims(), dim) - op.getScatterDimsToOperandDims().begin();
    Value start = arith::IndexCastOp::create(body, body.getIndexType(), starts[which]),
          last = number(shape[dim] - size);
    if (op.getMode() == "clip") {
      start = arith::MaxSIOp::create(body, arith::MinSIOp::create(body, start, last), number(0));
    } else { // a negative start is a large unsigned number
      Value fits = arith::CmpIOp::create(body, arith::CmpIPredicate::ule, start, last);
      inside = inside ? arith::AndIOp::create(body, inside, fits).getResult() : fits;
    }
    return offset ? arith::AddIOp::create(body, start, offset).getResult() : start;
  }

  /// The updates with their dimensions in this order.
  Value inOrder(ArrayRef<int64_t> order) {
    if (llvm::is_sorted(order))
      return updates;
    SmallVector<OpFoldResult> sizes;
    SmallVector<unsigned> target(order.size());
    for (auto [number, dim] : llvm::enumerate(order)) {
      sizes.push_back(b.getIndexAttr(updatesShape[dim]));
      target[dim] = number;
    }
    return parallelGeneric(b, b.getLoc(), getElementTypeOrSelf(updates), sizes, updates,
                           AffineMap::getPermutationMap(target, b.getContext()),
                           [](ImplicitLocOpBuilder &, ValueRange stored) { return stored.front(); });
  }

  DictionaryAttr describe() {
    int64_t windows = 1;
    for (int64_t dim : indexDims)
      windows *= updatesShape[dim];
    NamedAttrList described;
    described.set(kScatterKind, b.getStringAttr(op.getKind()));
    described.set(kScatterElement, TypeAttr::get(getElementTypeOrSelf(op.getType())));
    // An update that was moved inside may meet another one.
    bool mayMeet = op.getMode() == "clip" || !overlapping.empty();
    if (windows == 1 || (op.getUniqueIndices() && !mayMeet))
      described.set(kScatterUnique, b.getUnitAttr());
    bool isSorted = op.getIndicesAreSorted() && positions.size() == indexDims.size() &&
                    op.getOperandBatchingDims().empty() && (indices.size() == 1 || op.getMode() != "clip");
    if (isSorted)
      described.set(kScatterGrouped, b.getUnitAttr());
    return described.getDictionary(b.getContext());
  }

  ImplicitLocOpBuilder &b;
  ScatterOp op;
  Value target, updates;
  ValueRange indices;
  ArrayRef<int64_t> shape, updatesShape;
  SmallVector<int64_t> inUpdates; // for each dimension of the operand, that of the updates; -1 if they lack it
  int64_t rowRank;                // the dimensions before the window
  SmallVector<int64_t> positions, indexDims, overlapping; // dimensions of the updates
};

} // namespace

bool array::isDropped(ScatterOp op, int64_t dim) {
  return llvm::is_contained(op.getInsertedWindowDims(), dim) || llvm::is_contained(op.getOperandBatchingDims(), dim);
}

bool array::isWorthThreads(ScatterOp op) {
  auto updates = cast<RankedTensorType>(op.getUpdates().getType());
  bool isStatic =
      llvm::all_of(op->getOperandTypes(), [](Type type) { return cast<RankedTensorType>(type).hasStaticShape(); });
  // One window is a slice: its elements have threads anyway.
  bool isOneWindow = updates.getRank() == int64_t(op.getUpdateWindowDims().size());
  return isStatic && !isOneWindow && updates.getNumElements() > kFewElements;
}

Value array::parallelScatter(ImplicitLocOpBuilder &b, ScatterOp op, Value target, Value updates, ValueRange indices) {
  return ParallelScatter(b, op, target, updates, indices).build();
}
