// Emits one matmul by tiles: calls that pack a block of the right operand and multiply all rows with it, in a loop over
// blocks of columns and of depth if the sizes need one. The packed block stays in the second cache.
#include "Analysis/ParallelLoops.h"
#include "MatmulEmitter.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::array {

namespace {

/// A byte that is packed.
constexpr double packNs = 0.04;

class TileEmitter : MatmulEmitter {
public:
  TileEmitter(ImplicitLocOpBuilder &b, ModuleOp module, const MatmulCall &call)
      : MatmulEmitter(b, module, call), leftMatrix(call.a) {}

  void emit() {
    getTiles();
    if (call.pairing)
      dot2Left();
    else if (makesPanels(call.packing) && !call.produceRight)
      getPack();
    depthBlock = chooseDepthBlock();
    int64_t n = std::min(call.n.expected(), call.blocks.columns);
    double m = double(std::max<int64_t>(call.m.expected(), 1));
    double blockNs = estimateMatmulNs(call.tile, call.m.expected(), n, depthBlock.expected());
    int64_t rowStep = call.blocks.rows;
    bool areRowsShared = sharesRows(call.m, rowStep);
    double rowsNs = areRowsShared ? blockNs / m * double(rowStep) : 0;
    panelNs = areRowsShared ? 0
                            : blockNs / m * double(std::min(call.m.expected(), rowStep)) /
                                  double(std::max<int64_t>(n, 1)) * call.tile.columns();
    blocks(call.n, call.blocks.columns, 0, [&](Value column, Value width) {
      blocks(call.k, depthBlock, 0, [&](Value depth, Value height) {
        if (isPacked())
          packBlock(depth, column, height, width);
        blocks(call.m, rowStep, rowsNs, [&](Value row, Value rows) {
          if (call.produceLeft)
            produceLeft(row, rows, depth, height, rowStep);
          else if (call.packsLeft)
            packLeft(row, rows, depth, height, rowStep);
          multiply(row, rows, depth, height, column, width);
          if (call.finish)
            finish(row, rows, depth, height, column, width);
        });
      });
    });
  }

private:
  bool isPacked() const { return pack || call.produceRight; }
  /// The function of the tiles copies a panel.
  bool isOnce() const { return call.packing == MatmulPacking::Once; }
  bool isTurned() const { return call.packing == MatmulPacking::Turned; }

  /// The functions for tiles: of one height, or of all heights that a block of rows may choose.
  void getTiles() {
    heights = {call.tile.rows};
    if (!call.m.isStatic() && !call.pairing && !call.packsLeft)
      heights = goodTileRows(call.tile, call.m);
    for (int64_t height : heights) {
      MatmulTile tile = call.tile;
      tile.rows = height;
      tiles.push_back(call.packsLeft        ? getMatmulTilesPacked(module, call.element, tile)
                      : isOnce()            ? getMatmulTilesOnce(module, call.element, tile)
                      : isTurned()          ? getMatmulTilesTurned(module, call.element, tile)
                      : !call.ahead.empty() ? getMatmulTilesAhead(module, call.element, tile)
                                            : getMatmulTiles(module, call.element, tile, call.pairing.has_value()));
    }
  }

  /// The number of the function with the least cost for `rows` rows.
  Value chooseTiles(Value rows) {
    Value least, number;
    for (auto [i, height] : llvm::enumerate(heights)) {
      if (heights.size() == 1)
        break;
      Value cost = g.mul(g.ceilDiv(rows, height), height + 1);
      Value isLess = least ? arith::CmpIOp::create(b, arith::CmpIPredicate::ult, cost, least) : Value();
      number = isLess ? arith::SelectOp::create(b, isLess, g.index(i), number) : g.index(i);
      least = isLess ? arith::SelectOp::create(b, isLess, cost, least) : cost;
    }
    return number;
  }

