// array-lower-convolutions: a contraction on buffers with an operand that is read through windows becomes tiles, which
// ConvolutionKernels.h multiplies. Runs after bufferization, and before array-plan-memory, which places the slabs and
// panels. array-vectorize-linalg lowers the remaining contractions.
//
// A slab is a part of the operand with its padding that fits the second cache. Windows overlap in it as they do in the
// operand, so no element is copied for each tap. If there are many positions, a slab holds the windows of some of them,
// and its rows are finished at once. If there are many taps (the gradient of a kernel), a slab holds some taps of all
// windows, and sums continue from slab to slab.
#include "Analysis/ContractionForm.h"
#include "Analysis/ConvolutionForm.h"
#include "Analysis/MatmulForm.h"
#include "Analysis/ParallelLoops.h"
#include "ConvolutionChoices.h"
#include "ConvolutionKernels.h"
#include "ConvolutionPlan.h"
#include "Cpu/Matmul/Matmul.h"
#include "Cpu/Matmul/MatmulEpilogue.h"
#include "array/Cpu/Passes.h"
#include "array/IR/Plan.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::array {

#define GEN_PASS_DEF_LOWERCONVOLUTIONS
#include "array/Cpu/Passes.h.inc"

namespace {

/// Number of slabs that threads fill at a time.
constexpr int64_t mostBlocks = 8;

/// Some nested loops as a table: for each iteration, the outermost loop slowest, the offset.
SmallVector<int32_t> offsetTable(ArrayRef<std::pair<int64_t, int64_t>> loops) {
  SmallVector<int32_t> table{0};
  for (auto [count, stride] : loops) {
    SmallVector<int32_t> next;
    for (int32_t offset : table)
      for (int64_t i = 0; i < count; ++i)
        next.push_back(offset + int32_t(i * stride));
    table = std::move(next);
  }
  return table;
}

/// Constant tables of a module: one global for each content.
class Tables {
public:
  explicit Tables(ModuleOp module) : module(module) {}

  Value get(ImplicitLocOpBuilder &b, ArrayRef<int32_t> table) {
    auto type = MemRefType::get({int64_t(table.size())}, b.getI32Type());
    auto values = DenseElementsAttr::get(RankedTensorType::get(type.getShape(), b.getI32Type()), table);
    memref::GlobalOp &global = globals[values];
    if (!global) {
      OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
      std::string name = ("convolution_table_" + Twine(globals.size() - 1)).str();
      global = memref::GlobalOp::create(top, module.getLoc(), name, top.getStringAttr("private"), type, values,
                                        /*constant=*/true, /*alignment=*/IntegerAttr());
    }
    Value all = memref::GetGlobalOp::create(b, type, global.getSymName());
    return memref::CastOp::create(b, convolutionTableType(b.getContext()), all);
  }

private:
  ModuleOp module;
  DenseMap<Attribute, memref::GlobalOp> globals;
};

class ConvolutionEmitter {
public:
  ConvolutionEmitter(linalg::LinalgOp op, Tables &tables, const Convolution &convolution, unsigned vectorBits,
                     bool isZero)
      : b(op->getLoc(), op), g(b), op(op), tables(tables), convolution(convolution),
        element(getElementTypeOrSelf(convolution.out.getType())),
        tile(chooseConvolutionTile(op, element, vectorBits, convolution)),
        plan(convolution, element, chooseConvolutionLimits(op, tile)), module(op->getParentOfType<ModuleOp>()),
        isZero(isZero) {}

  void emit() {
    multiply = getConvolutionTiles(module, element, tile);
    fill = getConvolutionPack(module, element, tile);
    if (convolution.batch)
      batch = g.index(*convolution.batch);
    planPacking();
    planBlocks();
    tiles = countTiles();
    slab = allocate(slabSize() * blocks);
    panels = allocate(plan.depth * llvm::alignTo(plan.columns, tile.columns()));
    emitTables();
    lhsBase = start(convolution.lhs, convolution.lhsOffset, 0);
    rhsBase = start(convolution.rhs, convolution.rhsOffset, convolution.rhsStart);
    outBase = start(convolution.out, convolution.outOffset, convolution.outStart);
    for (const ConvolutionLoop &group : convolution.groups)
      loop(group.size, 1, [&](Value position) {
        lhsBase = g.advance(lhsBase, position, group.lhs);
        rhsBase = g.advance(rhsBase, position, group.rhs);
        outBase = g.advance(outBase, position, group.out);
      });
    loop(convolution.columns.size, plan.columns, [&](Value column) {
      rhsBase = g.advance(rhsBase, column, convolution.columns.rhs);
      outBase = g.add(outBase, column);
      int64_t size = convolution.columns.size;
      columns =
          size % plan.columns == 0 ? g.index(plan.columns) : g.min(g.sub(g.index(size), column), g.index(plan.columns));
    });
    if (convolution.sumsChannels)
      emitRows();
    else
      emitSums();
  }

private:
  //===--- Plans ---===//

