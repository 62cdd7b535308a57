// while -> scf.while, scan -> scf.for, cond -> scf.if, on tensors. array-in-place-carries then gives each iteration the
// buffers of the carry. A barrier stays, in storage types, until bufferization.
#include "IndexMath.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::array;

namespace {

/// Set on the yield of a scan whose iterations go from the last slice to the first.
constexpr StringLiteral kReverse = "reverse";

/// The values of a conversion of one value to several.
SmallVector<Value> flatten(ArrayRef<ValueRange> converted) {
  SmallVector<Value> values;
  for (ValueRange range : converted) // a token has no values
    llvm::append_range(values, range);
  return values;
}

/// Replaces the op by the results of one on converted types. A token has no result there.
void replaceAround(ConversionPatternRewriter &rewriter, Operation *op, ValueRange converted) {
  SmallVector<ValueRange> results;
  for (Type type : op->getResultTypes()) {
    results.push_back(isa<TokenType>(type) ? ValueRange() : converted.take_front());
    converted = converted.drop_front(results.back().size());
  }
  rewriter.replaceOpWithMultiple(op, results);
}

Value castTo(OpBuilder &b, Location loc, Type type, Value value) {
  return value.getType() == type ? value : tensor::CastOp::create(b, loc, type, value).getResult();
}

/// Whether all used results of a loop equal its initial values, if the loop ends.
bool givesBackItsStart(WhileOp op) {
  Block &body = op.getBody().front();
  return llvm::all_of(op->getResults(), [&](OpResult result) {
    unsigned number = result.getResultNumber();
    return result.use_empty() || body.getTerminator()->getOperand(number) == body.getArgument(number);
  });
}

struct WhileLowering : OpConversionPattern<WhileOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(WhileOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertTypes(op.getResultTypes(), types)))
      return failure();
    bool mayOnlyEnd = !op->use_empty() && givesBackItsStart(op);
    auto loop = scf::WhileOp::create(rewriter, op.getLoc(), types, flatten(adaptor.getInits()));
    for (auto [from, to] : {std::pair(&op.getCond(), &loop.getBefore()), std::pair(&op.getBody(), &loop.getAfter())}) {
      rewriter.inlineRegionBefore(*from, *to, to->end());
      if (failed(rewriter.convertRegionTypes(to, *getTypeConverter())))
        return failure();
    }
    // All uses would be replaced, and a loop without uses is erased; but this loop may not end.
    if (mayOnlyEnd) {
      rewriter.setInsertionPointToStart(loop.getBeforeBody());
      SpendOp::create(rewriter, op.getLoc(), /*operations=*/1, /*times=*/Value());
    }
    replaceAround(rewriter, op, loop.getResults());
    return success();
  }
};

struct CondLowering : OpConversionPattern<CondOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(CondOp op, OpAdaptor adaptor, ConversionPatternRewriter &rewriter) const override {
    if (op.getBranches().size() == 1) { // it is always chosen
      Block &branch = op.getBranches().front().front();
      Operation *yield = branch.getTerminator();
      rewriter.inlineBlockBefore(&branch, op);
      rewriter.replaceOp(op, yield->getOperands());
      rewriter.eraseOp(yield);
      return success();
    }
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertTypes(op.getResultTypes(), types)))
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value index = tensor::ExtractOp::create(b, adaptor.getIndex(), ValueRange());
    replaceAround(rewriter, op, choose(b, rewriter, op, types, index, 0).getResults());
    return success();
  }

  /// A chain of comparisons; LLVM makes a table of a long one.
  static scf::IfOp choose(ImplicitLocOpBuilder &b, ConversionPatternRewriter &rewriter, CondOp op, TypeRange types,
                          Value index, int64_t first) {
    OpBuilder::InsertionGuard guard(b);
    Value chosen = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, index, intConstant(b, index.getType(), first));
    auto branch = scf::IfOp::create(b, types, chosen, /*addThenBlock=*/false, /*addElseBlock=*/false);
    branch->setAttr(kControlFlowAttr, b.getUnitAttr());
    Region &otherwise = branch.getElseRegion();
    rewriter.inlineRegionBefore(op.getBranches()[first], branch.getThenRegion(), branch.getThenRegion().end());
    if (first + 2 == int64_t(op.getBranches().size())) {
      rewriter.inlineRegionBefore(op.getBranches()[first + 1], otherwise, otherwise.end());
      return branch;
    }
    b.createBlock(&otherwise);
    scf::YieldOp::create(b, choose(b, rewriter, op, types, index, first + 1).getResults());
    return branch;
  }
};

