// Upstream's analysis compares, for each operand, all reads with all writes of all values that may share the operand's
// memory. For n successive updates of one array, its time grows with the third or fourth power of n. Here the values
// that may share memory form a class, which records, for each block, the last read of a value and the range of the
// writes. This decides nearly every operand at once, with upstream's result: an operand is written in place if all
// reads of its memory's current contents come before. Upstream decides the remaining operands while the classes are
// small. In large classes the operand is copied, which is always correct, and the copy begins a new class.
//
// Operations are visited from the last to the first, and an operation with regions before its contents. So when an
// operation is visited, a class holds the operand and the values that later operations derive from it; earlier values
// have not joined yet. The same holds for carries of surrounding loops: after the loop, no value from before the loop
// is read in their memory, or the loop would not have them in place. So only the members of a class in the operation's
// own block count.
#include "InPlaceAnalysis.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Dominance.h"

namespace mlir::array {

using namespace bufferization;

namespace {

/// The maximum number of values in a class for upstream's analysis.
constexpr unsigned largestClass = 24;

/// Facts about the values of a class in one block, by the numbers of its operations.
struct Uses {
  int64_t lastRead = -1, readsThere = 0;
  int64_t firstWrite = std::numeric_limits<int64_t>::max(), lastWrite = -1;

  void read(int64_t place, int64_t count = 1) {
    if (place > lastRead)
      readsThere = 0;
    if (place >= lastRead)
      readsThere += count;
    lastRead = std::max(lastRead, place);
  }
  void write(int64_t place) {
    firstWrite = std::min(firstWrite, place);
    lastWrite = std::max(lastWrite, place);
  }
};

/// Values that may share memory.
struct Class {
  SmallVector<std::pair<Block *, Uses>, 1> uses;
  unsigned size = 1;
  bool isWritable = true, isWritten = false;
  /// The class has values of several blocks that no loop or branch passes on, or has unsupported uses.
  bool isComplex = false;

  Uses &in(Block *block) {
    for (auto &[known, found] : uses)
      if (known == block)
        return found;
    return uses.emplace_back(block, Uses()).second;
  }
};

class Analysis {
public:
  Analysis(Operation *root, OneShotAnalysisState &state) : state(state), dominance(root) {
    root->walk([&](Operation *op) {
      if (hasTensorSemantics(op))
        ops.push_back(op);
    });
    root->walk([&](Block *block) {
      for (auto [number, op] : llvm::enumerate(*block))
        places[&op] = number;
    });
    for (Operation *op : llvm::reverse(ops))
      for (Value result : op->getResults())
        add(result);
    root->walk([&](Block *block) {
      for (Value argument : block->getArguments())
        add(argument);
    });
  }

  int64_t length() const { return ops.size(); }

  /// Marks operands that must be in place. False if memory that an operation was given is read later.
  bool takeGiven() {
    SmallVector<OpOperand *> given;
    for (Operation *op : ops)
      for (OpOperand &operand : op->getOpOperands())
        if (isa<TensorType>(operand.get().getType()) && state.isInPlace(operand))
          given.push_back(&operand);
    for (OpOperand *operand : given) {
      AliasingValueList results = state.getAliasingValues(*operand);
      if (state.bufferizesToMemoryWrite(*operand) && !mayWrite(*operand, results))
        return false;
      join(*operand, results, /*handsOn=*/true);
    }
    return true;
  }

  LogicalResult run() {
    for (Operation *op : llvm::reverse(ops))
      if (failed(decide(op)))
        return failure();
    findEqual();
    return success();
  }

private:
  static bool isPlain(Operation *op) { return op->getNumRegions() == 0 || isa<linalg::LinalgOp>(op); }

  void add(Value value) {
    if (!isa<TensorType>(value.getType()))
      return;
    auto made = std::make_unique<Class>();
    made->isWritable = state.isWritable(value);
    Block *block = value.getParentBlock();
    Uses &uses = made->in(block);
    for (OpOperand &use : value.getUses()) {
      Operation *inBlock = block->findAncestorOpInBlock(*use.getOwner());
      if (state.bufferizesToMemoryRead(use)) {
        uses.read(places.lookup(inBlock));
      } else if (!state.bufferizesToMemoryWrite(use)) {
        // A read of a view is a read of the operand.
        for (const AliasingValue &view : state.getAliasingValues(use)) {
          Class *known = use.getOwner() == inBlock ? find(view.value) : nullptr;
          made->isComplex |= !known || known->isComplex || Value(view.value).getParentBlock() != block;
          if (known && known->in(block).lastRead >= 0)
            uses.read(known->in(block).lastRead, known->in(block).readsThere);
        }
      } else if (use.getOwner() != inBlock) {
        made->isComplex = true;
      }
    }
    classes[value] = made.get();
    all.push_back(std::move(made));
    leaders.insert(value);
  }

