// convert-array-to-linalg: the conversion's target and its patterns. Before it: array modules, simplified and with
// calls inlined. After it: array-fuse-elementwise.
#include "Contraction.h"
#include "array/Conversion/Passes.h"
#include "array/IR/Array.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::array {
#define GEN_PASS_DEF_CONVERTARRAYTOLINALG
#include "array/Conversion/Passes.h.inc"
} // namespace mlir::array

using namespace mlir;
using namespace mlir::array;

namespace {

struct ConvertArrayToLinalg : array::impl::ConvertArrayToLinalgBase<ConvertArrayToLinalg> {
  using ConvertArrayToLinalgBase::ConvertArrayToLinalgBase;

  void runOnOperation() override {
    if (narrowFactors)
      multiplyNarrowFactors(getOperation());
    StorageTypeConverter converter;
    ConversionTarget target(getContext());
    target.addIllegalDialect<ArrayDialect>();
    target.addLegalOp<RuntimeCallOp, SymbolOp, SpendOp>();
    target.addDynamicallyLegalOp<OptimizationBarrierOp>([&](OptimizationBarrierOp op) {
      return converter.isLegal(op) && op.getNumOperands() == 1 &&
             cast<RankedTensorType>(op.getOperandTypes().front()).getRank() != 0;
    });
    target.addDynamicallyLegalOp<func::FuncOp>([&](func::FuncOp op) {
      return converter.isSignatureLegal(op.getFunctionType()) && converter.isLegal(&op.getBody());
    });
    target.markUnknownOpDynamicallyLegal([&](Operation *op) { return converter.isLegal(op); });

    RewritePatternSet patterns(&getContext());
    populateElementwise(converter, patterns);
    populateCreation(converter, patterns);
    populateMovement(converter, patterns);
    populateIndexing(converter, patterns);
    populateGather(converter, patterns);
    populateScatter(converter, patterns, hasThreads);
    populateReduction(converter, patterns);
    populateContraction(converter, patterns);
    (narrowFactors ? populateNarrowConvolution : populateConvolution)(converter, patterns);
    populateCumulative(converter, patterns);
    populateWindow(converter, patterns, hasThreads);
    populateRandom(converter, patterns);
    populateLinearAlgebra(converter, patterns);
    populateBits(converter, patterns);
    populateSpecial(converter, patterns);
    populateFft(converter, patterns);
    populateCollectives(converter, patterns);
    populateCalls(converter, patterns);
    populateEffects(converter, patterns);
    populateControlFlow(converter, patterns);
    populateKernels(converter, patterns, hasThreads);
    populateFunctionOpInterfaceTypeConversionPattern<func::FuncOp>(patterns, converter);
    populateCallOpTypeConversionPattern(patterns, converter);
    populateReturnOpTypeConversionPattern(patterns, converter);

    ConversionConfig config;
    config.allowPatternRollback = false; // no pattern fails after a change, and the undo log takes time
    config.foldingMode = DialectConversionFoldingMode::Never; // canonicalization ran before
    if (failed(applyFullConversion(getOperation(), target, std::move(patterns), config)))
      signalPassFailure();
  }
};

} // namespace
