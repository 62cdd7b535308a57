// Builds the functions that make pairs of bytes or bf16 (MatmulDot2.h), as scf, vector and memref operations.
#include "MatmulDot2.h"
#include "Entry/SharedFunctions.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::array {

namespace {

class PairKernel {
public:
  PairKernel(ModuleOp module, StringRef kind, const Dot2Factor &factor, const MatmulTile &tile)
      : factor(factor), tile(tile), b(module.getLoc(), OpBuilder::atBlockEnd(module.getBody())), g(b),
        pairs(VectorType::get({tile.lanes}, b.getI32Type())) {
    name = (kind +
            (isFloat()         ? "_bf16_"
             : factor.isSigned ? "_s8_"
                               : "_u8_") +
            (factor.unitStride ? "rows_" : "strided_") + Twine(tile.columns()))
               .str();
    function = module.lookupSymbol<func::FuncOp>(name);
  }

  func::FuncOp getLeft();
  func::FuncOp getRight();

private:
  bool isFloat() const { return isa<FloatType>(factor.element); }
  /// Pairs of floats are stored like f32, the type of their sums.
  Type stored() { return isFloat() ? Type(b.getF32Type()) : b.getI32Type(); }

  /// Whether the function exists already: in the module, or compiled by the build.
  bool isThere(Type packed) {
    if (!function)
      function = addSharedFunction(b, name, {matmulMatrixType(factor.element, factor.unitStride), packed});
    if (function.isExternal() || !function.getBody().front().empty())
      return true;
    source = function.getArgument(0);
    target = function.getArgument(1);
    return false;
  }
  func::FuncOp end() {
    func::ReturnOp::create(b);
    return function;
  }

  Value dim(Value memref, int64_t dimension) { return memref::DimOp::create(b, memref, dimension); }
  Value splat(VectorType type, int64_t value) {
    return arith::ConstantOp::create(b, DenseElementsAttr::get(type, b.getIntegerAttr(type.getElementType(), value)));
  }
  Value constant(int64_t value) { return arith::ConstantIntOp::create(b, value, 32); }

  /// The bits of a float go to the lower half.
  Value widen(Value value, Type type) {
    if (factor.isSigned)
      return arith::ExtSIOp::create(b, type, value);
    return type == value.getType() ? value : arith::ExtUIOp::create(b, type, value);
  }

  /// The integers with the bits of floats; other values are unchanged.
  Value bitsOf(Value value) { return isFloat() ? reinterpret(value, b.getI16Type()) : value; }
  Value asStored(Value pairs) { return isFloat() ? reinterpret(pairs, stored()) : pairs; }
  Value reinterpret(Value value, Type element) {
    auto type = dyn_cast<VectorType>(value.getType());
    return arith::BitcastOp::create(b, type ? Type(type.clone(element)) : element, value);
  }

  /// `count` factors at [row][column]. Those from `live` on count as zeros.
  Value loadNarrow(Value row, Value column, int64_t count, Value live) {
    auto type = VectorType::get({count}, factor.element);
    Value mask = vector::CreateMaskOp::create(b, type.clone(b.getI1Type()), live);
    Value zeros = arith::ConstantOp::create(b, type, b.getZeroAttr(type));
    return bitsOf(vector::MaskedLoadOp::create(b, type, source, ValueRange{row, column}, mask, zeros));
  }

  /// low | high << 16, for scalars or vectors of i32.
  Value join(Value low, Value high) {
    auto type = dyn_cast<VectorType>(low.getType());
    Value mask = type ? splat(type, 0xffff) : constant(0xffff), shift = type ? splat(type, 16) : constant(16);
    return arith::OrIOp::create(b, arith::AndIOp::create(b, low, mask), arith::ShLIOp::create(b, high, shift));
  }

  /// The elements (at, other) and (at + 1, other), or transposed; zero replaces a missing one.
  Value loadPair(Value at, Value limit, Value other, bool alongColumns) {
    auto load = [&](Value position) {
      Value row = alongColumns ? other : position, column = alongColumns ? position : other;
      return widen(bitsOf(memref::LoadOp::create(b, source, ValueRange{row, column})), b.getI32Type());
    };
    Value next = g.add(at, 1), last = g.sub(limit, 1);
    Value isThere = arith::CmpIOp::create(b, arith::CmpIPredicate::sle, next, last);
    Value second = arith::SelectOp::create(b, isThere, load(g.min(next, last)), constant(0));
    return asStored(join(load(at), second));
  }

