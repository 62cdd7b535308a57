// Emits parts of contractions (MatmulParts.h): the same operation on views of its operands.
#include "MatmulParts.h"
#include "MatmulKernels.h"

namespace mlir::array {

std::optional<unsigned> loopAlong(linalg::LinalgOp op, const MatmulForm &product, unsigned number) {
  const bool isIn[] = {number != 1, number != 0, number != 2}; // a, b and c
  OpOperand *operands[] = {op.getDpsInputOperand(product.isSwapped), op.getDpsInputOperand(!product.isSwapped),
                           op.getDpsInitOperand(0)};
  std::optional<unsigned> found;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    bool isAlong = llvm::all_of(llvm::zip_equal(operands, isIn), [&](auto pair) {
      return op.getMatchingIndexingMap(std::get<0>(pair)).isFunctionOfDim(loop) == std::get<1>(pair);
    });
    if (isAlong && found)
      return std::nullopt;
    if (isAlong)
      found = loop;
  }
  return found;
}

/// The part of an operand for [first, first + count) of a loop.
static Value partOf(ImplicitLocOpBuilder &b, linalg::LinalgOp op, OpOperand &operand, unsigned loop, Value first,
                    int64_t count) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  if (!map.isFunctionOfDim(loop))
    return operand.get();
  SmallVector<OpFoldResult> offsets, sizes, steps(map.getNumResults(), b.getIndexAttr(1));
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    bool isCut = expr == b.getAffineDimExpr(loop);
    BoundedSize size = isCut ? BoundedSize(count) : *sizeOfBuffer(operand.get(), dim);
    offsets.push_back(isCut ? getAsOpFoldResult(first) : b.getIndexAttr(0));
    sizes.push_back(getAsOpFoldResult(MatmulBuilder(b).index(size)));
  }
  return memref::SubViewOp::create(b, operand.get(), offsets, sizes, steps);
}

void emitPart(ImplicitLocOpBuilder &b, linalg::LinalgOp op, linalg::FillOp fill, unsigned loop, Value first,
              int64_t count) {
  SmallVector<Value> parts;
  for (OpOperand &operand : op->getOpOperands())
    parts.push_back(partOf(b, op, operand, loop, first, count));
  if (fill)
    linalg::FillOp::create(b, fill.getInputs(), parts.back());
  b.clone(*op)->setOperands(parts);
}

void emitTerms(ImplicitLocOpBuilder &b, linalg::LinalgOp op, linalg::FillOp fill, unsigned loop,
               const BoundedSize &size, int64_t end) {
  MatmulBuilder g(b);
  SmallVector<int64_t> numbers;
  for (int64_t number = 1; number < end; ++number)
    if (size.mayBe(number))
      numbers.push_back(number);
  auto choice = scf::IndexSwitchOp::create(b, TypeRange(), g.index(size), numbers, numbers.size());
  OpBuilder::InsertionGuard guard(b);
  for (Region &region : choice->getRegions()) {
    b.createBlock(&region);
    if (unsigned place = region.getRegionNumber()) // the first one is the default
      emitPart(b, op, fill, loop, g.index(0), numbers[place - 1]);
    scf::YieldOp::create(b);
  }
}

} // namespace mlir::array
