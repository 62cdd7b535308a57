// Collectives: calls of one library routine. Its parameters are the kind and the groups (runtime/Abi.h).
#include "IndexMath.h"
#include "runtime/Abi.h"

using namespace mlir;
using namespace mlir::array;

namespace {

/// The parameters of the routine.
struct Form {
  PcrtCollective code;
  int64_t reduction = 0, dimension = 0, otherDimension = 0;
  ArrayRef<int64_t> pairs = {};

  SmallVector<int64_t> params(DenseIntElementsAttr groups) const {
    ArrayRef<int64_t> sizes = cast<ShapedType>(groups.getType()).getShape();
    SmallVector<int64_t> params = {code,     reduction, dimension, otherDimension, int64_t(pairs.size() / 2),
                                   sizes[0], sizes[1]};
    llvm::append_range(params, groups.getValues<int64_t>());
    llvm::append_range(params, pairs);
    return params;
  }
};

int64_t reductionCode(StringRef kind) {
  return llvm::StringSwitch<int64_t>(kind)
      .Case("sum", PCRT_REDUCTION_SUM)
      .Case("prod", PCRT_REDUCTION_PROD)
      .Case("max", PCRT_REDUCTION_MAX)
      .Case("min", PCRT_REDUCTION_MIN)
      .Case("and", PCRT_REDUCTION_AND)
      .Default(PCRT_REDUCTION_OR);
}

/// A type with the bits of an element, for routines that only move it: each storage type has one.
Type bitsType(Type element) {
  MLIRContext *context = element.getContext();
  unsigned width = storageType(element).getIntOrFloatBitWidth();
  if (width > 64)
    return ComplexType::get(Float64Type::get(context));
  return IntegerType::get(context, width, IntegerType::Unsigned);
}

Form formOf(AllReduceOp op) { return {PCRT_ALL_REDUCE, reductionCode(op.getKind())}; }
Form formOf(AllGatherOp op) { return {PCRT_ALL_GATHER, 0, int64_t(op.getDimension())}; }
Form formOf(ReduceScatterOp op) {
  return {PCRT_REDUCE_SCATTER, reductionCode(op.getKind()), int64_t(op.getDimension())};
}
Form formOf(AllToAllOp op) { return {PCRT_ALL_TO_ALL, 0, int64_t(op.getSplitAxis()), int64_t(op.getConcatAxis())}; }
Form formOf(CollectivePermuteOp op) { return {PCRT_COLLECTIVE_PERMUTE, 0, 0, 0, op.getPairs()}; }

/// The sizes of the result: those of the operand, multiplied or divided by the number of members.
template <typename Op> SmallVector<OpFoldResult> sizesOf(IndexMath &index, Op op, SmallVector<OpFoldResult> sizes) {
  int64_t members = cast<ShapedType>(op.getGroups().getType()).getDimSize(1);
  auto join = [&](OpFoldResult &size) { size = index.multiply(size, members); };
  auto cut = [&](OpFoldResult &size) { size = index.divide(size, members); };
  if constexpr (std::is_same_v<Op, AllGatherOp>) {
    join(sizes[op.getDimension()]);
  } else if constexpr (std::is_same_v<Op, ReduceScatterOp>) {
    cut(sizes[op.getDimension()]);
  } else if constexpr (std::is_same_v<Op, AllToAllOp>) {
    cut(sizes[op.getSplitAxis()]);
    join(sizes[op.getConcatAxis()]);
  }
  return sizes;
}

template <typename Op> struct CollectiveLowering : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  using OpAdaptor = typename Op::Adaptor;
  LogicalResult matchAndRewrite(Op op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    auto result = cast<RankedTensorType>(op.getType());
    constexpr bool reduces = std::is_same_v<Op, AllReduceOp> || std::is_same_v<Op, ReduceScatterOp>;
    Type element = result.getElementType();
    auto taken = TypeAttr::get(reduces ? element : bitsType(element));
    IndexMath index(rewriter, op.getLoc());
    auto sizes = sizesOf(index, op, tensor::getMixedSizes(rewriter, op.getLoc(), adaptor.getOperand()));
    Value init = tensor::EmptyOp::create(rewriter, op.getLoc(), knownSizes(rewriter, result, sizes),
                                         storageType(result).getElementType());
    auto call =
        RuntimeCallOp::create(rewriter, op.getLoc(), init.getType(), "collective", formOf(op).params(op.getGroups()),
                              rewriter.getArrayAttr({taken, taken}), adaptor.getOperand(), init);
    replaceTyped(rewriter, op, call.getResults());
    return success();
  }
};

struct ParticipantLowering : OpConversionPattern<ParticipantOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ParticipantOp op, OpAdaptor, ConversionPatternRewriter &rewriter) const override {
    replaceByRoutine(rewriter, op, "collective", {PCRT_PARTICIPANT}, {}, {SmallVector<OpFoldResult>()});
    return success();
  }
};

} // namespace

void array::populateCollectives(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<CollectiveLowering<AllReduceOp>, CollectiveLowering<AllGatherOp>, CollectiveLowering<ReduceScatterOp>,
               CollectiveLowering<AllToAllOp>, CollectiveLowering<CollectivePermuteOp>, ParticipantLowering>(
      converter, patterns.getContext());
}