  int64_t slabSize() const { return llvm::alignTo(plan.slabElements(), 16); }

  /// The access of the kernel to the panels: the innermost loops with one common stride form a matrix. In a gradient
  /// the tiled dimension is one of them, or a loop.
  void planPacking() {
    SmallVector<std::pair<int64_t, int64_t>> loops; // count, stride; outermost first
    for (int64_t i = 0; i < plan.dims; ++i)
      if (plan.taps(i) > 1 || (!convolution.sumsChannels && i == plan.tiled))
        loops.push_back({plan.taps(i), plan.dim(i).rhs});
    if (convolution.sumsChannels && (plan.channels > 1 || loops.empty()))
      loops.push_back({plan.channels, convolution.channels.rhs});
    std::tie(matrixRows, matrixStride) = loops.pop_back_val();
    while (!loops.empty() && (loops.back().second == matrixRows * matrixStride || matrixRows == 1)) {
      matrixStride = matrixRows == 1 ? loops.back().second : matrixStride;
      matrixRows *= loops.pop_back_val().first;
    }
    matrixLoops = loops;
    bool isTiled = !convolution.sumsChannels && matrixLoops.empty();
    int64_t leastHeight = isTiled ? plan.depth / plan.taken[plan.tiled] : matrixRows;
    if (convolution.columns.rhs == 1)
      packing = MatmulPacking::Rows;
    else if (matrixStride == 1 && leastHeight >= tile.squareSide())
      packing = MatmulPacking::Columns;
    else
      packing = MatmulPacking::Strided;
    pack = getMatmulPack(module, element, tile, packing);
  }

  /// Decides whether threads share the slabs. If they do, there are several blocks, each with its own buffer.
  void planBlocks() {
    if (!convolution.sumsChannels)
      return;
    int64_t slabs = plan.tiles();
    slabNs = estimateMatmulNs(tile, plan.items(), plan.columns, plan.depth);
    if (slabs < 2 || slabNs * double(slabs) < kSharedNs)
      return;
    blockStep = llvm::divideCeil(slabs, mostBlocks);
    blocks = llvm::divideCeil(slabs, blockStep);
  }

  //===--- Pieces ---===//

  /// The tiles of this call.
  Value countTiles() {
    if (!batch)
      return g.index(plan.tiles());
    if (plan.tiled == 0 && plan.taken[0] > 1)
      return g.ceilDiv(batch, plan.taken[0]);
    return g.mul(batch, plan.tiles() / plan.count(0));
  }

  /// The elements of a dimension.
  Value sizeOf(int64_t i) { return batch && i == 0 ? batch : g.index(plan.dim(i).size); }

  Value allocate(int64_t elements) {
    OpBuilder::InsertionGuard guard(b);
    auto function = op->getParentOfType<func::FuncOp>();
    if (op->getParentOp() != function)
      b.setInsertionPointToStart(&function.getBody().front());
    return memref::AllocOp::create(b, MemRefType::get({elements}, element), b.getI64IntegerAttr(64));
  }

  /// Enters the body of a loop if there is more than one iteration.
  scf::ForOp loop(int64_t size, int64_t step, llvm::function_ref<void(Value)> body) {
    if (size <= step) {
      body(g.index(0));
      return {};
    }
    auto loop = scf::ForOp::create(b, g.index(0), g.index(size), g.index(step));
    b.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar());
    return loop;
  }

