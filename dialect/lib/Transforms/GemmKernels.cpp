// Builds the functions of a matrix product, as scf, vector and memref operations:
//   @gemm_pack_*   copies a k x n block of the right operand to panels [n / columns][k][columns];
//   @gemm_tiles_*  multiplies rows with one panel, one tile of accumulators in registers at a time;
//   @gemm_tiles_ahead_* does so, and fetches what the next product reads and writes;
//   @gemm_tiles_once_* does so with a panel that is not packed, and no other rows need: the first tile copies it;
//   @gemm_stream_* multiplies a few rows with a matrix that is read once, in the order in which it lies in memory.
// The left operand is read by scalar broadcasts: in place, with any strides, or packed (gemm_tiles_packed_*). Rows
// beyond the last one are clamped to it: they compute and store the same values again. Columns beyond the last one are
// masked.
#include "GemmPairs.h"
#include "SharedFunctions.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::array {

namespace {

constexpr int64_t dynamic = ShapedType::kDynamic;

MemRefType stridedType(ArrayRef<int64_t> shape, Type element, ArrayRef<int64_t> strides) {
  return MemRefType::get(shape, element, StridedLayoutAttr::get(element.getContext(), dynamic, strides));
}

/// A function of the module, and the emission of its body.
class Kernel {
public:
  Kernel(ModuleOp module, StringRef kind, Type element, const GemmTile &tile, bool hasPairs = false)
      : element(element), tile(tile), hasPairs(hasPairs), b(module.getLoc(), OpBuilder::atBlockEnd(module.getBody())),
        g(b), vector(VectorType::get({tile.lanes}, element)) {
    name = (kind +
            (element.isF64()    ? "_f64_"
             : !element.isF32() ? "_pairs_"
             : hasPairs         ? "_bf16_"
                                : "_f32_") +
            Twine(tile.rows) + "x" + Twine(tile.columns()))
               .str();
    function = module.lookupSymbol<func::FuncOp>(name);
  }

  func::FuncOp getTiles();
  func::FuncOp getTilesAhead();
  func::FuncOp getTilesPacked();
  func::FuncOp getTilesOnce();
  func::FuncOp getStream();
  func::FuncOp getPackRows();
  func::FuncOp getPackColumns();
  func::FuncOp getPackStrided();

private:
  /// What functions of tiles take: the left operand, the right one, and what all of them do.
  SmallVector<Type> tileArguments(Type leftType, Type rightType) {
    Type matrix = gemmMatrixType(element, true);
    return {leftType, rightType, matrix, matrix, b.getI1Type(), b.getI1Type()};
  }
  /// Whether there is nothing left to emit: the module has the function, or the build has compiled it.
  bool isThere(TypeRange arguments) {
    if (!function)
      function = addSharedFunction(b, name, arguments);
    return function.isExternal() || !function.getBody().front().empty();
  }
  func::FuncOp end() {
    func::ReturnOp::create(b);
    return function;
  }

  Value dim(Value memref, int64_t dimension) { return memref::DimOp::create(b, memref, dimension); }
  Value rowStrideOf(Value matrix) { return memref::ExtractStridedMetadataOp::create(b, matrix).getStrides()[0]; }
  Value roundDown(Value x, int64_t unit) { return g.mul(arith::DivUIOp::create(b, x, g.index(unit)), unit); }
  Value zeros() { return arith::ConstantOp::create(b, vector, b.getZeroAttr(vector)); }

  Value multiplyAdd(Value x, Value y, Value sum) {
    return hasPairs ? emitPairProduct(b, x, y, sum) : vector::FMAOp::create(b, x, y, sum).getResult();
  }

  /// Masks of a row's vectors when `remaining` columns are left.
  SmallVector<Value> columnMasks(Value remaining) {
    SmallVector<Value> masks;
    for (int64_t v = 0; v < tile.vectors; ++v)
      masks.push_back(vector::CreateMaskOp::create(b, vector.clone(b.getI1Type()), g.sub(remaining, v * tile.lanes)));
    return masks;
  }

