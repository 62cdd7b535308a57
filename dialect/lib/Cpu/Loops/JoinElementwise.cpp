// The pass array-join-elementwise: neighbouring elementwise ops over the same elements become one op with several
// outputs, so that one loop loads each element once, and values between them stay in registers: the components of a
// vector field, the moments of an optimizer, positions and velocities. Runs after array-lower-matmuls, which looks for
// ops with one output; array-reuse-buffers and array-vectorize-linalg follow.
#include "Analysis/BufferUses.h"
#include "Analysis/Footprint.h"
#include "RowTemporaries.h"
#include "ScheduleAttr.h"
#include "array/Cpu/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::array {
#define GEN_PASS_DEF_JOINELEMENTWISE
#include "array/Cpu/Passes.h.inc"

namespace {
using loops::Access;
using loops::Footprint;

/// The maximum numbers of buffers, operations and functions of a joined body: more values than registers would go
/// through memory in any case.
constexpr size_t mostBuffers = 16, mostOperations = 128, mostFunctions = 2;
/// The maximum number of uses of a temporary.
constexpr unsigned mostUses = 128;

/// A buffer as one member uses it: element i of the loop is at a known place.
struct Operand {
  OpOperand *operand;
  Footprint place;
  Type element;

  bool isSameAs(const Operand &other) const {
    if (place.root != other.place.root || element != other.element)
      return false;
    if (place.known && other.place.known)
      return place.first == other.place.first && place.stride == other.place.stride;
    return place.isLinear && other.place.isLinear && place.firstByte == other.place.firstByte &&
           place.bytesOfStep == other.place.bytesOfStep;
  }
};

struct Member {
  linalg::GenericOp op;
  SmallVector<int64_t> sizes; ///< Of the dimensions that are no unit dimensions.
  SmallVector<Operand> inputs, outputs;
  SmallVector<OpOperand *> scalars; ///< Operands that are no buffers.
  size_t operations = 0, functions = 0;
};

/// Whether element i of `after` may be computed right after element i of `before`; `shares`: they have one in common.
bool isElementByElement(const Member &before, const Member &after, bool &shares) {
  auto areApart = [&](const Operand &a, const Operand &b, bool isWritten) {
    bool same = a.isSameAs(b) && a.place.rowsAreApart();
    shares |= same;
    return !isWritten || same || !mayOverlap(a.place, b.place) ||
           (a.place.root == b.place.root && a.place.hasSameRows(b.place) && a.place.rowsAreApart() &&
            b.place.rowsAreApart());
  };
  for (const Operand &a : before.inputs) {
    for (const Operand &b : after.inputs)
      areApart(a, b, false);
    for (const Operand &b : after.outputs)
      if (!areApart(a, b, true))
        return false;
  }
  for (const Operand &a : before.outputs)
    for (ArrayRef<Operand> others : {ArrayRef(after.inputs), ArrayRef(after.outputs)})
      for (const Operand &b : others)
        if (!areApart(a, b, true))
          return false;
  return true;
}

/// Reading an op makes views and sizes. They stay as long as places are compared, and are removed in the end.
struct Made : RewriterBase::Listener {
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override { ops.insert(op); }
  void notifyOperationErased(Operation *op) override { ops.remove(op); }
  void erase() {
    SmallVector<Operation *> all = ops.takeVector();
    for (Operation *each : llvm::reverse(all))
      if (isOpTriviallyDead(each))
        each->erase();
  }
  llvm::SetVector<Operation *> ops;
};

class Joining {
public:
  explicit Joining(func::FuncOp func) : indices(func.front()), b(func.getContext()) { b.setListener(&made); }
  ~Joining() { made.erase(); }

  void run(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (auto copy = dyn_cast<memref::CopyOp>(op); copy && copy.getSource() == copy.getTarget()) {
        copy.erase(); // an in-place change leaves it
        continue;
      }
      if (isMemoryEffectFree(&op) || isa<memref::AllocOp>(op))
        continue;
      std::optional<Member> member = read(&op);
      if (!member || !fits(*member))
        join();
      if (member)
        members.push_back(std::move(*member));
    }
    join();
  }

private:
  std::optional<Member> read(Operation *op);
  bool fits(const Member &member) const;
  void join();
  bool isDead(const Operand &output, const llvm::SmallSetVector<OpOperand *, 8> &forwarded) const;

