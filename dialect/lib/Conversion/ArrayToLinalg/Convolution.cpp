// conv_general_dilated: the operand is padded, and one generic reads its windows in place. array-lower-convolutions
// recognises a large one and the padding before it; array-lower-matmuls recognises one whose windows are single
// elements. Groups become a separate dimension, by a view.
#include "Contraction.h"
#include "IndexMath.h"
#include "array/Analysis/MatmulWorth.h"
#include "array/IR/Plan.h"
#include "array/IR/Precision.h"

#include <numeric>

using namespace mlir;
using namespace mlir::array;

namespace {

bool isPadded(ConvGeneralDilatedOp op) {
  auto isNot = [](int64_t value) { return [value](int64_t number) { return number != value; }; };
  return llvm::any_of(op.getLow(), isNot(0)) || llvm::any_of(op.getHigh(), isNot(0)) ||
         llvm::any_of(op.getLhsDilation(), isNot(1));
}

/// The sizes of the padding, reordered from the order of the spatial dimensions to that of the operand.
SmallVector<Value> inOrder(ConvGeneralDilatedOp op, ArrayRef<int64_t> low, ArrayRef<int64_t> high, ValueRange given) {
  SmallVector<Value> lowOf(low.size()), highOf(high.size()), ordered;
  auto place = [&](ArrayRef<int64_t> padding, SmallVector<Value> &sizes) {
    for (auto [dim, number] : llvm::zip_equal(op.getLhsSpec().drop_front(2), padding)) {
      if (!ShapedType::isDynamic(number))
        continue;
      sizes[dim] = given.front();
      given = given.drop_front();
    }
  };
  place(op.getLow(), lowOf);
  place(op.getHigh(), highOf);
  for (const SmallVector<Value> &sizes : {lowOf, highOf})
    llvm::append_range(ordered, llvm::make_filter_range(sizes, [](Value size) { return size != nullptr; }));
  return ordered;
}

/// The op on an operand that a separate op has padded and dilated.
void padFirst(ConversionPatternRewriter &rewriter, ConvGeneralDilatedOp op, ValueRange given) {
  Type element = op.getLhs().getType().getElementType();
  int64_t rank = op.getType().getRank(), spatial = rank - 2;
  auto scalar = RankedTensorType::get({}, element);
  Value zero = ConstantOp::create(rewriter, op.getLoc(),
                                  cast<ElementsAttr>(DenseElementsAttr::get(scalar, rewriter.getZeroAttr(element))));
  SmallVector<int64_t> low(rank, 0), high(rank, 0), interior(rank, 0), zeros(spatial, 0), ones(spatial, 1);
  for (int64_t i = 0; i < spatial; ++i) {
    int64_t dim = op.getLhsSpec()[i + 2];
    low[dim] = op.getLow()[i];
    high[dim] = op.getHigh()[i];
    interior[dim] = op.getLhsDilation()[i] - 1;
  }
  SmallVector<Value> sizes = inOrder(op, low, high, given);
  Value padded = PadOp::create(rewriter, op.getLoc(), op.getLhs(), zero, low, high, interior, sizes);
  auto dense =
      ConvGeneralDilatedOp::create(rewriter, op.getLoc(), op.getType(), padded, op.getRhs(), op.getWindowStrides(),
                                   zeros, zeros, ones, op.getRhsDilation(), op.getLhsSpec(), op.getRhsSpec(),
                                   op.getOutSpec(), op.getFeatureGroupCount(), op.getBatchGroupCount(), ValueRange());
  handOnPlan(op, dense);
  handOnPrecision(op, dense);
  rewriter.replaceOp(op, dense);
}

/// Whether the loops of a convolution sum vectors of input features, of which the filter should have dense ones, too:
/// tiles of few output features would leave most lanes of a vector empty (Cpu/Convolution/ConvolutionChoices.cpp).
bool sumsVectors(ConvGeneralDilatedOp op) {
  constexpr int64_t mostFeatures = 5, leastTerms = 16;
  ArrayRef<int64_t> filter = op.getRhs().getType().getShape(), spec = op.getRhsSpec();
  int64_t last = op.getType().getRank() - 1, features = filter[spec[0]], terms = filter[spec[1]];
  return op.getFeatureGroupCount() == 1 && op.getBatchGroupCount() == 1 && op.getLhsSpec()[1] == last &&
         spec[1] != last && features > 1 && features <= mostFeatures && terms >= leastTerms &&
         isa<FloatType>(op.getRhs().getType().getElementType());
}

/// The op with a filter whose last dimension is that of the input features.
void transposeFilterFirst(ConversionPatternRewriter &rewriter, ConvGeneralDilatedOp op) {
  RankedTensorType type = op.getRhs().getType();
  SmallVector<int64_t> permutation = llvm::to_vector(llvm::seq(type.getRank())), spec(op.getRhsSpec()), shape;
  std::rotate(permutation.begin() + spec[1], permutation.begin() + spec[1] + 1, permutation.end());
  for (int64_t dim : permutation)
    shape.push_back(type.getDimSize(dim));
  for (int64_t &dim : spec)
    dim = int64_t(llvm::find(permutation, dim) - permutation.begin());
  Value filter = TransposeOp::create(rewriter, op.getLoc(), type.clone(shape), op.getRhs(), permutation);
  auto dense = ConvGeneralDilatedOp::create(rewriter, op.getLoc(), op.getType(), op.getLhs(), filter,
                                            op.getWindowStrides(), op.getLow(), op.getHigh(), op.getLhsDilation(),
                                            op.getRhsDilation(), op.getLhsSpec(), spec, op.getOutSpec(),
                                            op.getFeatureGroupCount(), op.getBatchGroupCount(), op.getSizes());
  handOnPlan(op, dense);
  handOnPrecision(op, dense);
  rewriter.replaceOp(op, dense);
}

/// The loops of a convolution, which name its dimensions: group (if there are several), batch, output features and
/// output positions, which are parallel, then input features and positions in the window.
class ConvolutionLoops {
public:
  ConvolutionLoops(OpBuilder &b, ConvGeneralDilatedOp op, Value lhs, Value rhs, ValueRange given)
      : b(b), op(op), strides(op.getWindowStrides()), dilation(op.getRhsDilation()) {
    RankedTensorType result = op.getType();
    IndexMath index(b, op.getLoc());
    auto resultSize = [&](int64_t dim, function_ref<OpFoldResult()> compute) {
      return result.isDynamicDim(dim) ? compute() : index.number(result.getDimSize(dim));
    };
    SmallVector<OpFoldResult> low = index.numbers(op.getLow(), given), high = index.numbers(op.getHigh(), given);
    groups = std::max(op.getFeatureGroupCount(), op.getBatchGroupCount());
    spatial = result.getRank() - 2;
    if (groups > 1)
      sizes.push_back(index.number(groups));
    first = int64_t(sizes.size());
    sizes.push_back(resultSize(op.getOutSpec()[0], [&] {
      return index.divide(index.size(lhs, op.getLhsSpec()[0]), int64_t(op.getBatchGroupCount()));
    }));
    sizes.push_back(index.divide(index.size(rhs, op.getRhsSpec()[0]), groups));
    for (int64_t i = 0; i < spatial; ++i)
      sizes.push_back(resultSize(op.getOutSpec()[i + 2], [&] {
        OpFoldResult spread = index.dilated(index.size(lhs, op.getLhsSpec()[i + 2]), op.getLhsDilation()[i]);
        OpFoldResult window = index.dilated(index.size(rhs, op.getRhsSpec()[i + 2]), dilation[i]);
        return index.countWindows(index.add(spread, index.add(low[i], high[i])), window, strides[i]);
      }));
    parallel = int64_t(sizes.size());
    sizes.push_back(index.size(rhs, op.getRhsSpec()[1]));
    for (int64_t i = 0; i < spatial; ++i)
      sizes.push_back(index.size(rhs, op.getRhsSpec()[i + 2]));
  }

