// Builds iteration spaces (IterationSpace.h): strides from indexing maps and layouts, ordering, coalescing.
#include "IterationSpace.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::array::loops {

//===--- Flat views -----------------------------------------------------------------------------------------------===//

SmallVector<SymbolicSize, 4> sizesOf(OpBuilder &b, Location loc, IndexBuilder &indices, Value memref) {
  SmallVector<SymbolicSize, 4> sizes;
  for (int64_t dim = 0; dim < cast<MemRefType>(memref.getType()).getRank(); ++dim)
    sizes.push_back(indices.sizeOf(b, loc, memref, dim));
  return sizes;
}

SymbolicSize IndexBuilder::sizeOf(OpBuilder &b, Location loc, Value memref, unsigned dim) {
  auto type = cast<MemRefType>(memref.getType());
  if (!type.isDynamicDim(dim))
    return type.getDimSize(dim);
  auto function = dyn_cast<func::FuncOp>(entry.getParentOp());
  if (!sizes && function)
    sizes = std::make_shared<SymbolicSizes>(function);
  if (OpFoldResult known = sizes ? sizes->sizeOf(memref, dim) : OpFoldResult())
    return SymbolicSize::of(known);
  if (auto view = memref.getDefiningOp<memref::ReinterpretCastOp>())
    return SymbolicSize::of(view.getMixedSizes()[dim]);
  return SymbolicSize(1, memref::DimOp::create(b, loc, memref, index(b, dim)));
}

namespace {
struct Layout {
  SymbolicSize offset;
  SmallVector<SymbolicSize, 4> strides;
};
} // namespace

/// The layout of a part of a buffer, from that of the buffer, so that its strides are comparable with others.
static FailureOr<Layout> layoutOf(OpBuilder &b, Location loc, IndexBuilder &indices, Value memref,
                                  ArrayRef<SymbolicSize> sizes) {
  auto type = cast<MemRefType>(memref.getType());
  Layout layout;
  if (type.getLayout().isIdentity()) {
    layout.strides.assign(sizes.size(), SymbolicSize(1));
    for (size_t i = sizes.size(); i-- > 1;)
      layout.strides[i - 1] = layout.strides[i] * sizes[i];
    return layout;
  }
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return failure();
  if (!ShapedType::isDynamic(offset) && llvm::none_of(strides, ShapedType::isDynamic)) {
    layout.offset = offset;
    layout.strides.assign(strides.begin(), strides.end());
    return layout;
  }
  auto of = [&](Value source) { return layoutOf(b, loc, indices, source, sizesOf(b, loc, indices, source)); };
  if (auto view = memref.getDefiningOp<memref::CastOp>(); view && isa<MemRefType>(view.getSource().getType()))
    return of(view.getSource());
  if (auto view = memref.getDefiningOp<memref::SubViewOp>()) {
    FailureOr<Layout> source = of(view.getSource());
    if (failed(source))
      return failure();
    layout.offset = source->offset;
    llvm::SmallBitVector dropped = view.getDroppedDims();
    for (auto [d, at, step] : llvm::enumerate(view.getMixedOffsets(), view.getMixedStrides())) {
      layout.offset = indices.sum(b, loc, layout.offset, SymbolicSize::of(at) * source->strides[d]);
      if (!dropped[d])
        layout.strides.push_back(SymbolicSize::of(step) * source->strides[d]);
    }
    return layout;
  }
  if (auto view = memref.getDefiningOp<memref::ExpandShapeOp>()) {
    FailureOr<Layout> source = of(view.getSrc());
    if (failed(source))
      return failure();
    layout.offset = source->offset;
    layout.strides.resize(sizes.size());
    for (auto [d, group] : llvm::enumerate(view.getReassociationIndices())) {
      SymbolicSize stride = source->strides[d];
      for (int64_t dim : llvm::reverse(group)) {
        layout.strides[dim] = stride;
        stride = stride * sizes[dim];
      }
    }
    return layout;
  }
  auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, memref);
  layout.offset = ShapedType::isDynamic(offset) ? SymbolicSize(1, metadata.getOffset()) : SymbolicSize(offset);
  for (auto [i, stride] : llvm::enumerate(strides))
    layout.strides.push_back(ShapedType::isDynamic(stride) ? SymbolicSize(1, metadata.getStrides()[i])
                                                           : SymbolicSize(stride));
  return layout;
}