  /// Enters the body of a loop to `end` if there may be more than one iteration.
  void loop(int64_t most, Value end, llvm::function_ref<void(Value)> body) {
    if (most <= 1)
      return body(g.index(0));
    auto loop = scf::ForOp::create(b, g.index(0), end, g.index(1));
    b.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar());
  }

  Value start(Value buffer, int64_t offset, int64_t from) {
    if (!ShapedType::isDynamic(offset))
      return g.index(offset + from);
    return g.add(memref::ExtractStridedMetadataOp::create(b, buffer).getOffset(), from);
  }

  Value flat(Value buffer, Value offset) {
    SmallVector<OpFoldResult> sizes{g.index(1)}, strides{b.getIndexAttr(1)};
    return memref::ReinterpretCastOp::create(b, convolutionFlatType(element), buffer, OpFoldResult(offset), sizes,
                                             strides);
  }

  void emitTables() {
    SmallVector<std::pair<int64_t, int64_t>> rows, results, terms;
    for (int64_t i = 0; i < plan.dims; ++i) {
      if (plan.positions(i) > 1) {
        rows.push_back({plan.positions(i), plan.dim(i).step * plan.stride(i)});
        results.push_back({plan.positions(i), plan.dim(i).out});
      }
      if (plan.taps(i) > 1)
        terms.push_back({plan.taps(i), plan.dim(i).dilation * plan.stride(i)});
    }
    std::pair<int64_t, int64_t> inSlab{plan.channels, 1}, inResult{plan.channels, convolution.channels.out};
    (convolution.sumsChannels ? terms : rows).push_back(inSlab);
    if (!convolution.sumsChannels)
      results.push_back(inResult);
    rowOffsets = tables.get(b, offsetTable(rows));
    resultOffsets = tables.get(b, offsetTable(results));
    termOffsets = tables.get(b, offsetTable(terms));
  }

  /// The first position (or tap) of each dimension in tile number `tile`.
  SmallVector<Value> tileStart(Value tile) {
    SmallVector<Value> first(plan.dims, g.index(0));
    for (int64_t i = plan.tiled; i >= 0; --i) {
      int64_t number = i == plan.tiled ? llvm::divideCeil(plan.count(i), plan.taken[i]) : plan.count(i);
      if (number == 1 && !(batch && i == 0))
        continue;
      bool isFirst = llvm::all_of(llvm::seq<int64_t>(0, i), [&](int64_t outer) { return plan.count(outer) == 1; });
      Value here = isFirst ? tile : arith::RemUIOp::create(b, tile, g.index(number)).getResult();
      first[i] = g.mul(here, i == plan.tiled ? plan.taken[i] : 1);
      if (!isFirst)
        tile = arith::DivUIOp::create(b, tile, g.index(number));
    }
    return first;
  }

  /// The number of positions (or taps) of the tiled dimension in the tile.
  Value tileSize(ArrayRef<Value> first) {
    int64_t all = plan.count(plan.tiled), taken = plan.taken[plan.tiled];
    if (batch && plan.tiled == 0)
      return g.min(g.sub(batch, first[0]), g.index(taken));
    return all % taken == 0 ? g.index(taken) : g.min(g.sub(g.index(all), first[plan.tiled]), g.index(taken));
  }

  /// Copies the tile's part of the operand, with the channels from `channel` on.
  void fillSlab(ArrayRef<Value> first, Value channel, Value slabOffset) {
    OpBuilder::InsertionGuard guard(b);
    Value source = g.add(lhsBase, channel), target = slabOffset, isInside;
    for (int64_t i = 0; i < plan.dims; ++i) {
      const WindowDim &dim = plan.dim(i);
      Value begin = g.mul(first[i], convolution.sumsChannels ? dim.step : dim.dilation);
      begin = g.sub(begin, dim.low);
      if (i + 1 == plan.dims)
        return fillRow(dim, sizeOf(i), plan.extent(i), begin, source, target, isInside);
      // A batch has as many images as this block takes.
      Value end = batch && i == 0 && plan.tiled == 0 ? tileSize(first) : g.index(plan.extent(i));
      loop(plan.extent(i), end, [&](Value place) {
        Value at = g.add(begin, place);
        // Negative places are large numbers.
        Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, at, sizeOf(i));
        isInside = isInside ? arith::AndIOp::create(b, isInside, inside).getResult() : inside;
        source = g.advance(source, at, dim.lhs);
        target = g.advance(target, place, plan.stride(i));
      });
    }
  }

  void fillRow(const WindowDim &dim, Value size, int64_t extent, Value begin, Value source, Value target,
               Value isInside) {
    auto clamp = [&](Value value) {
      return arith::MaxSIOp::create(b, g.min(value, g.index(extent)), g.index(0)).getResult();
    };
    Value before = clamp(g.sub(g.index(0), begin)), end = clamp(g.sub(size, begin));
    Value count = arith::MaxSIOp::create(b, g.sub(end, before), g.index(0));
    if (isInside)
      count = arith::SelectOp::create(b, isInside, count, g.index(0));
    source = g.advance(source, g.add(begin, before), dim.lhs);
    func::CallOp::create(b, fill,
                         ValueRange{flat(convolution.lhs, source), g.index(dim.lhs), flat(slab, target), before, count,
                                    g.index(extent), g.index(plan.channels)});
  }

  /// Packs the panels from `rhsOffset` on. `tiledRows` is the size of the tiled dimension if it is part of the terms.
  void packPanels(Value rhsOffset, Value tiledRows) {
    OpBuilder::InsertionGuard guard(b);
    Value depth = g.index(plan.depth), height = g.index(matrixRows), row = g.index(0);
    if (tiledRows) {
      int64_t inner = plan.depth / plan.taken[plan.tiled];
      depth = g.mul(tiledRows, inner);
      if (matrixLoops.empty())
        height = depth;
    }
    for (auto [number, matrixLoop] : llvm::enumerate(matrixLoops)) {
      auto [count, stride] = matrixLoop;
      int64_t below = matrixRows;
      for (auto inner : llvm::drop_begin(matrixLoops, number + 1))
        below *= inner.first;
      // The tiled dimension is the outermost loop of the terms.
      Value end = tiledRows && number == 0 ? tiledRows : g.index(count);
      auto loop = scf::ForOp::create(b, g.index(0), end, g.index(1));
      b.setInsertionPointToStart(loop.getBody());
      rhsOffset = g.advance(rhsOffset, loop.getInductionVar(), stride);
      row = g.advance(row, loop.getInductionVar(), below);
    }
    int64_t width = tile.columns();
    bool isTransposed = packing == MatmulPacking::Columns, isUnit = packing != MatmulPacking::Strided;
    Value count = arith::DivUIOp::create(b, g.add(columns, width - 1), g.index(width));
    SmallVector<OpFoldResult> sizes{height, columns};
    SmallVector<OpFoldResult> strides{g.index(matrixStride), g.index(convolution.columns.rhs)};
    if (isTransposed) {
      std::swap(sizes[0], sizes[1]);
      std::swap(strides[0], strides[1]);
    }
    if (isUnit)
      strides[1] = b.getIndexAttr(1);
    Value source = memref::ReinterpretCastOp::create(b, matmulMatrixType(element, isUnit), convolution.rhs,
                                                     OpFoldResult(rhsOffset), sizes, strides);
    SmallVector<OpFoldResult> packedSizes{count, height, b.getIndexAttr(width)};
    SmallVector<OpFoldResult> packedStrides{g.mul(depth, width), b.getIndexAttr(width), b.getIndexAttr(1)};
    Value packed = memref::ReinterpretCastOp::create(b, matmulPackedType(element, tile), panels,
                                                     OpFoldResult(g.mul(row, width)), packedSizes, packedStrides);
    func::CallOp::create(b, pack, ValueRange{source, packed});
  }

  /// Multiplies `rows` rows of the slab, from `firstRow` on, with every panel.
  void multiplyPanels(Value slabOffset, Value firstRow, Value rows, Value depth, Value result, Value accumulate) {
    int64_t width = tile.columns();
    g.loop(g.index(0), columns, width, [&](Value column) {
      SmallVector<OpFoldResult> sizes{depth, b.getIndexAttr(width)}, strides{b.getIndexAttr(width), b.getIndexAttr(1)};
      Value offset = arith::MulIOp::create(b, column, depth);
      Value stride = g.index(width);
      strides[0] = stride;
      Value panel = memref::ReinterpretCastOp::create(b, matmulPanelType(element, tile), panels, OpFoldResult(offset),
                                                      sizes, strides);
      Value left = g.min(g.sub(columns, column), g.index(width));
      func::CallOp::create(b, multiply,
                           ValueRange{flat(slab, slabOffset), tableFrom(rowOffsets, firstRow),
                                      tableFrom(resultOffsets, firstRow), rows, termOffsets, depth, panel,
                                      flat(convolution.out, g.add(result, column)), left, accumulate});
    });
  }

  Value tableFrom(Value table, Value first) {
    if (!first)
      return table;
    SmallVector<OpFoldResult> sizes{g.index(1)}, strides{b.getIndexAttr(1)};
    return memref::ReinterpretCastOp::create(b, convolutionTableType(b.getContext()), table, OpFoldResult(first), sizes,
                                             strides);
  }

  //===--- The two loops ---===//

  /// Every slab holds the windows of some positions, which are finished (except for blocks of channels) before the next
  /// slab.
  void emitRows() {
    Value block = g.index(0);
    loop(convolution.channels.size, plan.channels, [&](Value channel) { block = channel; });
    packPanels(g.advance(rhsBase, block, convolution.channels.rhs), {});
    Value accumulate = arith::ConstantIntOp::create(b, isZero ? 0 : 1, 1);
    if (isZero && plan.channels < convolution.channels.size)
      accumulate = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, block, g.index(0));
    auto oneSlab = [&](Value number, Value slabOffset) {
      SmallVector<Value> first = tileStart(number);
      fillSlab(first, block, slabOffset);
      Value result = outBase;
      for (int64_t i = 0; i < plan.dims; ++i)
        result = g.advance(result, first[i], plan.dim(i).out);
      int64_t whole = plan.items() / plan.taken[plan.tiled];
      multiplyPanels(slabOffset, {}, g.mul(tileSize(first), whole), g.index(plan.depth), result, accumulate);
    };
    if (blocks == 1) {
      g.loop(g.index(0), tiles, 1, [&](Value number) { oneSlab(number, g.index(0)); });
      return;
    }
    Value step = batch ? g.ceilDiv(tiles, blocks) : g.index(blockStep);
    scf::ForOp shared = g.loop(g.index(0), g.index(blocks), 1, [&](Value number) {
      Value first = arith::MulIOp::create(b, number, step), last = g.min(g.add(first, step), tiles);
      Value offset = g.mul(number, slabSize());
      g.loop(first, last, 1, [&](Value tile) { oneSlab(tile, offset); });
    });
    markParallel(shared, blocks, slabNs * double(blockStep));
  }

  /// Every slab holds some taps of all windows; its terms are added to all rows, which threads share.
  void emitSums() {
    int64_t rows = convolution.positions() * plan.channels;
    g.loop(g.index(0), tiles, 1, [&](Value number) {
      SmallVector<Value> first = tileStart(number);
      fillSlab(first, g.index(0), g.index(0));
      Value size = tileSize(first), from = rhsBase;
      for (int64_t i = 0; i < plan.dims; ++i)
        from = g.advance(from, first[i], plan.dim(i).rhs);
      packPanels(from, size);
      Value accumulate = arith::ConstantIntOp::create(b, 1, 1);
      if (isZero)
        accumulate = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, number, g.index(0));
      Value depth = g.mul(size, plan.depth / plan.taken[plan.tiled]);
      double rowNs = estimateMatmulNs(tile, 1, plan.columns, plan.depth);
      int64_t step = llvm::alignTo(std::max<int64_t>(llvm::divideCeil(rows, mostBlocks), 1), tile.rows);
      if (rowNs * double(rows) < kSharedNs || rows <= step)
        return multiplyPanels(g.index(0), {}, g.index(rows), depth, outBase, accumulate);
      scf::ForOp shared = g.loop(g.index(0), g.index(rows), step, [&](Value row) {
        Value count = g.min(g.sub(g.index(rows), row), g.index(step));
        multiplyPanels(g.index(0), row, count, depth, outBase, accumulate);
      });
      markParallel(shared, llvm::divideCeil(rows, step), rowNs * double(step));
    });
  }

  ImplicitLocOpBuilder b;
  MatmulBuilder g;
  linalg::LinalgOp op;
  Tables &tables;
  const Convolution &convolution;
  Type element;
  MatmulTile tile;
  ConvolutionPlan plan;
  ModuleOp module;
  bool isZero;
  func::FuncOp multiply, fill, pack;
  MatmulPacking packing = MatmulPacking::Rows;
  SmallVector<std::pair<int64_t, int64_t>> matrixLoops;
  int64_t matrixRows = 1, matrixStride = 1, blocks = 1, blockStep = 1;
  double slabNs = 0;
  Value batch, tiles; ///< the batch is null if its size is not symbolic
  Value slab, panels, rowOffsets, resultOffsets, termOffsets, lhsBase, rhsBase, outBase, columns;
};

