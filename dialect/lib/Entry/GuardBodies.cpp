// Part of array-check-input: checks of the indices in bodies of linalg.generic, in modules from files. A body cannot
// end the run. Therefore an operation before it computes all of its indices, and the run checks those.
//
// If an index is at the top level of the body, an operation with the same loops searches for a wrong one. If an index,
// or the step of a loop, is in a branch or a loop of the body, scf loops over the same elements compute the body, with
// the same checks as code outside of bodies.
#include "Guards.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::array {
namespace {

/// Operations of a body that need more than its operands.
struct Needs {
  SmallVector<tensor::ExtractOp> extracts;
  SmallVector<scf::ForOp> loops;
  bool isNested = false;
};

bool isUnknown(tensor::ExtractOp extract) {
  auto type = cast<RankedTensorType>(extract.getTensor().getType());
  return llvm::any_of(llvm::enumerate(extract.getIndices()),
                      [&](auto pair) { return !isWithin(pair.value(), type, pair.index()); });
}

bool isUnknown(scf::ForOp loop) {
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  return !step || *step <= 0;
}

/// The needs of a computing body; none, with a diagnostic, if an operation cannot be checked.
FailureOr<Needs> findNeeds(linalg::LinalgOp op) {
  Needs needs;
  WalkResult result = op->walk([&](Operation *inner) -> WalkResult {
    if (inner == op)
      return WalkResult::advance();
    if (auto extract = dyn_cast<tensor::ExtractOp>(inner)) {
      Operation *made = extract.getTensor().getDefiningOp();
      if (made && op->isProperAncestor(made))
        return inner->emitOpError("reads a tensor that the body of an operation on tensors makes, which can't be "
                                  "checked there: make it outside of the body");
      if (!isUnknown(extract))
        return WalkResult::advance();
      needs.extracts.push_back(extract);
      needs.isNested |= extract->getParentOp() != op;
      return WalkResult::advance();
    }
    if (auto loop = dyn_cast<scf::ForOp>(inner); loop && isUnknown(loop)) {
      needs.loops.push_back(loop);
      needs.isNested = true;
    }
    Dialect *dialect = inner->getDialect();
    bool isTaken =
        isa_and_nonnull<arith::ArithDialect, math::MathDialect, complex::ComplexDialect, scf::SCFDialect>(dialect) ||
        isa<linalg::IndexOp, linalg::YieldOp, tensor::DimOp>(inner);
    if (isTaken && llvm::none_of(inner->getResultTypes(), llvm::IsaPred<TensorType>))
      return WalkResult::advance();
    return inner->emitOpError("can't be checked in the body of an operation on tensors, which holds numbers, branches, "
                              "loops and tensor.extract: let another operation on tensors compute it");
  });
  return result.wasInterrupted() ? FailureOr<Needs>(failure()) : FailureOr<Needs>(std::move(needs));
}

/// Values that depend on the partial results of a reduction. Only the run of the operation itself has them.
class Accumulated {
public:
  explicit Accumulated(linalg::GenericOp generic) : generic(generic) {
    for (auto [index, argument] : llvm::enumerate(generic.getRegionOutputArgs()))
      if (!generic.getIndexingMapMatchingResult(generic->getOpResult(index)).isPermutation())
        take(argument);
    while (!pending.empty())
      for (OpOperand &use : pending.pop_back_val().getUses())
        spread(use.getOwner());
  }

  /// Whether its operands, or the conditions under which it runs, depend on them.
  bool decides(Operation *op) const {
    for (Operation *at = op; at != generic; at = at->getParentOp())
      if (llvm::any_of(at->getOperands(), [&](Value value) { return taken.contains(value); }) ||
          (at != op && controlled.contains(at)))
        return true;
    return false;
  }

private:
  void take(Value value) {
    if (taken.insert(value).second)
      pending.push_back(value);
  }

  void spread(Operation *user) {
    takeAll(user);
    if (user->getNumRegions() != 0)
      controlled.insert(user);
    // Values that are carried to the next iteration, or out of a branch; for scf.while also the condition.
    Operation *parent = user->getParentOp();
    if (!user->hasTrait<OpTrait::IsTerminator>() || parent == generic)
      return;
    takeAll(parent);
    if (isa<scf::WhileOp>(parent))
      controlled.insert(parent);
  }

  void takeAll(Operation *op) {
    for (Value result : op->getResults())
      take(result);
    for (Region &region : op->getRegions())
      for (BlockArgument argument : region.getArguments())
        take(argument);
  }

