// array-guard-sizes: for modules from files, adds the checks that array-check-input left until sizes are resolved. All
// accesses of linalg on tensors rely on them: the sizes of an operation's operands fit its maps, slices are inside
// their sources, shapes have no negative sizes, and loop carries keep their shapes.
//
// A check comes before all operations that could compute into the memory that it protects: as early in its block as the
// sizes are available. Bufferization computes operands in place, so a check right before the operation would be too
// late.
#include "Guards.h"
#include "array/Analysis/SymbolicSizes.h"
#include "array/Entry/Passes.h"
#include "array/IR/Bytes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::array {

#define GEN_PASS_DEF_GUARDSIZES
#include "array/Entry/Passes.h.inc"

namespace {

bool isDynamic(Value value) {
  auto shaped = dyn_cast<ShapedType>(value.getType());
  return shaped && shaped.hasRank() && !shaped.hasStaticShape();
}

class SizeGuards {
public:
  explicit SizeGuards(func::FuncOp function)
      : sizes(function), symbols(countSymbols(function)), b(function.getContext()) {}

  LogicalResult guard(Operation *op) {
    b.setInsertionPoint(op);
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case([&](linalg::LinalgOp linalg) { return guardMaps(linalg); })
        .Case([&](tensor::ExtractSliceOp slice) { return guardSlice(slice, slice.getSource(), 0); })
        .Case([&](tensor::InsertSliceOp slice) { return guardInsertion(slice); })
        .Case<tensor::EmptyOp, tensor::GenerateOp, tensor::SplatOp>([&](auto made) { return guardShape(made); })
        .Case([&](tensor::CastOp cast) { return guardSame(cast, cast.getSource(), cast.getResult(), 0); })
        .Case([&](tensor::ExpandShapeOp expand) { return guardCuts(expand); })
        .Case([&](scf::ForOp loop) { return guardCarry(loop); })
        .Case([&](scf::WhileOp loop) { return guardCarry(loop); })
        .Case<scf::IfOp, scf::IndexSwitchOp>([&](auto choice) { return guardBranches(choice); })
        .Case(
            [&](arith::SelectOp select) { return guardSame(select, select.getFalseValue(), select.getTrueValue(), 2); })
        .Case([&](RuntimeCallOp call) { return guardRoutine(call); })
        .Case<tensor::CollapseShapeOp, tensor::InsertOp, OptimizationBarrierOp, scf::ExecuteRegionOp>(
            [&](auto) { return success(); })
        .Default([&](Operation *other) -> LogicalResult {
          if (llvm::none_of(other->getResults(), isDynamic))
            return success();
          return other->emitOpError(
              "can't be checked in a module from a file: it has a result of symbolic sizes; use the array dialect");
        });
  }

  /// Whether a check follows from the bounds of sizes.
  bool isProved(RuntimeCallOp check) {
    ArrayRef<int64_t> params = check.getParams();
    ValueRange given = check.getSizes();
    SmallVector<AffineExpr> values;
    for (int64_t param : params.drop_front(3)) {
      OpFoldResult value = b.getIndexAttr(param);
      if (ShapedType::isDynamic(param)) {
        value = given.front();
        given = given.drop_front();
      }
      values.push_back(sizes.expressionOf(value));
      if (!values.back())
        return false;
    }
    return isProved(static_cast<PcrtCheck>(params[0]), values);
  }

private:
  bool isProved(PcrtCheck kind, ArrayRef<AffineExpr> values) {
    auto simplified = [&](AffineExpr expression) { return simplifyAffineExpr(expression, /*numDims=*/0, symbols); };
    auto least = [&](AffineExpr expression) { return sizes.factsOf(simplified(expression)).min; };
    switch (kind) {
    case PCRT_CHECK_EQUAL:
      return values[0] == values[1] || simplified(values[0] - values[1]) == 0;
    case PCRT_CHECK_AT_MOST:
      return least(values[0]) >= 0 && least(values[1] - values[0]) >= 0;
    case PCRT_CHECK_INDEX:
      return least(values[0]) >= 0 && least(values[1] - values[0]) >= 1;
    case PCRT_CHECK_SLICE: // the whole dimension, or with stride 1
      return values[2] == 1 && least(values[0]) >= 0 && least(values[1]) >= 0 &&
             least(values[3] - values[1] - values[0]) >= 0;
    case PCRT_CHECK_STEP:
      return least(values[0]) >= 1;
    case PCRT_CHECK_COUNT: // of an existing array
      return isSameCount(values.take_front(1), values.drop_front(2));
    case PCRT_CHECK_RESHAPE: {
      int64_t rank = cast<AffineConstantExpr>(values[0]).getValue();
      return isSameCount(values.slice(1, rank), values.drop_front(rank + 2));
    }
    default: // a product may overflow for any factors
      return false;
    }
  }