struct LowerConvolutions : impl::LowerConvolutionsBase<LowerConvolutions> {
  using Base::Base;

  void runOnOperation() override {
    if (failed(verifyVectorBits(getOperation(), getArgument(), vectorBits)))
      return signalPassFailure();
    Tables tables(getOperation());
    SmallVector<linalg::LinalgOp> contractions;
    getOperation().walk([&](Operation *op) {
      auto linalg = dyn_cast<linalg::LinalgOp>(op);
      auto copy = dyn_cast<memref::CopyOp>(op);
      if (linalg && linalg.getNumReductionLoops() > 0)
        contractions.push_back(linalg);
      else if (copy && copy.getSource() == copy.getTarget())
        copy.erase(); // bufferization wrote an operand to its position between the zeros, and CSE merged both views
    });
    llvm::erase_if(contractions, [&](linalg::LinalgOp op) {
      FailureOr<Convolution> convolution = analyzeConvolution(op);
      return failed(convolution) ||
             !isWorthTiling(*convolution, getElementTypeOrSelf(convolution->out.getType()), vectorBits);
    });
    for (linalg::LinalgOp op : contractions) {
      if (failed(verifyPlan(op)))
        return signalPassFailure();
      makeDense(op, contractions);
    }
    for (linalg::LinalgOp op : contractions)
      lower(op, *analyzeConvolution(op), tables);
  }

private:
  /// If an operand was computed in its position between zeros, computes it in separate memory and adds a copy. The pass
  /// then removes the copy and the zeros if convolutions alone read them.
  static void makeDense(linalg::LinalgOp op, ArrayRef<linalg::LinalgOp> convolutions) {
    Value padded = op.getDpsInputs()[0];
    auto view = analyzeConvolution(op)->lhs.getDefiningOp<memref::SubViewOp>();
    if (!view || view.getSource() != padded)
      return;
    bool areAllTaken = llvm::all_of(padded.getUsers(), [&](Operation *user) {
      return isa<memref::SubViewOp, linalg::FillOp>(user) || llvm::is_contained(convolutions, user);
    });
    if (!areAllTaken || !llvm::all_of(view->getUsers(), llvm::IsaPred<linalg::LinalgOp>))
      return;
    linalg::LinalgOp writer;
    for (linalg::LinalgOp user : llvm::map_range(view->getUsers(), llvm::CastTo<linalg::LinalgOp>))
      if (llvm::is_contained(user.getDpsInits(), view.getResult()))
        writer = user;
    OpBuilder b(padded.getDefiningOp());
    auto order = llvm::to_vector(llvm::seq<int64_t>(0, view.getType().getRank()));
    Value dense = allocateOrdered(b, view, order);
    view->replaceAllUsesWith(ValueRange(dense));
    b.setInsertionPointAfter(writer);
    memref::CopyOp::create(b, view.getLoc(), dense, view);
  }

