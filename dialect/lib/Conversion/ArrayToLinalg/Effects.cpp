// host_call -> the runtime's routine of that name, with the slot as its parameter. Tokens are erased: from here on, ops
// with effects keep their order.
#include "Lowering.h"

using namespace mlir;
using namespace mlir::array;

namespace {

/// A token orders effects. From here on, effects follow the order of the program.
template <typename Op> struct EraseToken : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  using OneToNOpAdaptor = typename OpConversionPattern<Op>::OneToNOpAdaptor;
  LogicalResult matchAndRewrite(Op op, OneToNOpAdaptor, ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithMultiple(op, ArrayRef<ValueRange>{ValueRange()});
    return success();
  }
};

struct HostCallLowering : OpConversionPattern<HostCallOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(HostCallOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> operands, inits;
    SmallVector<Attribute> elements;
    auto note = [&](Type type) { elements.push_back(TypeAttr::get(getElementTypeOrSelf(type))); };
    for (ValueRange operand : adaptor.getOperands()) // a token has no values
      llvm::append_range(operands, operand);
    SmallVector<Value> sizes(ArrayRef<Value>(operands).take_back(op.getOutputDims().size()));
    operands.truncate(operands.size() - sizes.size());
    for (Type type : op.getGiven().getTypes())
      if (!isa<TokenType>(type))
        note(type);
    ValueRange remainingSizes = sizes;
    for (Type type : op.getResultTypes()) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (!tensor)
        continue;
      note(type);
      auto sizesOfResult = sizesFrom(rewriter, tensor, remainingSizes.take_front(tensor.getNumDynamicDims()));
      remainingSizes = remainingSizes.drop_front(tensor.getNumDynamicDims());
      inits.push_back(
          tensor::EmptyOp::create(rewriter, op.getLoc(), sizesOfResult, storageType(tensor).getElementType()));
    }
    auto call = RuntimeCallOp::create(rewriter, op.getLoc(), ValueRange(inits).getTypes(), "host_call",
                                      ArrayRef<int64_t>(op.getSlot()), rewriter.getArrayAttr(elements), operands, inits,
                                      op.getEffectful());
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

} // namespace

void array::populateEffects(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<EraseToken<CreateTokenOp>, EraseToken<AfterAllOp>, HostCallLowering>(converter, patterns.getContext());
}
