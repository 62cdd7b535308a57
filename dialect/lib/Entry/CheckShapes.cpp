// array-check-shapes: refuses values whose number of bytes overflows. It is the first pass of every pipeline.
#include "array/Entry/Passes.h"
#include "array/IR/Array.h"
#include "array/IR/Bytes.h"

#include "mlir/IR/BuiltinOps.h"

namespace mlir::array {

#define GEN_PASS_DEF_CHECKSHAPES
#include "array/Entry/Passes.h.inc"

namespace {

constexpr uint64_t kMostSymbols = 1024;

struct CheckShapes : impl::CheckShapesBase<CheckShapes> {
  void runOnOperation() override {
    DenseSet<Type> good;
    auto isGood = [&](Type type) {
      auto shaped = dyn_cast<ShapedType>(type);
      if (!shaped || !shaped.hasRank() || good.contains(type))
        return true;
      if (!countBytes(shaped))
        return false;
      good.insert(type);
      return true;
    };
    WalkResult result = getOperation()->walk([&](Operation *op) -> WalkResult {
      // Symbols are numbered: a call passes the sizes of all up to the last one.
      if (auto symbol = dyn_cast<SymbolOp>(op); symbol && symbol.getNumber() >= kMostSymbols)
        return op->emitOpError("has the number ") << symbol.getNumber() << ", expected less than " << kMostSymbols;
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (BlockArgument argument : block.getArguments())
            if (!isGood(argument.getType()))
              return mlir::emitError(argument.getLoc())
                     << "argument #" << argument.getArgNumber() << " is " << argument.getType()
                     << ", which takes more bytes than 2**63 - 1";
      for (OpResult value : op->getResults())
        if (!isGood(value.getType()))
          return op->emitOpError("result #")
                 << value.getResultNumber() << " is " << value.getType() << ", which takes more bytes than 2**63 - 1";
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
} // namespace mlir::array