  int64_t batch() const { return first; }
  int64_t outFeature() const { return first + 1; }
  int64_t position(int64_t i) const { return first + 2 + i; }
  int64_t inFeature() const { return parallel; }
  int64_t inWindow(int64_t i) const { return parallel + 1 + i; }

  /// Sizes of the result; groups are one after the other in its features.
  SmallVector<OpFoldResult> resultSizes() {
    SmallVector<OpFoldResult> result(spatial + 2);
    ArrayRef<int64_t> spec = op.getOutSpec();
    result[spec[0]] = sizes[batch()];
    result[spec[1]] = IndexMath(b, op.getLoc()).multiply(sizes[outFeature()], groups);
    for (int64_t i = 0; i < spatial; ++i)
      result[spec[i + 2]] = sizes[position(i)];
    return result;
  }

  AffineExpr loop(int64_t i) const { return b.getAffineDimExpr(i); }
  /// The index of a window's element in the padded operand.
  AffineExpr place(int64_t i) const { return loop(position(i)) * strides[i] + loop(inWindow(i)) * dilation[i]; }
  bool windowsAreElements() const {
    return llvm::all_of(llvm::seq<int64_t>(0, spatial),
                        [&](int64_t i) { return isOneInteger(sizes[inWindow(i)]) && strides[i] == 1; });
  }
  AffineMap map(ArrayRef<AffineExpr> reads) const { return AffineMap::get(sizes.size(), 0, reads, b.getContext()); }