  Dot2Factor factor;
  MatmulTile tile;
  ImplicitLocOpBuilder b;
  MatmulBuilder g;
  VectorType pairs;
  std::string name;
  func::FuncOp function;
  Value source, target;
};

/// With unit stride along k, adjacent elements form a pair after widening.
func::FuncOp PairKernel::getLeft() {
  if (isThere(matmulMatrixType(stored(), /*unitStride=*/true)))
    return function;
  Value zero = g.index(0), depths = dim(source, 1), count = dim(target, 1);
  g.loop(zero, dim(source, 0), 1, [&](Value row) {
    if (!factor.unitStride) {
      g.loop(zero, count, 1, [&](Value pair) {
        Value value = loadPair(g.mul(pair, 2), depths, row, /*alongColumns=*/true);
        memref::StoreOp::create(b, value, target, ValueRange{row, pair});
      });
      return;
    }
    g.loop(zero, count, tile.lanes, [&](Value pair) {
      Value depth = g.mul(pair, 2);
      Value narrow = loadNarrow(row, depth, 2 * tile.lanes, g.sub(depths, depth));
      Value wide = widen(narrow, VectorType::get({2 * tile.lanes}, b.getI16Type()));
      Value mask = vector::CreateMaskOp::create(b, pairs.clone(b.getI1Type()), g.sub(count, pair));
      vector::MaskedStoreOp::create(b, target, ValueRange{row, pair}, mask,
                                    asStored(vector::BitCastOp::create(b, pairs, wide)));
    });
  });
  return end();
}

/// Two rows become one row of pairs. Columns beyond n are zeros, or repeat the last one.
func::FuncOp PairKernel::getRight() {
  constexpr int64_t ahead = 32;
  if (isThere(matmulPackedType(stored(), tile)))
    return function;
  Value zero = g.index(0), depths = dim(source, 0), columns = dim(source, 1);
  Value lastDepth = g.sub(depths, 1), lastColumn = g.sub(columns, 1);
  g.loop(zero, dim(target, 0), 1, [&](Value panel) {
    Value first = g.mul(panel, tile.columns());
    g.loop(zero, dim(target, 1), 1, [&](Value pair) {
      Value depth = g.mul(pair, 2), next = g.add(depth, 1);
      if (!factor.unitStride) {
        g.loop(zero, g.index(tile.columns()), 1, [&](Value j) {
          Value value = loadPair(depth, depths, g.min(g.add(first, j), lastColumn), /*alongColumns=*/false);
          memref::StoreOp::create(b, value, target, ValueRange{panel, pair, j});
        });
        return;
      }
      Value isThere = arith::CmpIOp::create(b, arith::CmpIPredicate::sle, next, lastDepth);
      Value second = g.min(next, lastDepth);
      // Rows are far apart, so they need software prefetching.
      for (Value row : {depth, next})
        memref::PrefetchOp::create(b, source, ValueRange{g.add(row, ahead), first}, /*isWrite=*/false,
                                   /*localityHint=*/3, /*isDataCache=*/true);
      for (int64_t v = 0; v < tile.vectors; ++v) {
        Value column = g.add(first, v * tile.lanes), live = g.sub(columns, column);
        Value low = widen(loadNarrow(depth, column, tile.lanes, live), pairs);
        Value liveHigh = arith::SelectOp::create(b, isThere, live, zero);
        Value high = widen(loadNarrow(second, column, tile.lanes, liveHigh), pairs);
        vector::StoreOp::create(b, asStored(join(low, high)), target, ValueRange{panel, pair, g.index(v * tile.lanes)});
      }
    });
  });
  return end();
}

} // namespace

func::FuncOp getDot2Left(ModuleOp module, const Dot2Factor &factor, const MatmulTile &tile) {
  return PairKernel(module, "matmul_dot2_left", factor, tile).getLeft();
}

func::FuncOp getDot2Right(ModuleOp module, const Dot2Factor &factor, const MatmulTile &tile) {
  return PairKernel(module, "matmul_dot2_right", factor, tile).getRight();
}

// Making pairs of the right factor takes as long as a few rows of the matmul.
bool isWorthDot2(int64_t m, int64_t n, int64_t k) {
  return m >= 8 && n >= 8 && k >= 8 && m * n * k >= 2 * 16 * 16 * 16;
}

static Value emitBFloat16Product(ImplicitLocOpBuilder &b, Value x, Value y, Value sum) {
  auto halves = VectorType::get({32}, b.getBF16Type());
  Value left = vector::BitCastOp::create(b, halves, x), right = vector::BitCastOp::create(b, halves, y);
  StringAttr name = b.getStringAttr("llvm.x86.avx512bf16.dpbf16ps.512");
  return LLVM::CallIntrinsicOp::create(b, sum.getType(), name, ValueRange{sum, left, right}).getResult(0);
}

Value emitDot2(ImplicitLocOpBuilder &b, Value x, Value y, Value sum) {
  auto type = cast<VectorType>(sum.getType());
  if (isa<FloatType>(type.getElementType()))
    return emitBFloat16Product(b, x, y, sum);
  bool isWide = type.getNumElements() == 16;
  auto halves = VectorType::get({2 * type.getNumElements()}, b.getI16Type());
  StringAttr name = b.getStringAttr(isWide ? "llvm.x86.avx512.pmaddw.d.512" : "llvm.x86.avx2.pmadd.wd");
  Value left = vector::BitCastOp::create(b, halves, x), right = vector::BitCastOp::create(b, halves, y);
  Value product = LLVM::CallIntrinsicOp::create(b, type, name, ValueRange{left, right}).getResult(0);
  return arith::AddIOp::create(b, sum, product);
}

} // namespace mlir::array
