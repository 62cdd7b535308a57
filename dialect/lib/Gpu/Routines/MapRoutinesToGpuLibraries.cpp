// Routines of libraries as calls, with kernels around them: transposition between our row-major matrices and the
// library's column-major ones, and nan if the library reports a failure. The host does not wait for this report.
#include "LibraryRoutines.h"
#include "array/Gpu/Kernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::array {

RuntimeCallOp callLibrary(RoutineLauncher &of, StringRef routine, ArrayRef<int64_t> params, ArrayRef<Value> ins,
                          ArrayRef<Value> outs, ArrayRef<Type> elements) {
  ImplicitLocOpBuilder &b = of.builder();
  RuntimeCallOp whole = of.call;
  auto call = RuntimeCallOp::create(b, TypeRange(), routine, params, b.getTypeArrayAttr(elements), ins, outs,
                                    /*effectful=*/false);
  call->setAttr(kLibraryAttr, whole->getAttr(kLibraryAttr));
  return call;
}

namespace {

using Body = llvm::function_ref<Value(OpBuilder &, Location, ValueRange)>;

/// A batch of matrices: buffers that hold them, and kernels on all of their elements.
class MatrixBatch {
public:
  MatrixBatch(RoutineLauncher &launcher, unsigned input) : b(launcher.builder()) {
    ArrayRef<int64_t> shape = launcher.inputType(input).getShape();
    batch.assign(shape.begin(), shape.end() - 2);
    rows = shape[shape.size() - 2], columns = shape.back();
    stored = launcher.inputType(input).getElementType();
    element = launcher.element(input), real = cast<FloatType>(partElement(element));
  }

  bool isEmpty() const { return rows * columns == 0 || llvm::is_contained(batch, 0); }

  Value allocate(ArrayRef<int64_t> tail, Type type) {
    SmallVector<int64_t> shape(batch);
    llvm::append_range(shape, tail);
    return memref::AllocOp::create(b, MemRefType::get(shape, type), b.getI64IntegerAttr(64));
  }
  /// The library's status of each matrix: 0 on success.
  Value info() { return allocate({}, infoElement()); }
  Type infoElement() { return b.getI32Type(); }

  /// The element [.., i, j] of `from`.
  AffineMap straight(unsigned tail = 2) { return b.getMultiDimIdentityMap(batch.size() + tail); }
  /// The element [.., j, i] for one at [.., i, j].
  AffineMap turned() {
    SmallVector<AffineExpr> dims;
    for (unsigned i = 0; i < batch.size(); ++i)
      dims.push_back(b.getAffineDimExpr(i));
    dims.push_back(b.getAffineDimExpr(batch.size() + 1));
    dims.push_back(b.getAffineDimExpr(batch.size()));
    return AffineMap::get(batch.size() + 2, 0, dims, b.getContext());
  }
  /// The map from one of a matrix's elements to the matrix.
  AffineMap ofMatrix(unsigned tail) {
    AffineMap map = straight(tail);
    return tail ? map.dropResults(llvm::to_vector(llvm::seq<int64_t>(batch.size(), batch.size() + tail))) : map;
  }

  /// Computes each element of `to` from those of the others.
  void compute(ValueRange from, ArrayRef<AffineMap> maps, Value to, Body body) {
    unsigned rank = cast<MemRefType>(to.getType()).getRank();
    SmallVector<AffineMap> all(maps);
    all.push_back(b.getMultiDimIdentityMap(rank));
    SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
    linalg::GenericOp::create(b, from, to, all, loops, [&](OpBuilder &inner, Location loc, ValueRange values) {
      linalg::YieldOp::create(inner, loc, body(inner, loc, values));
    });
  }
  void copy(Value from, AffineMap map, Value to) {
    compute(from, map, to, [](OpBuilder &, Location, ValueRange values) { return values[0]; });
  }
  /// The same, but nan if `info` is not 0.
  void copyChecked(Value from, AffineMap map, Value info, Value to) {
    unsigned tail = cast<MemRefType>(to.getType()).getRank() - batch.size();
    compute({from, info}, {map, ofMatrix(tail)}, to,
            [&](OpBuilder &inner, Location loc, ValueRange values) { return orNan(inner, loc, values[1], values[0]); });
  }

  Value orNan(OpBuilder &b, Location loc, Value info, Value value) {
    Value failed = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, info,
                                         arith::ConstantIntOp::create(b, loc, info.getType(), 0));
    return arith::SelectOp::create(b, loc, failed, constant(b, loc, value.getType(), true), value);
  }
  /// A nan, or zero: a real number, or the bits of a complex one, whose low half is the real part.
  Value constant(OpBuilder &b, Location loc, Type type, bool isNan) {
    const llvm::fltSemantics &kind = real.getFloatSemantics();
    APFloat number = isNan ? APFloat::getNaN(kind) : APFloat::getZero(kind);
    if (type == real)
      return arith::ConstantFloatOp::create(b, loc, real, number);
    APInt bits = number.bitcastToAPInt().zext(type.getIntOrFloatBitWidth());
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, bits));
  }

  SmallVector<int64_t> batch;
  int64_t rows, columns;
  Type element, stored; ///< The element type, and its storage type in buffers.
  FloatType real;       ///< The type of the parts of complex numbers.

