// scatter: loops over the indices carry the tensor and change one window at a time, in place after bufferization. They
// are sequential, because several updates may meet in one element. Threads of a CPU share the windows, the batch, or
// else the rows of the target. With rows, each thread reads all indices and applies the updates of its own rows in
// their order. So the number of threads has no effect on the bits. On targets with a thread for each update, the
// scatter is one op instead (ParallelScatter.cpp).
#include "Scatter.h"
#include "array/IR/Kernel.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::array;

/// The parts of a complex number, whose bits are an integer with the real part in the low half.
static std::pair<Value, Value> partsOf(ImplicitLocOpBuilder &b, FloatType part, Value bits) {
  unsigned width = part.getWidth();
  auto half = [&](Value integer) -> Value {
    return arith::BitcastOp::create(b, part, arith::TruncIOp::create(b, b.getIntegerType(width), integer));
  };
  return {half(bits), half(arith::ShRUIOp::create(b, bits, intConstant(b, bits.getType(), width)))};
}

static Value complexProduct(ImplicitLocOpBuilder &b, FloatType part, Value x, Value y) {
  auto [xRe, xIm] = partsOf(b, part, x);
  auto [yRe, yIm] = partsOf(b, part, y);
  auto product = [&](Value u, Value v) -> Value { return arith::MulFOp::create(b, u, v, contractFlags(b)); };
  auto bits = [&](Value number) -> Value {
    Value half = arith::BitcastOp::create(b, b.getIntegerType(part.getWidth()), number);
    return arith::ExtUIOp::create(b, x.getType(), half);
  };
  Value re = arith::SubFOp::create(b, product(xRe, yRe), product(xIm, yIm), contractFlags(b));
  Value im = arith::AddFOp::create(b, product(xRe, yIm), product(xIm, yRe), contractFlags(b));
  Value high = arith::ShLIOp::create(b, bits(im), intConstant(b, x.getType(), part.getWidth()));
  return arith::OrIOp::create(b, bits(re), high);
}

/// Ordered by the real parts, then by the imaginary ones; the first operand with a nan stays.
static Value complexExtremum(ImplicitLocOpBuilder &b, FloatType part, arith::CmpFPredicate beyond, Value x, Value y) {
  auto [xRe, xIm] = partsOf(b, part, x);
  auto [yRe, yIm] = partsOf(b, part, y);
  auto compare = [&](arith::CmpFPredicate predicate, Value u, Value v) -> Value {
    return arith::CmpFOp::create(b, predicate, u, v);
  };
  auto both = [&](Value u, Value v) -> Value { return arith::AndIOp::create(b, u, v); };
  auto either = [&](Value u, Value v) -> Value { return arith::OrIOp::create(b, u, v); };
  Value isEqual = compare(arith::CmpFPredicate::OEQ, xRe, yRe);
  Value isBeyond = either(compare(beyond, xRe, yRe), both(isEqual, compare(beyond, xIm, yIm)));
  Value isOrdered = both(compare(arith::CmpFPredicate::ORD, yRe, yIm), isBeyond);
  Value hasNan = compare(arith::CmpFPredicate::UNO, xRe, xIm);
  return arith::SelectOp::create(b, either(hasNan, isOrdered), x, y);
}

Value array::combined(ImplicitLocOpBuilder &b, StringRef kind, Type element, Value old, Value update) {
  if (auto complex = dyn_cast<ComplexType>(element); complex && kind != "set") {
    auto part = cast<FloatType>(complex.getElementType());
    if (kind == "mul")
      return complexProduct(b, part, old, update);
    auto beyond = kind == "max" ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT;
    return complexExtremum(b, part, beyond, old, update);
  }
  bool isFloat = isa<FloatType>(element);
  if (kind == "add")
    return isFloat ? arith::AddFOp::create(b, old, update, contractFlags(b)).getResult()
                   : arith::AddIOp::create(b, old, update).getResult();
  if (kind == "mul")
    return isFloat ? arith::MulFOp::create(b, old, update, contractFlags(b)).getResult()
                   : arith::MulIOp::create(b, old, update).getResult();
  if (kind == "min")
    return isFloat               ? arith::MinimumFOp::create(b, old, update).getResult()
           : isUnsigned(element) ? arith::MinUIOp::create(b, old, update).getResult()
                                 : arith::MinSIOp::create(b, old, update).getResult();
  if (kind == "max")
    return isFloat               ? arith::MaximumFOp::create(b, old, update).getResult()
           : isUnsigned(element) ? arith::MaxUIOp::create(b, old, update).getResult()
                                 : arith::MaxSIOp::create(b, old, update).getResult();
  return update;
}

