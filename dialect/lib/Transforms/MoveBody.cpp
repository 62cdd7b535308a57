// Fusion by moving operations (MoveBody.h). Upstream's fusion copies both bodies, so a chain that is fused one op after
// the other copies a growing body for each op. Here the operations of the producer move, and the fused op is the reader
// itself: the time for a chain is proportional to its length.
#include "MoveBody.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

namespace mlir::array {
namespace {

int64_t sizeOf(linalg::GenericOp op) { return int64_t(op.getBody()->getOperations().size()); }

/// Whether an op computes each element of its one result from the elements at the same place.
bool isPlain(linalg::GenericOp op) {
  return op.hasPureTensorSemantics() && op->getNumResults() == 1 && op.getNumReductionLoops() == 0 &&
         op.getRegionOutputArgs()[0].use_empty() && op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity();
}

bool canMove(linalg::GenericOp producer, OpOperand *operand, int64_t mostOperations) {
  auto reader = cast<linalg::GenericOp>(operand->getOwner());
  return producer->hasOneUse() && isPlain(producer) && producer->getBlock() == reader->getBlock() &&
         producer.getNumLoops() == reader.getNumLoops() && reader.getMatchingIndexingMap(operand).isIdentity() &&
         reader->getDiscardableAttrDictionary().empty() && linalg::areElementwiseOpsFusable(operand) &&
         sizeOf(producer) + sizeOf(reader) <= mostOperations;
}

/// The place before the operations that use an element: values that are computed there do not occupy registers earlier.
Block::iterator firstUse(BlockArgument element) {
  Block *body = element.getOwner();
  Operation *first = body->getTerminator();
  for (Operation *user : element.getUsers())
    if (Operation *op = body->findAncestorOpInBlock(*user); op->isBeforeInBlock(first))
      first = op;
  return first->getIterator();
}

/// The inputs of the reader with their maps and arguments. An input that it has already is not added.
class Inputs {
public:
  explicit Inputs(linalg::GenericOp op) : op(op), values(op.getInputs()), maps(op.getIndexingMapsArray()) {}

  BlockArgument insert(unsigned place, Value value, AffineMap map, BlockArgument like) {
    for (unsigned known = 0; known < values.size(); ++known)
      if (values[known] == value && maps[known] == map)
        return op.getBody()->getArgument(known);
    values.insert(values.begin() + place, value);
    maps.insert(maps.begin() + place, map);
    return op.getBody()->insertArgument(place, like.getType(), like.getLoc());
  }

  void erase(unsigned place) {
    values.erase(values.begin() + place);
    maps.erase(maps.begin() + place);
    op.getBody()->eraseArgument(place);
  }

  size_t size() const { return values.size(); }

  void write(RewriterBase &rewriter) {
    op.getInputsMutable().assign(values);
    op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
  }

private:
  linalg::GenericOp op;
  SmallVector<Value> values;
  SmallVector<AffineMap> maps;
};

} // namespace

bool moveIntoReader(RewriterBase &rewriter, OpOperand *operand, int64_t mostOperations) {
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  if (!producer || !canMove(producer, operand, mostOperations))
    return false;
  auto reader = cast<linalg::GenericOp>(operand->getOwner());
  Block &from = *producer.getBody(), &to = *reader.getBody();
  Inputs inputs(reader);
  unsigned place = operand->getOperandNumber();
  rewriter.startOpModification(reader);
  for (OpOperand *input : producer.getDpsInputOperands()) {
    BlockArgument element = from.getArgument(input->getOperandNumber());
    size_t before = inputs.size();
    element.replaceAllUsesWith(inputs.insert(place, input->get(), producer.getMatchingIndexingMap(input), element));
    place += inputs.size() - before;
  }
  Operation *yield = from.getTerminator();
  BlockArgument read = to.getArgument(place);
  to.getOperations().splice(firstUse(read), from.getOperations(), from.begin(), yield->getIterator());
  read.replaceAllUsesWith(yield->getOperand(0));
  inputs.erase(place);
  inputs.write(rewriter);
  rewriter.finalizeOpModification(reader);
  rewriter.eraseOp(producer);
  return true;
}

} // namespace mlir::array
