// The parameter types of the functions of a matmul (MatmulKernels.h).
#include "MatmulKernels.h"

namespace mlir::array {

static constexpr int64_t dynamic = ShapedType::kDynamic;

static MemRefType stridedType(ArrayRef<int64_t> shape, Type element, ArrayRef<int64_t> strides) {
  return MemRefType::get(shape, element, StridedLayoutAttr::get(element.getContext(), dynamic, strides));
}

MemRefType matmulMatrixType(Type element, bool unitStride) {
  return stridedType({dynamic, dynamic}, element, {dynamic, unitStride ? 1 : dynamic});
}

MemRefType matmulPanelType(Type element, const MatmulTile &tile) {
  return stridedType({dynamic, tile.columns()}, element, {dynamic, 1});
}

MemRefType matmulPackedType(Type element, const MatmulTile &tile) {
  return stridedType({dynamic, dynamic, tile.columns()}, element, {dynamic, tile.columns(), 1});
}

MemRefType matmulAheadType(Type element) { return stridedType({dynamic}, element, {dynamic}); }

} // namespace mlir::array
