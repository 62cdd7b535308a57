// array-widen-products: large products of narrow floats get operands in the type of their sums. After
// convert-array-to-linalg, before array-fuse-elementwise, which computes the operands where they are widened.
#include "ContractionForm.h"
#include "GemmPairs.h"
#include "array/Transforms/Passes.h"
#include "array/Transforms/Products.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::array {

#define GEN_PASS_DEF_WIDENPRODUCTS
#include "array/Transforms/Passes.h.inc"

namespace {

/// Rows, columns and terms: of the loops over one factor, over the other one, and over both but not the result.
struct ProductSizes {
  int64_t m = 1, n = 1, k = 1;
};

std::optional<ProductSizes> measure(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 || !op.hasPureTensorSemantics())
    return std::nullopt;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (!llvm::all_of(maps, [](AffineMap map) { return map.isProjectedPermutation(); }))
    return std::nullopt;
  ProductSizes sizes;
  for (auto [loop, size] : llvm::enumerate(op.getStaticLoopRanges())) {
    if (ShapedType::isDynamic(size))
      return std::nullopt;
    bool inLeft = maps[0].isFunctionOfDim(loop), inRight = maps[1].isFunctionOfDim(loop);
    if (!maps[2].isFunctionOfDim(loop))
      sizes.k *= size;
    else if (inLeft != inRight)
      (inLeft ? sizes.m : sizes.n) *= size;
  }
  return sizes;
}

Value widen(OpBuilder &b, Location loc, Value narrow, Type element) {
  auto type = cast<RankedTensorType>(narrow.getType());
  Value empty = tensor::EmptyOp::create(b, loc, type.getShape(), element);
  SmallVector<AffineMap> maps(2, b.getMultiDimIdentityMap(type.getRank()));
  SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
  return linalg::GenericOp::create(b, loc, empty.getType(), narrow, empty, maps, loops,
                                   [&](OpBuilder &body, Location at, ValueRange args) {
                                     Value wide = arith::ExtFOp::create(body, at, element, args[0]);
                                     linalg::YieldOp::create(body, at, wide);
                                   })
      .getResult(0);
}

/// The operation on operands of the type of its sums.
void widenOperands(linalg::GenericOp op) {
  OpBuilder b(op);
  Block *body = op.getBody();
  Type element = body->getArgument(2).getType();
  for (OpOperand *operand : op.getDpsInputOperands()) {
    operand->set(widen(b, op.getLoc(), operand->get(), element));
    BlockArgument factor = body->getArgument(operand->getOperandNumber());
    Operation *extension = *factor.user_begin();
    factor.setType(element);
    extension->getResult(0).replaceAllUsesWith(factor);
    extension->erase();
  }
}

struct WidenProducts : impl::WidenProductsBase<WidenProducts> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<linalg::GenericOp> products;
    getOperation().walk([&](linalg::GenericOp op) {
      std::optional<ProductSizes> sizes = measure(op);
      if (!sizes || !widensFloats(op.getBody()) || !isWorthBlocking(sizes->m, sizes->n, sizes->k))
        return;
      bool hasPairs = bfloat16Pairs && isBFloat16MultiplyAdd(op.getBody());
      if (!hasPairs || !isWorthPairing(sizes->m, sizes->n, sizes->k))
        products.push_back(op);
    });
    for (linalg::GenericOp op : products)
      widenOperands(op);
  }
};

} // namespace
} // namespace mlir::array