  linalg::GenericOp generic;
  DenseSet<Value> taken;
  DenseSet<Operation *> controlled;
  SmallVector<Value> pending;
};

/// An index outside of [0, size), or 0 if all are inside: a negative index is returned as it is, any other together
/// with 1.
Value findOutside(OpBuilder &b, linalg::GenericOp generic, Operation *user, Value index, Value size) {
  Location loc = user->getLoc();
  Value zero = arith::ConstantIntOp::create(b, loc, 0, 64);
  Value none = tensor::FromElementsOp::create(b, loc, RankedTensorType::get({}, b.getI64Type()), zero);
  SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
  maps.push_back(AffineMap::get(generic.getNumLoops(), 0, b.getContext()));
  SmallVector<utils::IteratorType> iterators(generic.getNumLoops(), utils::IteratorType::reduction);
  auto found = linalg::GenericOp::create(
      b, loc, TypeRange(none.getType()), generic->getOperands(), none, maps, iterators,
      [&](OpBuilder &inside, Location, ValueRange arguments) {
        IRMapping mapping;
        mapping.map(generic.getBody()->getArguments(), arguments.drop_back());
        for (Operation &op : *generic.getBody()) {
          if (&op == user)
            break;
          inside.clone(op, mapping);
        }
        Value at = mapping.lookupOrDefault(index);
        Value isOutside = arith::CmpIOp::create(inside, loc, arith::CmpIPredicate::uge, at, size);
        Value word = arith::IndexCastOp::create(inside, loc, inside.getI64Type(), at);
        Value one = arith::ConstantIntOp::create(inside, loc, 1, 64);
        Value isNegative = arith::CmpIOp::create(inside, loc, arith::CmpIPredicate::slt, word, zero);
        Value told = arith::SelectOp::create(inside, loc, isNegative, word,
                                             arith::AddIOp::create(inside, loc, word, one).getResult());
        told = arith::SelectOp::create(inside, loc, isOutside, told, zero);
        Value greatest = arith::MaxUIOp::create(inside, loc, arguments.back(), told);
        linalg::YieldOp::create(inside, loc, greatest);
      });
  return tensor::ExtractOp::create(b, loc, found.getResult(0), ValueRange());
}

void guardIndex(linalg::GenericOp generic, tensor::ExtractOp extract, int64_t dim) {
  Location loc = extract.getLoc();
  OpBuilder b(generic);
  OpFoldResult size = tensor::getMixedSize(b, loc, extract.getTensor(), dim);
  Value whole = getValueOrCreateConstantIndexOp(b, loc, size);
  Value told = findOutside(b, generic, extract, extract.getIndices()[dim], whole);
  auto constant = [&](int64_t value) -> Value { return arith::ConstantIntOp::create(b, loc, value, 64); };
  auto is = [&](arith::CmpIPredicate predicate, int64_t value) -> Value {
    return arith::CmpIOp::create(b, loc, predicate, told, constant(value));
  };
  // If all are inside, the index is 0 and the size is 1.
  Value less = arith::SubIOp::create(b, loc, told, constant(1));
  Value index = arith::SelectOp::create(b, loc, is(arith::CmpIPredicate::sle, 0), told, less);
  Value bound = arith::SelectOp::create(b, loc, is(arith::CmpIPredicate::eq, 0),
                                        arith::ConstantIndexOp::create(b, loc, 1).getResult(), whole);
  index = arith::IndexCastOp::create(b, loc, b.getIndexType(), index);
  emitGuard(b, extract, {PCRT_CHECK_INDEX, 0, dim, {index, bound}});
}

void guardExtract(tensor::ExtractOp extract) {
  OpBuilder b(extract);
  auto type = cast<RankedTensorType>(extract.getTensor().getType());
  for (auto [dim, index] : llvm::enumerate(extract.getIndices()))
    if (!isWithin(index, type, dim))
      emitGuard(b, extract,
                {PCRT_CHECK_INDEX,
                 0,
                 int64_t(dim),
                 {index, tensor::getMixedSize(b, extract.getLoc(), extract.getTensor(), dim)}});
}

/// The extent of each loop, from the first operand that has it as a dimension.
SmallVector<Value> extentsOf(OpBuilder &b, linalg::GenericOp generic) {
  SmallVector<Value> extents(generic.getNumLoops());
  for (OpOperand &operand : generic->getOpOperands())
    for (auto [dim, expression] : llvm::enumerate(generic.getMatchingIndexingMap(&operand).getResults()))
      if (auto loop = dyn_cast<AffineDimExpr>(expression); loop && !extents[loop.getPosition()])
        extents[loop.getPosition()] = getValueOrCreateConstantIndexOp(
            b, generic.getLoc(), tensor::getMixedSize(b, generic.getLoc(), operand.get(), dim));
  return extents;
}

/// The element of an operand that is passed to a body. Dynamic sizes are not checked yet.
Value elementOf(OpBuilder &b, linalg::GenericOp generic, OpOperand &operand, ValueRange loops) {
  Location loc = generic.getLoc();
  if (!isa<RankedTensorType>(operand.get().getType()))
    return operand.get();
  SmallVector<Value> indices;
  for (AffineExpr expression : generic.getMatchingIndexingMap(&operand).getResults())
    indices.push_back(affine::expandAffineExpr(b, loc, expression, loops, ValueRange()));
  bool isKnown = cast<RankedTensorType>(operand.get().getType()).hasStaticShape() && !generic.hasDynamicShape();
  for (auto [dim, index] : llvm::enumerate(indices))
    if (!isKnown)
      emitGuard(b, generic,
                {PCRT_CHECK_INDEX,
                 operand.getOperandNumber(),
                 int64_t(dim),
                 {index, tensor::getMixedSize(b, loc, operand.get(), dim)}});
  return tensor::ExtractOp::create(b, loc, operand.get(), indices);
}

/// Emits loops that compute the body, with checks; their results are not used.
void checkByLoops(linalg::GenericOp generic, ArrayRef<Value> extents) {
  OpBuilder b(generic);
  Location loc = generic.getLoc();
  Value zero = arith::ConstantIndexOp::create(b, loc, 0), one = arith::ConstantIndexOp::create(b, loc, 1);
  SmallVector<Value> from(extents.size(), zero), by(extents.size(), one);
  scf::buildLoopNest(b, loc, from, extents, by, [&](OpBuilder &inside, Location, ValueRange loops) {
    IRMapping mapping;
    for (OpOperand &operand : generic->getOpOperands()) {
      BlockArgument argument = generic.getMatchingBlockArgument(&operand);
      if (!argument.use_empty())
        mapping.map(argument, elementOf(inside, generic, operand, loops));
    }
    SmallVector<Operation *> made;
    for (Operation &op : generic.getBody()->without_terminator())
      made.push_back(inside.clone(op, mapping));
    for (Operation *op : made)
      op->walk([&](Operation *inner) {
        if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
          index.getResult().replaceAllUsesWith(loops[index.getDim()]);
          index.erase();
        } else if (auto extract = dyn_cast<tensor::ExtractOp>(inner)) {
          guardExtract(extract);
        } else if (auto loop = dyn_cast<scf::ForOp>(inner)) {
          guardStep(loop);
        }
      });
  });
}

} // namespace

