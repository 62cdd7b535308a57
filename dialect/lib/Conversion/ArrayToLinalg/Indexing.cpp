// slice, pad, concatenate, dynamic_slice, dynamic_update_slice: views and insertions of the tensor dialect, which
// bufferize without copies where the operands allow it.
#include "Lowering.h"

using namespace mlir;
using namespace mlir::array;

namespace {

/// Sizes and offsets that are constants until an operand is not.
class IndexMath {
public:
  IndexMath(OpBuilder &b, Location loc) : b(b), loc(loc) {}

  OpFoldResult number(int64_t value) { return b.getIndexAttr(value); }
  SmallVector<OpFoldResult> numbers(ArrayRef<int64_t> values) { return getAsIndexOpFoldResult(b.getContext(), values); }
  Value value(OpFoldResult operand) { return getValueOrCreateConstantIndexOp(b, loc, operand); }
  OpFoldResult size(Value tensor, int64_t dim) { return tensor::getMixedSize(b, loc, tensor, dim); }

  OpFoldResult add(OpFoldResult lhs, OpFoldResult rhs) {
    if (isZeroInteger(lhs) || isZeroInteger(rhs))
      return isZeroInteger(lhs) ? rhs : lhs;
    return fold<arith::AddIOp>(lhs, rhs, [](int64_t x, int64_t y) { return x + y; });
  }
  OpFoldResult subtract(OpFoldResult lhs, OpFoldResult rhs) {
    return fold<arith::SubIOp>(lhs, rhs, [](int64_t x, int64_t y) { return x - y; });
  }
  OpFoldResult multiply(OpFoldResult lhs, int64_t rhs) {
    return rhs == 1 ? lhs : fold<arith::MulIOp>(lhs, number(rhs), [](int64_t x, int64_t y) { return x * y; });
  }
  OpFoldResult maximum(OpFoldResult lhs, int64_t rhs) {
    return fold<arith::MaxSIOp>(lhs, number(rhs), [](int64_t x, int64_t y) { return std::max(x, y); });
  }

private:
  template <typename Op, typename Function> OpFoldResult fold(OpFoldResult lhs, OpFoldResult rhs, Function function) {
    auto x = getConstantIntValue(lhs), y = getConstantIntValue(rhs);
    if (x && y)
      return number(function(*x, *y));
    return Op::create(b, loc, value(lhs), value(rhs)).getResult();
  }

  OpBuilder &b;
  Location loc;
};

bool isEmpty(ArrayRef<OpFoldResult> sizes) {
  return llvm::any_of(sizes, [](OpFoldResult size) { return isZeroInteger(size); });
}

/// The tensor dialect rejects an offset that equals the size, as an empty slice may have.
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
    SmallVector<OpFoldResult> sizes;
    for (auto [start, limit, stride] : llvm::zip(op.getStartIndices(), op.getLimitIndices(), op.getStrides()))
      sizes.push_back(index.number(llvm::divideCeil(uint64_t(std::max<int64_t>(limit - start, 0)), uint64_t(stride))));
    Value slice = extractSlice(rewriter, op.getLoc(), adaptor.getOperand(), index.numbers(op.getStartIndices()), sizes,
                               index.numbers(op.getStrides()));
    replaceTyped(rewriter, op, slice);
    return success();
  }
};

/// One dim of a pad: which of the operand's elements land inside, and where.
struct PaddedDim {
  OpFoldResult resultSize, count, source, target;
};

/// With step = interior + 1, element i of n lands at low + i * step, in a result of low + (n - 1) * step + 1 + high.
/// The first one inside is ceil(-low / step), and max(0, ceil(-high / step)) are lost at the end.
PaddedDim padDim(IndexMath &index, OpFoldResult size, int64_t low, int64_t high, int64_t interior) {
  int64_t step = interior + 1;
  int64_t first = low < 0 ? llvm::divideCeil(uint64_t(-low), uint64_t(step)) : 0;
  int64_t lost = high < 0 ? llvm::divideCeil(uint64_t(-high), uint64_t(step)) : 0;
  OpFoldResult count = index.add(size, index.number(-(first + lost)));
  if (first + lost > 0)
    count = index.maximum(count, 0);
  OpFoldResult spread = size;
  if (interior > 0) // the maximum is for n = 0
    spread = index.maximum(index.add(index.multiply(size, step), index.number(-interior)), 0);
  OpFoldResult resultSize = index.add(spread, index.number(low + high));
  return {resultSize, count, index.number(first), index.number(low + first * step)};
}

struct PadLowering : OpConversionPattern<PadOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(PadOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    IndexMath index(rewriter, loc);
    auto result = storageType(cast<RankedTensorType>(op.getType()));
    Value operand = adaptor.getOperand();
    int64_t rank = result.getRank();
    SmallVector<OpFoldResult> resultSizes, counts, sources, targets, steps, ones(rank, index.number(1));
    bool crops = false;
    for (int64_t dim = 0; dim < rank; ++dim) {
      int64_t low = op.getLow()[dim], high = op.getHigh()[dim], interior = op.getInterior()[dim];
      PaddedDim padded = padDim(index, index.size(operand, dim), low, high, interior);
      resultSizes.push_back(padded.resultSize);
      counts.push_back(padded.count);
      sources.push_back(padded.source);
      targets.push_back(padded.target);
      steps.push_back(index.number(interior + 1));
      crops |= low < 0 || high < 0;
    }
    Value padded = filled(rewriter, loc, resultSizes, paddingScalar(rewriter, op, adaptor.getPaddingValue()));
    if (crops)
      operand = extractSlice(rewriter, loc, operand, sources, counts, ones);
    padded = insertSlice(rewriter, loc, operand, padded, targets, counts, steps);
    replaceTyped(rewriter, op, padded);
    return success();
  }

private:
  /// A constant stays visible: array-lower-convolutions looks for zeros around an operand.
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
    Value joined = tensor::EmptyOp::create(rewriter, loc, sizes, result.getElementType());
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

/// Scalar tensors to indices such that start + size <= the tensor's size.
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
    SmallVector<OpFoldResult> sizes = index.numbers(op.getSliceSizes());
    SmallVector<OpFoldResult> strides(sizes.size(), index.number(1));
    auto offsets = clampedStarts(rewriter, loc, adaptor.getOperand(), adaptor.getStartIndices(), sizes);
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