  /// Whether the sizes of an array have the same product as others, none of which is negative.
  bool isSameCount(ArrayRef<AffineExpr> sizes, ArrayRef<AffineExpr> others) {
    auto product = [&](ArrayRef<AffineExpr> factors) {
      AffineExpr all = getAffineConstantExpr(1, b.getContext());
      for (AffineExpr factor : factors)
        all = all * factor;
      return simplifyAffineExpr(all, /*numDims=*/0, symbols);
    };
    return product(sizes) == product(others) &&
           llvm::all_of(others, [&](AffineExpr size) { return this->sizes.factsOf(size).min >= 0; });
  }

  /// The size of a dimension; null, with a diagnostic, if it cannot be determined.
  OpFoldResult sizeOf(Operation *op, Value tensor, int64_t dim) {
    if (OpFoldResult size = rawSize(tensor, dim))
      return size;
    op->emitOpError("the size of dimension ")
        << dim << " of " << tensor.getType() << " is not known where it must be checked";
    return {};
  }

  /// A size that depends on data is not an expression of the symbols. Then the result is the operand of the operation.
  OpFoldResult rawSize(Value tensor, int64_t dim) {
    if (OpFoldResult size = sizes.sizeOf(tensor, dim))
      return size;
    Operation *op = tensor.getDefiningOp();
    if (auto empty = dyn_cast_or_null<tensor::EmptyOp>(op))
      return empty.getMixedSizes()[dim];
    if (auto slice = dyn_cast_or_null<tensor::ExtractSliceOp>(op)) {
      llvm::SmallBitVector dropped = slice.getDroppedDims();
      for (auto [i, size] : llvm::enumerate(slice.getMixedSizes()))
        if (!dropped.test(i) && dim-- == 0)
          return size;
    }
    if (auto expand = dyn_cast_or_null<tensor::ExpandShapeOp>(op))
      return expand.getMixedOutputShape()[dim];
    if (auto destination = dyn_cast_or_null<DestinationStyleOpInterface>(op))
      return rawSize(destination.getTiedOpOperand(cast<OpResult>(tensor))->get(), dim);
    if (isa_and_nonnull<tensor::CastOp, tensor::InsertSliceOp, tensor::InsertOp>(op))
      return rawSize(op->getOperand(isa<tensor::InsertSliceOp, tensor::InsertOp>(op) ? 1 : 0), dim);
    return {};
  }

  LogicalResult check(Operation *op, Guard guard) {
    if (llvm::is_contained(guard.values, OpFoldResult()))
      return failure();
    SmallVector<AffineExpr> values;
    for (OpFoldResult value : guard.values)
      values.push_back(sizes.expressionOf(value));
    if (!llvm::is_contained(values, AffineExpr()) && isProved(guard.kind, values))
      return success();
    emitGuard(b, op, guard);
    return success();
  }

