// Builds the functions of a matrix product, as scf, vector and memref operations:
//   @gemm_pack_*   copies a kc x nc block of the right operand to panels [nc/columns][kc][columns];
//   @gemm_tiles_*  multiplies a block of rows with packed panels, one tile of accumulators in registers at a time;
//   @gemm_*        blocks over n and k around the two.
// The left operand is read in place by scalar broadcasts, with any strides. Rows beyond the last one are clamped to it:
// they compute and store the same values again. Columns beyond the last one are masked.
#include "Gemm.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::array {

namespace {

constexpr int64_t dynamic = ShapedType::kDynamic;

MemRefType stridedType(ArrayRef<int64_t> shape, Type element, ArrayRef<int64_t> strides) {
  return MemRefType::get(shape, element, StridedLayoutAttr::get(element.getContext(), dynamic, strides));
}

/// Panels as the tile reads them, packed or in place: [panel][k][column].
MemRefType panelsType(Type element, const GemmTile &tile) {
  return stridedType({dynamic, dynamic, tile.columns()}, element, {dynamic, dynamic, 1});
}

/// Packed panels: the rows of one panel follow each other.
MemRefType packedType(Type element, const GemmTile &tile) {
  return stridedType({dynamic, dynamic, tile.columns()}, element, {dynamic, tile.columns(), 1});
}

/// One function under construction, with short names for the operations that all of them use.
class FunctionBuilder {
public:
  FunctionBuilder(ModuleOp module, StringRef name, TypeRange arguments)
      : b(module.getLoc(), OpBuilder::atBlockEnd(module.getBody())) {
    function = func::FuncOp::create(b, name, b.getFunctionType(arguments, {}));
    function.setPrivate();
    function->setAttr("llvm.linkage", LLVM::LinkageAttr::get(b.getContext(), LLVM::Linkage::Internal));
    b.setInsertionPointToStart(function.addEntryBlock());
  }

  func::FuncOp finish() {
    func::ReturnOp::create(b);
    return function;
  }

  Value argument(unsigned index) { return function.getArgument(index); }
  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, value); }
  Value dim(Value memref, int64_t dimension) { return memref::DimOp::create(b, memref, dimension); }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
  Value add(Value x, int64_t y) { return y == 0 ? x : add(x, index(y)); }
  Value sub(Value x, Value y) { return arith::SubIOp::create(b, x, y); }
  Value sub(Value x, int64_t y) { return y == 0 ? x : sub(x, index(y)); }
  Value mul(Value x, int64_t y) { return arith::MulIOp::create(b, x, index(y)); }
  Value min(Value x, Value y) { return arith::MinSIOp::create(b, x, y); }
  Value ceilDiv(Value x, Value y) { return arith::DivUIOp::create(b, add(x, sub(y, 1)), y); }
  Value block(Value matrix, Value offset0, Value offset1, Value size0, Value size1) {
    SmallVector<OpFoldResult> offsets{offset0, offset1}, sizes{size0, size1}, strides(2, b.getIndexAttr(1));
    return memref::SubViewOp::create(b, cast<MemRefType>(matrix.getType()), matrix, offsets, sizes, strides);
  }

  /// A loop over [begin, end) whose body is built by `body(induction variable)`.
  void loop(Value begin, Value end, Value step, llvm::function_ref<void(Value)> body) {
    auto loop = scf::ForOp::create(b, begin, end, step);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar());
  }

  ImplicitLocOpBuilder b;
  func::FuncOp function;
};

std::string tileName(StringRef prefix, Type element, const GemmTile &tile) {
  return (prefix + (element.isF64() ? "f64_" : "f32_") + Twine(tile.rows) + "x" + Twine(tile.columns())).str();
}

VectorType vectorType(Type element, const GemmTile &tile) { return VectorType::get({tile.lanes}, element); }

