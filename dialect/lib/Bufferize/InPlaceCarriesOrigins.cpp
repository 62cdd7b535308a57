// Of array-in-place-carries: the tensors whose memory a value may share.
#include "InPlaceCarries.h"
#include "array/IR/Array.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::array;

static bool isView(Operation *op) {
  return isa_and_nonnull<tensor::ExtractSliceOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp,
                         OptimizationBarrierOp>(op);
}

Value prepare::viewedTensor(Value tensor) {
  while (isView(tensor.getDefiningOp()))
    tensor = tensor.getDefiningOp()->getOperand(0);
  return tensor;
}

/// The initial value of a loop's result.
static OpOperand *initOf(scf::WhileOp loop, OpResult result) {
  auto passed = dyn_cast<BlockArgument>(loop.getConditionOp().getArgs()[result.getResultNumber()]);
  if (!passed || passed.getOwner() != &loop.getBefore().front())
    return nullptr;
  return &loop->getOpOperand(passed.getArgNumber());
}

Value prepare::startOf(OpResult result, OpOperand *&init) {
  Operation *owner = result.getOwner();
  // The value outside of a region from which the yielded value started.
  auto outside = [&](Value value, Region &region) {
    OpOperand *inner = nullptr;
    while (value && value.getDefiningOp() && region.isAncestor(value.getParentRegion()))
      value = startOf(cast<OpResult>(value), inner);
    return value;
  };
  if (auto loop = dyn_cast<scf::WhileOp>(owner)) {
    OpOperand *found = initOf(loop, result);
    init = found ? found : init;
    return found ? found->get() : Value();
  }
  if (auto loop = dyn_cast<scf::ForOp>(owner)) {
    unsigned index = result.getResultNumber();
    Value last = outside(loop.getYieldedValues()[index], loop.getRegion());
    if (last != loop.getRegionIterArg(index))
      return {};
    init = &loop.getInitArgsMutable()[index];
    return loop.getInitArgs()[index];
  }
  if (auto branch = dyn_cast<scf::IfOp>(owner)) {
    unsigned index = result.getResultNumber();
    Value taken = outside(branch.thenYield().getOperand(index), branch.getThenRegion());
    Value other = outside(branch.elseYield().getOperand(index), branch.getElseRegion());
    return taken == other ? taken : Value();
  }
  if (auto op = dyn_cast<DestinationStyleOpInterface>(owner))
    return op.getTiedOpOperand(result)->get();
  return {};
}

llvm::SetVector<Value> prepare::originsOf(Value value) {
  llvm::SetVector<Value> origins;
  origins.insert(value);
  for (size_t next = 0; next < origins.size(); ++next) {
    auto result = dyn_cast<OpResult>(origins[next]);
    if (!result)
      continue;
    Operation *op = result.getOwner();
    unsigned number = result.getResultNumber();
    if (isView(op)) {
      origins.insert(op->getOperand(0));
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      origins.insert(branch.thenYield().getOperand(number));
      origins.insert(branch.elseYield().getOperand(number));
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      origins.insert(loop.getInitArgs()[number]);
      origins.insert(loop.getYieldedValues()[number]);
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      if (OpOperand *init = initOf(loop, result))
        origins.insert(init->get());
      origins.insert(loop.getConditionOp().getArgs()[number]);
    } else if (auto destined = dyn_cast<DestinationStyleOpInterface>(op)) {
      origins.insert(destined.getTiedOpOperand(result)->get());
    }
  }
  return origins;
}

llvm::SetVector<Value> prepare::derivedFrom(Value tensor, Operation *last) {
  llvm::SetVector<Value> derived;
  derived.insert(tensor);
  for (size_t next = 0; next < derived.size(); ++next) {
    for (OpOperand &use : derived[next].getUses()) {
      Operation *user = use.getOwner(), *parent = user->getParentOp();
      unsigned number = use.getOperandNumber();
      if (last->isAncestor(user) || user == last->getBlock()->getTerminator())
        continue;
      if (isView(user)) {
        derived.insert(user->getResult(0));
      } else if (isa<scf::YieldOp>(user)) {
        if (auto loop = dyn_cast<scf::ForOp>(parent))
          derived.insert(loop.getRegionIterArg(number));
        if (auto loop = dyn_cast<scf::WhileOp>(parent))
          derived.insert(loop.getBeforeArguments()[number]);
        else
          derived.insert(parent->getResult(number));
      } else if (isa<scf::ConditionOp>(user)) {
        derived.insert(parent->getResult(number - 1)); // after the condition itself
        derived.insert(cast<scf::WhileOp>(parent).getAfterArguments()[number - 1]);
      } else if (auto loop = dyn_cast<scf::ForOp>(user)) {
        derived.insert(loop.getTiedLoopRegionIterArg(&use));
        derived.insert(loop.getTiedLoopResult(&use));
      } else if (auto loop = dyn_cast<scf::WhileOp>(user)) {
        derived.insert(loop.getBeforeArguments()[number]);
      } else if (auto destined = dyn_cast<DestinationStyleOpInterface>(user);
                 destined && destined.isDpsInit(&use) && user->getNumResults() != 0) {
        derived.insert(destined.getTiedOpResult(&use));
      }
    }
  }
  return derived;
}

bool prepare::isReadBefore(Value tensor, Operation *last) {
  return llvm::all_of(derivedFrom(tensor, last), [&](Value value) {
    return llvm::all_of(value.getUsers(), [&](Operation *user) {
      Operation *inBlock = last->getBlock()->findAncestorOpInBlock(*user);
      if (inBlock != last)
        return inBlock && inBlock->isBeforeInBlock(last);
      return isa<scf::YieldOp>(last) || (value == tensor && (user == last || isa<scf::IfOp>(last)));
    });
  });
}
