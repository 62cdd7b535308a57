// Builds @matmul_stream_* (MatmulKernels.h), which multiply a few rows with a matrix that is read once, in the order of
// memory.
#include "Analysis/AddressLayout.h"
#include "MatmulKernel.h"

namespace mlir::array {

namespace {

class StreamKernel : MatmulKernel {
public:
  StreamKernel(ModuleOp module, Type element, const MatmulTile &tile)
      : MatmulKernel(module, "matmul_stream", element, tile) {}

  func::FuncOp getStream();

private:
  Value addressOfRight();
  Value bytesOfRightRow();
  void placeSums();
  void beginSums();
  void storeSums();
  void streamDepths(Value depth, int64_t depths, bool isFar = false);
  void announceRows(Value last, int64_t depths);
  void streamVector(ArrayRef<Value> positions, ArrayRef<Value> factors, Value column, Value mask, bool isFar);

  Value sums, sumsShift; ///< by row; the column starts after this many elements
};

/// The first lines of the next rows are prefetched this many vectors before the end of the current ones.
constexpr int64_t kAnnounced = 32, kAnnouncedLines = 2;

/// The number of rows of b that are read together: limited by the loads in flight and the sets of the first cache. It
/// is smaller if each row is multiplied with many elements of a, which are kept in registers.
static int64_t streamedDepths(int64_t rows) { return rows <= 2 ? 8 : 4; }

func::FuncOp StreamKernel::getStream() {
  if (isThere({matmulMatrixType(element, false), matmulMatrixType(element, true), matmulMatrixType(element, true),
               b.getI1Type(), b.getI1Type()}))
    return function;
  Value depths = dim(function.getArgument(1), 0);
  placeSums();
  beginSums();
  int64_t step = streamedDepths(tile.rows);
  Value whole = roundDown(depths, step);
  Value none = g.index(0), far = arith::SelectOp::create(b, function.getArgument(4), whole, none);
  g.loop(none, far, step, [&](Value depth) { streamDepths(depth, step, /*isFar=*/true); });
  g.loop(far, whole, step, [&](Value depth) { streamDepths(depth, step); });
  g.loop(whole, depths, 1, [&](Value depth) { streamDepths(depth, 1); });
  storeSums();
  return end();
}

/// The address of b.
Value StreamKernel::addressOfRight() {
  Value right = function.getArgument(1), first = memref::ExtractStridedMetadataOp::create(b, right).getOffset();
  return g.add(memref::ExtractAlignedPointerAsIndexOp::create(b, right),
               g.mul(first, element.getIntOrFloatBitWidth() / 8));
}

/// The distance from one row of b to the next.
Value StreamKernel::bytesOfRightRow() {
  return g.mul(rowStrideOf(function.getArgument(1)), element.getIntOrFloatBitWidth() / 8);
}

/// The sums stay in the first cache, in a separate buffer half a page from b's rows. If c had the same address layout
/// as b, a matmul of 1 x 4096 x 4096 took a quarter longer on Zen 4.
void StreamKernel::placeSums() {
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  // Room for a page more, for the move, and for the lanes beyond the last column.
  auto type =
      MemRefType::get({tile.rows, mostStreamColumns(element, tile.rows) + kPageBytes / bytes + tile.lanes}, element);
  sums = memref::AllocaOp::create(b, type, b.getI64IntegerAttr(kLineBytes));
  Value own = memref::ExtractAlignedPointerAsIndexOp::create(b, sums);
  sumsShift = elementsToHalfPage(b, b.getLoc(), own, addressOfRight(), bytes);
}

/// Zero, unless the matmul adds to c.
void StreamKernel::beginSums() {
  Value c = function.getArgument(2), columns = dim(c, 1), accumulate = function.getArgument(3);
  g.loop(g.index(0), columns, tile.lanes, [&](Value column) {
    Value mask = columnMasks(g.sub(columns, column)).front();
    Value isThere = arith::AndIOp::create(b, mask, vector::BroadcastOp::create(b, mask.getType(), accumulate));
    for (int64_t r = 0; r < tile.rows; ++r) {
      SmallVector<Value> at{g.index(r), column};
      Value start = vector::MaskedLoadOp::create(b, vector, c, at, isThere, zeros());
      vector::StoreOp::create(b, start, sums, ValueRange{g.index(r), g.add(sumsShift, column)});
    }
  });
}

void StreamKernel::storeSums() {
  Value c = function.getArgument(2), columns = dim(c, 1);
  g.loop(g.index(0), columns, tile.lanes, [&](Value column) {
    Value mask = columnMasks(g.sub(columns, column)).front();
    for (int64_t r = 0; r < tile.rows; ++r) {
      SmallVector<Value> at{g.index(r), column};
      Value sum = vector::LoadOp::create(b, vector, sums, ValueRange{g.index(r), g.add(sumsShift, column)});
      vector::MaskedStoreOp::create(b, c, at, mask, sum);
    }
  });
}

/// c += a[:, depth : depth + depths] * b[depth : depth + depths, :], vector by vector along the columns.
void StreamKernel::streamDepths(Value depth, int64_t depths, bool isFar) {
  Value a = function.getArgument(0), columns = dim(function.getArgument(1), 1);
  SmallVector<Value> positions, factors;
  for (int64_t d = 0; d < depths; ++d) {
    positions.push_back(g.add(depth, d));
    for (int64_t r = 0; r < tile.rows; ++r)
      factors.push_back(vector::BroadcastOp::create(
          b, vector, memref::LoadOp::create(b, a, ValueRange{g.index(r), positions.back()})));
  }
  // Masks in the loop would slow it down by a third.
  Value whole = roundDown(columns, tile.lanes), announced = g.index(0);
  auto stream = [&](Value column) { streamVector(positions, factors, column, {}, isFar); };
  if (depths > 1 && !isFar) {
    announced = arith::MaxSIOp::create(b, g.sub(whole, kAnnounced * tile.lanes), announced);
    g.loop(g.index(0), announced, tile.lanes, stream);
    announceRows(positions.back(), depths);
  }
  g.loop(announced, whole, tile.lanes, stream);
  g.loop(whole, columns, tile.lanes, [&](Value column) {
    streamVector(positions, factors, column, columnMasks(g.sub(columns, column)).front(), isFar);
  });
}

/// Prefetches the first lines of the next rows, and of the next page of each row: hardware prefetching stops at the end
/// of a page. With 1024 columns of f32 this saves a tenth to a fifth of the time on Zen 4.
void StreamKernel::announceRows(Value last, int64_t depths) {
  Value matrix = function.getArgument(1), end = g.sub(dim(matrix, 0), 1), lastColumn = g.sub(dim(matrix, 1), 1);
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  Value rowBytes = bytesOfRightRow();
  for (int64_t d = 1; d <= depths; ++d) {
    Value row = g.min(g.add(last, d), end);
    Value page = g.toPage(g.add(addressOfRight(), arith::MulIOp::create(b, row, rowBytes)), bytes);
    for (Value column : {g.index(0), g.min(page, lastColumn)})
      for (int64_t line = 0; line < kAnnouncedLines; ++line)
        memref::PrefetchOp::create(b, matrix, ValueRange{row, g.add(column, line * kLineBytes / bytes)},
                                   /*isWrite=*/false, /*localityHint=*/3, /*isDataCache=*/true);
  }
}

/// The sums of the vector at `column`; without a mask all lanes are live. For a matrix outside the caches, vectors of
/// the next rows are prefetched to the second cache: 1 x 4096 x 4096 takes 15% less time on Zen 4, because hardware
/// prefetching does not use all of the memory's bandwidth. Prefetching to the first cache, or prefetching lines that
/// are in a cache, is slower than no prefetching.
void StreamKernel::streamVector(ArrayRef<Value> positions, ArrayRef<Value> factors, Value column, Value mask,
                                bool isFar) {
  Value right = function.getArgument(1), place = g.add(sumsShift, column);
  SmallVector<Value> totals;
  for (int64_t r = 0; r < tile.rows; ++r)
    totals.push_back(vector::LoadOp::create(b, vector, sums, ValueRange{g.index(r), place}));
  for (auto [d, position] : llvm::enumerate(positions)) {
    SmallVector<Value> at{position, column};
    Value part = mask ? vector::MaskedLoadOp::create(b, vector, right, at, mask, zeros()).getResult()
                      : vector::LoadOp::create(b, vector, right, at).getResult();
    if (isFar)
      memref::PrefetchOp::create(b, right, ValueRange{g.add(position, positions.size()), column}, /*isWrite=*/false,
                                 /*localityHint=*/2, /*isDataCache=*/true);
    for (auto [r, total] : llvm::enumerate(totals))
      total = vector::FMAOp::create(b, factors[d * totals.size() + r], part, total);
  }
  for (auto [r, total] : llvm::enumerate(totals))
    vector::StoreOp::create(b, total, sums, ValueRange{g.index(r), place});
}

} // namespace

func::FuncOp getMatmulStream(ModuleOp module, Type element, const MatmulTile &tile) {
  return StreamKernel(module, element, tile).getStream();
}

} // namespace mlir::array