LogicalResult guardBody(linalg::LinalgOp op) {
  FailureOr<Needs> needs = findNeeds(op);
  if (failed(needs))
    return failure();
  if (needs->extracts.empty() && needs->loops.empty())
    return success();
  auto refuse = [](Operation *inner, const Twine &why) {
    return inner->emitOpError("can't be checked in the body of an operation on tensors: ")
           << why << "; keep it within bounds by arith.minsi and arith.maxsi with constants, or use array.gather";
  };
  SmallVector<Operation *> all(needs->loops.begin(), needs->loops.end());
  all.append(needs->extracts.begin(), needs->extracts.end());
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  if (!generic)
    return refuse(all.front(), "it is in " + op->getName().getStringRef());
  Accumulated accumulated(generic);
  for (Operation *inner : all)
    if (accumulated.decides(inner))
      return refuse(inner, "it depends on partial results of the operation");
  if (!needs->isNested) {
    for (tensor::ExtractOp extract : needs->extracts)
      for (auto [dim, index] : llvm::enumerate(extract.getIndices()))
        if (!isWithin(index, cast<RankedTensorType>(extract.getTensor().getType()), dim))
          guardIndex(generic, extract, dim);
    return success();
  }
  OpBuilder b(generic);
  SmallVector<Value> extents = extentsOf(b, generic);
  if (llvm::is_contained(extents, Value()))
    return refuse(all.front(), "how often it is computed is not the size of a dimension");
  checkByLoops(generic, extents);
  return success();
}

} // namespace mlir::array