  void emitTiles(Value first, Value panel, ArrayRef<Value> masks);
  void emitTile(Value i, bool isWhole, Value panel, ArrayRef<Value> masks, Value copy = {});
  Value rowsFrom(Value matrix, Value i);
  void readFlags();
  void prefetch(ArrayRef<Value> rows, ArrayRef<Value> columns);
  SmallVector<Value> initialSums(ArrayRef<Value> columns, ArrayRef<Value> masks);
  SmallVector<Value> addRows(ArrayRef<Value> rows, ArrayRef<Value> columns, ArrayRef<Value> masks,
                             ArrayRef<Value> sums);
  SmallVector<Value> rectify(Value rectifies, ArrayRef<Value> sums);
  SmallVector<Value> multiply(ArrayRef<Value> rows, ArrayRef<Value> columns, Value panel, ArrayRef<Value> masks,
                              Value copy);
  Value loadOnce(Value panel, Value k, Value column, Value mask, Value copy);
  void fetchAhead(Value k);
  Value addressOfRight();
  Value bytesOfRightRow();
  void placeSums();
  void beginSums();
  void storeSums();
  void streamDepths(Value depth, int64_t depths);
  void announceRows(Value last, int64_t depths);
  void streamVector(ArrayRef<Value> positions, ArrayRef<Value> factors, Value column, Value mask);
  void transpose(MutableArrayRef<Value> rows);

