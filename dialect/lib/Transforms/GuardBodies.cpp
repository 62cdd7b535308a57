// What a body of linalg.generic indexes by, in modules from elsewhere. A body can't leave the run: something before the
// operation looks at all of its indices, and the run checks those. Of array-check-input.
//
// Indices that stand in the body itself are looked at by an operation of the same loops, which finds one that is wrong.
// Where an index, or the step of a loop, stands in a branch or in a loop of the body, loops over the same elements
// compute what the body computes, and check it as code outside of bodies is checked.
#include "Guards.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::array {
namespace {

/// What stands in a body and needs more than its operands.
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

/// Of what computes in a body; nothing, with a diagnostic, where something is there that can't be checked.
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

/// What depends on the elements that a reduction has computed so far. These are known to the run of the operation
/// alone.
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

  /// Whether its operands, or whether it runs at all, do.
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
    // What is carried to the next iteration, or out of a branch; of scf.while also whether there is a next one.
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

/// An index outside of [0, size), or 0 where all are within: a negative one as it is, others and 1.
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
  // Of the index 0 and the size 1 where all are within.
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

/// How often each loop runs, as the first operand says that has it as a dimension.
SmallVector<Value> extentsOf(OpBuilder &b, linalg::GenericOp generic) {
  SmallVector<Value> extents(generic.getNumLoops());
  for (OpOperand &operand : generic->getOpOperands())
    for (auto [dim, expression] : llvm::enumerate(generic.getMatchingIndexingMap(&operand).getResults()))
      if (auto loop = dyn_cast<AffineDimExpr>(expression); loop && !extents[loop.getPosition()])
        extents[loop.getPosition()] = getValueOrCreateConstantIndexOp(
            b, generic.getLoc(), tensor::getMixedSize(b, generic.getLoc(), operand.get(), dim));
  return extents;
}

/// The element that a body is given of an operand. Sizes that a call decides are not compared so far.
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

/// Loops that compute what the body does, with checks; what they have computed is left.
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
      return refuse(inner, "it depends on what the operation has computed so far");
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