  Made made;
  loops::IndexBuilder indices;
  IRRewriter b;
  SmallVector<Member, 0> members;
};

std::optional<Member> Joining::read(Operation *candidate) {
  auto op = dyn_cast<linalg::GenericOp>(candidate);
  if (!op || !op.hasPureBufferSemantics() || op.getNumParallelLoops() != op.getNumLoops() ||
      op->hasAttr(loops::kScheduleAttr) || op.hasIndexSemantics() ||
      llvm::any_of(op.getStaticLoopRanges(), [](int64_t size) { return ShapedType::isDynamic(size) || size == 0; }))
    return std::nullopt;
  Member member;
  member.op = op;
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (!isPure(&inner))
      return std::nullopt;
    ++member.operations;
    member.functions +=
        isa<math::MathDialect>(inner.getDialect()) && !isa<math::FmaOp, math::AbsFOp, math::SqrtOp>(inner);
  }
  b.setInsertionPoint(op);
  FailureOr<loops::IterationSpace> space = loops::IterationSpace::get(b, indices, op, /*reorderReductions=*/true);
  if (failed(space) || space->dims.size() != 1)
    return std::nullopt;
  for (auto [operand, access] : llvm::zip_equal(op->getOpOperands(), space->accesses)) {
    if (access.scalar) {
      member.scalars.push_back(&operand);
      continue;
    }
    Operand use{&operand, footprintOf(access, *space), access.element};
    (access.isOutput ? member.outputs : member.inputs).push_back(use);
    // An output that the body reads is an input, too.
    if (access.isOutput && !op.getMatchingBlockArgument(&operand).use_empty())
      member.inputs.push_back(use);
  }
  for (int64_t size : op.getStaticLoopRanges())
    if (size != 1)
      member.sizes.push_back(size);
  return member;
}

bool Joining::fits(const Member &member) const {
  if (members.empty() || members.front().sizes != member.sizes)
    return members.empty();
  size_t operations = member.operations, functions = member.functions;
  // A temporary that is stored before it is loaded probably becomes a value.
  SmallVector<const Operand *> buffers, values;
  auto count = [&](const Member &other) {
    auto isKnown = [](ArrayRef<const Operand *> operands, const Operand &operand) {
      return llvm::any_of(operands, [&](const Operand *known) { return known->isSameAs(operand); });
    };
    for (const Operand &input : other.inputs)
      if (!isKnown(buffers, input) && !isKnown(values, input))
        buffers.push_back(&input);
    for (const Operand &output : other.outputs)
      if (!isKnown(buffers, output))
        (output.place.root.getDefiningOp<memref::AllocOp>() ? values : buffers).push_back(&output);
  };
  bool shares = false;
  for (const Member &other : members) {
    if (!isElementByElement(other, member, shares))
      return false;
    operations += other.operations;
    functions += other.functions;
    count(other);
  }
  count(member);
  return shares && buffers.size() <= mostBuffers && operations <= mostOperations && functions <= mostFunctions;
}

/// Whether nothing reads what the output stores: all uses of the allocation are stores, and loads that became values.
bool Joining::isDead(const Operand &output, const llvm::SmallSetVector<OpOperand *, 8> &forwarded) const {
  auto alloc = output.place.root.getDefiningOp<memref::AllocOp>();
  // A buffer of many parts is no temporary, and looking at all its uses for each part would take quadratic time.
  if (!alloc || llvm::hasNItemsOrMore(alloc->getUses(), mostUses))
    return false;
  for (Value view : viewsOf(alloc))
    for (OpOperand &use : view.getUses()) {
      Operation *user = use.getOwner();
      if (isa<ViewLikeOpInterface>(user) && isMemoryEffectFree(user))
        continue;
      auto member = llvm::find_if(members, [&](const Member &each) { return each.op == user; });
      if (member == members.end())
        return false;
      bool isRead = llvm::any_of(member->inputs, [&](const Operand &input) { return input.operand == &use; });
      if (isRead && !forwarded.contains(&use))
        return false;
    }
  return true;
}

