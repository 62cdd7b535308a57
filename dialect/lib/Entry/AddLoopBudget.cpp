// array-add-loop-budget: a loop of unknown length may take a microsecond or never end. For speculative runs, each
// iteration subtracts its operations from a budget, and a run that has used up its budget stops. A loop over a number
// of the program, whose length is known before it begins, subtracts all of them there.
#include "array/Entry/Entry.h"
#include "array/Entry/Passes.h"
#include "array/IR/Array.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::array {

#define GEN_PASS_DEF_ADDLOOPBUDGET
#include "array/Entry/Passes.h.inc"

namespace {

/// The cost of a function whose body is elsewhere (part of a matmul).
constexpr int64_t kCallCost = 1000;
/// The cost of a runtime routine, and of a loop that threads share: a decomposition takes long even for a small matrix.
constexpr int64_t kRoutineCost = 100 * kCallCost;
/// The assumed trip count of a loop without constant bounds.
constexpr int64_t kUnknownTrips = 16;
/// Larger costs make no difference, and sums and products of costs up to this do not overflow.
constexpr int64_t kMost = int64_t(1) << 30;

/// Whether a loop counts a number of the program (array-uplift-loops); all others are over an index.
bool isUplifted(Operation *op) {
  auto loop = dyn_cast<scf::ForOp>(op);
  return loop && !loop.getInductionVar().getType().isIndex() && !loop.getStaticTripCount();
}

bool hasUnknownLength(Operation *op) { return isa<scf::WhileOp>(op) || isUplifted(op); }

/// The approximate number of operations of one run.
class OperationCount {
public:
  explicit OperationCount(ModuleOp module) : symbols(module) {}

  int64_t of(Region &region) {
    int64_t count = 0;
    for (Block &block : region)
      for (Operation &op : block)
        count += of(op);
    return std::min(count, kMost);
  }

private:
  int64_t of(Operation &op) {
    if (hasUnknownLength(&op)) // counts for itself
      return 0;
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return std::min(tripsOf(loop) * std::min(of(loop.getRegion()) + 1, kMost), kMost);
    if (auto call = dyn_cast<func::CallOp>(op))
      return of(symbols.lookup<func::FuncOp>(call.getCallee()));
    if (isa<RuntimeCallOp, LLVM::CallOp>(op))
      return kRoutineCost;
    if (op.hasTrait<OpTrait::ConstantLike>() || op.hasTrait<OpTrait::IsTerminator>())
      return 0;
    int64_t count = 1;
    for (Region &region : op.getRegions())
      count += of(region);
    return std::min(count, kMost);
  }

  int64_t of(func::FuncOp callee) {
    if (!callee || callee.isExternal())
      return kCallCost;
    auto [known, isNew] = ofFunctions.try_emplace(callee, kCallCost); // in case it calls itself
    if (!isNew)
      return known->second;
    return ofFunctions[callee] = of(callee.getBody());
  }

  static int64_t tripsOf(scf::ForOp loop) {
    std::optional<llvm::APInt> trips = loop.getStaticTripCount();
    return trips ? trips->getLimitedValue(kMost) : kUnknownTrips;
  }

  SymbolTable symbols;
  DenseMap<func::FuncOp, int64_t> ofFunctions;
};

bool actsOutside(RuntimeCallOp call) {
  return (call.getEffectful() && call.getName() != "check") || call.getName() == "host_call" ||
         call.getName().starts_with("collective");
}

bool writesArgument(func::FuncOp main) {
  return llvm::any_of(llvm::seq(main.getNumArguments()), [&](unsigned index) {
    return getEntryRole(main, index) == EntryRole::Argument && main.getArgAttr(index, kWrittenAttr);
  });
}

/// The length of a loop in steps of 1, at most kMost.
Value lengthOf(OpBuilder &b, scf::ForOp loop) {
  Location loc = loop.getLoc();
  auto wide = [&](Value value) -> Value {
    return value.getType().isInteger(64) ? value : arith::ExtSIOp::create(b, loc, b.getI64Type(), value);
  };
  auto constant = [&](int64_t value) { return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value)); };
  Value length = arith::SubIOp::create(b, loc, wide(loop.getUpperBound()), wide(loop.getLowerBound()));
  length = arith::MaxSIOp::create(b, loc, length, constant(0));
  return arith::MinSIOp::create(b, loc, length, constant(kMost));
}

struct AddLoopBudget : impl::AddLoopBudgetBase<AddLoopBudget> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto main = module.lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal() || writesArgument(main))
      return;
    SmallVector<Operation *> loops;
    bool runsOnce = false;
    module.walk([&](Operation *op) {
      if (auto call = dyn_cast<RuntimeCallOp>(op))
        runsOnce |= actsOutside(call);
      if (hasUnknownLength(op)) {
        runsOnce |= op->getParentOfType<func::FuncOp>() != main;
        loops.push_back(op);
      }
    });
    if (runsOnce || loops.empty())
      return;
    OperationCount count(module);
    for (Operation *op : loops) {
      int64_t each = 0;
      for (Region &region : op->getRegions())
        each += count.of(region);
      each = std::max<int64_t>(1, each);
      OpBuilder builder(op);
      if (auto loop = dyn_cast<scf::WhileOp>(op)) {
        builder.setInsertionPointToStart(loop.getBeforeBody());
        SpendOp::create(builder, op->getLoc(), each, /*times=*/Value());
      } else {
        SpendOp::create(builder, op->getLoc(), each, lengthOf(builder, cast<scf::ForOp>(op)));
      }
    }
    module->setAttr(kLoopBudgetAttr, UnitAttr::get(&getContext()));
  }
};

} // namespace
} // namespace mlir::array