Value zeroVector(ImplicitLocOpBuilder &b, VectorType type) {
  return arith::ConstantOp::create(b, type, b.getZeroAttr(type));
}

/// Masks of the tile's column vectors when `remaining` columns are left.
SmallVector<Value> columnMasks(FunctionBuilder &f, const GemmTile &tile, Value remaining) {
  auto type = VectorType::get({tile.lanes}, f.b.getI1Type());
  SmallVector<Value> masks;
  for (int64_t v = 0; v < tile.vectors; ++v)
    masks.push_back(vector::CreateMaskOp::create(f.b, type, f.sub(remaining, v * tile.lanes)));
  return masks;
}

//===--- The tile -------------------------------------------------------------------------------------------------===//

/// Emits the product of one tile: rows [i, i + tile.rows) of `a` with one panel.
class TileEmitter {
public:
  TileEmitter(FunctionBuilder &f, const GemmTile &tile, Value a, Value panels, Value c)
      : f(f), tile(tile), a(a), panels(panels), c(c), type(vectorType(getElementTypeOrSelf(a.getType()), tile)) {}

  void emit(Value i, Value panel, Value column, Value accumulate) {
    Value lastRow = f.sub(f.dim(a, 0), 1);
    SmallVector<Value> rows;
    for (int64_t r = 0; r < tile.rows; ++r)
      rows.push_back(f.min(f.add(i, r), lastRow));

    SmallVector<Value> masks = columnMasks(f, tile, f.sub(f.dim(c, 1), column));
    SmallVector<Value> sums = multiply(rows, panel, loadSums(rows, column, masks, accumulate));
    for (int64_t r = 0; r < tile.rows; ++r)
      for (int64_t v = 0; v < tile.vectors; ++v)
        vector::MaskedStoreOp::create(f.b, c, ValueRange{rows[r], f.add(column, v * tile.lanes)}, masks[v],
                                      sums[r * tile.vectors + v]);
  }

private:
  /// A load with an empty mask reads nothing, so zeros need no branch.
  SmallVector<Value> loadSums(ArrayRef<Value> rows, Value column, ArrayRef<Value> masks, Value accumulate) {
    auto maskType = cast<VectorType>(masks.front().getType());
    Value all = vector::BroadcastOp::create(f.b, maskType, accumulate);
    Value zero = zeroVector(f.b, type);
    SmallVector<Value> sums;
    for (Value row : rows)
      for (int64_t v = 0; v < tile.vectors; ++v)
        sums.push_back(vector::MaskedLoadOp::create(f.b, type, c, ValueRange{row, f.add(column, v * tile.lanes)},
                                                    arith::AndIOp::create(f.b, masks[v], all), zero));
    return sums;
  }

  SmallVector<Value> multiply(ArrayRef<Value> rows, Value panel, ValueRange initial) {
    auto loop = scf::ForOp::create(f.b, f.index(0), f.dim(a, 1), f.index(1), initial);
    OpBuilder::InsertionGuard guard(f.b);
    f.b.setInsertionPointToStart(loop.getBody());
    Value k = loop.getInductionVar();
    SmallVector<Value> right;
    for (int64_t v = 0; v < tile.vectors; ++v)
      right.push_back(vector::LoadOp::create(f.b, type, panels, ValueRange{panel, k, f.index(v * tile.lanes)}));
    SmallVector<Value> sums;
    for (int64_t r = 0; r < tile.rows; ++r) {
      Value left = vector::BroadcastOp::create(f.b, type, memref::LoadOp::create(f.b, a, ValueRange{rows[r], k}));
      for (int64_t v = 0; v < tile.vectors; ++v)
        sums.push_back(vector::FMAOp::create(f.b, left, right[v], loop.getRegionIterArg(r * tile.vectors + v)));
    }
    scf::YieldOp::create(f.b, sums);
    return SmallVector<Value>(loop.getResults());
  }

