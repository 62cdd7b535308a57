// call, runtime calls (sort, top_k), and the ops of other dialects that only change their types.
#include "IndexMath.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::array;

namespace {

struct CallLowering : OpConversionPattern<CallOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(CallOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertTypes(op.getResultTypes(), types)))
      return failure();
    SmallVector<Value> operands;
    for (ValueRange operand : adaptor.getOperands()) // a token has no values
      llvm::append_range(operands, operand);
    auto call = func::CallOp::create(rewriter, op.getLoc(), op.getCallee(), types, operands);
    SmallVector<ValueRange> results;
    ResultRange remaining = call.getResults();
    for (Type type : op.getResultTypes()) {
      results.push_back(isa<TokenType>(type) ? ValueRange() : ValueRange(remaining.take_front()));
      remaining = remaining.drop_front(results.back().size());
    }
    rewriter.replaceOpWithMultiple(op, results);
    return success();
  }
};

struct SortLowering : OpConversionPattern<SortOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(SortOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    SmallVector<SmallVector<OpFoldResult>> sizes;
    for (Value operand : adaptor.getOperands())
      sizes.push_back(tensor::getMixedSizes(rewriter, op.getLoc(), operand));
    replaceByRoutine(rewriter, op, "sort",
                     {int64_t(op.getDimension()), int64_t(op.getNumKeys()), int64_t(op.getIsStable())},
                     adaptor.getOperands(), sizes);
    return success();
  }
};

struct TopKLowering : OpConversionPattern<TopKOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(TopKOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, op.getLoc(), adaptor.getOperand());
    ValueRange given = adaptor.getSizes();
    sizes[op.getAxis()] = IndexMath(rewriter, op.getLoc()).numbers(int64_t(op.getK()), given).front();
    sizes = knownSizes(rewriter, op.getValues().getType(), sizes);
    replaceByRoutine(rewriter, op, "top_k", {int64_t(op.getAxis())}, adaptor.getOperand(), {sizes, sizes});
    return success();
  }
};

/// tensor.dim and tensor.cast see through the change of element type.
template <typename Op> struct RetypeLowering : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  using OpAdaptor = typename Op::Adaptor;
  LogicalResult matchAndRewrite(Op op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    Type type = this->getTypeConverter()->convertType(op.getType());
    rewriter.replaceOpWithNewOp<Op>(op, TypeRange{type}, adaptor.getOperands());
    return success();
  }
};

} // namespace

void array::populateCalls(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<CallLowering, SortLowering, TopKLowering, RetypeLowering<tensor::DimOp>, RetypeLowering<tensor::CastOp>>(
      converter, patterns.getContext());
}
