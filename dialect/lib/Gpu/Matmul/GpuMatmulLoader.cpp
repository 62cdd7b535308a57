// Loads tiles (GpuMatmulLoader.h): 16 bytes at a time if the operand's layout allows it, and asynchronously if the chip
// supports it and the elements need no computation.
#include "GpuMatmulLoader.h"
#include "GpuMatmulInstructions.h"
#include "MatrixDescriptor.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::array {

/// Shared memory has 8 banks of 16 bytes.
constexpr int64_t kBankBytes = 16, kBanks = 8;

static int64_t bytesOf(Type type) { return type.getIntOrFloatBitWidth() / 8; }

GpuMatmulLoader::GpuMatmulLoader(GpuMatmulKernel &kernel, unsigned side)
    : kernel(kernel), b(kernel.b), side(side), outerDims(side == 0 ? kernel.product.m : kernel.product.n),
      outerSize(side == 0 ? kernel.plan.tile.m : kernel.plan.tile.n), terms(kernel.plan.tile.k),
      element(kernel.product.operands[side].element()) {
  const GpuMatmul &product = kernel.product;
  bool onCores = kernel.plan.unit != GpuMatmulUnit::Threads;
  stored = onCores ? element : product.factor[side];
  chooseWidth();
  // ldmatrix reads numbers of 16 bits along either dimension. It reads numbers of 32 bits only along terms. Otherwise
  // they are read one by one: the stores that would transpose them conflict in two banks, and their copies can't be
  // asynchronous. Threads read neighbouring rows and columns.
  termsInner = onCores && (alongTerms || bytesOf(stored) == 1);
  int64_t bytes = width * bytesOf(element);
  async = kernel.plan.copiesAsync && stored == element && (onCores || product.casts[side].empty()) && bytes >= 4 &&
          alongTerms == termsInner;

  columns = termsInner ? terms : outerSize;
  rows = termsInner ? outerSize : terms;
  int64_t unit = std::max<int64_t>(kBankBytes / bytesOf(stored), 1);
  if (kernel.plan.unit == GpuMatmulUnit::Warpgroups)
    columns = descriptor::kRowBytes / bytesOf(stored);
  if (onCores) {
    // Without padding: bank `c` of a row is at `c ^ f(row)`, so that eight rows are in eight banks.
    swizzleUnit = unit;
    int64_t banks = columns / unit;
    swizzleCount = std::min(banks, kBanks);
    swizzleRows = std::max<int64_t>(kBanks / banks, 1);
  } else {
    columns += unit; // transposed stores go to different banks
  }
  int64_t blocks = std::max<int64_t>((termsInner ? terms : outerSize) / columns, 1);
  std::tie(buffer, start) = kernel.shared({kernel.plan.tile.stages, blocks * rows, columns}, stored);
  source = kernel.flat(product.operands[side]);
  base = kernel.offset(side, product.batch, kernel.batch);
  addUnits();
}

/// Chooses the dimension, and the number of elements that a thread moves at once: as many as are adjacent, but few
/// enough that each thread has work.
void GpuMatmulLoader::chooseWidth() {
  const GpuMatmul &product = kernel.product;
  int64_t inTerms = product.widthAlong(side, product.k), inOuter = product.widthAlong(side, outerDims);
  alongTerms = inTerms > inOuter || (inTerms == inOuter && !product.k.empty() && product.k.back().steps[side] == 1);
  width = std::min(std::max(inTerms, inOuter), alongTerms ? terms : outerSize);
  while (width > 1 && outerSize * terms / width % kernel.plan.tile.threads() != 0)
    width /= 2;
}

void GpuMatmulLoader::addUnits() {
  int64_t threads = kernel.plan.tile.threads(), count = outerSize * terms / width / threads;
  int64_t inner = (alongTerms ? terms : outerSize) / width;
  bool isWhole = sizeOf(outerDims) % outerSize == 0;
  Value first = side == 0 ? kernel.firstRow : kernel.firstColumn;
  for (int64_t number = 0; number < count; ++number) {
    Value unit = kernel.add(kernel.thread, number * threads);
    Value along = kernel.mul(kernel.rem(unit, inner), width), across = kernel.div(unit, inner);
    // If threads fill whole rows, a thread's units differ only in their rows.
    if (threads % inner == 0) {
      along = kernel.mul(kernel.rem(kernel.thread, inner), width);
      across = kernel.add(kernel.div(kernel.thread, inner), number * (threads / inner));
    }
    Value outer = alongTerms ? across : along, term = alongTerms ? along : across;
    Value place = kernel.add(first, outer);
    units.push_back({outer, term, kernel.add(base, kernel.offset(side, outerDims, place)),
                     isWhole ? Value() : kernel.isBelow(place, sizeOf(outerDims))});
  }
}

