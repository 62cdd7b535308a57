// What a body of linalg.generic indexes by, in modules from elsewhere. A body can't leave the run: an operation before
// it looks at all of its indices, and the run checks the one that is wrong. Of array-check-input.
#include "Guards.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::array {

/// An index outside of [0, size), or 0 where all are within: a negative one as it is, others and 1.
static Value findOutside(OpBuilder &b, linalg::GenericOp generic, Operation *user, Value index, Value size) {
  Location loc = user->getLoc();
  Value zero = arith::ConstantIntOp::create(b, loc, 0, 64);
  Value none = tensor::FromElementsOp::create(b, loc, RankedTensorType::get({}, b.getI64Type()), zero);
  SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
  maps.push_back(AffineMap::get(generic.getNumLoops(), 0, b.getContext()));
  SmallVector<utils::IteratorType> iterators(generic.getNumLoops(), utils::IteratorType::reduction);
  auto found = linalg::GenericOp::create(
      b, loc, TypeRange(none.getType()), generic->getOperands(), none, maps, iterators,
      [&](OpBuilder &inside, Location, ValueRange arguments) {
        IRMapping mapping;
        mapping.map(generic.getBody()->getArguments(), arguments.drop_back());
        for (Operation &op : *generic.getBody()) {
          if (&op == user)
            break;
          inside.clone(op, mapping);
        }
        Value at = mapping.lookupOrDefault(index);
        Value isOutside = arith::CmpIOp::create(inside, loc, arith::CmpIPredicate::uge, at, size);
        Value word = arith::IndexCastOp::create(inside, loc, inside.getI64Type(), at);
        Value one = arith::ConstantIntOp::create(inside, loc, 1, 64);
        Value isNegative = arith::CmpIOp::create(inside, loc, arith::CmpIPredicate::slt, word, zero);
        Value told = arith::SelectOp::create(inside, loc, isNegative, word,
                                             arith::AddIOp::create(inside, loc, word, one).getResult());
        told = arith::SelectOp::create(inside, loc, isOutside, told, zero);
        Value greatest = arith::MaxUIOp::create(inside, loc, arguments.back(), told);
        linalg::YieldOp::create(inside, loc, greatest);
      });
  return tensor::ExtractOp::create(b, loc, found.getResult(0), ValueRange());
}

bool guardIndexOfBody(tensor::ExtractOp extract, int64_t dim) {
  auto generic = dyn_cast<linalg::GenericOp>(extract->getParentOp());
  Operation *made = extract.getTensor().getDefiningOp();
  if (!generic || (made && generic->isProperAncestor(made)))
    return false;
  Location loc = extract.getLoc();
  OpBuilder b(generic);
  OpFoldResult size = tensor::getMixedSize(b, loc, extract.getTensor(), dim);
  Value whole = getValueOrCreateConstantIndexOp(b, loc, size);
  Value told = findOutside(b, generic, extract, extract.getIndices()[dim], whole);
  auto constant = [&](int64_t value) -> Value { return arith::ConstantIntOp::create(b, loc, value, 64); };
  auto is = [&](arith::CmpIPredicate predicate, int64_t value) -> Value {
    return arith::CmpIOp::create(b, loc, predicate, told, constant(value));
  };
  // Of the index 0 and the size 1 where all are within.
  Value less = arith::SubIOp::create(b, loc, told, constant(1));
  Value index = arith::SelectOp::create(b, loc, is(arith::CmpIPredicate::sle, 0), told, less);
  Value bound = arith::SelectOp::create(b, loc, is(arith::CmpIPredicate::eq, 0),
                                        arith::ConstantIndexOp::create(b, loc, 1).getResult(), whole);
  index = arith::IndexCastOp::create(b, loc, b.getIndexType(), index);
  emitGuard(b, extract, {PCRT_CHECK_INDEX, 0, dim, {index, bound}});
  return true;
}

} // namespace mlir::array
