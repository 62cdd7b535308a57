// array-map-routines-to-gpu: calls of the runtime's library become launches of functions of the device library. Comes
// after array-plan-memory and right before array-map-to-gpu. What has no row in the table stays a call.
#include "RoutineLauncher.h"
#include "array/Gpu/Passes.h"
#include "runtime/Abi.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"

namespace mlir::array {

#define GEN_PASS_DEF_MAPROUTINESTOGPU
#include "array/Gpu/Passes.h.inc"

/// A function of the elements is one of the operations that have a thread for each: it is fused to nothing, but it is
/// mapped as they are. f32 is computed in f64, as on the CPU.
LogicalResult mapSpecial(RoutineLauncher &launcher) {
  constexpr StringLiteral names[] = {
#define PCRT_NAME(name, code, inputs) "special_" #name,
      PCRT_SPECIAL_FUNCTIONS(PCRT_NAME)
#undef PCRT_NAME
  };
  ImplicitLocOpBuilder &b = launcher.builder();
  RuntimeCallOp call = launcher.call;
  FlatSymbolRefAttr function = launcher.doubles(names[launcher.param(0)], call.getIns().size());
  int64_t rank = launcher.outputType(0).getRank();
  SmallVector<AffineMap> maps(call->getNumOperands(), b.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> dims(rank, utils::IteratorType::parallel);
  linalg::GenericOp::create(
      b, call.getIns(), call.getOuts(), maps, dims, [&](OpBuilder &nested, Location loc, ValueRange elements) {
        Type f64 = nested.getF64Type(), stored = elements.back().getType();
        SmallVector<Value> operands;
        for (Value element : elements.drop_back())
          operands.push_back(stored == f64 ? element : arith::ExtFOp::create(nested, loc, f64, element));
        Value value = LLVM::CallOp::create(nested, loc, f64, function, operands).getResult();
        if (stored != f64)
          value = arith::TruncFOp::create(nested, loc, stored, value);
        linalg::YieldOp::create(nested, loc, value);
      });
  return success();
}

namespace {

struct Routine {
  StringRef name;
  LogicalResult (*map)(RoutineLauncher &);
};

constexpr Routine routines[] = {
    {"special", mapSpecial},
};

struct MapRoutinesToGpu : impl::MapRoutinesToGpuBase<MapRoutinesToGpu> {
  void runOnOperation() override {
    SmallVector<RuntimeCallOp> calls;
    getOperation().walk([&](RuntimeCallOp call) { calls.push_back(call); });
    for (RuntimeCallOp call : calls) {
      const Routine *routine = llvm::find_if(routines, [&](const Routine &row) { return row.name == call.getName(); });
      if (routine == std::end(routines))
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