  /// The packing function. If columns may be too short for transposing, the call chooses between two functions.
  void getPack() {
    pack = getMatmulPack(module, call.element, call.tile, call.packing);
    int64_t side = call.tile.squareSide();
    if (call.packing == MatmulPacking::Columns && leastDepthBlock(call.k, call.blocks.depth) < side)
      packShort = getMatmulPack(module, call.element, call.tile, MatmulPacking::Strided);
  }

  /// The terms of a block.
  BoundedSize chooseDepthBlock() {
    int64_t most = call.blocks.depth;
    if (call.k.isStatic())
      return evenDepthBlock(call.k.factor(), most);
    if (call.k.isAtMost(most))
      return call.k;
    Value k = g.index(call.k), count = arith::MaxSIOp::create(b, g.ceilDiv(k, most), g.index(1));
    Value block = arith::DivUIOp::create(b, g.sub(g.add(k, count), 1), count);
    block = arith::MaxSIOp::create(b, block, g.index(1)); // a step of a loop
    return BoundedSize(block, {1, most, 1, evenDepthBlock(call.k.expected(), most)});
  }

  /// Computes a block of the left operand, in the order of its unit stride. Blocks of rows that threads share have
  /// separate memory.
  void produceLeft(Value row, Value rows, Value depth, Value height, int64_t rowStep) {
    int64_t most = mostDepthBlock(call.k, call.blocks.depth);
    Value offset = sharesRows(call.m, rowStep) ? g.advance(call.leftOffset, row, most) : call.leftOffset;
    bool isAlongDepth = call.a.columnStride.isStatic(1);
    leftMatrix = {call.leftBuffer, offset, isAlongDepth ? most : 1,
                  isAlongDepth ? 1 : std::min(rowStep, call.m.most())};
    call.produceLeft(row, depth, rows, height, block(leftMatrix, rows, height));
  }

  /// Copies a block of the left operand to panels of the tile's rows. Blocks of rows that threads share have separate
  /// memory.
  void packLeft(Value row, Value rows, Value depth, Value height, int64_t rowStep) {
    MatmulTile panels = call.tile.ofLeftPanels();
    Value offset = call.leftOffset;
    if (sharesRows(call.m, rowStep))
      offset = g.advance(offset, row, mostDepthBlock(call.k, call.blocks.depth));
    SmallVector<OpFoldResult> sizes{g.ceilDiv(rows, panels.lanes), height, b.getIndexAttr(panels.lanes)};
    SmallVector<OpFoldResult> strides{g.mul(height, panels.lanes), b.getIndexAttr(panels.lanes), b.getIndexAttr(1)};
    leftPanels = memref::ReinterpretCastOp::create(b, matmulPackedType(call.element, panels), call.leftBuffer,
                                                   OpFoldResult(offset), sizes, strides);
    MatmulMatrix transposed{call.a.buffer, call.a.offset, call.a.columnStride, call.a.rowStride};
    Value source = view(transposed, depth, row, height, rows, /*unitStride=*/true);
    func::FuncOp function = getMatmulPack(module, call.element, panels, MatmulPacking::Rows);
    func::CallOp::create(b, function, ValueRange{source, leftPanels});
  }

  /// A matrix of known strides.
  Value block(const MatmulMatrix &matrix, Value rows, Value columns) {
    SmallVector<OpFoldResult> sizes{getAsOpFoldResult(rows), getAsOpFoldResult(columns)};
    int64_t rowStride = matrix.rowStride.factor(), columnStride = matrix.columnStride.factor();
    SmallVector<OpFoldResult> strides{b.getIndexAttr(rowStride), b.getIndexAttr(columnStride)};
    auto layout = StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, {rowStride, columnStride});
    int64_t shape[] = {getConstantIntValue(sizes[0]).value_or(ShapedType::kDynamic),
                       getConstantIntValue(sizes[1]).value_or(ShapedType::kDynamic)};
    return memref::ReinterpretCastOp::create(b, MemRefType::get(shape, call.element, layout), matrix.buffer,
                                             OpFoldResult(matrix.offset), sizes, strides);
  }

