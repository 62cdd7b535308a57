// Jammed loops, which compute several elements of a dimension at once, and the elements of a tiled one (NestEmitter.h).
#include "NestEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::array::loops {

/// Groups of `jamSize` elements, then the rest as a smaller group (one by one when its size is not known).
void NestEmitter::emitJammedLoop(unsigned level) {
  SymbolicSize size = sizeOf(levels[level].dim);
  auto steps = [&](Value begin, Value end, int64_t count) {
    emitLevelFor(level, begin, end, count, {}, [&](Value iv, ArrayRef<Value>) {
      emitJammedStep(level, iv, count);
      return Values();
    });
  };
  Value zero = indices.index(b, 0);
  if (!size.isStatic()) {
    Value end = indices.get(b, loc, size);
    Value rest = indices.remainder(b, loc, end, schedule.jamSize), main = indices.sub(b, loc, end, rest);
    steps(zero, main, schedule.jamSize);
    if (!isWhole(levels[level].dim, schedule.jamSize))
      steps(main, end, 1);
    return;
  }
  int64_t rest = size.factor % schedule.jamSize, main = size.factor - rest;
  if (main == schedule.jamSize)
    emitJammedStep(level, zero, main);
  else if (main > 0)
    steps(zero, indices.index(b, main), schedule.jamSize);
  if (rest > 0)
    emitJammedStep(level, indices.index(b, main), rest);
}

/// Elements iv, iv + 1, ...: each has an instance, whose indices are at constant distances from those of the first.
void NestEmitter::emitJammedStep(unsigned level, Value iv, int64_t count) {
  unsigned dim = levels[level].dim;
  SmallVector<Value> saved = instances.front().position;
  move(instances.front(), level, iv);
  for (int64_t i = 1; i < count; ++i) {
    Instance next = instances.front();
    Value distance = indices.index(b, i);
    for (const Access &access : accesses)
      if (access.moves(dim))
        next.position[numberOf(access)] =
            indices.advance(b, loc, next.position[numberOf(access)], distance, access.strides[dim]);
    for (auto index : op.getBlock()->getOps<linalg::IndexOp>())
      if (space.dims[dim].indexSource == index.getDim())
        next.body.map(index.getResult(), indices.add(b, loc, iv, distance));
    instances.push_back(std::move(next));
  }
  emitLevel(level + 1, {});
  while (instances.size() > 1)
    instances.pop_back();
  instances.front().position = std::move(saved);
}

/// The elements of a block, inside of the vector loop. Operands across the vectors are read from a transposed copy of
/// the block.
NestEmitter::Values NestEmitter::emitTileElements(unsigned level, ArrayRef<Value> carried) {
  SymbolicSize size = sizeOf(levels[level].dim);
  if (schedule.tileSize == 1)
    return emitStep(level, indices.index(b, 0), carried);
  if (std::optional<Values> results = emitWholeTile(level, carried))
    return *results;
  Value count = indices.index(b, schedule.tileSize);
  if (!hasWholeTiles && !isWhole(levels[level].dim, schedule.tileSize))
    count = indices.minimum(b, loc, indices.sub(b, loc, indices.get(b, loc, size), tileStart), count);
  SmallVector<Access, 4> saved = accesses;
  SmallVector<Value> position = instances.front().position;
  for (Access &access : accesses)
    if (schedule.transposes(access))
      transposeTile(access);
  Values results = emitInBlocks(level, count, 1, carried);
  llvm::copy(saved, accesses.begin());
  instances.front().position = std::move(position);
  return results;
}

void NestEmitter::transposeTile(Access &access) {
  Instance &instance = instances.front();
  int64_t lanes = instance.body.getLanes(), width = schedule.tileSize;
  TransposedTile tile{
      access.flat, instance.position[numberOf(access)], access.strides[*schedule.vectorDim], lanes, width, {}, {}};
  SymbolicSize columns = sizeOf(*schedule.tileDim), rows = sizeOf(*schedule.vectorDim);
  if (!isWhole(*schedule.tileDim, width))
    tile.columnCount = arith::SubIOp::create(b, loc, indices.get(b, loc, columns), tileStart);
  if (instance.body.getMask()) {
    Value rest = arith::SubIOp::create(b, loc, indices.get(b, loc, rows), vectorStart);
    tile.lastRow = indices.add(b, loc, rest, indices.index(b, -1));
  }
  access.flat = indices.scratch(b, MemRefType::get({lanes * width}, access.element), numberOf(access));
  emitTransposedTile(b, indices, loc, tile, access.flat);
  access.strides.assign(access.strides.size(), SymbolicSize(0));
  access.strides[*schedule.vectorDim] = SymbolicSize(1);
  access.strides[*schedule.tileDim] = SymbolicSize(lanes);
  instance.position[numberOf(access)] = indices.index(b, 0);
}

} // namespace mlir::array::loops