  Type element;
  GemmTile tile;
  bool hasPairs; ///< elements of the factors stand for pairs
  ImplicitLocOpBuilder b;
  GemmBuilder g;
  VectorType vector;
  std::string name;
  func::FuncOp function;
  Value left, result;        ///< from the first row of a tile on
  Value addend;              ///< the same
  Value addsRow, addsRows;   ///< whether the addend has one row for all, or one for each
  Value leftTile;            ///< the number of a tile
  bool isLeftPacked = false; ///< the left operand is [tile][k][row]
  ValueRange ahead;          ///< a, b and c of the next product
  Value aheadOfTile;         ///< the elements that the tiles before have fetched
  Value sums, sumsShift;     ///< of a stream: by row, the column after so many elements
};

//===--- Tiles ----------------------------------------------------------------------------------------------------===//

func::FuncOp Kernel::getTiles() {
  if (isThere(tileArguments(gemmMatrixType(element, false), gemmPanelType(element, tile))))
    return function;
  readFlags();
  SmallVector<Value> masks = columnMasks(dim(function.getArgument(2), 1));
  emitTiles(g.index(0), function.getArgument(1), masks);
  return end();
}

func::FuncOp Kernel::getTilesAhead() {
  SmallVector<Type> arguments = tileArguments(gemmMatrixType(element, false), gemmPanelType(element, tile));
  size_t own = arguments.size();
  arguments.append(3, gemmAheadType(element));
  if (isThere(arguments))
    return function;
  ahead = function.getArguments().drop_front(own);
  readFlags();
  SmallVector<Value> masks = columnMasks(dim(function.getArgument(2), 1));
  emitTiles(g.index(0), function.getArgument(1), masks);
  return end();
}

func::FuncOp Kernel::getTilesPacked() {
  isLeftPacked = true;
  if (isThere(tileArguments(gemmPackedType(element, tile.ofLeftPanels()), gemmPanelType(element, tile))))
    return function;
  readFlags();
  SmallVector<Value> masks = columnMasks(dim(function.getArgument(2), 1));
  emitTiles(g.index(0), function.getArgument(1), masks);
  return end();
}

func::FuncOp Kernel::getTilesOnce() {
  if (isThere(tileArguments(gemmMatrixType(element, false), gemmMatrixType(element, true))))
    return function;
  readFlags();
  SmallVector<Value> masks = columnMasks(dim(function.getArgument(2), 1));
  auto type = MemRefType::get({kGemmDepth, tile.columns()}, element);
  Value copy = memref::AllocaOp::create(b, type, b.getI64IntegerAttr(64)), zero = g.index(0);
  emitTile(zero, /*isWhole=*/false, function.getArgument(1), masks, copy);
  emitTiles(g.index(tile.rows), copy, masks);
  return end();
}

void Kernel::readFlags() {
  Value adds = function.getArgument(4), stride = rowStrideOf(function.getArgument(3)), zero = g.index(0);
  addsRow = arith::AndIOp::create(b, adds, arith::CmpIOp::create(b, arith::CmpIPredicate::eq, stride, zero));
  addsRows = arith::AndIOp::create(b, adds, arith::CmpIOp::create(b, arith::CmpIPredicate::ne, stride, zero));
}

/// The tiles from row `first`, a multiple of the tile's, on. Rows that are known to be there are at a fixed distance of
/// the tile's first one: with little depth, finding them takes as long as multiplying.
void Kernel::emitTiles(Value first, Value panel, ArrayRef<Value> masks) {
  Value end = dim(function.getArgument(isLeftPacked ? 2 : 0), 0), whole = first;
  if (isa<FloatType>(element)) {
    whole = arith::MaxSIOp::create(b, first, roundDown(end, tile.rows));
    g.loop(first, whole, tile.rows, [&](Value i) { emitTile(i, /*isWhole=*/true, panel, masks); });
  }
  g.loop(whole, end, tile.rows, [&](Value i) { emitTile(i, /*isWhole=*/false, panel, masks); });
}

/// A matrix from row `i` on.
Value Kernel::rowsFrom(Value matrix, Value i) {
  OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  SmallVector<OpFoldResult> offsets{i, zero}, sizes{g.sub(dim(matrix, 0), i), dim(matrix, 1)}, strides{one, one};
  return memref::SubViewOp::create(b, matrix, offsets, sizes, strides);
}

/// The rows [i, i + tile.rows). The sums start at zero and d is added to them at the end: a tile whose sums started
/// with what is in d would wait for it, which may take as long as a third of the loop over k. It is on its way
/// meanwhile. Where all rows of d are one and the same, that is at hand, and the sums start with it.
void Kernel::emitTile(Value i, bool isWhole, Value panel, ArrayRef<Value> masks, Value copy) {
  left = isLeftPacked ? function.getArgument(0) : rowsFrom(function.getArgument(0), i);
  leftTile = isLeftPacked ? arith::DivUIOp::create(b, i, g.index(tile.rows)) : Value();
  result = rowsFrom(function.getArgument(2), i);
  addend = rowsFrom(function.getArgument(3), i);
  Value lastRow = g.sub(dim(isLeftPacked ? result : left, 0), 1);
  SmallVector<Value> rows, columns;
  for (int64_t r = 0; r < tile.rows; ++r)
    rows.push_back(isWhole ? g.index(r) : g.min(g.index(r), lastRow));
  for (int64_t v = 0; v < tile.vectors; ++v)
    columns.push_back(g.index(v * tile.lanes));
  prefetch(rows, columns);
  if (!ahead.empty())
    aheadOfTile = arith::MulIOp::create(b, arith::DivUIOp::create(b, i, g.index(tile.rows)), dim(left, 1));
  SmallVector<Value> sums = multiply(rows, columns, panel, masks, copy);
  sums = rectify(function.getArgument(5), addRows(rows, columns, masks, sums));
  // Stores with a mask take longer.
  Value hasAll = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, dim(result, 1), g.index(tile.columns()));
  auto branch = scf::IfOp::create(b, hasAll, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  for (bool masked : {false, true}) {
    b.setInsertionPointToStart(masked ? branch.elseBlock() : branch.thenBlock());
    for (auto [r, row] : llvm::enumerate(rows))
      for (auto [v, column] : llvm::enumerate(columns)) {
        Value sum = sums[r * tile.vectors + v];
        if (masked)
          vector::MaskedStoreOp::create(b, result, ValueRange{row, column}, masks[v], sum);
        else
          vector::StoreOp::create(b, sum, result, ValueRange{row, column});
      }
  }
}

/// Asks for what is going to be added. Sums that are only stored have no need to wait.
void Kernel::prefetch(ArrayRef<Value> rows, ArrayRef<Value> columns) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(scf::IfOp::create(b, addsRows).thenBlock());
  for (Value row : rows)
    for (Value column : columns)
      memref::PrefetchOp::create(b, addend, ValueRange{row, column}, /*isWrite=*/false, /*localityHint=*/3,
                                 /*isDataCache=*/true);
}