  /// Makes pairs of the whole left factor, and the tiles read these. Packing makes the pairs of the right factor.
  void dot2Left() {
    const Dot2Operands &pairing = *call.pairing;
    pack = getDot2Right(module, pairing.right, call.tile);
    func::FuncOp function = getDot2Left(module, pairing.left, call.tile);
    leftMatrix = {call.leftBuffer, call.leftOffset, call.k, 1};
    double rowNs = double(pairing.k.expected()) * packNs;
    int64_t step = cachedRows(call.element);
    blocks(call.m, step, rowNs * double(step), [&](Value row, Value rows) {
      Value factors =
          view(call.a, row, g.index(0), rows, g.index(pairing.k), pairing.left.unitStride, pairing.left.element);
      Value pairs = view(leftMatrix, row, g.index(0), rows, g.index(call.k), /*unitStride=*/true);
      func::CallOp::create(b, function, ValueRange{factors, pairs});
    });
  }

  /// Calls `body(first, size)` for blocks of `total`, in a loop if there is more than one. Threads may share it if a
  /// block's time is given.
  void blocks(const BoundedSize &total, const BoundedSize &step, double blockNs,
              llvm::function_ref<void(Value, Value)> body) {
    if (total == step || (step.isStatic() && total.isAtMost(step.factor())))
      return body(g.index(0), g.index(total));
    scf::ForOp loop = g.loop(g.index(0), g.index(total), step, [&](Value first) {
      bool isEven = step.isStatic() && total.isMultipleOf(step.factor());
      body(first, isEven ? g.index(step) : g.min(g.sub(g.index(total), first), g.index(step)));
    });
    markParallel(loop, llvm::divideCeil(total.expected(), step.expected()), blockNs);
  }

  bool hasDepthBlocks() const { return !call.k.isAtMost(call.blocks.depth); }

