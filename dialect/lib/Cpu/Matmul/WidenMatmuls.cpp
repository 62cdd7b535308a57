// array-widen-matmuls: large matmuls of narrow floats get operands in the type of their sums. Runs after
// convert-array-to-linalg, and before array-fuse-elementwise, which fuses the widening into the producers of the
// operands.
#include "Analysis/ContractionForm.h"
#include "MatmulDot2.h"
#include "array/Analysis/MatmulWorth.h"
#include "array/Analysis/SymbolicSizes.h"
#include "array/Cpu/Passes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::array {

#define GEN_PASS_DEF_WIDENMATMULS
#include "array/Cpu/Passes.h.inc"

namespace {

/// Rows, columns and terms: the loops over one factor alone, over the other one alone, and over both but not the
/// result.
struct ProductSizes {
  int64_t m = 1, n = 1, k = 1;
};

/// The expected size of a loop.
std::optional<int64_t> sizeOfLoop(SymbolicSizes &sizes, linalg::GenericOp op, unsigned loop) {
  for (OpOperand &operand : op->getOpOperands())
    for (auto [dim, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
      if (expr == getAffineDimExpr(loop, op.getContext()))
        if (OpFoldResult size = sizes.sizeOf(operand.get(), dim))
          return factsOf(size).expected;
  return std::nullopt;
}

std::optional<ProductSizes> measure(SymbolicSizes &known, linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 || !op.hasPureTensorSemantics())
    return std::nullopt;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (!llvm::all_of(maps, [](AffineMap map) { return map.isProjectedPermutation(); }))
    return std::nullopt;
  ProductSizes sizes;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    std::optional<int64_t> size = sizeOfLoop(known, op, loop);
    if (!size)
      return std::nullopt;
    bool inLeft = maps[0].isFunctionOfDim(loop), inRight = maps[1].isFunctionOfDim(loop);
    if (!maps[2].isFunctionOfDim(loop))
      sizes.k *= *size;
    else if (inLeft != inRight)
      (inLeft ? sizes.m : sizes.n) *= *size;
  }
  return sizes;
}

Value widen(SymbolicSizes &known, OpBuilder &b, Location loc, Value narrow, Type element) {
  auto type = cast<RankedTensorType>(narrow.getType());
  SmallVector<OpFoldResult> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    sizes.push_back(known.sizeOf(narrow, dim));
  Value empty = tensor::EmptyOp::create(b, loc, sizes, element);
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
void widenOperands(SymbolicSizes &known, linalg::GenericOp op) {
  OpBuilder b(op);
  Block *body = op.getBody();
  Type element = body->getArgument(2).getType();
  for (OpOperand *operand : op.getDpsInputOperands()) {
    operand->set(widen(known, b, op.getLoc(), operand->get(), element));
    BlockArgument factor = body->getArgument(operand->getOperandNumber());
    Operation *extension = *factor.user_begin();
    factor.setType(element);
    extension->getResult(0).replaceAllUsesWith(factor);
    extension->erase();
  }
}

struct WidenMatmuls : impl::WidenMatmulsBase<WidenMatmuls> {
  using Base::Base;

  void runOnOperation() override {
    SymbolicSizes known(getOperation());
    SmallVector<linalg::GenericOp> products;
    getOperation().walk([&](linalg::GenericOp op) {
      std::optional<ProductSizes> sizes = measure(known, op);
      if (!sizes || !widensFloats(op.getBody()) || !isWorthBlocking(sizes->m, sizes->n, sizes->k))
        return;
      bool isDot2 = bfloat16Dot2 && isBFloat16MultiplyAdd(op.getBody());
      if (!isDot2 || !isWorthDot2(sizes->m, sizes->n, sizes->k))
        products.push_back(op);
    });
    for (linalg::GenericOp op : products)
      widenOperands(known, op);
  }
};

} // namespace
} // namespace mlir::array