  /// Whether a blocked matmul is faster than plain loops. Unknown sizes count as large.
  bool isLargeProduct() const {
    auto expected = [&](int64_t loop) { return getConstantIntValue(sizes[loop]).value_or(kExpectedSize); };
    int64_t rows = expected(batch()), terms = expected(inFeature());
    for (int64_t i = 0; i < spatial; ++i) {
      rows *= expected(position(i));
      terms *= expected(inWindow(i));
    }
    return isWorthBlocking(rows, expected(outFeature()), terms);
  }

  OpBuilder &b;
  ConvGeneralDilatedOp op;
  ArrayRef<int64_t> strides, dilation;
  SmallVector<OpFoldResult> sizes;
  int64_t groups, spatial, first, parallel;

  static constexpr int64_t kExpectedSize = 64; // stands for unknown sizes
};

/// A tensor with one dimension (`grouped`) split into groups by a view, and the expressions that read it. `reads` has
/// one expression for each dimension, as if there were one group.
struct GroupedOperand {
  Value tensor;
  SmallVector<AffineExpr> reads;

  GroupedOperand(const ConvolutionLoops &loops, Value value, SmallVector<AffineExpr> expressions, int64_t grouped)
      : tensor(value), reads(std::move(expressions)) {
    if (loops.groups == 1)
      return;
    auto type = cast<RankedTensorType>(value.getType());
    Location loc = ConvGeneralDilatedOp(loops.op).getLoc();
    IndexMath index(loops.b, loc);
    SmallVector<int64_t> shape(type.getShape());
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(loops.b, loc, value);
    sizes[grouped] = index.divide(sizes[grouped], loops.groups);
    shape[grouped] = getConstantIntValue(sizes[grouped]).value_or(ShapedType::kDynamic);
    shape.insert(shape.begin() + grouped, loops.groups);
    sizes.insert(sizes.begin() + grouped, index.number(loops.groups));
    reads.insert(reads.begin() + grouped, loops.loop(0));
    tensor = tensor::ExpandShapeOp::create(loops.b, loc, type.clone(shape), value, cut(shape.size(), grouped), sizes);
  }