/// What each row of sums starts with.
SmallVector<Value> Kernel::initialSums(ArrayRef<Value> columns, ArrayRef<Value> masks) {
  SmallVector<Type> types(columns.size(), vector);
  SmallVector<Value> zero(columns.size(), zeros()), row;
  auto branch = scf::IfOp::create(b, types, addsRow, /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  for (auto [column, mask] : llvm::zip_equal(columns, masks))
    row.push_back(vector::MaskedLoadOp::create(b, vector, addend, ValueRange{g.index(0), column}, mask, zero.front()));
  scf::YieldOp::create(b, row);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, zero);
  return SmallVector<Value>(branch.getResults());
}

/// The sums, with the rows of d added to them where that is asked for.
SmallVector<Value> Kernel::addRows(ArrayRef<Value> rows, ArrayRef<Value> columns, ArrayRef<Value> masks,
                                   ArrayRef<Value> sums) {
  Value zero = zeros();
  auto branch = scf::IfOp::create(b, ValueRange(sums).getTypes(), addsRows, /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  SmallVector<Value> totals;
  for (Value row : rows)
    for (auto [column, mask] : llvm::zip_equal(columns, masks)) {
      Value more = vector::MaskedLoadOp::create(b, vector, addend, ValueRange{row, column}, mask, zero);
      Value sum = sums[totals.size()];
      totals.push_back(isa<FloatType>(element) ? Value(arith::AddFOp::create(b, sum, more))
                                               : Value(arith::AddIOp::create(b, sum, more)));
    }
  scf::YieldOp::create(b, totals);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, sums);
  return SmallVector<Value>(branch.getResults());
}

/// The sums, and zero instead of those below it where that is asked for.
SmallVector<Value> Kernel::rectify(Value rectifies, ArrayRef<Value> sums) {
  Value zero = zeros();
  auto branch = scf::IfOp::create(b, ValueRange(sums).getTypes(), rectifies, /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  SmallVector<Value> rectified;
  for (Value sum : sums) {
    if (!isa<FloatType>(element)) {
      rectified.push_back(arith::MaxSIOp::create(b, sum, zero));
      continue;
    }
    // One instruction of x86, which hands a NaN on, and an addition that turns -0 into 0: units that do not multiply
    // do both, beside the next tile's terms.
    Value isBelow = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, zero, sum);
    Value least = arith::SelectOp::create(b, isBelow, zero, sum);
    rectified.push_back(arith::AddFOp::create(b, least, zero));
  }
  scf::YieldOp::create(b, rectified);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, sums);
  return SmallVector<Value>(branch.getResults());
}

/// A vector of a panel in place, which goes to `copy` as well. Its rows are far apart: nothing but asking for them
/// early enough brings them in time.
Value Kernel::loadOnce(Value panel, Value k, Value column, Value mask, Value copy) {
  constexpr int64_t ahead = 32;
  memref::PrefetchOp::create(b, panel, ValueRange{g.add(k, ahead), column}, /*isWrite=*/false, /*localityHint=*/3,
                             /*isDataCache=*/true);
  Value loaded = vector::MaskedLoadOp::create(b, vector, panel, ValueRange{k, column}, mask, zeros());
  vector::StoreOp::create(b, loaded, copy, ValueRange{k, column});
  return loaded;
}

/// An instruction or three beside each term's multiply-adds take no time; as many at once would take as long as a tenth
/// of the product, and the first loads of the next one would wait all the same.
void Kernel::fetchAhead(Value k) {
  Value place = g.add(aheadOfTile, k);
  for (auto [number, matrix] : llvm::enumerate(ahead))
    memref::PrefetchOp::create(b, matrix, ValueRange(place), /*isWrite=*/number == 2, /*localityHint=*/3,
                               /*isDataCache=*/true);
}

/// The loop over k, with the accumulators as its values.
SmallVector<Value> Kernel::multiply(ArrayRef<Value> rows, ArrayRef<Value> columns, Value panel, ArrayRef<Value> masks,
                                    Value copy) {
  SmallVector<Value> row = initialSums(columns, masks), initial;
  for (size_t r = 0; r < rows.size(); ++r)
    llvm::append_range(initial, row);
  auto loop = scf::ForOp::create(b, g.index(0), dim(left, 1), g.index(1), initial);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value k = loop.getInductionVar();
  if (!ahead.empty())
    fetchAhead(k);
  SmallVector<Value> right;
  for (auto [column, mask] : llvm::zip_equal(columns, masks))
    right.push_back(copy ? loadOnce(panel, k, column, mask, copy)
                         : vector::LoadOp::create(b, vector, panel, ValueRange{k, column}).getResult());
  SmallVector<Value> sums;
  for (Value row : rows) {
    Value element = isLeftPacked ? memref::LoadOp::create(b, left, ValueRange{leftTile, k, row})
                                 : memref::LoadOp::create(b, left, ValueRange{row, k});
    Value spread = vector::BroadcastOp::create(b, vector, element);
    for (Value factor : right)
      sums.push_back(multiplyAdd(spread, factor, loop.getRegionIterArg(sums.size())));
  }
  scf::YieldOp::create(b, sums);
  return SmallVector<Value>(loop.getResults());
}

