// slice, pad, concatenate, dynamic_slice, dynamic_update_slice: views and insertions of the tensor dialect, which
// bufferize without copies if the operands allow it.
#include "IndexMath.h"

using namespace mlir;
using namespace mlir::array;

namespace {

bool isEmpty(ArrayRef<OpFoldResult> sizes) {
  return llvm::any_of(sizes, [](OpFoldResult size) { return isZeroInteger(size); });
}

/// The tensor dialect rejects an offset that equals the size, which an empty slice may have.
Value extractSlice(OpBuilder &b, Location loc, Value source, ArrayRef<OpFoldResult> offsets,
                   ArrayRef<OpFoldResult> sizes, ArrayRef<OpFoldResult> strides) {
  if (isEmpty(sizes))
    return tensor::EmptyOp::create(b, loc, sizes, getElementTypeOrSelf(source));
  return tensor::ExtractSliceOp::create(b, loc, source, offsets, sizes, strides);
}

Value insertSlice(OpBuilder &b, Location loc, Value source, Value target, ArrayRef<OpFoldResult> offsets,
                  ArrayRef<OpFoldResult> sizes, ArrayRef<OpFoldResult> strides) {
  return isEmpty(sizes) ? target
                        : tensor::InsertSliceOp::create(b, loc, source, target, offsets, sizes, strides).getResult();
}

struct SliceLowering : OpConversionPattern<SliceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(SliceOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    IndexMath index(rewriter, op.getLoc());
    ValueRange given = adaptor.getSizes();
    SmallVector<OpFoldResult> starts = index.numbers(op.getStartIndices(), given),
                              limits = index.numbers(op.getLimitIndices(), given), counts;
    for (auto [size, start, limit, stride] : llvm::zip_equal(op.getType().getShape(), starts, limits, op.getStrides()))
      counts.push_back(ShapedType::isDynamic(size) ? index.divideUp(index.subtract(limit, start), stride)
                                                   : index.number(size));
    Value slice =
        extractSlice(rewriter, op.getLoc(), adaptor.getOperand(), starts, counts, index.numbers(op.getStrides()));
    replaceTyped(rewriter, op, slice);
    return success();
  }
};

/// One dimension of a pad: which elements of the operand are inside the result, and where.
struct PaddedDim {
  OpFoldResult resultSize, count, source, target;
};

/// Let step = interior + 1. Element i of n moves to low + i * step, in a result of low + (n - 1) * step + 1 + high. The
/// first one inside is max(0, ceil(-low / step)), and max(0, ceil(-high / step)) are dropped at the end.
PaddedDim padDim(IndexMath &index, OpFoldResult size, OpFoldResult low, OpFoldResult high, int64_t interior) {
  int64_t step = interior + 1;
  auto dropped = [&](OpFoldResult padding) {
    return index.divideUp(index.maximum(index.subtract(index.number(0), padding), 0), step);
  };
  OpFoldResult first = dropped(low), lost = index.add(first, dropped(high)), count = size;
  if (!isZeroInteger(lost))
    count = index.maximum(index.subtract(size, lost), 0);
  OpFoldResult resultSize = index.add(index.dilated(size, step), index.add(low, high));
  return {resultSize, count, first, index.add(low, index.multiply(first, step))};
}

/// Whether padding may drop elements.
bool mayCrop(OpFoldResult padding) {
  std::optional<int64_t> known = getConstantIntValue(padding);
  return !known || *known < 0;
}

struct PadLowering : OpConversionPattern<PadOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(PadOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    IndexMath index(rewriter, loc);
    auto result = storageType(cast<RankedTensorType>(op.getType()));
    Value operand = adaptor.getOperand();
    int64_t rank = result.getRank();
    ValueRange given = adaptor.getSizes();
    SmallVector<OpFoldResult> low = index.numbers(op.getLow(), given), high = index.numbers(op.getHigh(), given);
    SmallVector<OpFoldResult> resultSizes, counts, sources, targets, steps, ones(rank, index.number(1));
    bool crops = false;
    for (int64_t dim = 0; dim < rank; ++dim) {
      int64_t interior = op.getInterior()[dim];
      PaddedDim padded = padDim(index, index.size(operand, dim), low[dim], high[dim], interior);
      resultSizes.push_back(padded.resultSize);
      counts.push_back(padded.count);
      sources.push_back(padded.source);
      targets.push_back(padded.target);
      steps.push_back(index.number(interior + 1));
      crops |= mayCrop(low[dim]) || mayCrop(high[dim]);
    }
    Value padded = filled(rewriter, loc, knownSizes(rewriter, result, resultSizes),
                          paddingScalar(rewriter, op, adaptor.getPaddingValue()));
    if (crops)
      operand = extractSlice(rewriter, loc, operand, sources, counts, ones);
    padded = insertSlice(rewriter, loc, operand, padded, targets, counts, steps);
    replaceTyped(rewriter, op, padded);
    return success();
  }

