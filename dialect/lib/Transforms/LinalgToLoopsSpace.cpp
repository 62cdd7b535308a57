// Builds iteration spaces (LinalgToLoopsSpace.h): strides from indexing maps and layouts, ordering, coalescing.
#include "LinalgToLoopsSpace.h"
#include "Parallel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::array::loops {

//===--- Extents and index arithmetic -----------------------------------------------------------------------------===//

Extent Extent::operator*(const Extent &other) const {
  Extent product(factor * other.factor);
  if (product.factor == 0)
    return product;
  product.symbols = symbols;
  product.symbols.append(other.symbols.begin(), other.symbols.end());
  return product;
}

bool Extent::operator==(const Extent &other) const {
  return factor == other.factor && symbols.size() == other.symbols.size() &&
         std::is_permutation(symbols.begin(), symbols.end(), other.symbols.begin());
}

bool Extent::exceeds(const Extent &other) const {
  if (symbols.size() != other.symbols.size())
    return symbols.size() > other.symbols.size();
  return std::abs(factor) > std::abs(other.factor);
}

Value IndexBuilder::constant(OpBuilder &b, TypedAttr attr) {
  Value &value = constants[attr];
  if (!value) {
    OpBuilder atEntry = OpBuilder::atBlockBegin(&entry);
    value = arith::ConstantOp::create(atEntry, b.getUnknownLoc(), attr);
  }
  return value;
}

Value IndexBuilder::ramp(OpBuilder &b, Type element, int64_t lanes, int64_t step) {
  SmallVector<Attribute> values;
  for (int64_t lane = 0; lane < lanes; ++lane)
    values.push_back(b.getIntegerAttr(element, lane * step));
  return constant(b, DenseElementsAttr::get(VectorType::get({lanes}, element), values));
}

Value IndexBuilder::firstLanes(OpBuilder &b, int64_t lanes, int64_t count) {
  SmallVector<bool> values(lanes, false);
  std::fill_n(values.begin(), count, true);
  return constant(b, DenseElementsAttr::get(VectorType::get({lanes}, b.getI1Type()), values));
}

Value IndexBuilder::firstLanes(OpBuilder &b, Location loc, int64_t lanes, Value count) {
  Type element = b.getI32Type();
  Value narrow = arith::IndexCastOp::create(b, loc, element, count);
  Value bound = vector::BroadcastOp::create(b, loc, VectorType::get({lanes}, element), narrow);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, ramp(b, element, lanes, 1), bound);
}

Value IndexBuilder::scratch(OpBuilder &b, MemRefType type, unsigned number, bool shared) {
  constexpr int64_t cacheLine = 64;
  Value &buffer = buffers[{type.getAsOpaquePointer(), number, shared}];
  if (!buffer) {
    OpBuilder atEntry = OpBuilder::atBlockBegin(&entry);
    auto alloca = memref::AllocaOp::create(atEntry, b.getUnknownLoc(), type, b.getI64IntegerAttr(cacheLine));
    if (!shared)
      alloca->setAttr(kPrivateAttr, b.getUnitAttr());
    buffer = alloca;
  }
  return buffer;
}

Value IndexBuilder::get(OpBuilder &b, Location loc, const Extent &extent) {
  if (extent.isStatic())
    return index(b, extent.factor);
  Value product = extent.symbols.front();
  for (Value symbol : llvm::drop_begin(extent.symbols))
    product = mul(b, loc, product, symbol);
  return extent.factor == 1 ? product : mul(b, loc, product, index(b, extent.factor));
}

Value IndexBuilder::mul(OpBuilder &b, Location loc, Value lhs, Value rhs) {
  std::optional<int64_t> l = getConstantIntValue(lhs), r = getConstantIntValue(rhs);
  if (l && r)
    return index(b, *l * *r);
  if (r == 1 || l == 0)
    return lhs;
  if (l == 1 || r == 0)
    return rhs;
  return arith::MulIOp::create(b, loc, lhs, rhs);
}

Value IndexBuilder::add(OpBuilder &b, Location loc, Value lhs, Value rhs) {
  std::optional<int64_t> l = getConstantIntValue(lhs), r = getConstantIntValue(rhs);
  if (l && r)
    return index(b, *l + *r);
  if (r == 0)
    return lhs;
  if (l == 0)
    return rhs;
  return arith::AddIOp::create(b, loc, lhs, rhs);
}

Value IndexBuilder::advance(OpBuilder &b, Location loc, Value base, Value value, const Extent &extent) {
  return extent.isZero() ? base : add(b, loc, base, mul(b, loc, value, get(b, loc, extent)));
}

Extent IndexBuilder::sum(OpBuilder &b, Location loc, const Extent &lhs, const Extent &rhs) {
  if (lhs.isZero())
    return rhs;
  if (rhs.isZero())
    return lhs;
  Extent same = rhs;
  same.factor = lhs.factor;
  if (lhs == same) {
    same.factor += rhs.factor;
    if (same.factor == 0)
      same.symbols.clear();
    return same;
  }
  return Extent(1, add(b, loc, get(b, loc, lhs), get(b, loc, rhs)));
}

