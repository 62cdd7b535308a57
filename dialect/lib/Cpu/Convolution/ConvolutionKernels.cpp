// Builds the functions of a convolution, as scf, vector and memref operations:
//   @convolution_tiles_*  multiplies rows of a slab with one panel, one tile of accumulators in registers at a time;
//   @convolution_pack_*   copies a row of the operand to the slab, between zeros.
// A row is the start of a window in the slab, a term the position of an element in a window. Both are read from tables,
// so one function serves every stride, dilation, layout and gradient. Rows beyond the last one are clamped to it: they
// compute and store the same values again. Columns beyond the last one are masked.
#include "ConvolutionKernels.h"
#include "Entry/SharedFunctions.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::array {

namespace {

class Kernel {
public:
  Kernel(ModuleOp module, StringRef kind, Type element, const MatmulTile &tile)
      : element(element), tile(tile), b(module.getLoc(), OpBuilder::atBlockEnd(module.getBody())), g(b),
        vector(VectorType::get({tile.lanes}, element)) {
    name = (kind + (element.isF64() ? "_f64_" : "_f32_") + Twine(tile.rows) + "x" + Twine(tile.columns())).str();
    function = module.lookupSymbol<func::FuncOp>(name);
  }

  func::FuncOp getTiles();
  func::FuncOp getPack();

private:
  void begin(TypeRange arguments) { function = addSharedFunction(b, name, arguments); }
  func::FuncOp end() {
    func::ReturnOp::create(b);
    return function;
  }

  Value argument(unsigned index) { return function.getArgument(index); }
  Value mask(Value count) { return vector::CreateMaskOp::create(b, vector.clone(b.getI1Type()), count); }
  Value zeros() { return arith::ConstantOp::create(b, vector, b.getZeroAttr(vector)); }

  /// The buffer from `offset` on, so that loop-invariant parts of addresses are in one pointer.
  Value from(Value buffer, Value offset) {
    SmallVector<OpFoldResult> sizes{g.index(1)}, strides{b.getIndexAttr(1)};
    Value start = memref::ExtractStridedMetadataOp::create(b, buffer).getOffset();
    return memref::ReinterpretCastOp::create(b, convolutionFlatType(element), buffer,
                                             OpFoldResult(g.add(start, offset)), sizes, strides);
  }

  void emitTile(Value i, ArrayRef<Value> masks);
  SmallVector<Value> addTo(ArrayRef<Value> results, ArrayRef<Value> masks, ArrayRef<Value> sums);
  SmallVector<Value> multiply(ArrayRef<Value> windows, ValueRange initial);
  Value lookUp(unsigned table, Value position) {
    Value offset = memref::LoadOp::create(b, argument(table), position);
    return arith::IndexCastOp::create(b, b.getIndexType(), offset);
  }
  /// Calls `body(at, mask)` for the vectors of [begin, end).
  void vectors(Value begin, Value end, llvm::function_ref<void(Value, Value)> body) {
    g.loop(begin, end, tile.lanes, [&](Value at) { body(at, mask(g.sub(end, at))); });
  }

