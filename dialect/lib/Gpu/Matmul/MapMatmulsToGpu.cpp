// array-map-matmuls-to-gpu: contractions and convolutions on buffers become launches of kernels that compute tiles,
// with their epilogues. It runs after array-forward-copies, and before array-reuse-buffers and array-plan-memory,
// because it allocates memory for partial sums. array-map-to-gpu lowers the remaining operations.
//
// GpuMatmulForm.cpp reads an operation as a matmul, GpuMatmulTiling.cpp chooses its tiles, GpuMatmulEmitter.cpp emits
// the kernel.
#include "Analysis/ContractionForm.h"
#include "Cpu/Matmul/MatmulEpilogue.h"
#include "GpuMatmulEmitter.h"
#include "GpuMatmulEpilogue.h"
#include "array/Gpu/Nvvm.h"
#include "array/Gpu/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::array {

#define GEN_PASS_DEF_MAPMATMULSTOGPU
#include "array/Gpu/Passes.h.inc"

namespace {

/// The number in a name like sm_90a: 90.
std::optional<unsigned> capabilityOf(StringRef chip) {
  unsigned capability = 0;
  if (!chip.consume_front("sm_") || chip.consumeInteger(10, capability) || capability < 75)
    return std::nullopt;
  return capability;
}

/// A buffer for each split's sums, of the shape of the result.
Value allocatePartial(ImplicitLocOpBuilder &b, linalg::LinalgOp op, int64_t splits) {
  auto type = cast<MemRefType>(op.getDpsInits().front().getType());
  SmallVector<int64_t> shape{splits};
  llvm::append_range(shape, type.getShape());
  return memref::AllocOp::create(b, MemRefType::get(shape, type.getElementType()), b.getI64IntegerAttr(64));
}

/// Adds each split's sums to the result, in their order: array-map-to-gpu makes a kernel of it.
void addPartial(ImplicitLocOpBuilder &b, linalg::LinalgOp op, Value partial) {
  Value result = op.getDpsInits().front();
  unsigned rank = cast<MemRefType>(partial.getType()).getRank();
  SmallVector<AffineMap> maps{b.getMultiDimIdentityMap(rank), b.getMultiDimIdentityMap(rank).dropResult(0)};
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  loops.front() = utils::IteratorType::reduction;
  linalg::GenericOp::create(b, partial, result, maps, loops, [](OpBuilder &body, Location loc, ValueRange values) {
    Value sum = isa<FloatType>(values[0].getType())
                    ? arith::AddFOp::create(body, loc, values[1], values[0]).getResult()
                    : arith::AddIOp::create(body, loc, values[1], values[0]).getResult();
    linalg::YieldOp::create(body, loc, sum);
  });
}

struct MapMatmulsToGpu : impl::MapMatmulsToGpuBase<MapMatmulsToGpu> {
  using MapMatmulsToGpuBase::MapMatmulsToGpuBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    MapMatmulsToGpuBase::getDependentDialects(registry);
    registerNvvmDialects(registry);
  }

  void runOnOperation() override {
    std::optional<unsigned> known = capabilityOf(chip);
    if (!known) {
      getOperation().emitError("array-map-matmuls-to-gpu: expected the option 'chip' to name one from sm_75 on, got '")
          << chip << "'";
      return signalPassFailure();
    }
    target = {*known, /*hasWarpgroups=*/chip == "sm_90a", leastBlocks};
    SmallVector<linalg::LinalgOp> products;
    getOperation().walk([&](linalg::LinalgOp op) {
      if (op.getNumReductionLoops() > 0)
        products.push_back(op);
    });
    // Backwards: the search for a matmul's fill must not meet kernels.
    for (linalg::LinalgOp op : llvm::reverse(products))
      map(op);
  }

  void map(linalg::LinalgOp op) const {
    FailureOr<GpuMatmul> product = readGpuProduct(op);
    std::optional<GpuMatmulTiling> plan = planFor(product);
    if (!plan)
      return;
    if (plan->splits > 1)
      return emitSplit(op, *plan);
    linalg::FillOp fill = findZeroFill(op, op.getDpsInits().front());
    linalg::GenericOp epilogue = fill ? findEpilogue(op) : linalg::GenericOp();
    if (epilogue && canFuse(op, epilogue)) {
      FailureOr<GpuMatmul> fused = readGpuProduct(op, epilogue);
      if (std::optional<GpuMatmulTiling> planned = planFor(fused))
        return emitFused(*fused, *planned);
    }
    ImplicitLocOpBuilder b(op->getLoc(), op);
    emitProduct(b, *product, *plan, /*accumulates=*/!fill);
    if (fill)
      fill.erase();
    op.erase();
  }

  std::optional<GpuMatmulTiling> planFor(const FailureOr<GpuMatmul> &product) const {
    return succeeded(product) ? tileProduct(*product, target) : std::nullopt;
  }

  /// The matmul with its epilogue, at the epilogue's position. The sums need no memory.
  static void emitFused(const GpuMatmul &product, const GpuMatmulTiling &plan) {
    ImplicitLocOpBuilder b(product.epilogue->getLoc(), product.epilogue);
    emitProduct(b, product, plan, /*accumulates=*/false);
    eraseWithEpilogue(product.op, product.epilogue);
  }

  static void emitSplit(linalg::LinalgOp op, const GpuMatmulTiling &plan) {
    ImplicitLocOpBuilder b(op->getLoc(), op);
    linalg::FillOp fill = findZeroFill(op, op.getDpsInits().front());
    Value partial = allocatePartial(b, op, plan.splits);
    FailureOr<GpuMatmul> product = readGpuProduct(op, {}, partial);
    emitProduct(b, *product, plan, /*accumulates=*/false);
    if (fill)
      fill->moveBefore(op); // array-map-to-gpu takes a fill right before a reduction as its initial value
    addPartial(b, op, partial);
    op.erase();
  }

  GpuMatmulChip target{};
};

} // namespace
} // namespace mlir::array
