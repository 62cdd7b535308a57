// while -> scf.while on tensors. array-prepare-loops then gives each iteration the buffers of the carry.
#include "Lowering.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::array;

namespace {

/// Where a conversion of one value to several put them.
SmallVector<Value> flatten(ArrayRef<ValueRange> converted) {
  SmallVector<Value> values;
  for (ValueRange range : converted) // a token became none
    llvm::append_range(values, range);
  return values;
}

struct WhileLowering : OpConversionPattern<WhileOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(WhileOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertTypes(op.getResultTypes(), types)))
      return failure();
    auto loop = scf::WhileOp::create(rewriter, op.getLoc(), types, flatten(adaptor.getInits()));
    for (auto [from, to] : {std::pair(&op.getCond(), &loop.getBefore()), std::pair(&op.getBody(), &loop.getAfter())}) {
      rewriter.inlineRegionBefore(*from, *to, to->end());
      if (failed(rewriter.convertRegionTypes(to, *getTypeConverter())))
        return failure();
    }
    SmallVector<ValueRange> results;
    ResultRange remaining = loop.getResults();
    for (Type type : op.getResultTypes()) {
      results.push_back(isa<TokenType>(type) ? ValueRange() : ValueRange(remaining.take_front()));
      remaining = remaining.drop_front(results.back().size());
    }
    rewriter.replaceOpWithMultiple(op, results);
    return success();
  }
};

/// The end of a condition, or of a body.
struct YieldLowering : OpConversionPattern<YieldOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(YieldOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto loop = dyn_cast<scf::WhileOp>(op->getParentOp());
    if (!loop)
      return failure();
    SmallVector<Value> values = flatten(adaptor.getResults());
    if (op->getParentRegion() == &loop.getAfter()) {
      for (auto [value, type] : llvm::zip_equal(values, loop.getResultTypes()))
        if (value.getType() != type)
          value = tensor::CastOp::create(rewriter, op.getLoc(), type, value);
      rewriter.replaceOpWithNewOp<scf::YieldOp>(op, values);
      return success();
    }
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value stored = tensor::ExtractOp::create(b, values.front(), ValueRange());
    Value holds = fromStorage(b, stored, b.getI1Type());
    rewriter.replaceOpWithNewOp<scf::ConditionOp>(op, holds, loop.getBeforeArguments());
    return success();
  }
};

} // namespace

void array::populateControlFlow(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<WhileLowering, YieldLowering>(converter, patterns.getContext());
}
