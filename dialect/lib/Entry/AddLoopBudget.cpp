// array-add-loop-budget: a loop of unknown length may take a microsecond or never end. For speculative runs, each
// iteration subtracts its operations from a budget, and a run that has used up its budget stops.
#include "array/Entry/Entry.h"
#include "array/Entry/Passes.h"
#include "array/IR/Array.h"

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
    if (isa<scf::WhileOp>(op)) // counts for itself
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
    auto [known, isNew] = ofFunctions.try_emplace(callee, kCallCost); // should it call itself
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

struct AddLoopBudget : impl::AddLoopBudgetBase<AddLoopBudget> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto main = module.lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal() || writesArgument(main))
      return;
    SmallVector<scf::WhileOp> loops;
    bool runsOnce = false;
    module.walk([&](Operation *op) {
      if (auto call = dyn_cast<RuntimeCallOp>(op))
        runsOnce |= actsOutside(call);
      if (auto loop = dyn_cast<scf::WhileOp>(op)) {
        runsOnce |= loop->getParentOfType<func::FuncOp>() != main;
        loops.push_back(loop);
      }
    });
    if (runsOnce || loops.empty())
      return;
    OperationCount count(module);
    for (scf::WhileOp loop : loops) {
      int64_t each = std::max<int64_t>(1, count.of(loop.getBefore()) + count.of(loop.getAfter()));
      OpBuilder builder = OpBuilder::atBlockBegin(loop.getBeforeBody());
      SpendOp::create(builder, loop.getLoc(), each);
    }
    module->setAttr(kLoopBudgetAttr, UnitAttr::get(&getContext()));
  }
};

} // namespace
} // namespace mlir::array