private:
  /// A constant stays visible: array-lower-convolutions matches zeros around an operand.
  static Value paddingScalar(OpBuilder &b, PadOp op, Value value) {
    DenseFPElementsAttr constant;
    Type stored = getElementTypeOrSelf(value.getType());
    if (matchPattern(op.getPaddingValue(), m_Constant(&constant)) && constant.getElementType() == stored)
      return arith::ConstantOp::create(b, op.getLoc(), constant.getSplatValue<FloatAttr>());
    return tensor::ExtractOp::create(b, op.getLoc(), value, ValueRange());
  }
};

struct ConcatenateLowering : OpConversionPattern<ConcatenateOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ConcatenateOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    IndexMath index(rewriter, loc);
    auto result = storageType(cast<RankedTensorType>(op.getType()));
    int64_t dimension = op.getDimension();
    OpFoldResult total = index.number(0);
    for (Value operand : adaptor.getOperands())
      total = index.add(total, index.size(operand, dimension));
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, adaptor.getOperands().front());
    sizes[dimension] = total;
    Value joined = tensor::EmptyOp::create(rewriter, loc, knownSizes(rewriter, result, sizes), result.getElementType());
    SmallVector<OpFoldResult> offsets(result.getRank(), index.number(0)), strides(result.getRank(), index.number(1));
    for (Value operand : adaptor.getOperands()) {
      sizes = tensor::getMixedSizes(rewriter, loc, operand);
      joined = insertSlice(rewriter, loc, operand, joined, offsets, sizes, strides);
      offsets[dimension] = index.add(offsets[dimension], sizes[dimension]);
    }
    replaceTyped(rewriter, op, joined);
    return success();
  }
};

/// Converts scalar tensors to indices such that start + size <= the tensor's size.
SmallVector<OpFoldResult> clampedStarts(OpBuilder &b, Location loc, Value tensor, ValueRange starts,
                                        ArrayRef<OpFoldResult> sizes) {
  IndexMath index(b, loc);
  SmallVector<OpFoldResult> offsets;
  Value zero = index.value(index.number(0));
  for (auto [dim, start, size] : llvm::enumerate(starts, sizes)) {
    Value scalar = tensor::ExtractOp::create(b, loc, start, ValueRange());
    Value position = arith::IndexCastOp::create(b, loc, b.getIndexType(), scalar);
    Value last = index.value(index.subtract(index.size(tensor, dim), size));
    position = arith::MaxSIOp::create(b, loc, arith::MinSIOp::create(b, loc, position, last), zero);
    offsets.push_back(position);
  }
  return offsets;
}

struct DynamicSliceLowering : OpConversionPattern<DynamicSliceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(DynamicSliceOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    IndexMath index(rewriter, loc);
    size_t rank = op.getSliceSizes().size();
    ValueRange starts = adaptor.getStartsAndSizes().take_front(rank),
               given = adaptor.getStartsAndSizes().drop_front(rank);
    SmallVector<OpFoldResult> sizes = knownSizes(rewriter, op.getType(), index.numbers(op.getSliceSizes(), given));
    SmallVector<OpFoldResult> strides(rank, index.number(1));
    auto offsets = clampedStarts(rewriter, loc, adaptor.getOperand(), starts, sizes);
    Value slice = extractSlice(rewriter, loc, adaptor.getOperand(), offsets, sizes, strides);
    replaceTyped(rewriter, op, slice);
    return success();
  }
};

struct DynamicUpdateSliceLowering : OpConversionPattern<DynamicUpdateSliceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(DynamicUpdateSliceOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    IndexMath index(rewriter, loc);
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, adaptor.getUpdate());
    SmallVector<OpFoldResult> strides(sizes.size(), index.number(1));
    auto offsets = clampedStarts(rewriter, loc, adaptor.getOperand(), adaptor.getStartIndices(), sizes);
    Value updated = insertSlice(rewriter, loc, adaptor.getUpdate(), adaptor.getOperand(), offsets, sizes, strides);
    replaceTyped(rewriter, op, updated);
    return success();
  }
};

} // namespace

void array::populateIndexing(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<SliceLowering, PadLowering, ConcatenateLowering, DynamicSliceLowering, DynamicUpdateSliceLowering>(
      converter, patterns.getContext());
}