  LogicalResult guardMaps(linalg::LinalgOp op) {
    if (llvm::none_of(op->getOperands(), isDynamic))
      return success();
    SmallVector<OpFoldResult> extents;
    for (int64_t extent : op.getStaticLoopRanges())
      extents.push_back(ShapedType::isDynamic(extent) ? OpFoldResult() : OpFoldResult(b.getIndexAttr(extent)));
    auto forEach = [&](auto visit) -> LogicalResult {
      for (OpOperand &operand : op->getOpOperands()) {
        if (!isa<RankedTensorType>(operand.get().getType()))
          continue;
        for (auto [dim, expression] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
          if (failed(visit(operand, int64_t(dim), expression)))
            return failure();
      }
      return success();
    };
    // The size that one operand has determines the expected sizes of the others.
    auto takeKnown = [&](OpOperand &operand, int64_t dim, AffineExpr expression) -> LogicalResult {
      auto type = cast<RankedTensorType>(operand.get().getType());
      auto loop = dyn_cast<AffineDimExpr>(expression);
      if (loop && !extents[loop.getPosition()] && !type.isDynamicDim(dim))
        extents[loop.getPosition()] = b.getIndexAttr(type.getDimSize(dim));
      return success();
    };
    auto checkDim = [&](OpOperand &operand, int64_t dim, AffineExpr expression) -> LogicalResult {
      auto loop = dyn_cast<AffineDimExpr>(expression);
      if (!loop)
        return success();
      OpFoldResult size = sizeOf(op, operand.get(), dim), &extent = extents[loop.getPosition()];
      if (!extent)
        extent = size;
      return check(op, {PCRT_CHECK_EQUAL, operand.getOperandNumber(), dim, {size, extent}});
    };
    auto checkOther = [&](OpOperand &operand, int64_t dim, AffineExpr expression) -> LogicalResult {
      if (isa<AffineDimExpr>(expression))
        return success();
      FailureOr<Value> last = lastOf(op, expression, extents);
      if (failed(last))
        return failure();
      Value end = arith::AddIOp::create(b, op->getLoc(), *last, arith::ConstantIndexOp::create(b, op->getLoc(), 1));
      // If some loop has no iterations, it may be negative, and nothing is read.
      end = arith::MaxSIOp::create(b, op->getLoc(), end, arith::ConstantIndexOp::create(b, op->getLoc(), 0));
      return check(op, {PCRT_CHECK_AT_MOST, operand.getOperandNumber(), dim, {end, sizeOf(op, operand.get(), dim)}});
    };
    (void)forEach(takeKnown);
    return failed(forEach(checkDim)) ? failure() : forEach(checkOther);
  }

  /// Checks routines that access elements at the same positions.
  LogicalResult guardRoutine(RuntimeCallOp call) {
    if (!llvm::is_contained({"sort", "special", "select_and_gather"}, call.getName()))
      return success();
    for (unsigned operand = 1; operand < call.getIns().size(); ++operand)
      if (failed(guardSame(call, call.getIns()[operand], call.getIns().front(), operand)))
        return failure();
    return success();
  }

  /// The maximum of an expression over loops.
  FailureOr<Value> lastOf(Operation *op, AffineExpr expression, ArrayRef<OpFoldResult> extents) {
    Location loc = op->getLoc();
    auto constant = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(b, loc, value); };
    if (auto number = dyn_cast<AffineConstantExpr>(expression); number && number.getValue() >= 0)
      return constant(number.getValue());
    auto loop = dyn_cast<AffineDimExpr>(expression);
    if (loop && extents[loop.getPosition()])
      return arith::SubIOp::create(b, loc, getValueOrCreateConstantIndexOp(b, loc, extents[loop.getPosition()]),
                                   constant(1))
          .getResult();
    auto binary = dyn_cast<AffineBinaryOpExpr>(expression);
    bool isSum = binary && binary.getKind() == AffineExprKind::Add;
    bool isProduct = binary && binary.getKind() == AffineExprKind::Mul && isa<AffineConstantExpr>(binary.getRHS());
    if (!isSum && !isProduct)
      return op->emitOpError("reads its operand by ") << textOf(expression)
                                                      << ", which can't be checked for sizes that a call "
                                                         "decides";
    FailureOr<Value> lhs = lastOf(op, binary.getLHS(), extents), rhs = lastOf(op, binary.getRHS(), extents);
    if (failed(lhs) || failed(rhs))
      return failure();
    return isSum ? arith::AddIOp::create(b, loc, *lhs, *rhs).getResult()
                 : arith::MulIOp::create(b, loc, *lhs, *rhs).getResult();
  }

