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

/// The patterns, and the types that they convert. Kept from run to run: some 200 patterns take longer to create than a
/// small program to convert.
struct Rules {
  Rules(MLIRContext *context, bool hasThreads, bool narrowFactors) {
    RewritePatternSet set(context);
    populateElementwise(converter, set);
    populateCreation(converter, set);
    populateMovement(converter, set);
    populateIndexing(converter, set);
    populateGather(converter, set);
    populateScatter(converter, set, hasThreads);
    populateReduction(converter, set);
    populateContraction(converter, set);
    (narrowFactors ? populateNarrowConvolution : populateConvolution)(converter, set);
    populateCumulative(converter, set);
    populateWindow(converter, set, hasThreads);
    populateRandom(converter, set);
    populateLinearAlgebra(converter, set);
    populateBits(converter, set);
    populateSpecial(converter, set);
    populateFft(converter, set);
    populateCollectives(converter, set);
    populateCalls(converter, set);
    populateEffects(converter, set);
    populateControlFlow(converter, set);
    populateKernels(converter, set);
    populateFunctionOpInterfaceTypeConversionPattern<func::FuncOp>(set, converter);
    populateCallOpTypeConversionPattern(set, converter);
    populateReturnOpTypeConversionPattern(set, converter);
    patterns = FrozenRewritePatternSet(std::move(set));
  }

  StorageTypeConverter converter;
  FrozenRewritePatternSet patterns;
};

struct ConvertArrayToLinalg : array::impl::ConvertArrayToLinalgBase<ConvertArrayToLinalg> {
  using ConvertArrayToLinalgBase::ConvertArrayToLinalgBase;

  LogicalResult initialize(MLIRContext *context) override {
    rules = std::make_shared<const Rules>(context, hasThreads, narrowFactors);
    return success();
  }

  void runOnOperation() override {
    if (narrowFactors)
      multiplyNarrowFactors(getOperation());
    const StorageTypeConverter &converter = rules->converter;
    ConversionTarget target(getContext());
    target.addIllegalDialect<ArrayDialect>();
    target.addLegalOp<RuntimeCallOp, SymbolOp, ThreadsOp, SpendOp>();
    target.addDynamicallyLegalOp<OptimizationBarrierOp>([&](OptimizationBarrierOp op) {
      return converter.isLegal(op) && op.getNumOperands() == 1 &&
             cast<RankedTensorType>(op.getOperandTypes().front()).getRank() != 0;
    });
    target.addDynamicallyLegalOp<func::FuncOp>([&](func::FuncOp op) {
      return converter.isSignatureLegal(op.getFunctionType()) && converter.isLegal(&op.getBody());
    });
    target.markUnknownOpDynamicallyLegal([&](Operation *op) { return converter.isLegal(op); });

    ConversionConfig config;
    config.allowPatternRollback = false; // no pattern fails after a change, and the undo log takes time
    config.foldingMode = DialectConversionFoldingMode::Never; // canonicalization ran before
    if (failed(applyFullConversion(getOperation(), target, rules->patterns, config)))
      signalPassFailure();
  }

  std::shared_ptr<const Rules> rules; ///< Passes are copied.
};

} // namespace