//===--- scan -----------------------------------------------------------------------------------------------------===//

/// Slice `index` of a tensor along its first dimension: offsets, sizes and strides.
struct SlicePlace {
  SmallVector<OpFoldResult> offsets, sizes, strides;

  SlicePlace(ImplicitLocOpBuilder &b, Value whole, Value index) : sizes(tensor::getMixedSizes(b, b.getLoc(), whole)) {
    offsets.assign(sizes.size(), b.getIndexAttr(0));
    strides.assign(sizes.size(), b.getIndexAttr(1));
    offsets.front() = index;
    sizes.front() = b.getIndexAttr(1);
  }
};

/// Whether the tensor has no elements, for any dynamic sizes.
bool isEmpty(RankedTensorType type) { return llvm::is_contained(type.getShape(), 0); }

Value sliceOf(ImplicitLocOpBuilder &b, Value tensor, Value index) {
  auto whole = cast<RankedTensorType>(tensor.getType());
  auto type = RankedTensorType::get(whole.getShape().drop_front(), whole.getElementType());
  if (type.getRank() == 0) {
    Value element = tensor::ExtractOp::create(b, tensor, index);
    return tensor::FromElementsOp::create(b, type, element);
  }
  SlicePlace place(b, tensor, index);
  if (isEmpty(type)) // its offset could be its size, which the tensor dialect rejects
    return tensor::EmptyOp::create(b, ArrayRef(place.sizes).drop_front(), type.getElementType());
  return tensor::ExtractSliceOp::create(b, type, tensor, place.offsets, place.sizes, place.strides);
}

Value withSlice(ImplicitLocOpBuilder &b, Value tensor, Value slice, Value index) {
  auto whole = cast<RankedTensorType>(tensor.getType());
  auto type = RankedTensorType::get(whole.getShape().drop_front(), whole.getElementType());
  if (type.getRank() == 0) {
    Value element = tensor::ExtractOp::create(b, slice, ValueRange());
    return tensor::InsertOp::create(b, element, tensor, index);
  }
  if (isEmpty(type))
    return tensor;
  SlicePlace place(b, tensor, index);
  return tensor::InsertSliceOp::create(b, castTo(b, b.getLoc(), type, slice), tensor, place.offsets, place.sizes,
                                       place.strides);
}

/// The slice of an iteration.
Value sliceIndex(ImplicitLocOpBuilder &b, scf::ForOp loop, bool reverse) {
  if (!reverse)
    return loop.getInductionVar();
  IndexMath math(b, b.getLoc());
  Value last = math.value(math.add(getAsOpFoldResult(loop.getUpperBound()), -1));
  return arith::SubIOp::create(b, last, loop.getInductionVar());
}