//===--- Flat views -----------------------------------------------------------------------------------------------===//

SmallVector<Extent, 4> sizesOf(OpBuilder &b, Location loc, IndexBuilder &indices, Value memref) {
  SmallVector<Extent, 4> sizes;
  for (auto [i, size] : llvm::enumerate(cast<MemRefType>(memref.getType()).getShape())) {
    if (ShapedType::isDynamic(size))
      sizes.push_back(Extent(1, memref::DimOp::create(b, loc, memref, indices.index(b, i))));
    else
      sizes.push_back(size);
  }
  return sizes;
}

FailureOr<FlatView> flatten(OpBuilder &b, Location loc, IndexBuilder &indices, Value memref, ArrayRef<Extent> sizes) {
  auto type = cast<MemRefType>(memref.getType());
  FlatView view;
  if (type.getLayout().isIdentity()) {
    view.strides.assign(sizes.size(), Extent(1));
    for (size_t i = sizes.size(); i-- > 1;)
      view.strides[i - 1] = view.strides[i] * sizes[i];
  } else {
    SmallVector<int64_t> strides;
    int64_t offset;
    if (failed(type.getStridesAndOffset(strides, offset)))
      return failure();
    memref::ExtractStridedMetadataOp metadata;
    if (ShapedType::isDynamic(offset) || llvm::any_of(strides, ShapedType::isDynamic))
      metadata = memref::ExtractStridedMetadataOp::create(b, loc, memref);
    view.offset = ShapedType::isDynamic(offset) ? Extent(1, metadata.getOffset()) : Extent(offset);
    for (auto [i, stride] : llvm::enumerate(strides))
      view.strides.push_back(ShapedType::isDynamic(stride) ? Extent(1, metadata.getStrides()[i]) : Extent(stride));
  }
  // The view starts at the buffer's first element whatever the memref's own offset is, and ends behind its last one.
  Extent extent = indices.sum(b, loc, view.offset, Extent(1));
  for (auto [size, stride] : llvm::zip_equal(sizes, view.strides)) {
    if (size.isStatic() && stride.isStatic())
      extent = indices.sum(b, loc, extent, Extent(std::max<int64_t>(size.factor - 1, 0) * stride.factor));
    else
      extent = indices.sum(b, loc, extent, size * stride);
  }
  OpFoldResult size =
      extent.isStatic() ? OpFoldResult(b.getIndexAttr(extent.factor)) : OpFoldResult(indices.get(b, loc, extent));
  auto flatType = MemRefType::get({extent.isStatic() ? extent.factor : ShapedType::kDynamic}, type.getElementType(),
                                  MemRefLayoutAttrInterface(), type.getMemorySpace());
  if (flatType == type)
    view.flat = memref;
  else
    view.flat = memref::ReinterpretCastOp::create(b, loc, flatType, memref, b.getIndexAttr(0), size,
                                                  OpFoldResult(b.getIndexAttr(1)));
  return view;
}

//===--- Spaces ---------------------------------------------------------------------------------------------------===//

/// Splits a linear expression into one coefficient for each dimension and a constant.
static LogicalResult readLinear(AffineExpr expr, int64_t scale, SmallVectorImpl<int64_t> &coefficients,
                                int64_t &constant) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    coefficients[dim.getPosition()] += scale;
    return success();
  }
  if (auto value = dyn_cast<AffineConstantExpr>(expr)) {
    constant += scale * value.getValue();
    return success();
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return failure();
  if (binary.getKind() == AffineExprKind::Add)
    return success(succeeded(readLinear(binary.getLHS(), scale, coefficients, constant)) &&
                   succeeded(readLinear(binary.getRHS(), scale, coefficients, constant)));
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (binary.getKind() != AffineExprKind::Mul || !factor)
    return failure();
  return readLinear(binary.getLHS(), scale * factor.getValue(), coefficients, constant);
}

int64_t bytesOf(Type element) {
  return element.isIntOrFloat() ? llvm::divideCeil(element.getIntOrFloatBitWidth(), 8) : sizeof(int64_t);
}

int64_t IterationSpace::bytesTouched(const Access &access, int64_t assumed) const {
  int64_t bytes = access.scalar ? 0 : bytesOf(access.element);
  for (auto [d, dim] : llvm::enumerate(dims))
    if (access.moves(d))
      bytes *= dim.size.isStatic() ? dim.size.factor : assumed;
  return bytes;
}

