// array-expand-collectives: reductions among participants, and exchanges along any dimension, become exchanges of whole
// buffers with operations around them. Before it: array modules with calls inlined. After it: array-expand-complex and
// convert-array-to-linalg, and the runtime's side (runtime/lib/cuda/DeviceExchange.cpp), which copies contiguous
// memory.
#include "array/Gpu/Collectives.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::array {

#define GEN_PASS_DEF_EXPANDCOLLECTIVES
#include "array/Gpu/Collectives.h.inc"

namespace {

/// From this many bytes on, each member receives all parts of one piece and then all pieces, rather than all operands.
/// This moves fewer bytes, but the hosts' threads meet once more.
constexpr int64_t kTwoStepBytes = 128 << 10;

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

int64_t membersOf(DenseIntElementsAttr groups) { return cast<ShapedType>(groups.getType()).getDimSize(1); }

int64_t productOf(ArrayRef<int64_t> sizes) {
  int64_t product = 1;
  for (int64_t size : sizes)
    product *= size;
  return product;
}

Value reshape(ImplicitLocOpBuilder &b, Value value, ArrayRef<int64_t> shape) {
  if (typeOf(value).getShape() == shape)
    return value;
  return ReshapeOp::create(b, typeOf(value).clone(shape), value, ValueRange());
}

/// Moves dimension `from` to `to`; the others keep their order.
Value move(ImplicitLocOpBuilder &b, Value value, int64_t from, int64_t to) {
  if (from == to)
    return value;
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, typeOf(value).getRank()));
  order.erase(order.begin() + from);
  order.insert(order.begin() + to, from);
  return TransposeOp::create(b, value, order);
}

/// Splits one dimension into the parts and the rest, and joins it again.
Value cut(ImplicitLocOpBuilder &b, Value value, int64_t dimension, int64_t parts) {
  auto shape = llvm::to_vector(typeOf(value).getShape());
  shape[dimension] /= parts;
  shape.insert(shape.begin() + dimension, parts);
  return reshape(b, value, shape);
}
Value join(ImplicitLocOpBuilder &b, Value value, int64_t dimension) {
  auto shape = llvm::to_vector(typeOf(value).getShape());
  shape[dimension + 1] *= shape[dimension];
  shape.erase(shape.begin() + dimension);
  return reshape(b, value, shape);
}

/// Reduces along the first dimension, that of the members.
Value reduce(ImplicitLocOpBuilder &b, StringRef kind, Value value) {
  int64_t first[] = {0};
  if (kind == "sum")
    return ReduceSumOp::create(b, value, first);
  if (kind == "prod")
    return ReduceProdOp::create(b, value, first);
  if (kind == "max")
    return ReduceMaxOp::create(b, value, first);
  if (kind == "min")
    return ReduceMinOp::create(b, value, first);
  if (kind == "and")
    return ReduceAndOp::create(b, value, first);
  return ReduceOrOp::create(b, value, first);
}

/// Gathers the values of all members along a new first dimension.
Value gather(ImplicitLocOpBuilder &b, Value value, DenseIntElementsAttr groups) {
  auto shape = llvm::to_vector(typeOf(value).getShape());
  shape.insert(shape.begin(), 1);
  return AllGatherOp::create(b, reshape(b, value, shape), 0, groups);
}

/// The first dimension is that of the members: the receivers before the exchange, and the senders after it.
Value exchange(ImplicitLocOpBuilder &b, Value parts, DenseIntElementsAttr groups) {
  return AllToAllOp::create(b, parts, 0, 0, groups);
}

Value expand(ImplicitLocOpBuilder &b, AllReduceOp op) {
  RankedTensorType type = typeOf(op.getOperand());
  DenseIntElementsAttr groups = op.getGroups();
  int64_t elements = type.getNumElements(), members = membersOf(groups);
  Value flat = reshape(b, op.getOperand(), {elements}), result;
  unsigned bits = isa<ComplexType>(type.getElementType())
                      ? 2 * cast<ComplexType>(type.getElementType()).getElementType().getIntOrFloatBitWidth()
                      : type.getElementType().getIntOrFloatBitWidth();
  if (elements * bits / 8 < kTwoStepBytes || elements % members != 0) {
    result = reduce(b, op.getKind(), gather(b, flat, groups));
  } else {
    Value own = reduce(b, op.getKind(), exchange(b, cut(b, flat, 0, members), groups));
    result = gather(b, own, groups);
  }
  return reshape(b, result, type.getShape());
}

Value expand(ImplicitLocOpBuilder &b, ReduceScatterOp op) {
  Value parts = cut(b, op.getOperand(), op.getDimension(), membersOf(op.getGroups()));
  return reduce(b, op.getKind(), exchange(b, move(b, parts, op.getDimension(), 0), op.getGroups()));
}

Value expand(ImplicitLocOpBuilder &b, AllGatherOp op) {
  int64_t dimension = op.getDimension();
  // The dimensions before it have size 1: the runtime supports this case directly.
  if (productOf(typeOf(op.getOperand()).getShape().take_front(dimension)) == 1) {
    if (dimension == 0)
      return nullptr;
    auto shape = typeOf(op.getOperand()).getShape();
    Value gathered =
        AllGatherOp::create(b, reshape(b, op.getOperand(), shape.drop_front(dimension)), 0, op.getGroups());
    return reshape(b, gathered, typeOf(op).getShape());
  }
  return join(b, move(b, gather(b, op.getOperand(), op.getGroups()), 0, dimension), dimension);
}

Value expand(ImplicitLocOpBuilder &b, AllToAllOp op) {
  int64_t split = op.getSplitAxis(), concat = op.getConcatAxis();
  if (split == 0 && concat == 0)
    return nullptr;
  Value parts = move(b, cut(b, op.getOperand(), split, membersOf(op.getGroups())), split, 0);
  return join(b, move(b, exchange(b, parts, op.getGroups()), 0, concat), concat);
}

struct ExpandCollectives : impl::ExpandCollectivesBase<ExpandCollectives> {
  void runOnOperation() override {
    SmallVector<Operation *> found;
    getOperation()->walk([&](Operation *op) {
      if (isa<AllReduceOp, ReduceScatterOp, AllGatherOp, AllToAllOp>(op) && typeOf(op->getOperand(0)).hasStaticShape())
        found.push_back(op);
    });
    for (Operation *op : found) {
      ImplicitLocOpBuilder b(op->getLoc(), op);
      Value made = TypeSwitch<Operation *, Value>(op).Case<AllReduceOp, ReduceScatterOp, AllGatherOp, AllToAllOp>(
          [&](auto collective) { return expand(b, collective); });
      if (!made)
        continue;
      op->replaceAllUsesWith(ValueRange(made));
      op->erase();
    }
  }
};

} // namespace
} // namespace mlir::array
