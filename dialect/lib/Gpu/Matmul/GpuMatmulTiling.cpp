// The table of tiles, and the choice among them (GpuMatmulTiling.h). It depends on sizes, types and the chip's
// generation alone, so that the same program gives the same bits on every machine with that chip.
#include "GpuMatmulTiling.h"
#include "MatrixDescriptor.h"
#include "array/IR/Precision.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::array {

namespace {

/// Tiles from the largest to the smallest. Shared memory stays within the 48 KiB that every kernel may have.
///
/// Threads with numbers of up to 4 bytes: 8 x 8 sums of a thread take 64 fused multiply-adds for 16 numbers from shared
/// memory, which balances both units; 128 x 128 multiplies each element from memory 128 times. With three stages of 8
/// terms it takes 25 KiB. Two resident blocks make ptxas limit itself to 128 registers.
constexpr GpuMatmulTile kThreadTiles[] = {
    {128, 128, 8, 4, 2, 3, 2},
    {64, 64, 16, 4, 2, 3},
    {32, 32, 16, 2, 1, 3},
};
/// Numbers of 8 bytes take two registers: 4 x 4 sums.
constexpr GpuMatmulTile kWideThreadTiles[] = {
    {64, 64, 8, 4, 2, 3},
    {32, 32, 8, 2, 1, 3},
};
/// Tensor cores; k counts bytes. A warp's 64 x 32 sums are 64 registers, and 21 operations for each byte from shared
/// memory; the cores of sm_80 need 16. Three stages of 128 x 128 x 64 bytes take 48 KiB.
constexpr GpuMatmulTile kTensorTiles[] = {
    {128, 128, 64, 2, 4, 3},
    {64, 64, 64, 2, 2, 4},
    {32, 32, 64, 2, 1, 4},
};
/// Warpgroups; k counts bytes, those of a descriptor's row. A thread has 128 or 64 sums. 128 x 256 multiplies each byte
/// from memory 85 times on average, which the second cache can sustain; four stages take 192 KiB.
constexpr GpuMatmulTile kWarpgroupTiles[] = {
    {128, 256, 128, 8, 1, 4},
    {128, 128, 128, 8, 1, 4},
};

/// With fewer, a row of threads would have little work: a sum or an update of vectors, bound by memory.
constexpr int64_t kLeastRows = 8, kLeastTerms = 8;
/// Batches are a grid's z.
constexpr int64_t kMostBatches = 65535;
/// The minimum terms of a block if several share a tile; their sums pass through memory.
constexpr int64_t kLeastSplitTerms = 256, kMostSplits = 64;

bool isSingle(ArrayRef<Operation *> casts, StringRef name) {
  return casts.size() == 1 && casts.front()->getName().getStringRef() == name;
}

/// Whether tensor cores can multiply these factors, without loss of precision if none is allowed.
bool haveTensorCores(const GpuMatmul &product, unsigned capability) {
  Type element = product.operands[GpuMatmul::Left].element();
  if (product.operands[GpuMatmul::Right].element() != element)
    return false;
  auto areCast = [&](StringRef name) { return isSingle(product.casts[0], name) && isSingle(product.casts[1], name); };
  if (element.isF16() || element.isBF16())
    return product.sum.isF32() && areCast(arith::ExtFOp::getOperationName()) &&
           capability >= (element.isF16() ? 75 : 80);
  if (element.isF32())
    return product.sum.isF32() && product.casts[0].empty() && product.casts[1].empty() && allowsTf32(product.op) &&
           capability >= 80;
  return element.isInteger(8) && product.sum.isInteger(32) && areCast(arith::ExtSIOp::getOperationName()) &&
         capability >= 80;
}

/// Whether warpgroups can: for 16-bit floats that are copied to shared memory 16 bytes at a time.
bool haveWarpgroups(const GpuMatmul &product) {
  return llvm::all_of(ArrayRef<unsigned>{GpuMatmul::Left, GpuMatmul::Right}, [&](unsigned side) {
    const GpuMatmulDims &outer = side == GpuMatmul::Left ? product.m : product.n;
    int64_t width = std::max(product.widthAlong(side, product.k), product.widthAlong(side, outer));
    return product.operands[side].element().isFloat(16) && width == 8;
  });
}

ArrayRef<GpuMatmulTile> tilesFor(GpuMatmulUnit unit, Type sum) {
  if (unit == GpuMatmulUnit::Warpgroups)
    return kWarpgroupTiles;
  if (unit == GpuMatmulUnit::TensorCores)
    return kTensorTiles;
  return sum.getIntOrFloatBitWidth() > 32 ? ArrayRef(kWideThreadTiles) : ArrayRef(kThreadTiles);
}

} // namespace

std::optional<GpuMatmulTiling> tileProduct(const GpuMatmul &product, const GpuMatmulChip &chip) {
  int64_t m = sizeOf(product.m), n = sizeOf(product.n), k = sizeOf(product.k), batch = sizeOf(product.batch);
  auto hasBytes = [](Type type) { return type.isIntOrFloat() && type.getIntOrFloatBitWidth() % 8 == 0; };
  bool isMultiplied = llvm::all_of(product.operands, [&](const GpuMatmulOperand &o) { return hasBytes(o.element()); });
  if (m < kLeastRows || n < kLeastRows || k < kLeastTerms || batch > kMostBatches || !isMultiplied)
    return std::nullopt;
  bool hasCores = haveTensorCores(product, chip.capability), isAmpere = chip.capability >= 80;
  SmallVector<GpuMatmulUnit, 2> units;
  if (hasCores && chip.hasWarpgroups && haveWarpgroups(product))
    units.push_back(GpuMatmulUnit::Warpgroups);
  units.push_back(hasCores ? GpuMatmulUnit::TensorCores : GpuMatmulUnit::Threads);
  GpuMatmulTiling plan{units.back(), {}, 1, isAmpere, isAmpere ? 32 : 16};
  int64_t mostSplits = std::clamp<int64_t>(k / kLeastSplitTerms, 1, kMostSplits), blocks = 0;
  for (GpuMatmulUnit unit : units) {
    plan.unit = unit;
    for (const GpuMatmulTile &tile : tilesFor(unit, product.sum)) {
      plan.tile = tile;
      blocks = batch * llvm::divideCeil(m, tile.m) * llvm::divideCeil(n, tile.n);
      if (blocks * mostSplits >= chip.leastBlocks)
        break;
    }
    if (blocks * mostSplits >= chip.leastBlocks)
      break;
  }
  if (plan.unit == GpuMatmulUnit::Warpgroups)
    plan.dynamicBytes =
        plan.tile.stages * (plan.tile.m + plan.tile.n) * plan.tile.k + descriptor::kBlockBytes; // to align them
  if (hasCores)
    plan.tile.k /= product.operands[GpuMatmul::Left].element().getIntOrFloatBitWidth() / 8;
  plan.splits = std::min<int64_t>(mostSplits, llvm::divideCeil(chip.leastBlocks, blocks));
  return plan;
}

} // namespace mlir::array