  FunctionBuilder &f;
  const GemmTile &tile;
  Value a, panels, c;
  VectorType type;
};

/// @gemm_tiles_*(a: m x k, panels, c: m x n, accumulate). A panel stays in the first cache while a block of rows
/// passes.
func::FuncOp getTilesFunction(ModuleOp module, Type element, const GemmTile &tile) {
  std::string name = tileName("gemm_tiles_", element, tile);
  if (auto function = module.lookupSymbol<func::FuncOp>(name))
    return function;
  MemRefType a = gemmMatrixType(element, false), c = gemmMatrixType(element, true);
  FunctionBuilder f(module, name, {a, panelsType(element, tile), c, IntegerType::get(module.getContext(), 1)});
  TileEmitter emitter(f, tile, f.argument(0), f.argument(1), f.argument(2));
  Value zero = f.index(0);
  f.loop(zero, f.dim(f.argument(1), 0), f.index(1), [&](Value panel) {
    Value column = f.mul(panel, tile.columns());
    f.loop(zero, f.dim(f.argument(0), 0), f.index(tile.rows),
           [&](Value i) { emitter.emit(i, panel, column, f.argument(3)); });
  });
  return f.finish();
}

//===--- Packing --------------------------------------------------------------------------------------------------===//

/// @gemm_pack_rows_*(b: k x n, panels): copies rows; the columns beyond n become zeros.
func::FuncOp getPackRows(ModuleOp module, Type element, const GemmTile &tile) {
  std::string name = tileName("gemm_pack_rows_", element, tile);
  if (auto function = module.lookupSymbol<func::FuncOp>(name))
    return function;
  FunctionBuilder f(module, name, {gemmMatrixType(element, true), packedType(element, tile)});
  Value b = f.argument(0), panels = f.argument(1), zero = f.index(0);
  VectorType type = vectorType(element, tile);
  f.loop(zero, f.dim(panels, 0), f.index(1), [&](Value panel) {
    Value column = f.mul(panel, tile.columns());
    SmallVector<Value> masks = columnMasks(f, tile, f.sub(f.dim(b, 1), column));
    f.loop(zero, f.dim(b, 0), f.index(1), [&](Value k) {
      for (int64_t v = 0; v < tile.vectors; ++v) {
        Value row = vector::MaskedLoadOp::create(f.b, type, b, ValueRange{k, f.add(column, v * tile.lanes)}, masks[v],
                                                 zeroVector(f.b, type));
        vector::StoreOp::create(f.b, row, panels, ValueRange{panel, k, f.index(v * tile.lanes)});
      }
    });
  });
  return f.finish();
}

/// @gemm_pack_strided_*(b: k x n, panels): copies element by element; columns beyond n repeat the last one.
func::FuncOp getPackStrided(ModuleOp module, Type element, const GemmTile &tile) {
  std::string name = tileName("gemm_pack_strided_", element, tile);
  if (auto function = module.lookupSymbol<func::FuncOp>(name))
    return function;
  FunctionBuilder f(module, name, {gemmMatrixType(element, false), packedType(element, tile)});
  Value b = f.argument(0), panels = f.argument(1), zero = f.index(0);
  Value last = f.sub(f.dim(b, 1), 1);
  f.loop(zero, f.dim(panels, 0), f.index(1), [&](Value panel) {
    Value column = f.mul(panel, tile.columns());
    f.loop(zero, f.dim(b, 0), f.index(1), [&](Value k) {
      f.loop(zero, f.index(tile.columns()), f.index(1), [&](Value j) {
        Value value = memref::LoadOp::create(f.b, b, ValueRange{k, f.min(f.add(column, j), last)});
        memref::StoreOp::create(f.b, value, panels, ValueRange{panel, k, j});
      });
    });
  });
  return f.finish();
}