namespace {

class Scatter {
public:
  Scatter(ImplicitLocOpBuilder &b, ScatterOp op, Value updates, ValueRange indices)
      : b(b), op(op), updates(updates), indices(indices), element(getElementTypeOrSelf(op.getType())),
        batchRank(cast<RankedTensorType>(updates.getType()).getRank() - op.getUpdateWindowDims().size()) {
    if (batchRank == 0)
      return;
    int64_t lastIndexed = 0;
    for (int64_t dim : op.getScatterDimsToOperandDims())
      lastIndexed = std::max(lastIndexed, dim);
    const int64_t *windowDim = op.getUpdateWindowDims().begin();
    for (int64_t dim = 0; dim < lastIndexed; ++dim) {
      if (isDropped(op, dim))
        continue;
      int64_t inUpdates = *windowDim++;
      if (llvm::is_contained(op.getScatterDimsToOperandDims(), dim))
        continue; // windows that overlap in it must be written in the order of the indices
      outerOperandDims.push_back(dim);
      outerWindowDims.push_back(inUpdates);
    }
  }

  /// The scatter, whose work threads may share.
  Value build(Value target) {
    if (!isWorthSharing(target))
      return overWindows(target);
    if (!outerWindowDims.empty()) {
      mark = kIndependentAttr;
      return overWindows(target);
    }
    if (llvm::is_contained(op.getScatterIndicesBatchingDims(), 0)) {
      mark = kIndependentAttr;
      return overBatch(target, {});
    }
    partitioned = partitionedDim(target);
    return partitioned ? overParts(target) : overWindows(target);
  }

  /// Dimensions of the window before an indexed one are loops outside of those over the indices, so that writes are
  /// contiguous: for x[:, i], one row of x after the other.
  Value overWindows(Value target) {
    if (outer.size() == outerWindowDims.size())
      return overBatch(target, {});
    return loop(target, updates, outerWindowDims[outer.size()], [&](Value inner, Value index) {
      outer.push_back(index);
      Value changed = overWindows(inner);
      outer.pop_back();
      return changed;
    });
  }

private:
  /// Rough times of one thread, in nanoseconds: the start of a change, and a byte of it. A scatter below the minimum
  /// time does not justify waking a thread. Each thread reads all indices, so narrow rows gain nothing.
  static constexpr double changeNs = 3, byteNs = .06, leastNs = 100000;
  static constexpr int64_t leastRowBytes = 256;

  bool isWorthSharing(Value target) {
    auto type = cast<RankedTensorType>(updates.getType());
    if (!type.hasStaticShape() || !cast<RankedTensorType>(target.getType()).hasStaticShape() || batchRank == 0)
      return false;
    int64_t changes = 1, bytes = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      bool isRow = llvm::is_contained(op.getUpdateWindowDims(), dim) && !llvm::is_contained(outerWindowDims, dim);
      (isRow ? bytes : changes) *= type.getDimSize(dim);
    }
    rowBytes = bytes;
    return double(changes) * (changeNs + byteNs * double(bytes)) >= leastNs;
  }

  /// The dimension of the target whose parts the threads take: windows are in one row of it, and the rows are many.
  std::optional<int64_t> partitionedDim(Value target) {
    constexpr int64_t leastRows = 16;
    ArrayRef<int64_t> shape = cast<RankedTensorType>(target.getType()).getShape();
    if (rowBytes < leastRowBytes)
      return std::nullopt;
    for (int64_t dim : op.getScatterDimsToOperandDims())
      if (isDropped(op, dim) && shape[dim] >= leastRows)
        return dim;
    return std::nullopt;
  }