  static SmallVector<ReassociationIndices> cut(int64_t rank, int64_t grouped) {
    SmallVector<ReassociationIndices> dims;
    for (int64_t dim = 0; dim < rank; ++dim)
      if (dim == grouped + 1)
        dims.back().push_back(dim);
      else
        dims.push_back({dim});
    return dims;
  }
};

GroupedOperand groupedLhs(const ConvolutionLoops &loops, Value lhs) {
  ConvGeneralDilatedOp op = loops.op;
  SmallVector<AffineExpr> reads(loops.spatial + 2);
  reads[op.getLhsSpec()[0]] = loops.loop(loops.batch());
  reads[op.getLhsSpec()[1]] = loops.loop(loops.inFeature());
  for (int64_t i = 0; i < loops.spatial; ++i)
    reads[op.getLhsSpec()[i + 2]] = loops.windowsAreElements() ? loops.loop(loops.position(i)) : loops.place(i);
  return GroupedOperand(loops, lhs, reads, op.getLhsSpec()[op.getBatchGroupCount() > 1 ? 0 : 1]);
}

GroupedOperand groupedRhs(const ConvolutionLoops &loops, Value rhs) {
  ConvGeneralDilatedOp op = loops.op;
  SmallVector<AffineExpr> reads(loops.spatial + 2);
  reads[op.getRhsSpec()[0]] = loops.loop(loops.outFeature());
  reads[op.getRhsSpec()[1]] = loops.loop(loops.inFeature());
  for (int64_t i = 0; i < loops.spatial; ++i)
    reads[op.getRhsSpec()[i + 2]] = loops.loop(loops.inWindow(i));
  return GroupedOperand(loops, rhs, reads, op.getRhsSpec()[0]);
}

/// The op in the accumulator's type, for operands and a result of a narrower type.
void widenFirst(ConversionPatternRewriter &rewriter, ConvGeneralDilatedOp op, ValueRange given, Type accumulator) {
  auto convert = [&](Value x, Type element) -> Value {
    auto type = cast<RankedTensorType>(x.getType()).clone(element);
    return x.getType() == type ? x : ConvertOp::create(rewriter, op.getLoc(), type, x).getResult();
  };
  auto wide = ConvGeneralDilatedOp::create(rewriter, op.getLoc(), op.getType().clone(accumulator),
                                           convert(op.getLhs(), accumulator), convert(op.getRhs(), accumulator),
                                           op.getWindowStrides(), op.getLow(), op.getHigh(), op.getLhsDilation(),
                                           op.getRhsDilation(), op.getLhsSpec(), op.getRhsSpec(), op.getOutSpec(),
                                           op.getFeatureGroupCount(), op.getBatchGroupCount(), given);
  handOnPlan(op, wide);
  handOnPrecision(op, wide);
  rewriter.replaceOp(op, convert(wide, op.getType().getElementType()));
}

struct ConvGeneralDilatedLowering : OpConversionPattern<ConvGeneralDilatedOp> {
  ConvGeneralDilatedLowering(const TypeConverter &converter, MLIRContext *context, bool narrowFactors)
      : OpConversionPattern(converter, context), narrowFactors(narrowFactors) {}

  /// A padded one becomes one without padding.
  void initialize() { setHasBoundedRewriteRecursion(); }

  LogicalResult matchAndRewrite(ConvGeneralDilatedOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    RankedTensorType result = op.getType();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type element = op.getLhs().getType().getElementType(), resultElement = result.getElementType();
    auto isEmpty = [](Value tensor) {
      return llvm::is_contained(cast<RankedTensorType>(tensor.getType()).getShape(), 0);
    };
    ConvolutionLoops loops(rewriter, op, adaptor.getLhs(), adaptor.getRhs(), adaptor.getSizes());
    if (isEmpty(op.getLhs()) || isEmpty(op.getRhs()) || isEmpty(op.getResult())) { // an empty sum
      Type stored = storageType(resultElement);
      Value zero = isa<FloatType>(stored) ? constant(b, stored, 0) : intConstant(b, stored, 0);
      replaceTyped(rewriter, op, filled(b, b.getLoc(), loops.resultSizes(), zero));
      return success();
    }
    Type accumulator = accumulatorType(resultElement);
    if (!narrowFactors && isa<FloatType>(accumulator) && (accumulator != element || accumulator != resultElement) &&
        loops.isLargeProduct()) {
      widenFirst(rewriter, op, adaptor.getSizes(), accumulator);
      return success();
    }
    if (Value phases = convolvePhases(rewriter, op)) {
      rewriter.replaceOp(op, phases);
      return success();
    }
    if (isPadded(op)) {
      padFirst(rewriter, op, adaptor.getSizes());
      return success();
    }
    if (!narrowFactors && sumsVectors(op) && !loops.windowsAreElements()) {
      transposeFilterFirst(rewriter, op);
      return success();
    }
    GroupedOperand lhs = groupedLhs(loops, adaptor.getLhs()), rhs = groupedRhs(loops, adaptor.getRhs());
    replaceTyped(rewriter, op, contractLoops(b, loops, lhs, rhs, element, resultElement));
    return success();
  }

private:
  bool narrowFactors;

