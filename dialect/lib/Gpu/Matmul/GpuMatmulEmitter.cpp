// Joins the parts of a matmul's kernel (GpuMatmulEmitter.h): a block computes a tile of the result, whose terms pass
// through shared memory in stages. While a stage is multiplied, later ones are being loaded.
#include "GpuMatmulEmitter.h"
#include "GpuMatmulInstructions.h"
#include "GpuMatmulStore.h"
#include "array/Gpu/Kernels.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::array {

namespace {

/// Concurrent blocks should read the same rows and columns: blocks are numbered down some rows of tiles, then on to the
/// next columns.
constexpr int64_t kRowsOfTiles = 8;

class Emitter {
public:
  Emitter(ImplicitLocOpBuilder &b, const GpuMatmul &product, const GpuMatmulTiling &plan)
      : b(b), product(product), plan(plan), stages(llvm::divideCeil(sizeOf(product.k), plan.tile.k)) {}

  void emit(bool accumulates) {
    int64_t tiles = tilesM() * tilesN(), batch = sizeOf(product.batch);
    auto constant = [&](int64_t value) { return arith::ConstantIndexOp::create(b, value).getResult(); };
    Value one = constant(1);
    launch = gpu::LaunchOp::create(b, constant(tiles), constant(plan.splits), constant(batch),
                                   constant(plan.tile.threads()), one, one, dynamicBytes());
    launch->setAttr(kLaunchNameAttr, b.getStringAttr("product"));
    if (plan.tile.resident > 1)
      launch->setAttr(kResidentBlocksAttr, b.getI32IntegerAttr(static_cast<int32_t>(plan.tile.resident)));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&launch.getBody().front());
    kernel.emplace(b, launch, product, plan);
    placeBlock();
    placeThread();
    loaders.emplace_back(*kernel, 0);
    loaders.emplace_back(*kernel, 1);
    std::unique_ptr<GpuMatmulMultiplier> multiplier = makeProductMultiplier(*kernel, loaders[0], loaders[1]);
    SmallVector<Value> sums = multiplier->finish(emitLoop(*multiplier));
    Value start = kernel->mul(launch.getBlockIds().y, product.splitStep);
    storeProduct(*kernel, multiplier->fragments(sums), accumulates, start);
    gpu::TerminatorOp::create(b);
  }

private:
  Value dynamicBytes() {
    if (plan.dynamicBytes == 0)
      return {};
    return arith::ConstantIntOp::create(b, b.getI32Type(), plan.dynamicBytes);
  }

  int64_t tilesM() const { return llvm::divideCeil(sizeOf(product.m), plan.tile.m); }
  int64_t tilesN() const { return llvm::divideCeil(sizeOf(product.n), plan.tile.n); }

  void placeBlock() {
    Value block = launch.getBlockIds().x, row, column;
    int64_t perGroup = kRowsOfTiles * tilesN();
    if (tilesM() <= kRowsOfTiles) {
      row = kernel->rem(block, tilesM());
      column = kernel->div(block, tilesM());
    } else {
      Value first = kernel->mul(kernel->div(block, perGroup), kRowsOfTiles), within = kernel->rem(block, perGroup);
      Value left = arith::SubIOp::create(b, kernel->index(tilesM()), first);
      Value rows = tilesM() % kRowsOfTiles == 0
                       ? kernel->index(kRowsOfTiles)
                       : arith::MinUIOp::create(b, left, kernel->index(kRowsOfTiles)).getResult();
      row = kernel->add(first, arith::RemUIOp::create(b, within, rows));
      column = arith::DivUIOp::create(b, within, rows);
    }
    kernel->firstRow = kernel->mul(row, plan.tile.m);
    kernel->firstColumn = kernel->mul(column, plan.tile.n);
    kernel->batch = launch.getBlockIds().z;
  }

  void placeThread() {
    kernel->warp = kernel->div(kernel->thread, 32);
    kernel->lane = kernel->rem(kernel->thread, 32);
  }