  Value overParts(Value target) {
    Value zero = arith::ConstantIndexOp::create(b, 0), one = arith::ConstantIndexOp::create(b, 1), parts;
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(&op->getParentOfType<func::FuncOp>().front());
      parts = ThreadsOp::create(b, b.getIndexType());
    }
    auto loop = scf::ForOp::create(b, zero, parts, one, target);
    loop->setAttr(kPartsAttr, b.getUnitAttr());
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    int64_t rows = cast<RankedTensorType>(target.getType()).getDimSize(*partitioned);
    auto index = [&](int64_t value) { return arith::ConstantIndexOp::create(b, value).getResult(); };
    Value size = arith::CeilDivUIOp::create(b, index(rows), parts);
    firstRow = arith::MulIOp::create(b, loop.getInductionVar(), size);
    endRow = arith::AddIOp::create(b, firstRow, size);
    scf::YieldOp::create(b, overWindows(loop.getRegionIterArg(0)));
    return loop.getResult(0);
  }

  Value loop(Value target, Value like, int64_t dim, function_ref<Value(Value, Value)> body) {
    Value zero = arith::ConstantIndexOp::create(b, 0), one = arith::ConstantIndexOp::create(b, 1);
    Value count = getValueOrCreateConstantIndexOp(b, b.getLoc(), tensor::getMixedSize(b, b.getLoc(), like, dim));
    auto loop = scf::ForOp::create(b, zero, count, one, target);
    if (!mark.empty())
      loop->setAttr(std::exchange(mark, {}), b.getUnitAttr());
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    scf::YieldOp::create(b, body(loop.getRegionIterArg(0), loop.getInductionVar()));
    return loop.getResult(0);
  }

  Value overBatch(Value target, SmallVector<Value> position) {
    if (int64_t(position.size()) == batchRank)
      return changeIfInside(target, position);
    return loop(target, indices.front(), position.size(), [&](Value inner, Value index) {
      SmallVector<Value> next = position;
      next.push_back(index);
      return overBatch(inner, next);
    });
  }

  struct Place {
    SmallVector<OpFoldResult> offsets, sizes, strides;
  };

  /// The window of the updates at a position of the indices.
  Place ofUpdates(ArrayRef<Value> position) {
    Place place;
    place.sizes = tensor::getMixedSizes(b, b.getLoc(), updates);
    for (int64_t dim = 0, number = 0; dim < int64_t(place.sizes.size()); ++dim) {
      auto outerDim = llvm::find(outerWindowDims, dim);
      bool isOuter = outerDim != outerWindowDims.end();
      if (llvm::is_contained(op.getUpdateWindowDims(), dim) && !isOuter) {
        place.offsets.push_back(b.getIndexAttr(0));
        continue;
      }
      place.offsets.push_back(isOuter ? outer[outerDim - outerWindowDims.begin()] : position[number++]);
      place.sizes[dim] = b.getIndexAttr(1);
    }
    place.strides.assign(place.sizes.size(), b.getIndexAttr(1));
    return place;
  }

  /// The window of the target, and whether it is inside, if that needs a check.
  Place ofTarget(Value target, ArrayRef<Value> position, Value &inside) {
    int64_t rank = cast<RankedTensorType>(target.getType()).getRank();
    Place place;
    place.offsets.assign(rank, b.getIndexAttr(0));
    place.strides.assign(rank, b.getIndexAttr(1));
    const int64_t *windowDim = op.getUpdateWindowDims().begin();
    for (int64_t dim = 0; dim < rank; ++dim) {
      place.sizes.push_back(isDropped(op, dim) ? OpFoldResult(b.getIndexAttr(1))
                                               : tensor::getMixedSize(b, b.getLoc(), updates, *windowDim++));
    }
    for (auto [dim, number] : llvm::zip(op.getOperandBatchingDims(), op.getScatterIndicesBatchingDims()))
      place.offsets[dim] = position[number];
    for (auto [dim, index] : llvm::zip(op.getScatterDimsToOperandDims(), indices)) {
      Value start =
          b.createOrFold<arith::IndexCastOp>(b.getIndexType(), b.createOrFold<tensor::ExtractOp>(index, position));
      Value size = getValueOrCreateConstantIndexOp(b, b.getLoc(), tensor::getMixedSize(b, b.getLoc(), target, dim));
      Value taken = getValueOrCreateConstantIndexOp(b, b.getLoc(), place.sizes[dim]);
      Value last = b.createOrFold<arith::SubIOp>(size, taken);
      if (op.getMode() == "clip") {
        Value zero = arith::ConstantIndexOp::create(b, 0);
        start = b.createOrFold<arith::MaxSIOp>(b.createOrFold<arith::MinSIOp>(start, last), zero);
      } else if (Value fits = b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ule, start, last);
                 !matchPattern(fits, m_One())) { // a negative start is a large unsigned number
        inside = inside ? b.createOrFold<arith::AndIOp>(inside, fits) : fits;
      }
      place.offsets[dim] = getAsOpFoldResult(start);
      if (partitioned == dim) {
        auto compare = [&](arith::CmpIPredicate predicate, Value row) -> Value {
          return arith::CmpIOp::create(b, predicate, start, row);
        };
        Value isOwn = arith::AndIOp::create(b, compare(arith::CmpIPredicate::sge, firstRow),
                                            compare(arith::CmpIPredicate::slt, endRow));
        inside = inside ? arith::AndIOp::create(b, inside, isOwn).getResult() : isOwn;
      }
    }
    for (auto [dim, index] : llvm::zip(outerOperandDims, outer)) {
      bool isZero = isZeroInteger(place.offsets[dim]);
      Value start = isZero ? Value() : getValueOrCreateConstantIndexOp(b, b.getLoc(), place.offsets[dim]);
      place.offsets[dim] = isZero ? index : arith::AddIOp::create(b, start, index).getResult();
      place.sizes[dim] = b.getIndexAttr(1);
    }
    return place;
  }

  /// A window is changed if it is inside. A single element needs no branch: the nearest element inside is written with
  /// its own value.
  Value changeIfInside(Value target, ArrayRef<Value> position) {
    Value inside;
    Place place = ofTarget(target, position, inside);
    if (inside && matchPattern(inside, m_Zero()))
      return target;
    if (!inside || llvm::all_of(ofUpdates(position).sizes, isOneInteger))
      return change(target, place, position, inside);
    // A loop of one iteration or none, not a conditional: bufferization takes exponential time for a chain of
    // conditionals that may return the tensor unchanged.
    Value zero = arith::ConstantIndexOp::create(b, 0), one = arith::ConstantIndexOp::create(b, 1);
    Value count = arith::IndexCastUIOp::create(b, b.getIndexType(), inside);
    auto once = scf::ForOp::create(b, zero, count, one, target);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(once.getBody());
    scf::YieldOp::create(b, change(once.getRegionIterArg(0), place, position));
    return once.getResult(0);
  }

  Value change(Value target, const Place &place, ArrayRef<Value> position, Value inside = {}) {
    Place source = ofUpdates(position);
    if (llvm::all_of(source.sizes, isOneInteger)) {
      SmallVector<Value> from = values(source.offsets), to = values(place.offsets);
      if (inside) // a negative index is a large unsigned number
        for (auto [dim, index] : llvm::enumerate(to)) {
          Value size = getValueOrCreateConstantIndexOp(b, b.getLoc(), tensor::getMixedSize(b, b.getLoc(), target, dim));
          Value last = arith::SubIOp::create(b, size, arith::ConstantIndexOp::create(b, 1));
          index = arith::MinUIOp::create(b, index, last);
        }
      Value update = tensor::ExtractOp::create(b, updates, from);
      Value old = inside || op.getKind() != "set" ? tensor::ExtractOp::create(b, target, to).getResult() : Value();
      if (op.getKind() != "set")
        update = combined(b, op.getKind(), element, old, update);
      if (inside)
        update = arith::SelectOp::create(b, inside, update, old);
      return tensor::InsertOp::create(b, update, target, to);
    }
    SmallVector<int64_t> shape;
    for (int64_t dim : op.getUpdateWindowDims())
      if (!llvm::is_contained(outerWindowDims, dim))
        shape.push_back(cast<RankedTensorType>(updates.getType()).getDimSize(dim));
    auto type = RankedTensorType::get(shape, getElementTypeOrSelf(updates.getType()));
    Value window = slice(updates, source, type);
    bool isKnown =
        llvm::all_of(place.offsets, [](OpFoldResult offset) { return getConstantIntValue(offset).has_value(); });
    if (op.getKind() != "set")
      window = combine(slice(target, place, type), window, type, isKnown);
    return tensor::InsertSliceOp::create(b, window, target, place.offsets, place.sizes, place.strides);
  }

  SmallVector<Value> values(ArrayRef<OpFoldResult> offsets) {
    return getValueOrCreateConstantIndexOp(b, b.getLoc(), offsets);
  }

  Value slice(Value tensor, const Place &place, RankedTensorType type) {
    return tensor::ExtractSliceOp::create(b, type, tensor, place.offsets, place.sizes, place.strides);
  }

  /// Computes into the window itself: as the output it needs no other buffer. A window at a known place is an operand,
  /// as if the program had set the elements to the combined ones, and the computation of the update is fused.
  Value combine(Value old, Value update, RankedTensorType type, bool isKnown) {
    SmallVector<Value> inputs{update};
    Value init = old;
    if (isKnown && type.hasStaticShape()) {
      inputs.push_back(old);
      init = tensor::EmptyOp::create(b, type.getShape(), type.getElementType());
    }
    SmallVector<AffineMap> maps(inputs.size() + 1, b.getMultiDimIdentityMap(type.getRank()));
    SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
    auto generic = linalg::GenericOp::create(
        b, type, inputs, init, maps, iterators, [&](OpBuilder &nested, Location loc, ValueRange elements) {
          ImplicitLocOpBuilder body(loc, nested);
          linalg::YieldOp::create(body, combined(body, op.getKind(), element, elements[1], elements[0]));
        });
    return generic.getResult(0);
  }

  ImplicitLocOpBuilder &b;
  ScatterOp op;
  Value updates;
  ValueRange indices;
  Type element;
  int64_t batchRank;
  SmallVector<int64_t> outerOperandDims, outerWindowDims;
  SmallVector<Value> outer; // the loops' indices
  StringRef mark;           // of the next loop
  int64_t rowBytes = 0;     // of an update in the innermost loops
  std::optional<int64_t> partitioned;
  Value firstRow, endRow; // of this part, in the partitioned dimension
};

