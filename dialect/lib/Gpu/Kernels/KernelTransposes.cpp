// Elementwise ops with operands along different dimensions, such as transposes. A block computes a tile of two
// dimensions: the last one, along which results are adjacent, and the dimension along which a transposed operand is
// adjacent. It reads that operand along the latter into shared memory, and computes along the former. So every memory
// access is of adjacent elements. Rows of the tile in shared memory have one extra element, so that the elements of a
// column are in different banks.
#include "Kernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::array {

namespace {

/// The sides of tiles. A large one has accesses of 256 bytes for f32, and 16 of them in flight for each thread: rows of
/// a transposed operand are far apart in memory, and its pages are opened for each.
constexpr int64_t kSmallTile = 32, kLargeTile = 64;
/// Tiles are large from this size of both dimensions on, up to this size of elements in bytes and this number of
/// operands: kernels have 48 KiB of shared memory without a request.
constexpr int64_t kLargeDimension = 512, kMostBytesOfLarge = 4, kMostLargeTiles = 2;
/// Dimensions shorter than this leave most of a tile empty.
constexpr int64_t kShortest = 16;

class Transposed {
public:
  Transposed(KernelBuilder &k, const Member &member)
      : k(k), member(member), sizes(sizesOf(member.space, 0, member.space.dims.size())) {}

  bool fits() {
    if (sizes.size() < 2 || sizes.back() < kShortest ||
        !llvm::all_of(member.space.outputs(), [&](const Access &output) { return output.strides.back().isStatic(1); }))
      return false;
    last = static_cast<unsigned>(sizes.size()) - 1;
    // The dimension along which most of the other operands are contiguous.
    int64_t most = 0;
    for (unsigned dim = 0; dim < last; ++dim)
      if (int64_t count = llvm::count_if(member.space.inputs(), [&](const Access &a) { return isAlong(a, dim); });
          sizes[dim] >= kShortest && count > most) {
        other = dim;
        most = count;
      }
    bool isNarrow = llvm::all_of(member.space.accesses, [](const Access &a) {
      return a.scalar || a.element.getIntOrFloatBitWidth() <= 8 * kMostBytesOfLarge;
    });
    if (isNarrow && most > 0 && most <= kMostLargeTiles && std::min(sizes[last], sizes[other]) >= kLargeDimension)
      side = kLargeTile;
    rows = kBlockSize / side;
    return most > 0;
  }

  void emit() {
    SmallVector<int64_t> counts = sizes; // of tiles
    counts[last] = llvm::divideCeil(sizes[last], side);
    counts[other] = llvm::divideCeil(sizes[other], side);
    k.setGrid(product(counts), kBlockSize);
    Values tile = k.place(counts, k.block());
    tile[last] = k.mul(tile[last], side);
    tile[other] = k.mul(tile[other], side);
    Value x = k.remainder(k.thread(), side), y = k.divide(k.thread(), side);
    readTiles(tile, x, y);
    gpu::BarrierOp::create(k);
    for (int64_t row = 0; row < side; row += rows)
      computeRow(tile, x, k.add(y, row));
  }

private:
  bool isAlong(const Access &access, unsigned dim) const {
    return !access.scalar && member.reads(access) && hasWholeBytes(access.element) && access.strides[dim].isStatic(1) &&
           access.moves(last);
  }

  /// Positions beyond the end of a dimension get the last element.
  void readTiles(ArrayRef<Value> tile, Value x, Value y) {
    SmallVector<std::tuple<Value, Value, Value>> read; // a value, the tile of its place, the row
    for (auto [number, access] : llvm::enumerate(member.space.inputs())) {
      if (!isAlong(access, other))
        continue;
      Value shared = tiles[number] = shareBuffer(k, {side, side + 1}, access.element);
      for (int64_t row = 0; row < side; row += rows) {
        Values at(tile);
        Value own = k.add(y, row);
        at[last] = k.least(k.add(at[last], own), sizes[last] - 1);
        at[other] = k.least(k.add(at[other], x), sizes[other] - 1);
        read.emplace_back(k.load(access, at), shared, own);
      }
    }
    for (auto [value, shared, row] : read)
      memref::StoreOp::create(k, value, shared, ValueRange{row, x});
  }

  void computeRow(ArrayRef<Value> tile, Value x, Value row) {
    Values at(tile);
    at[last] = k.add(at[last], x);
    at[other] = k.add(at[other], row);
    auto isInside = [&](unsigned dim) { return sizes[dim] % side == 0 ? Value() : k.isLess(at[dim], sizes[dim]); };
    k.when(k.both(isInside(last), isInside(other)), [&] {
      Values arguments;
      for (auto [number, access] : llvm::enumerate(member.space.accesses)) {
        if (Value shared = tiles.lookup(number))
          arguments.push_back(memref::LoadOp::create(k, shared, ValueRange{x, row}));
        else
          arguments.push_back(member.reads(access) ? k.before(access, at) : Value());
      }
      for (auto [output, value] : llvm::zip_equal(member.space.outputs(), member.body(arguments, at)))
        k.store(value, output, at);
    });
  }

  KernelBuilder &k;
  const Member &member;
  SmallVector<int64_t> sizes;
  unsigned last = 0, other = 0;
  int64_t side = kSmallTile, rows = 0; ///< Of a tile; rows of it that the threads of the block have at once.
  DenseMap<size_t, Value> tiles;       ///< By the number of the access.
};

} // namespace

bool emitTransposed(KernelBuilder &k, const Member &member) {
  Transposed kernel(k, member);
  if (!kernel.fits())
    return false;
  kernel.emit();
  return true;
}

} // namespace mlir::array