//===--- Streams --------------------------------------------------------------------------------------------------===//

/// So many vectors before the end of the rows the first lines of the next ones are fetched.
constexpr int64_t kAnnounced = 32, kAnnouncedLines = 2;

/// The rows of b that are read side by side: as many as memory has in flight, fewer where each has to be multiplied
/// with many elements of a, which are kept in registers.
static int64_t streamedDepths(int64_t rows) { return rows <= 2 ? 8 : 4; }

/// Of a matrix that no cache holds, and one row of a, more of them: 1 x 4096 x 4096 takes 7% less time by 10 rows than
/// by 8 on Zen 4; by 12 or 16, and two threads, it takes longer. Matrices in a cache do so by more than 8 at all times:
/// lines compete for the sets of the first cache.
constexpr int64_t kFarDepths = 10, kFarBytes = 32 << 20;

func::FuncOp Kernel::getStream() {
  if (isThere({gemmMatrixType(element, false), gemmMatrixType(element, true), gemmMatrixType(element, true),
               b.getI1Type()}))
    return function;
  Value depths = dim(function.getArgument(1), 0);
  placeSums();
  beginSums();
  Value first = g.index(0);
  auto streamTo = [&](Value end, int64_t step) {
    g.loop(first, end, step, [&](Value depth) { streamDepths(depth, step); });
    first = end;
  };
  if (tile.rows == 1) {
    Value bytes = arith::MulIOp::create(b, bytesOfRightRow(), depths);
    Value isFar = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, bytes, g.index(kFarBytes));
    streamTo(arith::SelectOp::create(b, isFar, roundDown(depths, kFarDepths), first), kFarDepths);
  }
  int64_t step = streamedDepths(tile.rows);
  streamTo(g.add(first, roundDown(g.sub(depths, first), step)), step);
  streamTo(depths, 1);
  storeSums();
  return end();
}

/// Where b begins.
Value Kernel::addressOfRight() {
  Value right = function.getArgument(1), first = memref::ExtractStridedMetadataOp::create(b, right).getOffset();
  return g.add(memref::ExtractAlignedPointerAsIndexOp::create(b, right),
               g.mul(first, element.getIntOrFloatBitWidth() / 8));
}

/// From one row of b to the next.
Value Kernel::bytesOfRightRow() {
  return g.mul(rowStrideOf(function.getArgument(1)), element.getIntOrFloatBitWidth() / 8);
}

/// The sums stay in the first cache, in a buffer of their own that lies half a page from b's rows: cores take a load
/// for one of what a store beside it has just written when the addresses agree within a page, and wait. Where c lay
/// like b, a product of 1 x 4096 x 4096 took a quarter longer on Zen 4.
void Kernel::placeSums() {
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  // Room for a page more, to be moved, and for the lanes beyond the last column.
  auto type = MemRefType::get({tile.rows, kMostStreamColumns + kPageBytes / bytes + tile.lanes}, element);
  sums = memref::AllocaOp::create(b, type, b.getI64IntegerAttr(kPageBytes));
  Value apart = arith::AndIOp::create(b, g.add(addressOfRight(), kPageBytes / 2), g.index(kPageBytes - kLineBytes));
  sumsShift = arith::DivUIOp::create(b, apart, g.index(bytes));
}