private:
  ImplicitLocOpBuilder &b;
};

LogicalResult mapCholesky(RoutineLauncher &launcher) {
  MatrixBatch m(launcher, 0);
  Value work = m.allocate({m.rows, m.columns}, m.stored), info = m.info();
  m.copy(launcher.input(0), m.straight(), work);
  callLibrary(launcher, "cholesky", {}, work, {work, info}, {m.element, m.element, m.infoElement()});
  unsigned row = m.batch.size();
  m.compute({work, info}, {m.straight(), m.ofMatrix(2)}, launcher.output(0),
            [&](OpBuilder &b, Location loc, ValueRange values) -> Value {
              Value i = linalg::IndexOp::create(b, loc, row), j = linalg::IndexOp::create(b, loc, row + 1);
              Value isLower = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge, i, j);
              Value zero = m.constant(b, loc, m.stored, /*isNan=*/false);
              return arith::SelectOp::create(b, loc, isLower, m.orNan(b, loc, values[1], values[0]), zero);
            });
  return success();
}

LogicalResult mapLu(RoutineLauncher &launcher) {
  MatrixBatch m(launcher, 0);
  ImplicitLocOpBuilder &b = launcher.builder();
  int64_t count = std::min(m.rows, m.columns);
  Value work = m.allocate({m.columns, m.rows}, m.stored), info = m.info();
  Value swaps = m.allocate({count}, b.getI64Type());
  m.copy(launcher.input(0), m.turned(), work);
  callLibrary(launcher, "lu", {}, work, {work, swaps, info}, {m.element, m.element, b.getI64Type(), m.infoElement()});
  // A zero pivot is not a failure.
  m.copy(work, m.turned(), launcher.output(0));
  m.compute(swaps, m.straight(1), launcher.output(1), [](OpBuilder &b, Location loc, ValueRange values) -> Value {
    Value narrow = arith::TruncIOp::create(b, loc, b.getI32Type(), values[0]);
    return arith::SubIOp::create(b, loc, narrow, arith::ConstantIntOp::create(b, loc, 1, 32));
  });
  Type i32 = b.getI32Type();
  auto types = b.getTypeArrayAttr({i32, i32});
  auto permute = RuntimeCallOp::create(b, TypeRange(), "lu_pivots_to_permutation", ArrayRef<int64_t>{m.rows}, types,
                                       launcher.output(1), launcher.output(2), /*effectful=*/false);
  RoutineLauncher permuting(permute, permute->getParentOfType<ModuleOp>());
  LogicalResult mapped = findRoutine("lu_pivots_to_permutation")->map(permuting);
  permute.erase();
  return mapped;
}

LogicalResult mapEigh(RoutineLauncher &launcher) {
  MatrixBatch m(launcher, 0);
  bool hasVectors = launcher.param(0);
  Value work = m.allocate({m.columns, m.rows}, m.stored), info = m.info(), values = m.allocate({m.rows}, m.real);
  m.copy(launcher.input(0), m.turned(), work);
  callLibrary(launcher, "eigh", {hasVectors, launcher.param(1)}, work, {work, values, info},
              {m.element, m.element, m.real, m.infoElement()});
  if (hasVectors)
    m.copyChecked(work, m.turned(), info, launcher.output(0));
  m.copyChecked(values, m.straight(1), info, launcher.output(hasVectors ? 1 : 0));
  return success();
}

/// The library takes tall matrices. A wide row-major matrix is its tall transpose column by column: the factors
/// exchange their roles, and are already in the right order.
LogicalResult mapSvd(RoutineLauncher &launcher) {
  MatrixBatch m(launcher, 0);
  bool hasVectors = launcher.param(1), isFull = launcher.param(2), isWide = m.columns >= m.rows;
  int64_t tall = std::max(m.rows, m.columns), narrow = std::min(m.rows, m.columns);
  AffineMap order = isWide ? m.straight() : m.turned();
  Value work = m.allocate({narrow, tall}, m.stored), values = m.allocate({narrow}, m.real), info = m.info();
  m.copy(launcher.input(0), order, work);
  SmallVector<Value> outs{work, values};
  SmallVector<Type> elements{m.element, m.element, m.real};
  if (hasVectors) {
    outs.push_back(m.allocate({isFull ? tall : narrow, tall}, m.stored));
    outs.push_back(m.allocate({narrow, narrow}, m.stored));
    elements.append(2, m.element);
  }
  outs.push_back(info);
  elements.push_back(m.infoElement());
  callLibrary(launcher, "svd", {hasVectors, isFull}, work, outs, elements);
  m.copyChecked(values, m.straight(1), info, launcher.output(0));
  if (hasVectors) {
    m.copyChecked(outs[isWide ? 3 : 2], order, info, launcher.output(1));
    m.copyChecked(outs[isWide ? 2 : 3], order, info, launcher.output(2));
  }
  return success();
}

} // namespace

const Routine *findLibraryRoutine(StringRef name) {
  static constexpr Routine rows[] = {
      {"cholesky", mapCholesky}, {"lu", mapLu}, {"eigh", mapEigh}, {"svd", mapSvd}, {"fft", mapFft},
  };
  for (const Routine &row : rows)
    if (row.name == name)
      return &row;
  return nullptr;
}

} // namespace mlir::array
