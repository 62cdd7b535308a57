// call, tokens, runtime calls (sort), and the ops of other dialects that only change their types.
#include "Lowering.h"
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
    for (ValueRange operand : adaptor.getOperands()) // a token became none
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

/// A token orders effects, of which there are none left here.
template <typename Op> struct EraseToken : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  using OneToNOpAdaptor = typename OpConversionPattern<Op>::OneToNOpAdaptor;
  LogicalResult matchAndRewrite(Op op, OneToNOpAdaptor, ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithMultiple(op, ArrayRef<ValueRange>{ValueRange()});
    return success();
  }
};

/// Destination-style: each result is written over an empty tensor.
struct SortLowering : OpConversionPattern<SortOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(SortOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> inits;
    for (Value operand : adaptor.getOperands())
      inits.push_back(tensor::EmptyOp::create(rewriter, op.getLoc(),
                                              tensor::getMixedSizes(rewriter, op.getLoc(), operand),
                                              getElementTypeOrSelf(operand.getType())));
    SmallVector<int64_t> params = {int64_t(op.getDimension()), int64_t(op.getNumKeys()), op.getIsStable()};
    SmallVector<Attribute> elements;
    for (TypeRange types : {TypeRange(op.getOperandTypes()), TypeRange(op.getResultTypes())})
      for (Type type : types)
        elements.push_back(TypeAttr::get(getElementTypeOrSelf(type)));
    auto call = RuntimeCallOp::create(rewriter, op.getLoc(), ValueRange(inits).getTypes(), "sort", params,
                                      rewriter.getArrayAttr(elements), adaptor.getOperands(), inits);
    replaceTyped(rewriter, op, call.getResults());
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
  patterns.add<CallLowering, EraseToken<CreateTokenOp>, EraseToken<AfterAllOp>, SortLowering,
               RetypeLowering<tensor::DimOp>, RetypeLowering<tensor::CastOp>>(converter, patterns.getContext());
}