  LogicalResult guardSlice(OffsetSizeAndStrideOpInterface op, Value whole, int64_t operand) {
    if (!isDynamic(whole) && llvm::none_of(op->getResults(), isDynamic) && !isDynamic(op->getOperand(0)))
      return success(); // array-check-input handles static sizes
    auto offsets = op.getMixedOffsets(), counts = op.getMixedSizes(), strides = op.getMixedStrides();
    for (int64_t dim = 0; dim < int64_t(offsets.size()); ++dim)
      if (failed(check(
              op, {PCRT_CHECK_SLICE, operand, dim, {offsets[dim], counts[dim], strides[dim], sizeOf(op, whole, dim)}})))
        return failure();
    return success();
  }

  LogicalResult guardInsertion(tensor::InsertSliceOp op) {
    if (failed(guardSlice(op, op.getDest(), 1)))
      return failure();
    llvm::SmallBitVector dropped = op.getDroppedDims();
    int64_t kept = 0;
    for (auto [dim, count] : llvm::enumerate(op.getMixedSizes())) {
      if (dropped.test(dim))
        continue;
      if (isDynamic(op.getSource()) &&
          failed(check(op, {PCRT_CHECK_EQUAL, 0, kept, {sizeOf(op, op.getSource(), kept), count}})))
        return failure();
      ++kept;
    }
    return success();
  }

  template <typename Op> LogicalResult guardShape(Op op) {
    auto type = cast<RankedTensorType>(op.getType());
    if (type.hasStaticShape())
      return success();
    Guard guard{PCRT_CHECK_SHAPE,
                -1,
                0,
                {b.getIndexAttr(bytesOfElement(type.getElementType())), b.getIndexAttr(type.getRank())}};
    for (int64_t dim = 0, next = 0; dim < type.getRank(); ++dim)
      guard.values.push_back(type.isDynamicDim(dim) ? OpFoldResult(dynamicSizes(op)[next++])
                                                    : OpFoldResult(b.getIndexAttr(type.getDimSize(dim))));
    // Many operations make an array of the same shape: it is checked once.
    for (Block *block = op->getBlock(); block; block = block->getParentOp()->getBlock())
      if (llvm::is_contained(shapes[block], guard.values))
        return success();
    shapes[op->getBlock()].push_back(guard.values);
    return check(op, guard);
  }
  static ValueRange dynamicSizes(tensor::EmptyOp op) { return op.getDynamicSizes(); }
  static ValueRange dynamicSizes(tensor::GenerateOp op) { return op.getDynamicExtents(); }
  static ValueRange dynamicSizes(tensor::SplatOp op) { return op.getDynamicSizes(); }

  /// That `one` has the sizes of `other`.
  LogicalResult guardSame(Operation *op, Value one, Value other, int64_t operand) {
    auto type = dyn_cast<RankedTensorType>(one.getType());
    auto otherType = dyn_cast<RankedTensorType>(other.getType());
    if (!type || !otherType || type.getRank() != otherType.getRank())
      return success();
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      bool isCast = isa<tensor::CastOp>(op);
      if ((!type.isDynamicDim(dim) && !otherType.isDynamicDim(dim)) || (isCast && otherType.isDynamicDim(dim)))
        continue;
      if (failed(check(op, {PCRT_CHECK_EQUAL, operand, dim, {sizeOf(op, one, dim), sizeOf(op, other, dim)}})))
        return failure();
    }
    return success();
  }

  LogicalResult guardCuts(tensor::ExpandShapeOp op) {
    if (!isDynamic(op.getResult()) && !isDynamic(op.getSrc()))
      return success();
    SmallVector<OpFoldResult> shape = op.getMixedOutputShape();
    for (auto [dim, group] : llvm::enumerate(op.getReassociationIndices())) {
      OpFoldResult whole = sizeOf(op, op.getSrc(), dim);
      if (!whole)
        return failure();
      // Skips ones that are paired with a size.
      SmallVector<OpFoldResult> parts;
      for (int64_t part : group)
        if (getConstantIntValue(shape[part]) != 1)
          parts.push_back(shape[part]);
      if (parts.size() == 1) {
        if (failed(check(op, {PCRT_CHECK_EQUAL, 0, int64_t(dim), {whole, parts.front()}})))
          return failure();
        continue;
      }
      Guard guard{PCRT_CHECK_COUNT, 0, int64_t(dim), {whole, b.getIndexAttr(parts.size())}};
      llvm::append_range(guard.values, parts);
      if (failed(check(op, guard)))
        return failure();
    }
    return success();
  }

