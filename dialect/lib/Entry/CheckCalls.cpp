// array-check-calls: refuses modules in which inlining all calls would not end, or would make too many operations: a
// function that calls itself, or a chain of functions that each call the next one several times. Runs before the
// inliner, which has no limit.
#include "array/Entry/CheckCalls.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::array {
namespace {

/// The maximum number of operations of a module after inlining.
constexpr uint64_t mostOperations = uint64_t(1) << 20;

struct CheckCalls : PassWrapper<CheckCalls, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CheckCalls)
  StringRef getArgument() const override { return "array-check-calls"; }
  StringRef getDescription() const override {
    return "Refuse calls whose inlining does not end, or makes too many operations";
  }

  void runOnOperation() override {
    markAllAnalysesPreserved();
    SymbolTable symbols(getOperation());
    sizes.clear();
    open.clear();
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      FailureOr<uint64_t> size = sizeOf(function, symbols);
      if (failed(size))
        return signalPassFailure();
      if (*size <= mostOperations || function.isPrivate())
        continue;
      function.emitError("@")
          << function.getSymName() << " becomes " << (*size == UINT64_MAX ? "more than " : "") << *size
          << " operations, since each call is inlined, and at most " << mostOperations
          << " can be compiled\nWhat to do: compute repeated calls with the same arguments once, or "
             "call the function in a loop (array.scan, array.while)";
      return signalPassFailure();
    }
  }

  /// The number of operations of a function and all its callees.
  FailureOr<uint64_t> sizeOf(func::FuncOp function, SymbolTable &symbols) {
    if (auto known = sizes.find(function); known != sizes.end())
      return known->second;
    open.insert(function);
    uint64_t size = 0;
    WalkResult walked = function.walk([&](Operation *op) {
      size = llvm::SaturatingAdd(size, uint64_t(1));
      auto call = dyn_cast<CallOpInterface>(op);
      auto symbol = call ? dyn_cast<SymbolRefAttr>(call.getCallableForCallee()) : SymbolRefAttr();
      auto callee = symbol ? symbols.lookup<func::FuncOp>(symbol.getLeafReference()) : func::FuncOp();
      if (!callee)
        return WalkResult::advance();
      if (open.contains(callee)) {
        op->emitError("@") << callee.getSymName()
                           << " calls itself, directly or through other functions: recursion is not supported, because "
                              "calls are inlined\n"
                              "What to do: write the recursion as a loop (array.while, array.scan)";
        return WalkResult::interrupt();
      }
      FailureOr<uint64_t> inner = sizeOf(callee, symbols);
      if (failed(inner))
        return WalkResult::interrupt();
      size = llvm::SaturatingAdd(size, *inner);
      return WalkResult::advance();
    });
    open.erase(function);
    if (walked.wasInterrupted())
      return failure();
    return sizes[function] = size;
  }

  DenseMap<Operation *, uint64_t> sizes;
  DenseSet<Operation *> open; // functions whose callees are being visited
};

} // namespace

std::unique_ptr<Pass> createCheckCalls() { return std::make_unique<CheckCalls>(); }

void registerCheckCallsPass() { PassRegistration<CheckCalls>(); }

} // namespace mlir::array
