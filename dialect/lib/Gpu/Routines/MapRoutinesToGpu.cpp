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
      if (failed(takeWholeBuffers(call)))
        return signalPassFailure();
      RoutineLauncher launcher(call, getOperation());
      if (failed(routine->map(launcher)))
        return signalPassFailure();
      call.erase();
    }
  }

  /// Parts of buffers become copies of their own: functions of the device library take aligned pointers. A part that is
  /// written is copied back.
  static LogicalResult takeWholeBuffers(RuntimeCallOp call) {
    OpBuilder b(call);
    const unsigned inputs = call.getIns().size(), buffers = inputs + call.getOuts().size();
    for (OpOperand &operand : call->getOpOperands().take_front(buffers)) {
      auto type = cast<MemRefType>(operand.get().getType());
      if (!type.hasStaticShape())
        return call.emitError("operand #")
               << operand.getOperandNumber() << " must have a static shape, but is " << type;
      if (type.getLayout().isIdentity())
        continue;
      Value part = operand.get();
      Value whole = memref::AllocOp::create(b, call.getLoc(), MemRefType::get(type.getShape(), type.getElementType()));
      operand.set(whole);
      if (operand.getOperandNumber() < inputs) {
        memref::CopyOp::create(b, call.getLoc(), part, whole);
        continue;
      }
      OpBuilder after(call->getContext());
      after.setInsertionPointAfter(call);
      memref::CopyOp::create(after, call.getLoc(), whole, part);
    }
    return success();
  }
};

} // namespace
} // namespace mlir::array