/// Transposes a square block held in `rows`, by swapping off-diagonal halves of blocks of 1, 2, 4, ... elements.
void transposeInRegisters(ImplicitLocOpBuilder &b, MutableArrayRef<Value> rows) {
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

/// @gemm_pack_columns_*(b: n x k, panels): transposes squares in registers. The last square begins early enough to be
/// whole, so k is at least the side of one. Columns beyond n repeat the last one.
func::FuncOp getPackColumns(ModuleOp module, Type element, const GemmTile &tile) {
  std::string name = tileName("gemm_pack_columns_", element, tile);
  if (auto function = module.lookupSymbol<func::FuncOp>(name))
    return function;
  FunctionBuilder f(module, name, {gemmMatrixType(element, true), packedType(element, tile)});
  Value b = f.argument(0), panels = f.argument(1), zero = f.index(0);
  Value n = f.dim(b, 0), k = f.dim(b, 1), last = f.sub(n, 1);
  int64_t side = gemmSquareSide(tile);
  Value lastSquare = f.sub(k, side);
  auto type = VectorType::get({side}, element);
  f.loop(zero, f.dim(panels, 0), f.index(1), [&](Value panel) {
    f.loop(zero, f.index(tile.columns()), f.index(side), [&](Value column) {
      Value first = f.add(f.mul(panel, tile.columns()), column);
      SmallVector<Value> sources;
      for (int64_t lane = 0; lane < side; ++lane)
        sources.push_back(f.min(f.add(first, lane), last));
      f.loop(zero, k, f.index(side), [&](Value position) {
        Value depth = f.min(position, lastSquare);
        SmallVector<Value> square;
        for (Value source : sources)
          square.push_back(vector::LoadOp::create(f.b, type, b, ValueRange{source, depth}));
        transposeInRegisters(f.b, square);
        for (auto [lane, row] : llvm::enumerate(square))
          vector::StoreOp::create(f.b, row, panels, ValueRange{panel, f.add(depth, lane), column});
      });
    });
  });
  return f.finish();
}

/// Emits the call that packs `block` and returns the panels.
Value emitPacking(FunctionBuilder &f, Type element, const GemmTile &tile, GemmPacking packing, func::FuncOp pack,
                  Value block, Value buffer, Value k, Value n) {
  MemRefType type = panelsType(element, tile);
  SmallVector<OpFoldResult> sizes{f.ceilDiv(n, f.index(tile.columns())), k, f.b.getIndexAttr(tile.columns())};
  if (packing == GemmPacking::InPlace) {
    auto data = memref::ExtractStridedMetadataOp::create(f.b, block);
    SmallVector<OpFoldResult> strides{f.index(tile.columns()), data.getStrides()[0], f.b.getIndexAttr(1)};
    return memref::ReinterpretCastOp::create(f.b, type, data.getBaseBuffer(), OpFoldResult(data.getOffset()), sizes,
                                             strides);
  }
  SmallVector<OpFoldResult> strides{f.mul(k, tile.columns()), f.b.getIndexAttr(tile.columns()), f.b.getIndexAttr(1)};
  Value panels = memref::ReinterpretCastOp::create(f.b, packedType(element, tile), buffer, OpFoldResult(f.index(0)),
                                                   sizes, strides);
  func::CallOp::create(f.b, pack, ValueRange{block, panels});
  return memref::CastOp::create(f.b, type, panels);
}

StringRef packingName(GemmPacking packing) {
  switch (packing) {
  case GemmPacking::InPlace:
    return "in_place";
  case GemmPacking::Rows:
    return "rows";
  case GemmPacking::Columns:
    return "columns";
  case GemmPacking::Strided:
    return "strided";
  }
  llvm_unreachable("every packing has a name");
}

func::FuncOp getPackFunction(ModuleOp module, Type element, const GemmTile &tile, GemmPacking packing) {
  switch (packing) {
  case GemmPacking::InPlace:
    return {};
  case GemmPacking::Rows:
    return getPackRows(module, element, tile);
  case GemmPacking::Columns:
    return getPackColumns(module, element, tile);
  case GemmPacking::Strided:
    return getPackStrided(module, element, tile);
  }
  llvm_unreachable("every packing has a function");
}

} // namespace