  Class *find(Value value) {
    auto leader = leaders.findLeader(value);
    return leader == leaders.member_end() ? nullptr : classes.lookup(*leader);
  }

  /// Whether a value is a result of the operation, or a carry of a loop.
  static bool isOf(Operation *op, Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return (argument ? argument.getOwner()->getParentOp() : value.getDefiningOp()) == op;
  }

  /// Whether an operation may write its operand in place: all reads of the memory's contents come before it.
  bool mayWrite(OpOperand &operand, const AliasingValueList &results) {
    Operation *op = operand.getOwner();
    Class *of = find(operand.get());
    if (!of || of->isComplex || !of->isWritable || operand.get().getParentBlock() != op->getBlock())
      return false;
    int64_t place = places.lookup(op);
    const Uses &uses = of->in(op->getBlock());
    bool readsAlone = uses.lastRead == place && uses.readsThere == 1 && state.bufferizesToMemoryRead(operand);
    if ((uses.lastRead >= place && !readsAlone) || uses.lastWrite >= place)
      return false;
    return llvm::all_of(results, [&](const AliasingValue &result) {
      Class *other = find(result.value);
      return other && !other->isComplex && other->isWritable && isOf(op, result.value);
    });
  }

  /// Whether a result may be a view of the operand. Either it is never written, and all its reads come before the
  /// writes of other values; or it is written, and the operand has no other reads afterwards.
  bool mayView(OpOperand &operand, const AliasingValueList &results) {
    Operation *op = operand.getOwner();
    Class *of = find(operand.get());
    if (!of || of->isComplex || operand.get().getParentBlock() != op->getBlock())
      return false;
    const Uses &uses = of->in(op->getBlock());
    return llvm::all_of(results, [&](const AliasingValue &result) {
      Class *other = find(result.value);
      if (!other || other == of || other->isComplex || !isOf(op, result.value))
        return false;
      // Without writes there are no conflicts.
      if (!of->isWritten && !other->isWritten)
        return true;
      if (!of->isWritable || !other->isWritable || uses.firstWrite <= places.lookup(op))
        return false;
      const Uses &ofView = other->in(op->getBlock());
      if (!other->isWritten)
        return ofView.lastRead < uses.firstWrite;
      if (of->isWritten && !isPutBack(op, ofView, uses.firstWrite))
        return false;
      return areReadBefore(operand, ofView.firstWrite, /*isPutBack=*/of->isWritten);
    });
  }

  /// Whether all users of the operand, except for the operation that puts its view back, read it before `place`.
  bool areReadBefore(OpOperand &operand, int64_t place, bool isPutBack) {
    unsigned members = 1, mostUses = 16, changes = 0;
    for (OpOperand &use : operand.get().getUses()) {
      Operation *user = use.getOwner();
      if (mostUses-- == 0 || user->getBlock() != operand.getOwner()->getBlock())
        return false;
      if (&use == &operand) {
        ++members;
      } else if (state.bufferizesToMemoryWrite(use)) {
        ++changes;
      } else if (state.bufferizesToMemoryRead(use)) {
        if (places.lookup(user) >= place)
          return false;
      } else {
        for (const AliasingValue &other : state.getAliasingValues(use)) {
          Class *known = find(other.value);
          if (!known || known->isWritten || known->in(user->getBlock()).lastRead >= place)
            return false;
          members += known == find(operand.get());
        }
      }
    }
    // The class has no other values, or only values that follow from the change.
    return isPutBack ? changes == 1 : changes == 0 && members > find(operand.get())->size;
  }

  /// Whether a view is read and written until the first operation that writes its source inserts it there again. Then
  /// no elements move.
  bool isPutBack(Operation *op, const Uses &ofView, int64_t firstWrite) {
    auto part = dyn_cast<tensor::ExtractSliceOp>(op);
    if (!part || ofView.lastWrite >= firstWrite || ofView.lastRead != firstWrite || ofView.readsThere != 1)
      return false;
    for (Operation *user : part.getSource().getUsers()) {
      auto insertion = dyn_cast<tensor::InsertSliceOp>(user);
      if (!insertion || places.lookup(user) != firstWrite || insertion.getDest() != part.getSource() ||
          !isEqualConstantIntOrValueArray(insertion.getMixedOffsets(), part.getMixedOffsets()) ||
          !isEqualConstantIntOrValueArray(insertion.getMixedSizes(), part.getMixedSizes()) ||
          !isEqualConstantIntOrValueArray(insertion.getMixedStrides(), part.getMixedStrides()))
        continue;
      // Look through operations that compute in place of it.
      Value source = insertion.getSource();
      for (unsigned steps = 0; steps < largestClass && source != part.getResult(); ++steps) {
        auto computed = source.getDefiningOp<DestinationStyleOpInterface>();
        OpOperand *init = computed ? computed.getTiedOpOperand(cast<OpResult>(source)) : nullptr;
        if (!init || !state.isInPlace(*init))
          return false;
        source = init->get();
      }
      return source == part.getResult();
    }
    return false;
  }

