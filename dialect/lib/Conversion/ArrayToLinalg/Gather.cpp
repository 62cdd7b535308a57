// gather: one parallel generic over the result. Its body computes the position and reads the operand there, so it fuses
// with the producers of the indices and with its consumers.
#include "IndexMath.h"

using namespace mlir;
using namespace mlir::array;

namespace {

/// The dimension numbers, and the sizes that the body needs.
struct Windows {
  GatherOp op;
  Value operand;
  SmallVector<OpFoldResult> sliceSizes;
  SmallVector<int64_t> batchDims; // of the result
  SmallVector<Value> last;        // the maximum start of each index
  SmallVector<bool> isKnown;      // whether that is a constant
  Value zero;

  Windows(OpBuilder &b, GatherOp op, Value operand, ValueRange given, int64_t batchRank) : op(op), operand(operand) {
    for (int64_t dim = 0; dim < batchRank + int64_t(op.getOffsetDims().size()); ++dim)
      if (!llvm::is_contained(op.getOffsetDims(), dim))
        batchDims.push_back(dim);
    IndexMath index(b, op.getLoc());
    sliceSizes = index.numbers(op.getSliceSizes(), given);
    for (auto [dim, size] : llvm::enumerate(op.getSliceSizes()))
      if (size == -1)
        sliceSizes[dim] = index.size(operand, dim);
    zero = arith::ConstantIndexOp::create(b, op.getLoc(), 0);
    for (int64_t dim : op.getStartIndexMap()) {
      OpFoldResult size = index.size(operand, dim), taken = sliceSizes[dim];
      isKnown.push_back(getConstantIntValue(size) && getConstantIntValue(taken));
      last.push_back(arith::SubIOp::create(b, op.getLoc(), index.value(size), index.value(taken)));
    }
  }

  bool isDropped(int64_t dim) {
    return llvm::is_contained(op.getCollapsedSliceDims(), dim) || llvm::is_contained(op.getOperandBatchingDims(), dim);
  }

  SmallVector<OpFoldResult> resultSizes(OpBuilder &b, ValueRange indices) {
    SmallVector<OpFoldResult> sizes(batchDims.size() + op.getOffsetDims().size());
    for (auto [number, dim] : llvm::enumerate(batchDims))
      sizes[dim] = tensor::getMixedSize(b, op.getLoc(), indices.front(), number);
    const int64_t *offsetDim = op.getOffsetDims().begin();
    for (int64_t dim = 0; dim < int64_t(op.getSliceSizes().size()); ++dim)
      if (!isDropped(dim))
        sizes[*offsetDim++] = sliceSizes[dim];
    return knownSizes(b, op.getType(), sizes);
  }

  /// The position in the operand of an element of the result. If `inside` is requested, it is set to whether the whole
  /// window is inside.
  SmallVector<Value> position(ImplicitLocOpBuilder &b, ValueRange stored, Value *inside) {
    SmallVector<Value> position(op.getSliceSizes().size());
    for (auto [number, dim] : llvm::enumerate(op.getStartIndexMap())) {
      Value start = arith::IndexCastOp::create(b, b.getIndexType(), stored[number]);
      if (inside) { // a negative start is a large unsigned number
        Value fits = arith::CmpIOp::create(b, arith::CmpIPredicate::ule, start, last[number]);
        *inside = *inside ? arith::AndIOp::create(b, *inside, fits).getResult() : fits;
      }
      // A start outside, whose element is not used, may become any inside: one operation less. (The last of an unknown
      // size may be negative.)
      if (inside && isKnown[number])
        position[dim] = arith::MinUIOp::create(b, start, last[number]);
      else
        position[dim] = arith::MaxSIOp::create(b, arith::MinSIOp::create(b, start, last[number]), zero);
    }
    for (auto [dim, number] : llvm::zip(op.getOperandBatchingDims(), op.getStartIndicesBatchingDims()))
      position[dim] = linalg::IndexOp::create(b, batchDims[number]);
    const int64_t *offsetDim = op.getOffsetDims().begin();
    for (auto [dim, start] : llvm::enumerate(position)) {
      if (!isDropped(dim)) {
        Value offset = linalg::IndexOp::create(b, *offsetDim++);
        start = start ? arith::AddIOp::create(b, start, offset).getResult() : offset;
      } else if (!start) {
        start = zero;
      }
    }
    return position;
  }
};

struct GatherLowering : OpConversionPattern<GatherOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(GatherOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    bool fills = op.getMode() == "fill";
    ValueRange indices = adaptor.getInputs().take_front(op.getStartIndexMap().size());
    int64_t batchRank = indices.empty() ? 0 : cast<RankedTensorType>(indices.front().getType()).getRank();
    ValueRange given = adaptor.getInputs().take_back(op.getSizes().size());
    Windows windows(rewriter, op, adaptor.getOperand(), given, batchRank);
    SmallVector<OpFoldResult> sizes = windows.resultSizes(rewriter, indices);

    SmallVector<AffineExpr> batch =
        llvm::map_to_vector(windows.batchDims, [&](int64_t dim) { return rewriter.getAffineDimExpr(dim); });
    SmallVector<AffineMap> maps(indices.size(), AffineMap::get(sizes.size(), 0, batch, rewriter.getContext()));
    Value fill;
    if (fills)
      fill = tensor::ExtractOp::create(rewriter, loc, adaptor.getInputs()[indices.size()], ValueRange());
    auto body = [&](ImplicitLocOpBuilder &b, ValueRange stored) -> Value {
      Value inside;
      SmallVector<Value> position = windows.position(b, stored, fills ? &inside : nullptr);
      Value element = tensor::ExtractOp::create(b, adaptor.getOperand(), position);
      return inside ? arith::SelectOp::create(b, inside, element, fill).getResult() : element;
    };
    Type stored = storageType(cast<RankedTensorType>(op.getType())).getElementType();
    replaceTyped(rewriter, op, parallelGeneric(rewriter, loc, stored, sizes, indices, maps, body));
    return success();
  }
};

} // namespace

void array::populateGather(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<GatherLowering>(converter, patterns.getContext());
}