//===--- The driver -----------------------------------------------------------------------------------------------===//

MemRefType gemmMatrixType(Type element, bool unitStride) {
  return stridedType({dynamic, dynamic}, element, {dynamic, unitStride ? 1 : dynamic});
}

int64_t gemmSquareSide(const GemmTile &tile) {
  // Squares of 8 take a third of the time of 16 to compile, and are transposed as fast as the second cache delivers.
  return std::min<int64_t>(tile.lanes, 8);
}

GemmTile chooseGemmTile(Type element, unsigned vectorBits, int64_t columns) {
  int64_t lanes = vectorBits / element.getIntOrFloatBitWidth();
  // As many rows as leave registers for one broadcast and the row of the panel: 32 registers of 512 bits (8 rows reach
  // the peak already), 16 narrower ones.
  int64_t rows = vectorBits >= 512 ? 8 : vectorBits >= 256 ? 6 : 4;
  return {rows, columns <= lanes ? 1 : 2, lanes};
}

int64_t gemmPackElements(const GemmTile &tile, GemmPacking packing, int64_t k, int64_t n) {
  if (packing == GemmPacking::InPlace)
    return 0;
  int64_t depth = std::min(k, GemmBlocking::kc), width = std::min(n, GemmBlocking::nc);
  return depth * llvm::alignTo(width, tile.columns());
}

func::FuncOp getGemmFunction(ModuleOp module, Type element, const GemmTile &tile, GemmPacking packing) {
  std::string name = tileName("gemm_", element, tile) + "_" + packingName(packing).str();
  if (auto function = module.lookupSymbol<func::FuncOp>(name))
    return function;
  func::FuncOp tiles = getTilesFunction(module, element, tile);
  func::FuncOp pack = getPackFunction(module, element, tile, packing);
  MLIRContext *context = module.getContext();
  FunctionBuilder f(module, name,
                    {gemmMatrixType(element, false), gemmMatrixType(element, packing != GemmPacking::Strided),
                     gemmMatrixType(element, true), MemRefType::get({dynamic}, element), IntegerType::get(context, 1)});
  Value a = f.argument(0), b = f.argument(1), c = f.argument(2), zero = f.index(0);
  Value m = f.dim(a, 0), k = f.dim(a, 1), n = f.dim(c, 1);
  // Blocks of k are of about the same size: a short last one would write c for little work.
  Value blocks = f.ceilDiv(k, f.index(GemmBlocking::kc)), step = f.ceilDiv(k, blocks);
  f.loop(zero, n, f.index(GemmBlocking::nc), [&](Value column) {
    Value width = f.min(f.sub(n, column), f.index(GemmBlocking::nc));
    f.loop(zero, k, step, [&](Value depth) {
      Value height = f.min(f.sub(k, depth), step);
      Value block = packing == GemmPacking::Columns ? f.block(b, column, depth, width, height)
                                                    : f.block(b, depth, column, height, width);
      Value panels = emitPacking(f, element, tile, packing, pack, block, f.argument(3), height, width);
      // The first block of k starts the sums, the others add to them.
      Value later = arith::CmpIOp::create(f.b, arith::CmpIPredicate::sgt, depth, zero);
      Value accumulate = arith::OrIOp::create(f.b, f.argument(4), later);
      f.loop(zero, m, f.index(GemmBlocking::mc), [&](Value row) {
        Value rows = f.min(f.sub(m, row), f.index(GemmBlocking::mc));
        func::CallOp::create(
            f.b, tiles,
            ValueRange{f.block(a, row, depth, rows, height), panels, f.block(c, row, column, rows, width), accumulate});
      });
    });
  });
  return f.finish();
}

} // namespace mlir::array
