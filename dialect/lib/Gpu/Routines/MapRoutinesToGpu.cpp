// array-map-routines-to-gpu: calls of the runtime's library become launches of functions of the device library. Runs
// right before array-map-to-gpu; array-plan-memory places the memory that it allocates. Routines without a row in a
// family's table stay calls.
#include "LibraryRoutines.h"
#include "array/Gpu/Kernels.h"
#include "array/Gpu/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::array {

#define GEN_PASS_DEF_MAPROUTINESTOGPU
#include "array/Gpu/Passes.h.inc"

const Routine *findRoutine(StringRef name) {
  for (ArrayRef<Routine> family : {specialRoutines(), cumulativeRoutines(), sortRoutines(), windowRoutines(),
                                   fftRoutines(), linearAlgebraRoutines(), spectralRoutines()})
    for (const Routine &row : family)
      if (row.name == name)
        return &row;
  return nullptr;
}

namespace {

struct MapRoutinesToGpu : impl::MapRoutinesToGpuBase<MapRoutinesToGpu> {
  void runOnOperation() override {
    SmallVector<RuntimeCallOp> calls;
    getOperation().walk([&](RuntimeCallOp call) { calls.push_back(call); });
    for (RuntimeCallOp call : calls) {
      const Routine *routine =
          call->hasAttr(kLibraryAttr) ? findLibraryRoutine(call.getName()) : findRoutine(call.getName());
      if (!routine)
        continue;
      if (failed(checkBuffers(call)))
        return signalPassFailure();
      RoutineLauncher launcher(call, getOperation());
      if (failed(routine->map(launcher)))
        return signalPassFailure();
      call.erase();
    }
  }

  static LogicalResult checkBuffers(RuntimeCallOp call) {
    for (auto [index, type] : llvm::enumerate(call->getOperandTypes())) {
      auto buffer = dyn_cast<MemRefType>(type);
      if (!buffer || !buffer.hasStaticShape() || !buffer.getLayout().isIdentity())
        return call.emitError("operand #") << index << " must be a whole buffer of static shape, but is " << type;
    }
    return success();
  }
};

} // namespace
} // namespace mlir::array