FailureOr<IterationSpace> IterationSpace::get(OpBuilder &b, IndexBuilder &indices, linalg::LinalgOp op,
                                              bool reorderReductions) {
  Location loc = op.getLoc();
  IterationSpace space;
  space.numInputs = op.getNumDpsInputs();
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  SmallVector<SmallVector<Extent, 4>> operandSizes;
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    operandSizes.push_back(type ? sizesOf(b, loc, indices, operand.get()) : SmallVector<Extent, 4>());
  }

  // Loop sizes: static ones are known to the op, dynamic ones are the operand dimension that a map names plainly.
  // Operand sizes are then replaced by the loop's, so that equal strides of several operands are seen as equal.
  for (int64_t range : ranges)
    space.dims.emplace_back().size = ShapedType::isDynamic(range) ? Extent(0) : Extent(range);
  SmallVector<bool> known = llvm::map_to_vector(ranges, [](int64_t range) { return !ShapedType::isDynamic(range); });
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    SmallVector<Extent, 4> &sizes = operandSizes[operand.getOperandNumber()];
    for (auto [expr, size] : llvm::zip(map.getResults(), sizes)) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (!dim)
        continue;
      if (!known[dim.getPosition()])
        space.dims[dim.getPosition()].size = size;
      known[dim.getPosition()] = true;
      size = space.dims[dim.getPosition()].size;
    }
  }
  if (!llvm::all_of(known, [](bool k) { return k; }))
    return failure();

  for (OpOperand &operand : op->getOpOperands()) {
    Access access;
    access.argument = op.getMatchingBlockArgument(&operand);
    access.element = getElementTypeOrSelf(operand.get().getType());
    access.isOutput = op.isDpsInit(&operand);
    access.strides.assign(space.dims.size(), Extent(0));
    if (!isa<MemRefType>(operand.get().getType())) {
      access.scalar = operand.get();
      space.accesses.push_back(std::move(access));
      continue;
    }
    FailureOr<FlatView> view = flatten(b, loc, indices, operand.get(), operandSizes[operand.getOperandNumber()]);
    if (failed(view))
      return failure();
    access.memref = operand.get();
    access.flat = view->flat;
    access.start = view->offset;
    for (auto [expr, stride] : llvm::zip_equal(op.getMatchingIndexingMap(&operand).getResults(), view->strides)) {
      SmallVector<int64_t> coefficients(space.dims.size(), 0);
      int64_t constant = 0;
      if (failed(readLinear(expr, 1, coefficients, constant)))
        return failure();
      access.start = indices.sum(b, loc, access.start, stride * Extent(constant));
      for (auto [d, coefficient] : llvm::enumerate(coefficients))
        access.strides[d] = indices.sum(b, loc, access.strides[d], stride * Extent(coefficient));
    }
    space.accesses.push_back(std::move(access));
  }
  op.getBlock()->walk([&](linalg::IndexOp index) { space.dims[index.getDim()].indexSource = index.getDim(); });

  for (unsigned d = space.dims.size(); d-- > 0;)
    if (space.dims[d].size.isStatic(1))
      space.erase(d);
  space.classify();
  space.sort(reorderReductions);
  space.coalesce();
  return space;
}

void IterationSpace::erase(unsigned dim) {
  dims.erase(dims.begin() + dim);
  for (Access &access : accesses)
    access.strides.erase(access.strides.begin() + dim);
}

void IterationSpace::classify() {
  for (auto [d, dim] : llvm::enumerate(dims))
    dim.reduced = llvm::any_of(outputs(), [d = d](const Access &access) { return !access.moves(d); });
}

/// Insertion sort, as nditer does it: the order is decided by the first operand (outputs before inputs) that moves
/// along both dimensions, so it is no strict order, but dimensions that nothing decides about stay as they were.
void IterationSpace::sort(bool reorderReductions) {
  auto outer = [&](unsigned a, unsigned b) {
    if (dims[a].reduced != dims[b].reduced)
      return !dims[a].reduced;
    if (dims[a].reduced && !reorderReductions)
      return false;
    auto decides = [&](const Access &access) -> int {
      if (!access.moves(a) || !access.moves(b))
        return 0;
      return int(access.strides[a].exceeds(access.strides[b])) - int(access.strides[b].exceeds(access.strides[a]));
    };
    for (const Access &access : outputs())
      if (int order = decides(access))
        return order > 0;
    for (const Access &access : inputs())
      if (int order = decides(access))
        return order > 0;
    return false;
  };
  for (unsigned i = 1; i < dims.size(); ++i) {
    for (unsigned j = i; j > 0 && outer(j, j - 1); --j) {
      std::swap(dims[j], dims[j - 1]);
      for (Access &access : accesses)
        std::swap(access.strides[j], access.strides[j - 1]);
    }
  }
}

void IterationSpace::coalesce() {
  for (unsigned inner = dims.size(); inner-- > 1;) {
    unsigned outer = inner - 1;
    if (dims[outer].reduced != dims[inner].reduced || dims[outer].indexSource || dims[inner].indexSource)
      continue;
    if (!llvm::all_of(accesses, [&](const Access &access) {
          return access.strides[outer] == access.strides[inner] * dims[inner].size;
        }))
      continue;
    dims[outer].size = dims[outer].size * dims[inner].size;
    for (Access &access : accesses)
      access.strides[outer] = access.strides[inner];
    erase(inner);
  }
}

} // namespace mlir::array::loops