struct ScatterLowering : OpConversionPattern<ScatterOp> {
  ScatterLowering(const TypeConverter &converter, MLIRContext *context, bool hasThreads)
      : OpConversionPattern(converter, context), hasThreads(hasThreads) {}

  LogicalResult matchAndRewrite(ScatterOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    auto isEmpty = [](Value tensor) {
      return llvm::is_contained(cast<RankedTensorType>(tensor.getType()).getShape(), 0);
    };
    if (isEmpty(op.getOperand()) || isEmpty(op.getUpdates())) { // no elements to change
      replaceTyped(rewriter, op, adaptor.getOperand());
      return success();
    }
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    // The device library has no multiplication of complex numbers, nor an order of them.
    bool isByLoops = op.getKind() != "set" && isa<ComplexType>(getElementTypeOrSelf(op.getType()));
    if (hasThreads && isWorthThreads(op) && !isByLoops) {
      replaceTyped(rewriter, op,
                   parallelScatter(b, op, adaptor.getOperand(), adaptor.getUpdates(), adaptor.getIndices()));
      return success();
    }
    Scatter scatter(b, op, adaptor.getUpdates(), adaptor.getIndices());
    replaceTyped(rewriter, op,
                 hasThreads ? scatter.overWindows(adaptor.getOperand()) : scatter.build(adaptor.getOperand()));
    return success();
  }

  bool hasThreads;
};

} // namespace

void array::populateScatter(const TypeConverter &converter, RewritePatternSet &patterns, bool hasThreads) {
  patterns.add<ScatterLowering>(converter, patterns.getContext(), hasThreads);
}
