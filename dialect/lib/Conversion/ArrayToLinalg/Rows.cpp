// gather_rows and scatter_add_rows: rows of a matrix (or slices of anything along dimension 0) by integer indices.
#include "Lowering.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::array;

namespace {

Value toIndex(OpBuilder &b, Location loc, Value stored) {
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), stored);
}

Value sizeOf(OpBuilder &b, Location loc, Value tensor, int64_t dim) {
  return getValueOrCreateConstantIndexOp(b, loc, tensor::getMixedSize(b, loc, tensor, dim));
}

/// One generic over the result; an index outside is clamped to the nearest row.
struct GatherRowsLowering : OpConversionPattern<GatherRowsOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(GatherRowsOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value operand = adaptor.getOperand(), indices = adaptor.getIndices();
    auto result = storageType(cast<RankedTensorType>(op.getType()));
    int64_t batchRank = cast<RankedTensorType>(indices.getType()).getRank();
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, indices);
    llvm::append_range(sizes, ArrayRef(tensor::getMixedSizes(rewriter, loc, operand)).drop_front());

    Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
    Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
    Value last = arith::SubIOp::create(rewriter, loc, sizeOf(rewriter, loc, operand, 0), one);
    auto body = [&](ImplicitLocOpBuilder &b, ValueRange stored) -> Value {
      Value row = toIndex(b, b.getLoc(), stored[0]);
      row = arith::MaxSIOp::create(b, arith::MinSIOp::create(b, row, last), zero);
      SmallVector<Value> position = {row};
      for (int64_t dim = batchRank; dim < result.getRank(); ++dim)
        position.push_back(linalg::IndexOp::create(b, dim));
      return tensor::ExtractOp::create(b, operand, position);
    };
    auto map = leadingLoops(rewriter, result.getRank(), batchRank);
    replaceTyped(rewriter, op, parallelGeneric(rewriter, loc, result.getElementType(), sizes, indices, map, body));
    return success();
  }
};

/// Loops over the updates carry the tensor and add to one row at a time, in place once bufferized: several updates may
/// meet in one row. An index outside is dropped.
struct ScatterAddRowsLowering : OpConversionPattern<ScatterAddRowsOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ScatterAddRowsOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (llvm::is_contained(op.getOperand().getType().getShape(), 0)) { // there is nothing to add to
      replaceTyped(rewriter, op, adaptor.getOperand());
      return success();
    }
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Scatter scatter{b, adaptor.getIndices(), adaptor.getUpdates()};
    replaceTyped(rewriter, op, scatter.overBatch(adaptor.getOperand(), {}));
    return success();
  }

private:
  struct Scatter {
    ImplicitLocOpBuilder &b;
    Value indices, updates;

    Value overBatch(Value target, SmallVector<Value> position) {
      int64_t dim = position.size();
      if (dim == cast<RankedTensorType>(indices.getType()).getRank())
        return addIfInside(target, position);
      Value zero = arith::ConstantIndexOp::create(b, 0), one = arith::ConstantIndexOp::create(b, 1);
      auto loop = scf::ForOp::create(b, zero, sizeOf(b, b.getLoc(), indices, dim), one, target);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      position.push_back(loop.getInductionVar());
      scf::YieldOp::create(b, overBatch(loop.getRegionIterArg(0), position));
      return loop.getResult(0);
    }

    Value addIfInside(Value target, ArrayRef<Value> position) {
      Value row = toIndex(b, b.getLoc(), tensor::ExtractOp::create(b, indices, position));
      // Negative indices are large unsigned ones.
      Value isInside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, row, sizeOf(b, b.getLoc(), target, 0));
      auto branch = scf::IfOp::create(b, target.getType(), isInside, /*withElseRegion=*/true);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(branch.thenBlock());
      scf::YieldOp::create(b, addRow(target, row, position));
      b.setInsertionPointToStart(branch.elseBlock());
      scf::YieldOp::create(b, target);
      return branch.getResult(0);
    }

    Value addRow(Value target, Value row, ArrayRef<Value> position) {
      auto targetType = cast<RankedTensorType>(target.getType());
      auto rowType = RankedTensorType::get(targetType.getShape().drop_front(), targetType.getElementType());
      Value update = slice(updates, position, rowType);
      Value sum = add(slice(target, row, rowType), update, rowType);
      Position at = leading(target, row);
      return tensor::InsertSliceOp::create(b, sum, target, at.offsets, at.sizes, at.strides);
    }

    struct Position {
      SmallVector<OpFoldResult> offsets, sizes, strides;
    };

    /// One element of each leading dim, all of the others.
    Position leading(Value tensor, ValueRange indices) {
      Position at{getAsOpFoldResult(indices), tensor::getMixedSizes(b, b.getLoc(), tensor), {}};
      std::fill_n(at.sizes.begin(), indices.size(), b.getIndexAttr(1));
      at.offsets.resize(at.sizes.size(), b.getIndexAttr(0));
      at.strides.resize(at.sizes.size(), b.getIndexAttr(1));
      return at;
    }

    Value slice(Value tensor, ValueRange indices, RankedTensorType type) {
      Position at = leading(tensor, indices);
      return tensor::ExtractSliceOp::create(b, type, tensor, at.offsets, at.sizes, at.strides);
    }

    /// Into the row itself: with the row as the output there is no other buffer.
    Value add(Value old, Value update, RankedTensorType type) {
      AffineMap identity = b.getMultiDimIdentityMap(type.getRank());
      SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
      auto generic = linalg::GenericOp::create(b, type, update, old, ArrayRef{identity, identity}, iterators,
                                               [&](OpBuilder &nested, Location loc, ValueRange stored) {
                                                 Value sum;
                                                 if (isa<FloatType>(type.getElementType()))
                                                   sum = arith::AddFOp::create(nested, loc, stored[1], stored[0],
                                                                               contractFlags(nested));
                                                 else
                                                   sum = arith::AddIOp::create(nested, loc, stored[1], stored[0]);
                                                 linalg::YieldOp::create(nested, loc, sum);
                                               });
      return generic.getResult(0);
    }
  };
};

} // namespace

void array::populateRows(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<GatherRowsLowering, ScatterAddRowsLowering>(converter, patterns.getContext());
}