  static Value contractLoops(ImplicitLocOpBuilder &b, const ConvolutionLoops &loops, const GroupedOperand &lhs,
                             const GroupedOperand &rhs, Type element, Type resultElement) {
    ConvGeneralDilatedOp op = loops.op;
    SmallVector<AffineExpr> writes(loops.spatial + 2);
    ArrayRef<int64_t> spec = op.getOutSpec();
    writes[spec[0]] = loops.loop(loops.batch());
    writes[spec[1]] = loops.loop(loops.outFeature());
    for (int64_t i = 0; i < loops.spatial; ++i)
      writes[spec[i + 2]] = loops.loop(loops.position(i));
    if (loops.groups > 1)
      writes.insert(writes.begin() + spec[1], loops.loop(0));
    int64_t grouped = spec[1], features = spec[1] + (loops.groups > 1), rank = int64_t(writes.size());
    // Tiles of the result are rows of features.
    bool movesFeatures =
        features != rank - 1 && isa<FloatType>(element) && loops.isLargeProduct() && !loops.windowsAreElements();
    if (movesFeatures)
      std::rotate(writes.begin() + features, writes.begin() + features + 1, writes.end());
    SmallVector<OpFoldResult> sizes;
    for (AffineExpr write : writes)
      sizes.push_back(loops.sizes[cast<AffineDimExpr>(write).getPosition()]);
    SmallVector<utils::IteratorType> iterators(loops.parallel, utils::IteratorType::parallel);
    iterators.resize(loops.sizes.size(), utils::IteratorType::reduction);
    Value sums =
        contraction(b, op, lhs.tensor, rhs.tensor, {loops.map(lhs.reads), loops.map(rhs.reads), loops.map(writes)},
                    iterators, sizes, element, resultElement);
    if (movesFeatures)
      sums = moveLast(b, sums, sizes, features);
    if (loops.groups == 1)
      return sums;
    return tensor::CollapseShapeOp::create(b, sums, GroupedOperand::cut(rank, grouped));
  }

  /// A copy that moves dimension `target` of `value` to the end.
  static Value moveLast(ImplicitLocOpBuilder &b, Value value, SmallVector<OpFoldResult> sizes, int64_t target) {
    SmallVector<AffineExpr> reads;
    for (int64_t dim = 0, rank = int64_t(sizes.size()); dim < rank; ++dim)
      reads.push_back(b.getAffineDimExpr(dim == rank - 1 ? target : dim < target ? dim : dim + 1));
    std::rotate(sizes.begin() + target, sizes.end() - 1, sizes.end());
    return parallelGeneric(b, b.getLoc(), getElementTypeOrSelf(value.getType()), sizes, value,
                           AffineMap::get(sizes.size(), 0, reads, b.getContext()),
                           [](ImplicitLocOpBuilder &, ValueRange args) { return args[0]; });
  }
};

} // namespace

void array::populateConvolution(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<ConvGeneralDilatedLowering>(converter, patterns.getContext(), /*narrowFactors=*/false);
}

void array::populateNarrowConvolution(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<ConvGeneralDilatedLowering>(converter, patterns.getContext(), /*narrowFactors=*/true);
}
