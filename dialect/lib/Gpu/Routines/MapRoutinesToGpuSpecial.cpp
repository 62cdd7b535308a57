// The routine `special`: an elementwise operation that calls a function for each element. array-map-to-gpu maps it like
// others.
#include "RoutineLauncher.h"
#include "runtime/Abi.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::array {

namespace {

/// f32 is computed in f64, as on the CPU.
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

} // namespace

ArrayRef<Routine> specialRoutines() {
  static constexpr Routine rows[] = {{"special", mapSpecial}};
  return rows;
}

} // namespace mlir::array