void Joining::join() {
  if (members.size() < 2) {
    members.clear();
    return;
  }
  linalg::GenericOp last = members.back().op;
  b.setInsertionPoint(last);
  MLIRContext *context = b.getContext();
  unsigned rank = members.front().sizes.size();
  SmallVector<Value> inputs, outputs;
  SmallVector<AffineMap> inputMaps, outputMaps;
  auto mapOf = [&](linalg::GenericOp op, OpOperand *operand) {
    SmallVector<AffineExpr> dims;
    unsigned next = 0;
    for (int64_t size : op.getStaticLoopRanges())
      dims.push_back(size == 1 ? getAffineConstantExpr(0, context) : getAffineDimExpr(next++, context));
    return op.getMatchingIndexingMap(operand).replaceDimsAndSymbols(dims, {}, rank, 0);
  };

  // The body: each load is a block argument, or the value that an earlier member stored.
  struct Held {
    const Operand *at;
    Value value;
    bool isStored;
  };
  Block body;
  IRMapping mapping;
  SmallVector<Held> held;
  llvm::SmallSetVector<OpOperand *, 8> forwarded;
  OpBuilder inner(context);
  inner.setInsertionPointToStart(&body);
  for (Member &member : members) {
    auto take = [&](OpOperand *operand) {
      inputs.push_back(operand->get());
      inputMaps.push_back(mapOf(member.op, operand));
      return body.addArgument(getElementTypeOrSelf(operand->get().getType()), operand->get().getLoc());
    };
    for (OpOperand *scalar : member.scalars)
      mapping.map(member.op.getMatchingBlockArgument(scalar), take(scalar));
    for (const Operand &input : member.inputs) {
      auto known = llvm::find_if(held, [&](const Held &each) { return each.at->isSameAs(input); });
      if (known == held.end()) {
        held.push_back({&input, take(input.operand), false});
        known = &held.back();
      } else if (known->isStored) {
        forwarded.insert(input.operand);
      }
      mapping.map(member.op.getMatchingBlockArgument(input.operand), known->value);
    }
    Block *from = member.op.getBody();
    for (Operation &op : from->without_terminator())
      inner.clone(op, mapping);
    for (const Operand &output : member.outputs) {
      unsigned number = output.operand->getOperandNumber() - member.op.getNumDpsInputs();
      Value value = mapping.lookupOrDefault(from->getTerminator()->getOperand(number));
      auto known = llvm::find_if(held, [&](const Held &each) { return each.at->isSameAs(output); });
      if (known == held.end())
        held.push_back({&output, value, true});
      else
        *known = {&output, value, true};
    }
  }

  SmallVector<Value> yielded;
  llvm::SmallSetVector<Value, 4> unused;
  for (const Held &each : held) {
    if (!each.isStored)
      continue;
    if (isDead(*each.at, forwarded)) {
      unused.insert(each.at->place.root);
      continue;
    }
    outputs.push_back(each.at->operand->get());
    outputMaps.push_back(mapOf(cast<linalg::GenericOp>(each.at->operand->getOwner()), each.at->operand));
    yielded.push_back(each.value);
    body.addArgument(each.value.getType(), each.value.getLoc());
  }
  linalg::YieldOp::create(inner, last.getLoc(), yielded);
  inputMaps.append(outputMaps);
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  auto joined = linalg::GenericOp::create(b, last.getLoc(), TypeRange(), inputs, outputs, inputMaps, iterators);
  joined.getRegion().push_back(new Block());
  Block &target = joined.getRegion().front();
  for (BlockArgument argument : body.getArguments())
    argument.replaceAllUsesWith(target.addArgument(argument.getType(), argument.getLoc()));
  target.getOperations().splice(target.end(), body.getOperations());
  for (Member &member : members)
    member.op.erase();
  for (Value buffer : unused)
    loops::eraseWithViews(b, buffer);
  members.clear();
}

struct JoinElementwise : impl::JoinElementwiseBase<JoinElementwise> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (func.isDeclaration())
      return;
    llvm::SetVector<Block *> blocks;
    func.walk([&](linalg::GenericOp op) { blocks.insert(op->getBlock()); });
    Joining joining(func);
    for (Block *block : blocks)
      joining.run(*block);
  }
};

} // namespace
} // namespace mlir::array