  /// Whether a block of depth is not the first one, which initializes the sums; null if there is one block.
  Value isLater(Value depth) {
    return hasDepthBlocks() ? Value(arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, depth, g.index(0))) : Value();
  }

  Value isLast(Value depth, Value height) {
    if (!hasDepthBlocks())
      return truth(true);
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, g.add(depth, height), g.index(call.k));
  }

  /// After the last block of depth.
  void finish(Value row, Value rows, Value depth, Value height, Value column, Value width) {
    OpBuilder::InsertionGuard guard(b);
    if (hasDepthBlocks())
      b.setInsertionPointToStart(scf::IfOp::create(b, isLast(depth, height)).thenBlock());
    call.finish(row, rows, column, width);
  }

  /// Multiplies a block of rows with every panel of a block of columns.
  void multiply(Value row, Value rows, Value depth, Value height, Value column, Value width) {
    int64_t columns = call.tile.columns();
    bool isProduced = call.produceLeft != nullptr;
    Value left = call.packsLeft
                     ? leftPanels
                     : view(leftMatrix, isProduced ? g.index(0) : row, isProduced ? g.index(0) : depth, rows, height,
                            /*unitStride=*/false);
    Value later = isLater(depth), tilesNumber = chooseTiles(rows);
    Value rectifies = call.rectifies ? isLast(depth, height) : truth(false);
    auto onePanel = [&](Value first) {
      Value at = g.add(column, first);
      bool isWhole = call.n.isMultipleOf(columns);
      Value size = isWhole ? g.index(columns) : g.min(g.sub(g.index(call.n), at), g.index(columns));
      Value result = view(call.c, row, at, rows, size, /*unitStride=*/true);
      Value right = isOnce()     ? view(call.b, depth, at, height, size, /*unitStride=*/true)
                    : isTurned() ? columnsOf(depth, at, height, size)
                                 : panel(depth, height, column, first);
      SmallVector<Value> ahead;
      for (const MatmulAhead &next : call.ahead)
        ahead.push_back(aheadOf(next, first));
      auto callTiles = [&](Value addend, Value adds) {
        SmallVector<Value> operands{left, right, result, addend, adds, rectifies};
        operands.append(ahead);
        callOne(tiles, tilesNumber, operands);
      };
      if (!call.addend)
        return callTiles(result, later ? arith::OrIOp::create(b, call.accumulate, later) : call.accumulate);
      // The first block of depth adds the given addend, the others add to its sums.
      Value yes = truth(true);
      OpBuilder::InsertionGuard guard(b);
      if (later) {
        auto branch = scf::IfOp::create(b, later, /*withElseRegion=*/true);
        b.setInsertionPointToStart(branch.thenBlock());
        callTiles(result, yes);
        b.setInsertionPointToStart(branch.elseBlock());
      }
      callTiles(view(*call.addend, row, at, rows, size, /*unitStride=*/true), yes);
    };
    if (call.n.isAtMost(columns))
      return onePanel(g.index(0));
    scf::ForOp loop = g.loop(g.index(0), width, columns, onePanel);
    markParallel(loop, llvm::divideCeil(std::min(call.n.expected(), call.blocks.columns), columns), panelNs);
  }

  /// The part of a matrix of the next matmul that the tiles of the panel at `first` prefetch.
  Value aheadOf(const MatmulAhead &next, Value first) {
    int64_t tiles = llvm::divideCeil(call.m.factor(), call.tile.rows), elements = tiles * call.k.factor();
    Value number = arith::DivUIOp::create(b, first, g.index(call.tile.columns()));
    Value offset = g.add(next.offset, g.mul(number, elements * next.step));
    SmallVector<OpFoldResult> sizes{g.index(elements)}, strides{g.index(next.step)};
    return memref::ReinterpretCastOp::create(b, matmulAheadType(call.element), next.buffer, OpFoldResult(offset), sizes,
                                             strides);
  }

  /// The panel from column `first` of the block at `column`: a view of b, or packed earlier.
  Value panel(Value depth, Value height, Value column, Value first) {
    MemRefType type = matmulPanelType(call.element, call.tile);
    SmallVector<OpFoldResult> sizes{height, b.getIndexAttr(call.tile.columns())};
    Value buffer = isPacked() ? call.packBuffer : call.b.buffer;
    // Packed panels of `height` rows follow each other.
    Value offset = isPacked() ? g.add(call.packOffset, arith::MulIOp::create(b, first, height))
                              : position(call.b, depth, g.add(column, first));
    Value rowStride = g.index(isPacked() ? BoundedSize(call.tile.columns()) : call.b.rowStride);
    SmallVector<OpFoldResult> strides{rowStride, b.getIndexAttr(1)};
    return memref::ReinterpretCastOp::create(b, type, buffer, OpFoldResult(offset), sizes, strides);
  }

  /// Packs a block; threads may share a large one, some panels each.
  void packBlock(Value depth, Value column, Value height, Value width) {
    int64_t columns = call.tile.columns(), n = std::min(call.n.expected(), call.blocks.columns);
    double panelPackNs = double(std::max<int64_t>(depthBlock.expected(), 1) * columns * 2) *
                         call.element.getIntOrFloatBitWidth() / 8 * packNs;
    int64_t panels = llvm::divideCeil(n, columns), step = std::max<int64_t>(1, std::ceil(kPieceNs / panelPackNs));
    if (panelPackNs * double(panels) < kSharedNs || panels < 2 * step)
      return packPanels(depth, column, height, width, g.index(0));
    scf::ForOp loop = g.loop(g.index(0), width, step * columns, [&](Value first) {
      Value rest = g.min(g.sub(width, first), g.index(step * columns));
      packPanels(depth, g.add(column, first), height, rest, first);
    });
    markParallel(loop, llvm::divideCeil(panels, step), panelPackNs * double(step));
  }

  /// Packs the columns from `column` on, which are the block's own from `first` on.
  void packPanels(Value depth, Value column, Value height, Value width, Value first) {
    int64_t columns = call.tile.columns();
    if (call.produceRight)
      return producePanels(depth, column, height, width, first);
    Value offset = g.add(call.packOffset, arith::MulIOp::create(b, first, height));
    Value count = g.ceilDiv(width, columns);
    SmallVector<OpFoldResult> sizes{count, height, b.getIndexAttr(columns)};
    SmallVector<OpFoldResult> strides{g.mul(height, columns), b.getIndexAttr(columns), b.getIndexAttr(1)};
    Value packed = memref::ReinterpretCastOp::create(b, matmulPackedType(call.element, call.tile), call.packBuffer,
                                                     OpFoldResult(offset), sizes, strides);
    OpBuilder::InsertionGuard guard(b);
    if (packShort) {
      Value side = g.index(call.tile.squareSide());
      Value isShort = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, height, side);
      auto branch = scf::IfOp::create(b, isShort, /*withElseRegion=*/true);
      b.setInsertionPointToStart(branch.thenBlock());
      Value strided = view(call.b, depth, column, height, width, /*unitStride=*/false);
      func::CallOp::create(b, packShort, ValueRange{strided, packed});
      b.setInsertionPointToStart(branch.elseBlock());
    }
    func::CallOp::create(b, pack, ValueRange{source(depth, column, height, width), packed});
  }

  /// Computes panels instead of packing them. Columns beyond n are zeros.
  void producePanels(Value depth, Value column, Value height, Value width, Value first) {
    int64_t columns = call.tile.columns();
    bool hasRest = !call.n.isMultipleOf(columns);
    auto panelAt = [&](Value position, Value size) {
      Value offset = g.add(call.packOffset, arith::MulIOp::create(b, g.add(first, position), height));
      return block({call.packBuffer, offset, columns, 1}, height, size);
    };
    Value whole = width;
    if (hasRest)
      whole = g.mul(arith::DivUIOp::create(b, width, g.index(columns)), columns);
    if (!call.n.isAtMost(columns - 1))
      g.loop(g.index(0), whole, columns, [&](Value position) {
        Value size = g.index(columns);
        call.produceRight(depth, g.add(column, position), height, size, panelAt(position, size));
      });
    if (!hasRest)
      return;
    Value isLast = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, whole, width);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(scf::IfOp::create(b, isLast).thenBlock());
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(call.element));
    linalg::FillOp::create(b, zero, panelAt(whole, g.index(columns)));
    Value rest = call.n.isStatic() ? g.index(call.n.factor() % columns) : g.sub(width, whole);
    call.produceRight(depth, g.add(column, whole), height, rest, panelAt(whole, rest));
  }

  Value source(Value depth, Value column, Value height, Value width) {
    if (call.pairing) {
      const Dot2Factor &factor = call.pairing->right;
      Value first = g.mul(depth, 2), terms = g.min(g.mul(height, 2), g.sub(g.index(call.pairing->k), first));
      return view(call.b, first, column, terms, width, factor.unitStride, factor.element);
    }
    if (call.packing != MatmulPacking::Columns)
      return view(call.b, depth, column, height, width, /*unitStride=*/call.packing == MatmulPacking::Rows);
    return columnsOf(depth, column, height, width);
  }

  /// A block of b with unit stride along its columns, n x k.
  Value columnsOf(Value depth, Value column, Value height, Value width) {
    MatmulMatrix transposed{call.b.buffer, call.b.offset, call.b.columnStride, call.b.rowStride};
    return view(transposed, column, depth, width, height, /*unitStride=*/true);
  }

  SmallVector<func::FuncOp> tiles;
  SmallVector<int64_t> heights; ///< of the tiles
  func::FuncOp pack, packShort;
  BoundedSize depthBlock;
  MatmulMatrix leftMatrix; ///< as the tiles read it
  Value leftPanels;        ///< if a is packed
  double panelNs = 0;      ///< of a panel, if threads may share the panels
};

} // namespace

void emitMatmul(ImplicitLocOpBuilder &b, ModuleOp module, const MatmulCall &call) {
  TileEmitter(b, module, call).emit();
}

} // namespace mlir::array
