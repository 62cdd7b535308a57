// See StepWork.h.
#include "StepWork.h"
#include "Analysis/ParallelLoops.h"
#include "array/IR/Array.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::array {

namespace {

/// Loops of less than some time, in a loop of the program, are shared only if the shared work of a step is a multiple
/// of the rest of it: the thread that does the rest reads the results of the others from their caches, and the next
/// loop gives them back.
constexpr struct {
  double ns, multiple;
} leastShares[] = {{16000, 20}, {64000, 4}};

/// The work of a step of a loop of the program, in nanoseconds of one thread.
struct StepWork {
  double shared = 0, rest = 0;
  SmallVector<std::pair<scf::ForOp, double>> loops;

  explicit StepWork(ModuleOp module) : module(module) {}

  void add(Region &region, double times = 1) {
    for (Block &block : region)
      for (Operation &op : block)
        add(op, times);
  }

  static bool isLoopOfProgram(Operation *op) {
    return isa<scf::WhileOp>(op) || (isa<scf::ForOp>(op) && op->hasAttr(kControlFlowAttr));
  }

private:
  void add(Operation &op, double times) {
    if (isLoopOfProgram(&op)) // it has steps of its own
      return;
    auto loop = dyn_cast<scf::ForOp>(op);
    std::optional<APInt> count = loop ? loop.getStaticTripCount() : std::nullopt;
    double trips = count ? double(count->getSExtValue()) : 1;
    if (auto grain = op.getAttrOfType<IntegerAttr>(kParallelAttr)) {
      auto given = op.getAttrOfType<IntegerAttr>(kParallelNsAttr);
      bool isKnown = given || (count && grain.getInt() > 1);
      double work = given ? double(given.getInt()) : isKnown ? trips * kGrainNs / double(grain.getInt()) : kSharedNs;
      shared += times * work;
      if (isKnown)
        loops.emplace_back(loop, work);
      return;
    }
    for (Region &region : op.getRegions())
      add(region, times * trips);
    if (auto call = dyn_cast<func::CallOp>(op))
      if (auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee()); callee && !callee.isExternal())
        add(callee.getBody(), times);
    rest += times * nsOf(op);
  }

  /// Roughly: a register of numbers that is computed or stored takes two cycles, and a number in memory, which is often
  /// the only one of its cache line, several more.
  static double nsOf(Operation &op) {
    constexpr double nsOfRegister = 0.5, nsOfNumber = 4, registerBits = 512;
    if (isa<memref::LoadOp, memref::StoreOp>(op))
      return nsOfNumber;
    if (auto gather = dyn_cast<vector::GatherOp>(op))
      return nsOfNumber * double(gather.getVectorType().getNumElements());
    if (auto scatter = dyn_cast<vector::ScatterOp>(op))
      return nsOfNumber * double(scatter.getVectorType().getNumElements());
    double registers = 0;
    auto count = [&](Value value) {
      auto vector = dyn_cast<VectorType>(value.getType());
      Type element = getElementTypeOrSelf(value.getType());
      if (element.isIntOrFloat())
        registers = std::max(
            registers, vector ? double(vector.getNumElements()) * element.getIntOrFloatBitWidth() / registerBits : 1);
    };
    if (isa<vector::StoreOp, vector::MaskedStoreOp>(op))
      llvm::for_each(op.getOperands(), count);
    else if (!op.hasTrait<OpTrait::ConstantLike>())
      llvm::for_each(op.getResults(), count);
    return nsOfRegister * std::max(registers, registers > 0 ? 1.0 : 0.0);
  }

  ModuleOp module;
};

} // namespace

void keepSmallLoops(func::FuncOp function) {
  function.walk([&](Operation *op) {
    if (!StepWork::isLoopOfProgram(op))
      return;
    StepWork work(function->getParentOfType<ModuleOp>());
    for (Region &region : op->getRegions())
      work.add(region);
    for (auto [loop, ns] : work.loops)
      for (auto limit : leastShares)
        if (ns < limit.ns && work.rest * limit.multiple > work.shared)
          loop->removeAttr(kParallelAttr);
  });
}

} // namespace mlir::array