/// Zero, unless the product is added to what is in c.
void Kernel::beginSums() {
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

void Kernel::storeSums() {
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
void Kernel::streamDepths(Value depth, int64_t depths) {
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
  auto stream = [&](Value column) { streamVector(positions, factors, column, {}); };
  if (depths > 1) {
    announced = arith::MaxSIOp::create(b, g.sub(whole, kAnnounced * tile.lanes), announced);
    g.loop(g.index(0), announced, tile.lanes, stream);
    announceRows(positions.back(), depths);
  }
  g.loop(announced, whole, tile.lanes, stream);
  g.loop(whole, columns, tile.lanes,
         [&](Value column) { streamVector(positions, factors, column, columnMasks(g.sub(columns, column)).front()); });
}

/// Fetches the first lines of the rows that follow, and of the page that each comes to: what reads ahead by itself does
/// so within a page. With 1024 columns of f32 this takes a tenth to a fifth of the time away on Zen 4.
void Kernel::announceRows(Value last, int64_t depths) {
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

/// The sums of the vector at `column`; without a mask all of its lanes are there.
void Kernel::streamVector(ArrayRef<Value> positions, ArrayRef<Value> factors, Value column, Value mask) {
  Value right = function.getArgument(1), place = g.add(sumsShift, column);
  SmallVector<Value> totals;
  for (int64_t r = 0; r < tile.rows; ++r)
    totals.push_back(vector::LoadOp::create(b, vector, sums, ValueRange{g.index(r), place}));
  for (auto [d, position] : llvm::enumerate(positions)) {
    SmallVector<Value> at{position, column};
    Value part = mask ? vector::MaskedLoadOp::create(b, vector, right, at, mask, zeros()).getResult()
                      : vector::LoadOp::create(b, vector, right, at).getResult();
    for (auto [r, total] : llvm::enumerate(totals))
      total = vector::FMAOp::create(b, factors[d * totals.size() + r], part, total);
  }
  for (auto [r, total] : llvm::enumerate(totals))
    vector::StoreOp::create(b, total, sums, ValueRange{g.index(r), place});
}

//===--- Packing --------------------------------------------------------------------------------------------------===//

/// Rows that are packed side by side, panel after panel: as many as there are pages at hand, and lines of panels that
/// lie the same in the first cache.
constexpr int64_t kPackedDepth = 32;

/// Copies rows; the columns beyond n become zeros.
func::FuncOp Kernel::getPackRows() {
  if (isThere({gemmMatrixType(element, true), gemmPackedType(element, tile)}))
    return function;
  Value source = function.getArgument(0), panels = function.getArgument(1), zero = g.index(0), depths = dim(source, 0);
  g.loop(zero, depths, kPackedDepth, [&](Value depth) {
    Value last = g.min(g.add(depth, kPackedDepth), depths);
    g.loop(zero, dim(panels, 0), 1, [&](Value panel) {
      Value column = g.mul(panel, tile.columns());
      SmallVector<Value> masks = columnMasks(g.sub(dim(source, 1), column));
      g.loop(depth, last, 1, [&](Value k) {
        for (auto [v, mask] : llvm::enumerate(masks)) {
          SmallVector<Value> at{k, g.add(column, v * tile.lanes)};
          Value row = vector::MaskedLoadOp::create(b, vector, source, at, mask, zeros());
          vector::StoreOp::create(b, row, panels, ValueRange{panel, k, g.index(v * tile.lanes)});
        }
      });
    });
  });
  return end();
}

/// Copies element by element; columns beyond n repeat the last one.
func::FuncOp Kernel::getPackStrided() {
  if (isThere({gemmMatrixType(element, false), gemmPackedType(element, tile)}))
    return function;
  Value source = function.getArgument(0), panels = function.getArgument(1), zero = g.index(0);
  Value last = g.sub(dim(source, 1), 1);
  g.loop(zero, dim(panels, 0), 1, [&](Value panel) {
    Value column = g.mul(panel, tile.columns());
    g.loop(zero, dim(source, 0), 1, [&](Value k) {
      g.loop(zero, g.index(tile.columns()), 1, [&](Value j) {
        Value value = memref::LoadOp::create(b, source, ValueRange{k, g.min(g.add(column, j), last)});
        memref::StoreOp::create(b, value, panels, ValueRange{panel, k, j});
      });
    });
  });
  return end();
}

/// Transposes squares in registers. The last square begins early enough to be whole. Columns beyond n repeat the last
/// one.
func::FuncOp Kernel::getPackColumns() {
  if (isThere({gemmMatrixType(element, true), gemmPackedType(element, tile)}))
    return function;
  Value source = function.getArgument(0), panels = function.getArgument(1), zero = g.index(0);
  int64_t side = tile.squareSide();
  Value depths = dim(source, 1), lastColumn = g.sub(dim(source, 0), 1), lastSquare = g.sub(depths, side);
  auto type = VectorType::get({side}, element);
  g.loop(zero, dim(panels, 0), 1, [&](Value panel) {
    g.loop(zero, g.index(tile.columns()), side, [&](Value column) {
      Value first = g.add(g.mul(panel, tile.columns()), column);
      SmallVector<Value> columns;
      for (int64_t lane = 0; lane < side; ++lane)
        columns.push_back(g.min(g.add(first, lane), lastColumn));
      g.loop(zero, depths, side, [&](Value position) {
        Value depth = g.min(position, lastSquare);
        SmallVector<Value> square;
        for (Value from : columns)
          square.push_back(vector::LoadOp::create(b, type, source, ValueRange{from, depth}));
        transpose(square);
        for (auto [lane, row] : llvm::enumerate(square))
          vector::StoreOp::create(b, row, panels, ValueRange{panel, g.add(depth, lane), column});
      });
    });
  });
  return end();
}

/// Swaps the off-diagonal halves of blocks of 2, 4, 8, ... elements.
void Kernel::transpose(MutableArrayRef<Value> rows) {
  int64_t size = rows.size();
  for (int64_t half = 1; half < size; half *= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t column = 0; column < size; ++column) {
      low.push_back((column & half) == 0 ? column : size + column - half);
      high.push_back((column & half) == 0 ? column + half : size + column);
    }
    for (int64_t row = 0; row < size; ++row) {
      if ((row & half) != 0)
        continue;
      Value first = rows[row], second = rows[row + half];
      rows[row] = vector::ShuffleOp::create(b, first, second, low);
      rows[row + half] = vector::ShuffleOp::create(b, first, second, high);
    }
  }
}

} // namespace

MemRefType gemmMatrixType(Type element, bool unitStride) {
  return stridedType({dynamic, dynamic}, element, {dynamic, unitStride ? 1 : dynamic});
}

MemRefType gemmPanelType(Type element, const GemmTile &tile) {
  return stridedType({dynamic, tile.columns()}, element, {dynamic, 1});
}

MemRefType gemmPackedType(Type element, const GemmTile &tile) {
  return stridedType({dynamic, dynamic, tile.columns()}, element, {dynamic, tile.columns(), 1});
}

func::FuncOp getGemmTiles(ModuleOp module, Type element, const GemmTile &tile, bool hasPairs) {
  return Kernel(module, "gemm_tiles", element, tile, hasPairs).getTiles();
}

MemRefType gemmAheadType(Type element) { return stridedType({dynamic}, element, {dynamic}); }

func::FuncOp getGemmTilesAhead(ModuleOp module, Type element, const GemmTile &tile) {
  return Kernel(module, "gemm_tiles_ahead", element, tile).getTilesAhead();
}

func::FuncOp getGemmTilesPacked(ModuleOp module, Type element, const GemmTile &tile) {
  return Kernel(module, "gemm_tiles_packed", element, tile).getTilesPacked();
}

func::FuncOp getGemmTilesOnce(ModuleOp module, Type element, const GemmTile &tile) {
  return Kernel(module, "gemm_tiles_once", element, tile).getTilesOnce();
}

func::FuncOp getGemmStream(ModuleOp module, Type element, const GemmTile &tile) {
  return Kernel(module, "gemm_stream", element, tile).getStream();
}

func::FuncOp getGemmPack(ModuleOp module, Type element, const GemmTile &tile, GemmPacking packing) {
  switch (packing) {
  case GemmPacking::InPlace:
  case GemmPacking::Once:
    break;
  case GemmPacking::Rows:
    return Kernel(module, "gemm_pack_rows", element, tile).getPackRows();
  case GemmPacking::Columns:
    return Kernel(module, "gemm_pack_columns", element, tile).getPackColumns();
  case GemmPacking::Strided:
    return Kernel(module, "gemm_pack_strided", element, tile).getPackStrided();
  }
  llvm_unreachable("an operand that is read in place is not packed");
}

} // namespace mlir::array