FailureOr<FlatView> flatten(OpBuilder &b, Location loc, IndexBuilder &indices, Value memref,
                            ArrayRef<SymbolicSize> sizes) {
  auto type = cast<MemRefType>(memref.getType());
  FailureOr<Layout> layout = layoutOf(b, loc, indices, memref, sizes);
  if (failed(layout))
    return failure();
  FlatView view{Value(), layout->offset, layout->strides};
  // The view starts at the buffer's first element, regardless of the memref's own offset, and ends after its last one.
  SymbolicSize extent = indices.sum(b, loc, view.offset, SymbolicSize(1));
  bool isDense = type.getLayout().isIdentity() && !type.hasStaticShape();
  if (isDense)
    extent = view.strides.front() * sizes.front();
  for (auto [size, stride] : llvm::zip_equal(sizes, view.strides)) {
    if (isDense)
      break;
    if (size.isStatic() && stride.isStatic())
      extent = indices.sum(b, loc, extent, SymbolicSize(std::max<int64_t>(size.factor - 1, 0) * stride.factor));
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

int64_t IterationSpace::bytesTouched(const Access &access) const {
  int64_t bytes = access.scalar ? 0 : bytesOf(access.element);
  for (auto [d, dim] : llvm::enumerate(dims))
    if (access.moves(d))
      bytes = (dim.size * SymbolicSize(bytes)).expected();
  return bytes;
}

void IterationSpace::cutIntoBlocks(OpBuilder &b, Location loc, IndexBuilder &indices, unsigned dim,
                                   const SymbolicSize &block) {
  SymbolicSize total = dims[dim].size, blocks = total.dividedBy(block).value_or(0);
  if (blocks.isZero()) {
    blocked = BlockedDim{dim + 1, total};
    blocks = SymbolicSize::of(indices.ceilDiv(b, loc, indices.get(b, loc, total), indices.get(b, loc, block)));
  }
  dims[dim].size = block;
  dims.insert(dims.begin(), LoopDim{blocks, false, std::nullopt, {}});
  for (Access &access : accesses) {
    SymbolicSize stride = access.strides[dim] * block;
    access.strides.insert(access.strides.begin(), stride);
  }
}

void IterationSpace::split(unsigned dim, const SymbolicSize &outer, const SymbolicSize &inner) {
  dims[dim].size = outer;
  dims.insert(dims.begin() + dim + 1, LoopDim{inner, dims[dim].reduced, std::nullopt, {}});
  for (Access &access : accesses) {
    SymbolicSize stride = access.strides[dim];
    access.strides[dim] = stride * inner;
    access.strides.insert(access.strides.begin() + dim + 1, stride);
  }
}

FailureOr<IterationSpace> IterationSpace::get(OpBuilder &b, IndexBuilder &indices, linalg::LinalgOp op,
                                              bool reorderReductions) {
  Location loc = op.getLoc();
  IterationSpace space;
  space.numInputs = op.getNumDpsInputs();
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  SmallVector<SmallVector<SymbolicSize, 4>> operandSizes;
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    operandSizes.push_back(type ? sizesOf(b, loc, indices, operand.get()) : SmallVector<SymbolicSize, 4>());
  }

  // Loop sizes: static ones are known to the op, dynamic ones are the operand dimension that a map names directly.
  // Operand sizes are then replaced by the loop's, so that equal strides of several operands compare equal.
  for (auto [d, range] : llvm::enumerate(ranges)) {
    LoopDim &dim = space.dims.emplace_back();
    dim.size = ShapedType::isDynamic(range) ? SymbolicSize(0) : SymbolicSize(range);
    dim.sources.push_back(d);
  }
  SmallVector<bool> known = llvm::map_to_vector(ranges, [](int64_t range) { return !ShapedType::isDynamic(range); });
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    SmallVector<SymbolicSize, 4> &sizes = operandSizes[operand.getOperandNumber()];
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
    access.strides.assign(space.dims.size(), SymbolicSize(0));
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
      access.start = indices.sum(b, loc, access.start, stride * SymbolicSize(constant));
      for (auto [d, coefficient] : llvm::enumerate(coefficients))
        access.strides[d] = indices.sum(b, loc, access.strides[d], stride * SymbolicSize(coefficient));
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

/// Insertion sort, as in nditer. The first operand (outputs before inputs) that moves along both dimensions decides
/// their order. This is not a strict order, but dimensions that no operand decides about keep their places.
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
    llvm::append_range(dims[outer].sources, dims[inner].sources);
    for (Access &access : accesses)
      access.strides[outer] = access.strides[inner];
    erase(inner);
  }
}

} // namespace mlir::array::loops