  /// The sums of the block's terms. An iteration of the pipeline commits the last copies, waits for the next stage, has
  /// a barrier, starts loads for the stage that was multiplied last, and multiplies.
  SmallVector<Value> emitLoop(GpuMatmulMultiplier &multiplier) {
    int64_t perSplit = llvm::divideCeil(stages, plan.splits), ahead = plan.tile.stages - multiplier.stagesHeld();
    Value begin = kernel->index(0), one = kernel->index(1);
    end = kernel->index(stages);
    if (plan.splits > 1) {
      begin = kernel->mul(launch.getBlockIds().y, perSplit);
      end = arith::MinUIOp::create(b, kernel->add(begin, perSplit), end);
    }
    for (int64_t stage = 0; stage < ahead; ++stage) {
      SmallVector<Value> held = beginLoads(kernel->add(begin, stage), kernel->index(stage));
      finishLoads(held, kernel->index(stage));
      if (stage + 1 < ahead)
        commit();
    }
    auto loop = scf::ForOp::create(b, begin, end, one, multiplier.zeros());
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    if (commit())
      createWaitForCopies(b, ahead - 1);
    if (plan.unit == GpuMatmulUnit::Warpgroups) // warpgroups read shared memory through descriptors
      createSharedMemoryFence(b);
    gpu::BarrierOp::create(b);
    Value number = arith::SubIOp::create(b, loop.getInductionVar(), begin);
    Value stage = kernel->rem(number, plan.tile.stages);
    Value later = kernel->rem(kernel->add(number, ahead), plan.tile.stages);
    SmallVector<Value> held = beginLoads(kernel->add(loop.getInductionVar(), ahead), later);
    SmallVector<Value> sums = multiplier.add(loop.getRegionIterArgs(), stage);
    finishLoads(held, later);
    scf::YieldOp::create(b, sums);
    return loop.getResults();
  }

  /// Starts the loads of both factors, unless there are no more terms.
  SmallVector<Value> beginLoads(Value number, Value stage) {
    SmallVector<Type> types;
    for (GpuMatmulLoader &loader : loaders)
      llvm::append_range(types, loader.held());
    auto isThere = scf::IfOp::create(b, types, kernel->isBelow(number, end), /*withElseRegion=*/!types.empty());
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(isThere.thenBlock());
    SmallVector<Value> held;
    for (GpuMatmulLoader &loader : loaders)
      llvm::append_range(held, loader.begin(kernel->mul(number, plan.tile.k), stage));
    if (types.empty())
      return {};
    scf::YieldOp::create(b, held);
    b.setInsertionPointToStart(isThere.elseBlock());
    SmallVector<Value> nothing = llvm::map_to_vector(
        types, [&](Type type) { return arith::ConstantOp::create(b, b.getZeroAttr(type)).getResult(); });
    scf::YieldOp::create(b, nothing);
    return isThere.getResults();
  }

  void finishLoads(ValueRange held, Value stage) {
    for (GpuMatmulLoader &loader : loaders) {
      size_t count = loader.held().size();
      if (count > 0)
        loader.finish(held.take_front(count), stage);
      held = held.drop_front(count);
    }
  }

  /// Makes a group of the copies since the last commit, for a later wait. False if there are no such copies.
  bool commit() {
    if (llvm::none_of(loaders, [](GpuMatmulLoader &loader) { return loader.isAsync(); }))
      return false;
    createCommitCopies(b);
    return true;
  }

  ImplicitLocOpBuilder &b;
  const GpuMatmul &product;
  const GpuMatmulTiling &plan;
  int64_t stages; ///< of all terms
  gpu::LaunchOp launch;
  std::optional<GpuMatmulKernel> kernel;
  SmallVector<GpuMatmulLoader, 2> loaders;
  Value end;
};

} // namespace

void emitProduct(ImplicitLocOpBuilder &b, const GpuMatmul &product, const GpuMatmulTiling &plan, bool accumulates) {
  Emitter(b, product, plan).emit(accumulates);
}

} // namespace mlir::array