  void lower(linalg::LinalgOp op, Convolution convolution, Tables &tables) {
    // The padding's source must not share memory with the sums.
    if (takeEpilogue(op))
      convolution = *analyzeConvolution(op);
    std::vector<Convolution> parts = splitInterior(convolution);
    bool coversAll = llvm::all_of(parts, [](const Convolution &part) { return part.taps() > 0; });
    // A gradient of the kernel has no positions for an empty batch.
    coversAll &= !convolution.batch || convolution.sumsChannels || convolution.batch->least() > 0;
    // Positions without taps keep the zeros.
    linalg::FillOp fill = coversAll ? findZeroFill(op, convolution.out) : linalg::FillOp();
    for (const Convolution &part : parts)
      if (part.taps() > 0)
        ConvolutionEmitter(op, tables, part, vectorBits, /*isZero=*/!!fill).emit();
    Value lhs = op.getDpsInputs()[0];
    op->erase();
    if (fill)
      fill.erase();
    eraseUnread(lhs);
  }

  /// Erases the zeros of a padded buffer without readers, and the buffer if it has no uses.
  static void eraseUnread(Value buffer) {
    auto alloc = buffer.getDefiningOp<memref::AllocOp>();
    if (!alloc || !llvm::all_of(alloc->getUsers(), llvm::IsaPred<memref::SubViewOp, linalg::FillOp>))
      return;
    bool isRead = false;
    SmallVector<Operation *> fills, writers;
    for (Operation *user : alloc->getUsers()) {
      (isa<linalg::FillOp>(user) ? fills : writers).push_back(user);
      for (Operation *ofView : user->getUsers()) {
        auto copy = dyn_cast<memref::CopyOp>(ofView);
        isRead |= !copy || copy.getTarget() != user->getResult(0);
        writers.push_back(ofView);
      }
    }
    for (Operation *fill : fills)
      fill->erase();
    if (isRead)
      return;
    for (Operation *writer : llvm::reverse(writers))
      writer->erase();
    alloc->erase();
  }
};

} // namespace

} // namespace mlir::array