struct ScanLowering : OpConversionPattern<ScanOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(ScanOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Type> types;
    TypeRange joined = TypeRange(op.getResultTypes()).drop_front(op.getInits().size());
    if (failed(getTypeConverter()->convertTypes(op.getResultTypes(), types)))
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> inits = flatten(adaptor.getInits());
    SmallVector<Value> outputDims = flatten(adaptor.getOutputDims()), length = flatten(adaptor.getSizes());
    ValueRange dims = outputDims, given = length;
    for (Type type : joined) {
      auto stored = storageType(cast<RankedTensorType>(type));
      auto sizes = sizesFrom(b, stored, dims.take_front(stored.getNumDynamicDims()));
      dims = dims.drop_front(stored.getNumDynamicDims());
      inits.push_back(tensor::EmptyOp::create(b, sizes, stored.getElementType()));
    }
    if (op.getLength() == 0) {
      replaceAround(rewriter, op, inits);
      return success();
    }
    auto number = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(b, value); };
    IndexMath math(b, b.getLoc());
    Value zero = number(0), count = math.value(math.numbers(int64_t(op.getLength()), given).front()), one = number(1);
    auto loop = scf::ForOp::create(b, zero, count, one, inits);
    loop->setAttr(kControlFlowAttr, rewriter.getUnitAttr());
    if (inits.empty())
      rewriter.eraseOp(loop.getBody()->getTerminator()); // its own is the body's
    FailureOr<Block *> body = rewriter.convertRegionTypes(&op.getBody(), *getTypeConverter());
    if (failed(body))
      return failure();
    auto yield = cast<YieldOp>((*body)->getTerminator());
    if (op.getReverse())
      rewriter.modifyOpInPlace(yield, [&] { yield->setAttr(kReverse, rewriter.getUnitAttr()); });
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> arguments(loop.getRegionIterArgs().drop_back(joined.size()));
    Value index = sliceIndex(b, loop, op.getReverse());
    for (Value x : flatten(adaptor.getXs()))
      arguments.push_back(sliceOf(b, x, index));
    rewriter.inlineBlockBefore(*body, loop.getBody(), loop.getBody()->end(), arguments);
    replaceAround(rewriter, op, loop.getResults());
    return success();
  }
};

//===--- The ends of regions --------------------------------------------------------------------------------------===//

/// The end of a condition, of a body or of a branch.
struct YieldLowering : OpConversionPattern<YieldOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(YieldOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Operation *parent = op->getParentOp();
    SmallVector<Value> values = flatten(adaptor.getResults());
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto loop = dyn_cast<scf::WhileOp>(parent);
    if (loop && op->getParentRegion() == &loop.getBefore()) {
      Value stored = tensor::ExtractOp::create(b, values.front(), ValueRange());
      Value holds = fromStorage(b, stored, b.getI1Type());
      rewriter.replaceOpWithNewOp<scf::ConditionOp>(op, holds, loop.getBeforeArguments());
      return success();
    }
    if (!isa<scf::WhileOp, scf::ForOp, scf::IfOp>(parent))
      return failure();
    if (auto scan = dyn_cast<scf::ForOp>(parent)) {
      Value index = sliceIndex(b, scan, op->hasAttr(kReverse));
      for (auto [value, whole] : llvm::zip_equal(values, scan.getRegionIterArgs()))
        if (cast<RankedTensorType>(value.getType()).getRank() != cast<RankedTensorType>(whole.getType()).getRank())
          value = withSlice(b, whole, value, index);
    }
    for (auto [value, type] : llvm::zip_equal(values, parent->getResultTypes()))
      value = castTo(b, op.getLoc(), type, value);
    rewriter.replaceOpWithNewOp<scf::YieldOp>(op, values);
    return success();
  }
};

/// Tensors with dimensions pass a barrier of their own. Numbers are in registers, through which no op is fused.
struct BarrierLowering : OpConversionPattern<OptimizationBarrierOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(OptimizationBarrierOp op, OneToNOpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> values = flatten(adaptor.getOperands());
    for (Value &value : values)
      if (cast<RankedTensorType>(value.getType()).getRank() != 0)
        value = OptimizationBarrierOp::create(rewriter, op.getLoc(), value.getType(), value).getResult(0);
    replaceAround(rewriter, op, values);
    return success();
  }
};

} // namespace

void array::populateControlFlow(const TypeConverter &converter, RewritePatternSet &patterns) {
  patterns.add<WhileLowering, CondLowering, ScanLowering, YieldLowering, BarrierLowering>(converter,
                                                                                          patterns.getContext());
}