  /// Adds the results to the operand's class. Loops and branches pass values from one block to another.
  void join(OpOperand &operand, const AliasingValueList &results, bool handsOn) {
    Operation *op = operand.getOwner();
    Class *of = find(operand.get());
    if (!of)
      return;
    if (state.bufferizesToMemoryWrite(operand)) {
      of->isWritten = true;
      of->in(op->getBlock()).write(places.lookup(op));
    }
    for (const AliasingValue &result : results) {
      Class *other = find(result.value);
      of = find(operand.get());
      if (!other || other == of)
        continue;
      if (of->size < other->size)
        std::swap(of, other);
      for (auto &[block, uses] : other->uses) {
        Uses &joined = of->in(block);
        joined.read(uses.lastRead, uses.readsThere);
        joined.firstWrite = std::min(joined.firstWrite, uses.firstWrite);
        joined.lastWrite = std::max(joined.lastWrite, uses.lastWrite);
      }
      of->size += other->size;
      of->isWritable &= other->isWritable;
      of->isWritten |= other->isWritten;
      of->isComplex |= other->isComplex;
      of->isComplex |= !handsOn && operand.get().getParentBlock() != Value(result.value).getParentBlock();
      leaders.unionSets(operand.get(), result.value);
      classes[*leaders.findLeader(operand.get())] = of;
    }
  }

  unsigned sizeOfClasses(OpOperand &operand, const AliasingValueList &results) {
    auto sizeOf = [&](Value value) {
      Class *found = find(value);
      return found ? found->size : 1;
    };
    unsigned size = sizeOf(operand.get());
    for (const AliasingValue &result : results)
      size += sizeOf(result.value);
    return size;
  }

  LogicalResult decide(Operation *op) {
    SmallVector<OpOperand *> open;
    bool isLarge = false;
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<TensorType>(operand.get().getType()) || state.isInPlace(operand))
        continue;
      AliasingValueList results = state.getAliasingValues(operand);
      bool writes = state.bufferizesToMemoryWrite(operand), isLoop = isa<scf::ForOp, scf::WhileOp>(op);
      bool isObvious = !writes && results.getNumAliases() == 0; // it reads
      if (!isObvious && (isPlain(op) || isLoop))
        isObvious = writes ? mayWrite(operand, results) : mayView(operand, results);
      if (isObvious) {
        state.bufferizeInPlace(operand);
        join(operand, results, isLoop);
        continue;
      }
      open.push_back(&operand);
      isLarge |= sizeOfClasses(operand, results) > largestClass;
    }
    if (open.empty())
      return success();
    if (isLarge) {
      for (OpOperand *operand : open)
        state.bufferizeOutOfPlace(*operand);
      return success();
    }
    if (failed(state.analyzeSingleOp(op, dominance)))
      return failure();
    for (OpOperand *operand : open)
      if (state.isInPlace(*operand))
        join(*operand, state.getAliasingValues(*operand), isa<scf::ForOp, scf::WhileOp>(op));
    return success();
  }

  /// Finds values that certainly have the same memory and the same offset.
  void findEqual() {
    for (Operation *op : ops) {
      if (!state.getOptions().dynCastBufferizableOp(op))
        continue;
      for (OpResult result : op->getResults()) {
        if (!isa<TensorType>(result.getType()))
          continue;
        AliasingOpOperandList sources = state.getAliasingOpOperands(result);
        if (sources.getNumAliases() == 0)
          continue;
        Value first = sources.getAliases().front().opOperand->get();
        if (llvm::all_of(sources, [&](const AliasingOpOperand &source) {
              return source.relation == BufferRelation::Equivalent && source.isDefinite &&
                     state.isInPlace(*source.opOperand) &&
                     state.areEquivalentBufferizedValues(source.opOperand->get(), first);
            }))
          state.unionEquivalenceClasses(result, first);
      }
    }
  }

  OneShotAnalysisState &state;
  DominanceInfo dominance;
  SmallVector<Operation *> ops; // operations in regions of an operation come before it
  DenseMap<Operation *, int64_t> places;
  llvm::EquivalenceClasses<Value> leaders;
  DenseMap<Value, Class *> classes; // of leaders
  SmallVector<std::unique_ptr<Class>> all;
};

} // namespace

LogicalResult analyzeInPlace(Operation *root, OneShotAnalysisState &state, int64_t shortProgram) {
  Analysis analysis(root, state);
  // If given memory is read later, the program has no solution, or only upstream finds one.
  if (analysis.length() <= shortProgram || !analysis.takeGiven())
    return analyzeOp(root, state);
  if (failed(analysis.run()))
    return failure();
  state.gatherUndefinedTensorUses(root);
  WalkResult checked = root->walk([&](BufferizableOpInterface op) {
    return failed(op.verifyAnalysis(state)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(checked.wasInterrupted());
}

} // namespace mlir::array
