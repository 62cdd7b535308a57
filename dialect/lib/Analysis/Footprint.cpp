// Footprints of operands (Footprint.h).
#include "Footprint.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::array::loops {

/// The position of a buffer's first byte: the root buffer, and the offset if it is known.
struct Origin {
  Value root;
  std::optional<int64_t> byte = 0;
};

static Origin originOf(Value memref) {
  Origin origin{memref};
  while (Operation *op = origin.root.getDefiningOp()) {
    if (auto view = dyn_cast<memref::ViewOp>(op)) {
      std::optional<int64_t> shift = getConstantIntValue(view.getByteShift());
      origin.byte = shift && origin.byte ? std::optional(*shift + *origin.byte) : std::nullopt;
      origin.root = view.getSource();
    } else if (auto view = dyn_cast<ViewLikeOpInterface>(op)) {
      origin.root = view.getViewSource(); // the type has the offset, and so has the access
    } else {
      break;
    }
  }
  return origin;
}

/// Arguments, allocations and constants overlap no other buffer.
static bool isDistinct(Value root) {
  if (auto argument = dyn_cast<BlockArgument>(root))
    return argument.getOwner()->isEntryBlock() && isa<func::FuncOp>(argument.getOwner()->getParentOp());
  return root.getDefiningOp<memref::AllocOp>() || root.getDefiningOp<memref::AllocaOp>() ||
         root.getDefiningOp<memref::GetGlobalOp>();
}

Value rootOf(Value memref) { return originOf(memref).root; }

/// Whether the elements of a row end before the next row starts, for all sizes: each stride covers the inner extents.
static bool areRowsApart(const Access &access, const IterationSpace &space) {
  SmallVector<unsigned> dims; // moving ones, from the narrowest stride to the widest
  for (unsigned d = 1; d < space.dims.size(); ++d)
    if (access.moves(d))
      dims.push_back(d);
  llvm::stable_sort(dims, [&](unsigned x, unsigned y) { return access.strides[y].exceeds(access.strides[x]); });
  SymbolicSize inside(1);
  for (unsigned d : dims) {
    if (!access.strides[d].covers(inside))
      return false;
    inside = access.strides[d] * space.dims[d].size;
  }
  return access.moves(0) && access.strides[0].covers(inside);
}

Footprint footprintOf(const Access &access, const IterationSpace &space) {
  Origin origin = originOf(access.memref);
  Footprint footprint{origin.root};
  if (!origin.byte || !access.element.isIntOrFloat())
    return footprint;
  int64_t bytes = llvm::divideCeil(access.element.getIntOrFloatBitWidth(), 8), inner = 1;
  if (access.start.isStatic() || *origin.byte == 0) {
    footprint.isLinear = true;
    footprint.firstByte = access.start.isStatic() ? SymbolicSize(*origin.byte + access.start.factor * bytes)
                                                  : access.start * SymbolicSize(bytes);
    footprint.bytesOfStep = space.dims.empty() ? SymbolicSize(0) : access.strides.front() * SymbolicSize(bytes);
    footprint.isApart = !space.dims.empty() && areRowsApart(access, space);
  }
  if (!access.start.isStatic())
    return footprint;
  for (auto [dim, stride] : llvm::zip_equal(space.dims, access.strides)) {
    if (!stride.isStatic() || stride.factor < 0 || !dim.size.isStatic())
      return footprint;
    if (&dim != &space.dims.front())
      inner += (dim.size.factor - 1) * stride.factor;
  }
  footprint.known = true;
  footprint.first = *origin.byte + access.start.factor * bytes;
  footprint.span = inner * bytes;
  int64_t rows = space.dims.empty() ? 1 : space.dims.front().size.factor;
  footprint.stride = space.dims.empty() ? 0 : access.strides.front().factor * bytes;
  footprint.end = footprint.first + (rows - 1) * footprint.stride + footprint.span;
  return footprint;
}

bool mayOverlap(const Footprint &a, const Footprint &b) {
  if (a.root != b.root)
    return !isDistinct(a.root) || !isDistinct(b.root);
  return !a.known || !b.known || (a.first < b.end && b.first < a.end);
}

bool writesLoaded(const IterationSpace &writer, linalg::LinalgOp reader) {
  auto isWritten = [&](memref::LoadOp load) {
    Footprint loaded{rootOf(load.getMemRef())};
    return llvm::any_of(writer.outputs(),
                        [&](const Access &output) { return mayOverlap(footprintOf(output, writer), loaded); });
  };
  return reader.getBlock()
      ->walk([&](memref::LoadOp load) { return isWritten(load) ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

} // namespace mlir::array::loops