int64_t GpuMatmulLoader::stageBytes() const { return outerSize * terms * bytesOf(stored); }

SmallVector<Type> GpuMatmulLoader::held() const {
  if (async)
    return {};
  return SmallVector<Type>(units.size(), VectorType::get({width}, stored));
}

Value GpuMatmulLoader::isThere(const Unit &unit, Value term) {
  int64_t all = sizeOf(kernel.product.k);
  return kernel.both(unit.isInside, all % terms == 0 ? Value() : kernel.isBelow(term, all));
}

SmallVector<Value> GpuMatmulLoader::begin(Value firstTerm, Value stage) {
  SmallVector<Value> values;
  for (const Unit &unit : units) {
    if (async)
      copy(unit, firstTerm, stage);
    else
      values.push_back(load(unit, firstTerm));
  }
  return values;
}

void GpuMatmulLoader::copy(const Unit &unit, Value firstTerm, Value stage) {
  Value term = kernel.add(firstTerm, unit.term), there = isThere(unit, term);
  Value offset = kernel.add(unit.offset, kernel.offset(side, kernel.product.k, term)), count;
  if (there) {
    count = arith::SelectOp::create(b, there, kernel.index(width), kernel.index(0));
    offset = arith::SelectOp::create(b, there, offset, kernel.index(0));
  }
  bool isWhole = width * bytesOf(element) == 16; // these bypass the first cache
  createAsyncCopy(b, buffer, place(stage, unit.outer, unit.term), source, offset, width, count, isWhole);
}

Value GpuMatmulLoader::load(const Unit &unit, Value firstTerm) {
  Value term = kernel.add(firstTerm, unit.term), there = isThere(unit, term);
  Value offset = kernel.add(unit.offset, kernel.offset(side, kernel.product.k, term));
  if (there) // the first element always exists
    offset = arith::SelectOp::create(b, there, offset, kernel.index(0));
  auto loaded = vector::LoadOp::create(b, VectorType::get({width}, element), source, offset);
  loaded->setAttr("alignment", b.getI64IntegerAttr(width * bytesOf(element)));
  Value value = stored == element ? loaded.getResult() : castElements(loaded);
  if (!there)
    return value;
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(value.getType()));
  return arith::SelectOp::create(b, there, value, zero);
}

Value GpuMatmulLoader::castElements(Value vector) {
  SmallVector<Value> elements;
  for (int64_t number = 0; number < width; ++number) {
    Value value = vector::ExtractOp::create(b, vector, number);
    for (Operation *cast : kernel.product.casts[side]) {
      IRMapping mapping;
      mapping.map(cast->getOperand(0), value);
      value = b.clone(*cast, mapping)->getResult(0);
    }
    elements.push_back(value);
  }
  return vector::FromElementsOp::create(b, VectorType::get({width}, stored), elements);
}

void GpuMatmulLoader::finish(ValueRange values, Value stage) {
  for (auto [unit, value] : llvm::zip(units, values)) {
    if (alongTerms == termsInner) {
      auto store = vector::StoreOp::create(b, value, buffer, place(stage, unit.outer, unit.term));
      store->setAttr("alignment", b.getI64IntegerAttr(std::min<int64_t>(width * bytesOf(stored), kBankBytes)));
      continue;
    }
    for (int64_t number = 0; number < width; ++number) {
      Value outer = alongTerms ? unit.outer : kernel.add(unit.outer, number);
      Value term = alongTerms ? kernel.add(unit.term, number) : unit.term;
      memref::StoreOp::create(b, vector::ExtractOp::create(b, value, number), buffer, place(stage, outer, term));
    }
  }
}

SmallVector<Value> GpuMatmulLoader::place(Value stage, Value outer, Value term) {
  Value row = termsInner ? outer : term, column = termsInner ? term : outer, block = kernel.index(0);
  if ((termsInner ? terms : outerSize) > columns) {
    block = kernel.mul(kernel.div(column, columns), rows);
    column = kernel.rem(column, columns);
  }
  if (swizzleCount > 1) {
    Value moved = kernel.mul(kernel.rem(kernel.div(row, swizzleRows), swizzleCount), swizzleUnit);
    column = arith::XOrIOp::create(b, column, moved);
  }
  return {stage, kernel.add(row, block), column};
}

} // namespace mlir::array
