// array-resolve-sizes: sizes of dimensions become arithmetic on the symbols of the call, at the start of the function
// (SymbolicSizes.h). On tensors it runs right after convert-array-to-linalg, on buffers right after bufferization.
#include "array/Analysis/SymbolicSizes.h"
#include "array/Entry/Passes.h"
#include "array/IR/Array.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::array {

#define GEN_PASS_DEF_RESOLVESIZES
#include "array/Entry/Passes.h.inc"

namespace {

bool isDynamic(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped && shaped.hasRank() && !shaped.hasStaticShape();
}

/// Whether the function has a symbolic size.
bool hasDynamicSizes(func::FuncOp function) {
  if (llvm::any_of(function.getArgumentTypes(), isDynamic))
    return true;
  return function
      .walk([](Operation *op) {
        return isa<SymbolOp>(op) || llvm::any_of(op->getOperandTypes(), isDynamic) ||
                       llvm::any_of(op->getResultTypes(), isDynamic)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

struct ResolveSizes : impl::ResolveSizesBase<ResolveSizes> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || !hasDynamicSizes(function))
      return;
    if (function.getSymName() == "main") {
      if (failed(verify(function)))
        return signalPassFailure();
      nameDimensions(function);
    }
    SymbolicSizes sizes(function);
    sizes.hoist();
    function.walk([&](Operation *op) {
      if (!isa<tensor::DimOp, memref::DimOp>(op))
        return;
      op->emitError("the size of a dimension of ")
          << op->getOperand(0).getType() << " does not follow from the sizes of the arguments of the call";
      signalPassFailure();
    });
  }

private:
  static LogicalResult verify(func::FuncOp main) {
    for (auto [index, type] : llvm::enumerate(main.getArgumentTypes())) {
      Attribute given = main.getArgAttr(index, kDimsAttr);
      auto dims = dyn_cast_or_null<AffineMapAttr>(given);
      auto shaped = dyn_cast<ShapedType>(type);
      if (given && (!dims || !shaped || dims.getValue().getNumDims() != 0 ||
                    dims.getValue().getNumResults() != shaped.getRank()))
        return main.emitError("argument #") << index << " of @main is " << type << ", but its " << kDimsAttr << " is "
                                            << given << ": a map from the symbols to each dimension is expected";
    }
    auto all = main->getAttr(kSymbolsAttr);
    if (countGivenSymbols(main) != countSymbols(main))
      for (auto [index, type] : llvm::enumerate(main.getArgumentTypes()))
        if (isDynamic(type) && !main.getArgAttr(index, kDimsAttr))
          return main.emitError("argument #") << index << " of @main is " << type << " without " << kDimsAttr
                                              << ": it is expected beside symbols that follow from others";
    if (all && (!isa<ArrayAttr>(all) || !llvm::all_of(cast<ArrayAttr>(all), llvm::IsaPred<DictionaryAttr>)))
      return main.emitError(kSymbolsAttr) << " of @main is " << all << ", expected a dictionary for each symbol";
    return success();
  }

  /// Dimensions without a map get symbols of their own, in order, after those that other arguments name.
  static void nameDimensions(func::FuncOp main) {
    unsigned count = 0;
    for (unsigned index = 0; index < main.getNumArguments(); ++index)
      if (auto dims = main.getArgAttrOfType<AffineMapAttr>(index, kDimsAttr))
        count = std::max(count, dims.getValue().getNumSymbols());
    MLIRContext *context = main.getContext();
    for (auto [index, type] : llvm::enumerate(main.getArgumentTypes())) {
      if (!isDynamic(type) || main.getArgAttr(index, kDimsAttr))
        continue;
      SmallVector<AffineExpr> dims;
      for (int64_t size : cast<ShapedType>(type).getShape())
        dims.push_back(ShapedType::isDynamic(size) ? getAffineSymbolExpr(count++, context)
                                                   : getAffineConstantExpr(size, context));
      main.setArgAttr(index, kDimsAttr, AffineMapAttr::get(AffineMap::get(0, count, dims, context)));
    }
  }
};

} // namespace
} // namespace mlir::array