  Type element;
  MatmulTile tile;
  ImplicitLocOpBuilder b;
  MatmulBuilder g;
  VectorType vector;
  std::string name;
  func::FuncOp function;
};

//===--- Tiles ----------------------------------------------------------------------------------------------------===//

enum TilesArgument { Slab, RowOffsets, ResultOffsets, Rows, TermOffsets, Terms, Panel, Result, Columns, Add };

func::FuncOp Kernel::getTiles() {
  if (function)
    return function;
  Type flat = convolutionFlatType(element), table = convolutionTableType(b.getContext()), index = b.getIndexType();
  begin({flat, table, table, index, table, index, matmulPanelType(element, tile), flat, index, b.getI1Type()});
  SmallVector<Value> masks;
  for (int64_t v = 0; v < tile.vectors; ++v)
    masks.push_back(mask(g.sub(argument(Columns), v * tile.lanes)));
  g.loop(g.index(0), argument(Rows), tile.rows, [&](Value i) { emitTile(i, masks); });
  return end();
}

/// The rows [i, i + tile.rows). The sums start at zero, and the result is added at the end, so that no tile waits for
/// loads of the result.
void Kernel::emitTile(Value i, ArrayRef<Value> masks) {
  Value lastRow = g.sub(argument(Rows), 1);
  SmallVector<Value> windows, results;
  for (int64_t r = 0; r < tile.rows; ++r) {
    Value row = g.min(g.add(i, r), lastRow), result = lookUp(ResultOffsets, row);
    windows.push_back(from(argument(Slab), lookUp(RowOffsets, row)));
    for (int64_t v = 0; v < tile.vectors; ++v) {
      results.push_back(g.add(result, v * tile.lanes));
      memref::PrefetchOp::create(b, argument(Result), results.back(), /*isWrite=*/true, /*localityHint=*/3,
                                 /*isDataCache=*/true);
    }
  }
  SmallVector<Value> sums = multiply(windows, SmallVector<Value>(results.size(), zeros()));
  sums = addTo(results, masks, sums);
  for (auto [v, result] : llvm::enumerate(results))
    vector::MaskedStoreOp::create(b, argument(Result), result, masks[v % tile.vectors], sums[v]);
}

/// The sums, plus the loaded results if requested.
SmallVector<Value> Kernel::addTo(ArrayRef<Value> results, ArrayRef<Value> masks, ArrayRef<Value> sums) {
  auto branch = scf::IfOp::create(b, ValueRange(sums).getTypes(), argument(Add), /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  SmallVector<Value> totals;
  for (auto [v, result] : llvm::enumerate(results)) {
    Value old = vector::MaskedLoadOp::create(b, vector, argument(Result), result, masks[v % tile.vectors], zeros());
    totals.push_back(arith::AddFOp::create(b, sums[v], old));
  }
  scf::YieldOp::create(b, totals);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, sums);
  return SmallVector<Value>(branch.getResults());
}

/// The loop over the terms, with the accumulators as its values.
SmallVector<Value> Kernel::multiply(ArrayRef<Value> windows, ValueRange initial) {
  auto loop = scf::ForOp::create(b, g.index(0), argument(Terms), g.index(1), initial);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value term = loop.getInductionVar(), at = lookUp(TermOffsets, term);
  SmallVector<Value> right, sums;
  for (int64_t v = 0; v < tile.vectors; ++v)
    right.push_back(vector::LoadOp::create(b, vector, argument(Panel), ValueRange{term, g.index(v * tile.lanes)}));
  for (Value window : windows) {
    Value left = vector::BroadcastOp::create(b, vector, memref::LoadOp::create(b, window, at));
    for (Value factor : right)
      sums.push_back(vector::FMAOp::create(b, left, factor, loop.getRegionIterArg(sums.size())));
  }
  scf::YieldOp::create(b, sums);
  return SmallVector<Value>(loop.getResults());
}

//===--- Packing --------------------------------------------------------------------------------------------------===//

func::FuncOp Kernel::getPack() {
  if (function)
    return function;
  Type flat = convolutionFlatType(element), index = b.getIndexType();
  begin({flat, index, flat, index, index, index, index});
  Value source = argument(0), step = argument(1), slab = argument(2), before = argument(3), count = argument(4),
        all = argument(5), channels = argument(6);
  auto elements = [&](Value places) { return arith::MulIOp::create(b, places, channels).getResult(); };
  Value first = elements(before), last = elements(g.add(before, count)), nothing = zeros();
  auto zero = [&](Value at, Value mask) { vector::MaskedStoreOp::create(b, slab, at, mask, nothing); };
  vectors(g.index(0), first, zero);
  vectors(last, elements(all), zero);
  // Places that are adjacent in the source are copied as one run.
  Value isDense = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, step, channels);
  Value runs = arith::SelectOp::create(b, isDense, g.index(1), count);
  Value length = arith::SelectOp::create(b, isDense, elements(count), channels);
  g.loop(g.index(0), runs, 1, [&](Value run) {
    Value read = arith::MulIOp::create(b, run, step), write = g.add(first, arith::MulIOp::create(b, run, channels));
    vectors(g.index(0), length, [&](Value at, Value mask) {
      Value values = vector::MaskedLoadOp::create(b, vector, source, ValueRange{g.add(read, at)}, mask, nothing);
      vector::MaskedStoreOp::create(b, slab, ValueRange{g.add(write, at)}, mask, values);
    });
  });
  return end();
}

} // namespace

MemRefType convolutionFlatType(Type element) {
  return MemRefType::get({ShapedType::kDynamic}, element,
                         StridedLayoutAttr::get(element.getContext(), ShapedType::kDynamic, {1}));
}

MemRefType convolutionTableType(MLIRContext *context) {
  return MemRefType::get({ShapedType::kDynamic}, IntegerType::get(context, 32),
                         StridedLayoutAttr::get(context, ShapedType::kDynamic, {1}));
}

func::FuncOp getConvolutionTiles(ModuleOp module, Type element, const MatmulTile &tile) {
  return Kernel(module, "convolution_tiles", element, tile).getTiles();
}

func::FuncOp getConvolutionPack(ModuleOp module, Type element, const MatmulTile &tile) {
  return Kernel(module, "convolution_pack", element, tile).getPack();
}

} // namespace mlir::array