  LogicalResult guardCarry(scf::ForOp loop) {
    auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
    b.setInsertionPoint(yield);
    for (auto [index, pair] : llvm::enumerate(llvm::zip(yield.getOperands(), loop.getInitArgs())))
      if (failed(guardSame(loop, std::get<0>(pair), std::get<1>(pair), index)))
        return failure();
    return success();
  }

  LogicalResult guardCarry(scf::WhileOp loop) {
    b.setInsertionPoint(loop.getYieldOp());
    for (auto [index, pair] : llvm::enumerate(llvm::zip(loop.getYieldOp().getOperands(), loop.getInits())))
      if (failed(guardSame(loop, std::get<0>(pair), std::get<1>(pair), index)))
        return failure();
    return success();
  }

  /// All branches must return the sizes of the operation's first region. Sizes that a branch computes are not visible
  /// outside of it.
  template <typename Op> LogicalResult guardBranches(Op choice) {
    if (llvm::none_of(choice->getResults(), isDynamic))
      return success();
    Operation *first = choice->getRegion(0).front().getTerminator();
    for (Region &region : llvm::drop_begin(choice->getRegions())) {
      if (region.empty())
        continue;
      Operation *yield = region.front().getTerminator();
      b.setInsertionPoint(yield);
      for (auto [index, pair] : llvm::enumerate(llvm::zip(yield->getOperands(), first->getOperands())))
        if (failed(guardSame(choice, std::get<0>(pair), std::get<1>(pair), index)))
          return failure();
    }
    return success();
  }

  SymbolicSizes sizes;
  unsigned symbols;
  OpBuilder b;
  DenseMap<Block *, SmallVector<SmallVector<OpFoldResult>>> shapes;
};

/// Moves checks, in their order, to the earliest position in their blocks at which their operands are available.
class EarlyChecks {
public:
  void move(Operation *check) {
    Operation *behind = gather(check);
    Operation *&last = behind ? lastBehind[behind] : lastAtStart[check->getBlock()];
    if (last)
      check->moveAfter(last);
    else if (behind)
      check->moveAfter(behind);
    else
      check->moveBefore(&check->getBlock()->front());
    last = check;
  }

private:
  /// The last of the block's operations that compute the operands. Arithmetic moves up like checks.
  Operation *gather(Operation *op) {
    Operation *behind = nullptr;
    for (Value operand : op->getOperands()) {
      Operation *made = operand.getDefiningOp();
      if (!made || made->getBlock() != op->getBlock())
        continue;
      if (isa<arith::ArithDialect>(made->getDialect()) && moved.insert(made).second) {
        if (Operation *before = gather(made))
          made->moveAfter(before);
        else
          made->moveBefore(&made->getBlock()->front());
      }
      if (!behind || behind->isBeforeInBlock(made))
        behind = made;
    }
    return behind;
  }

  DenseMap<Operation *, Operation *> lastBehind;
  DenseMap<Block *, Operation *> lastAtStart;
  DenseSet<Operation *> moved;
};

struct GuardSizes : impl::GuardSizesBase<GuardSizes> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    auto module = function->getParentOfType<ModuleOp>();
    if (!module || !module->hasAttr(kCheckedAttr) || function.isExternal())
      return;
    SmallVector<Operation *> found;
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      found.push_back(op);
      // Checks outside of bodies cover their indices.
      return isa<linalg::LinalgOp, tensor::GenerateOp>(op) ? WalkResult::skip() : WalkResult::advance();
    });
    SizeGuards guards(function);
    for (Operation *op : found) {
      if (auto call = dyn_cast<RuntimeCallOp>(op); call && call.getName() == "check") {
        if (guards.isProved(call))
          call.erase();
      } else if (failed(guards.guard(op))) {
        return signalPassFailure();
      }
    }
    SmallVector<RuntimeCallOp> checks;
    function.walk([&](RuntimeCallOp call) {
      if (call.getName() == "check")
        checks.push_back(call);
    });
    EarlyChecks early;
    for (RuntimeCallOp check : checks)
      early.move(check);
    for (RuntimeCallOp check : checks)
      if (failed(settle(check)))
        return signalPassFailure();
  }
};

} // namespace
} // namespace mlir::array
