// The decompositions: each op becomes a call of the library routine of its name, with its attributes, in alphabetical
// order, as parameters.
#include "Lowering.h"

using namespace mlir;
using namespace mlir::array;

namespace {

int64_t parameterOf(Attribute attribute) {
  if (auto flag = dyn_cast<BoolAttr>(attribute))
    return flag.getValue();
  return cast<IntegerAttr>(attribute).getInt();
}

/// Destination-style: each result is written over an empty tensor.
template <typename Op> struct MatrixLowering : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  using OpAdaptor = typename Op::Adaptor;
  LogicalResult matchAndRewrite(Op op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> inits;
    SmallVector<Attribute> elements;
    for (Type type : op->getOperandTypes())
      elements.push_back(TypeAttr::get(getElementTypeOrSelf(type)));
    for (Type type : op->getResultTypes()) {
      auto stored = cast<RankedTensorType>(this->getTypeConverter()->convertType(type));
      if (!stored.hasStaticShape())
        return op.emitError("a decomposition needs static sizes to be compiled, got ") << type;
      inits.push_back(
          tensor::EmptyOp::create(rewriter, op.getLoc(), stored.getShape(), stored.getElementType()).getResult());
      elements.push_back(TypeAttr::get(getElementTypeOrSelf(type)));
    }
    SmallVector<int64_t> params;
    SmallVector<StringRef> names(Op::getAttributeNames());
    llvm::sort(names);
    for (StringRef name : names)
      params.push_back(parameterOf(op->getAttr(name)));
    auto call = RuntimeCallOp::create(rewriter, op.getLoc(), ValueRange(inits).getTypes(),
                                      op.getOperationName().split('.').second, params, rewriter.getArrayAttr(elements),
                                      adaptor.getOperands(), inits);
    replaceTyped(rewriter, op, call.getResults());
    return success();
  }
};

template <typename... Ops> void addAll(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<MatrixLowering<Ops>...>(converter, patterns.getContext());
}

} // namespace

void array::populateLinearAlgebra(const TypeConverter &converter, RewritePatternSet &patterns) {
  addAll<CholeskyOp, TriangularSolveOp, LuOp, LuPivotsToPermutationOp, LinearSolveOp, TridiagonalSolveOp,
         CholeskyUpdateOp, QrOp, GeqrfOp, Geqp3Op, HouseholderProductOp, OrmqrOp, HessenbergOp, TridiagonalOp, EighOp,
         EigOp, SvdOp, SchurOp, SylvesterOp, ExpmOp, ExpmFrechetOp>(converter, patterns);
}
