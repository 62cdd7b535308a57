// array-outline-kernels: parts of @main that differ only in their buffers (the layers of a network) become calls of one
// private function, so that later passes, above all code generation, process them once. Runs after
// array-vectorize-linalg, which marks the parts; array-expand-math and array-parallelize-loops follow.
//
// Parts are compared by a signature: their operations in order, with attributes, types and the numbers of their
// operands. Values from outside are numbered at their first use. Locations do not count, because no operation in a part
// can fail.
#include "Analysis/ParallelLoops.h"
#include "array/Entry/Entry.h"
#include "array/Entry/Passes.h"
#include "array/IR/Array.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <map>

namespace mlir::array {

#define GEN_PASS_DEF_OUTLINEKERNELS
#include "array/Entry/Passes.h.inc"

namespace {

/// A range of the arena.
struct ArenaRange {
  Value arena;
  int64_t first, end;

  bool overlaps(const ArenaRange &other) const {
    return arena == other.arena && first < other.end && other.first < end;
  }
};

std::optional<ArenaRange> rangeOf(Value buffer) {
  auto view = buffer.getDefiningOp<memref::ViewOp>();
  std::optional<int64_t> shift = view ? getConstantIntValue(view.getByteShift()) : std::nullopt;
  if (!shift || !view.getType().hasStaticShape() || !isa<BlockArgument>(view.getSource()))
    return std::nullopt;
  int64_t bytes = llvm::divideCeil(view.getType().getElementTypeBitWidth(), 8) * view.getType().getNumElements();
  if (auto live = view->getAttrOfType<DenseI64ArrayAttr>(kLiveAttr)) // some temporaries have only a part of their
                                                                     // type's size
    bytes = live[2];
  return ArenaRange{view.getSource(), *shift, *shift + bytes};
}

bool isArgumentOf(Value value, std::optional<EntryRole> role = std::nullopt) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  return function && (!role || getEntryRole(function, argument.getArgNumber()) == role);
}

/// Whether a buffer is passed as a pointer: dense memory that overlaps no other.
bool isBuffer(Value value) {
  auto type = dyn_cast<MemRefType>(value.getType());
  return type && type.hasStaticShape() && type.getLayout().isIdentity() && type.getElementType().isIntOrFloat() &&
         (isArgumentOf(value) || rangeOf(value) || value.getDefiningOp<memref::GetGlobalOp>() ||
          value.getDefiningOp<memref::AllocaOp>());
}

/// Buffers that are passed as one argument. Overlapping ranges of the arena are joined, because separate arguments are
/// assumed not to alias.
struct Passed {
  SmallVector<Value, 1> members;
  std::optional<ArenaRange> range;

  bool isJoint() const { return members.size() > 1; }
  int64_t bytes() const { return range->end - range->first; }
};

/// A part of @main: a loop, or the operations in a marked region.
class Part {
public:
  explicit Part(Operation *op) : op(op) {
    for (Operation *parent = op->getParentOp(); parent; parent = parent->getParentOp())
      inIteration |= parent->hasAttr(kParallelAttr);
  }

  /// Reads the operations. False if the part cannot be a function.
  bool read() {
    if (!isRegion() ? !visit(op) : !visitBlock(op->getRegion(0).front()))
      return false;
    for (Value value : outside)
      if (!pass(value))
        return false;
    for (const Passed &entry : passed)
      describe(entry);
    return true;
  }

  /// Counts operations; a function of the math dialect counts as many.
  int size() const { return operations; }
  /// Equal for parts that compute the same from their arguments.
  const std::vector<uintptr_t> &signature() const { return words; }

  func::FuncOp outline(func::FuncOp main, const Twine &name);
  void replaceByCall(func::FuncOp main, func::FuncOp kernel);
  Operation *operation() const { return op; }

private:
  bool isRegion() const { return isa<scf::ExecuteRegionOp>(op); }
  void add(const void *word) { words.push_back(reinterpret_cast<uintptr_t>(word)); }

  void define(Value value) {
    numbers.try_emplace(value, numbers.size() + 1);
    words.push_back(numbers.size());
    add(value.getType().getAsOpaquePointer());
  }

  /// Writes the number of a value. Values from outside are passed, or recomputed in the function.
  bool use(Value value) {
    auto known = numbers.find(value);
    if (known != numbers.end()) {
      words.push_back(known->second);
      return true;
    }
    Operation *source = value.getDefiningOp();
    // In an iteration of a loop for threads, other parts may read what this one writes: the buffer is passed.
    bool isScratch = !inIteration && isa_and_nonnull<memref::AllocaOp>(source) && source->hasAttr(kPrivateAttr);
    bool isSymbol = isa_and_nonnull<SymbolOp, ThreadsOp>(source); // known in the call of @main: the function gets it as
                                                                  // an argument
    if (isScratch ||
        (source && !isSymbol && !isBuffer(value) && source->getNumRegions() == 0 && isMemoryEffectFree(source))) {
      if (!visit(source))
        return false;
      copied.push_back(source);
      words.push_back(numbers.lookup(value));
      return true;
    }
    outside.push_back(value);
    define(value);
    return true;
  }

  bool visit(Operation *operation) {
    // Operations that can fail must report their place in @main. And an op of LLVM's may be a call of the runtime.
    if (isa<RuntimeCallOp, LLVM::CallOp, memref::AllocOp>(operation))
      return false;
    isParallel |= operation->hasAttr(kParallelAttr);
    operations += isa<math::MathDialect>(operation->getDialect()) ? mathOperations : 1;
    add(operation->getName().getAsOpaquePointer());
    add(operation->getAttrDictionary().getAsOpaquePointer());
    words.push_back(operation->getNumOperands());
    for (Value operand : operation->getOperands())
      if (!use(operand))
        return false;
    for (Value result : operation->getResults())
      define(result);
    for (Region &region : operation->getRegions()) {
      words.push_back(region.getBlocks().size());
      for (Block &block : region)
        if (!visitBlock(block))
          return false;
    }
    return true;
  }

  bool visitBlock(Block &block) {
    for (BlockArgument argument : block.getArguments())
      define(argument);
    for (Operation &inner : block)
      if (!visit(&inner))
        return false;
    return true;
  }

  bool pass(Value value) {
    bool isValue = value.getType().isIntOrIndexOrFloat() || isa<VectorType>(value.getType());
    if (isValue || (isBuffer(value) && !rangeOf(value) && !isArgumentOf(value, EntryRole::Arena))) {
      passed.push_back({{value}, std::nullopt});
      return true;
    }
    std::optional<ArenaRange> range = isBuffer(value) ? rangeOf(value) : std::nullopt;
    if (!range)
      return false;
    Passed joint{{value}, range};
    // A buffer may bring two others together.
    llvm::erase_if(passed, [&](const Passed &other) {
      if (!other.range || !other.range->overlaps(*range))
        return false;
      joint.members.append(other.members);
      joint.range->first = std::min(joint.range->first, other.range->first);
      joint.range->end = std::max(joint.range->end, other.range->end);
      return true;
    });
    passed.push_back(joint);
    return true;
  }

  void describe(const Passed &entry) {
    words.push_back(entry.members.size());
    for (Value member : entry.members) {
      words.push_back(numbers.lookup(member));
      if (entry.isJoint())
        words.push_back(rangeOf(member)->first - entry.range->first);
    }
    if (entry.isJoint())
      words.push_back(entry.bytes());
  }

  static MemRefType jointType(OpBuilder &b, const Passed &entry) {
    return MemRefType::get({entry.bytes()}, b.getI8Type());
  }

  static constexpr int mathOperations = 20;

  Operation *op;
  int operations = 0;
  std::vector<uintptr_t> words;
  DenseMap<Value, uintptr_t> numbers;
  SmallVector<Value> outside;
  SmallVector<Operation *> copied; ///< Recomputed in the function, in this order.
  SmallVector<Passed> passed;
  bool isParallel = false;
  bool inIteration = false; ///< Inside a loop for threads.
};

func::FuncOp Part::outline(func::FuncOp main, const Twine &name) {
  ImplicitLocOpBuilder b(op->getLoc(), main);
  SmallVector<Type> types;
  for (const Passed &entry : passed)
    types.push_back(entry.isJoint() ? Type(jointType(b, entry)) : entry.members.front().getType());
  auto kernel = func::FuncOp::create(b, name.str(), b.getFunctionType(types, {}));
  kernel.setPrivate();
  kernel->setAttr(kKernelAttr, b.getUnitAttr());
  kernel->setAttr(kUnitAttr, b.getUnitAttr());
  kernel->setAttr("llvm.linkage", LLVM::LinkageAttr::get(b.getContext(), LLVM::Linkage::Internal));
  Block *body = kernel.addEntryBlock();
  b.setInsertionPointToStart(body);

  IRMapping mapping;
  for (auto [index, entry] : llvm::enumerate(passed)) {
    Value argument = body->getArgument(index);
    if (isa<MemRefType>(argument.getType())) {
      setEntryRole(kernel, index, EntryRole::Argument);
      kernel.setArgAttr(index, kWrittenAttr, b.getUnitAttr());
    }
    for (Value member : entry.members) {
      if (!entry.isJoint()) {
        mapping.map(member, argument);
        continue;
      }
      Value shift = arith::ConstantIndexOp::create(b, rangeOf(member)->first - entry.range->first);
      auto view = memref::ViewOp::create(b, cast<MemRefType>(member.getType()), argument, shift, ValueRange());
      mapping.map(member, view.getResult());
    }
  }
  for (Operation *source : copied)
    b.clone(*source, mapping);
  if (isRegion())
    for (Operation &inner : op->getRegion(0).front().without_terminator())
      b.clone(inner, mapping);
  else
    b.clone(*op, mapping);
  func::ReturnOp::create(b);
  if (isParallel)
    takeFrame(kernel);
  return kernel;
}

void Part::replaceByCall(func::FuncOp main, func::FuncOp kernel) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  SmallVector<Value> operands;
  for (const Passed &entry : passed) {
    Value operand = entry.members.front();
    if (entry.isJoint()) {
      Value first = arith::ConstantIndexOp::create(b, entry.range->first);
      operand = memref::ViewOp::create(b, jointType(b, entry), entry.range->arena, first, ValueRange());
    }
    operands.push_back(operand);
  }
  if (isParallel)
    operands.push_back(takeFrame(main));
  func::CallOp::create(b, kernel, operands);
  op->erase();
}

bool isMarkedRegion(Operation *op) { return isa<scf::ExecuteRegionOp>(op) && op->hasAttr(kKernelAttr); }

bool holdsMarkedRegion(Operation *op) {
  return op
      ->walk([](scf::ExecuteRegionOp region) {
        return isMarkedRegion(region) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Replaces a marked region by its operations.
void inlineRegion(Operation *region) {
  Block &block = region->getRegion(0).front();
  block.getTerminator()->erase();
  region->getBlock()->getOperations().splice(region->getIterator(), block.getOperations());
  region->erase();
}

/// Marked regions and loops in an operation, the outermost ones.
void findParts(Operation *root, SmallVectorImpl<Operation *> &found) {
  // Loops in a loop for threads belong to one thread.
  bool isShared = root->hasAttr(kParallelAttr);
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == root)
      return WalkResult::advance();
    if (isShared)
      op->removeAttr(kParallelAttr);
    bool isPart = isMarkedRegion(op) || (isa<scf::ForOp>(op) && op->getNumResults() == 0);
    if (!isPart)
      return WalkResult::advance();
    if (isShared)
      op->walk([](scf::ForOp loop) { loop->removeAttr(kParallelAttr); });
    found.push_back(op);
    return WalkResult::skip();
  });
}

struct OutlineKernels : impl::OutlineKernelsBase<OutlineKernels> {
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal())
      return;
    SmallVector<Operation *> found;
    findParts(main, found);
    int number = 0;
    // A part that does not repeat may contain parts that do.
    while (!found.empty())
      found = outlineRepeated(main, found, number);
    if (number > 0)
      eraseUnused(main);
  }

  /// Makes functions of the parts that repeat, and returns the parts inside the others.
  static SmallVector<Operation *> outlineRepeated(func::FuncOp main, ArrayRef<Operation *> found, int &number) {
    std::vector<Part> parts;
    parts.reserve(found.size());
    SmallVector<Operation *> alone, inner;
    std::map<std::vector<uintptr_t>, SmallVector<Part *>> groups;
    SmallVector<SmallVector<Part *> *> ordered; // ordered by the first of each
    for (Operation *op : found) {
      Part part(op);
      if (!part.read()) {
        alone.push_back(op);
        continue;
      }
      parts.push_back(std::move(part));
      SmallVector<Part *> &group = groups[parts.back().signature()];
      if (group.empty())
        ordered.push_back(&group);
      group.push_back(&parts.back());
    }
    for (SmallVector<Part *> *group : ordered) {
      if (group->size() < 2 || group->front()->size() < leastOperations) {
        for (Part *part : *group)
          alone.push_back(part->operation());
        continue;
      }
      func::FuncOp kernel = group->front()->outline(main, "kernel" + Twine(number++));
      for (Part *part : *group)
        part->replaceByCall(main, kernel);
      kernel.walk([](scf::ExecuteRegionOp region) { inlineRegion(region); });
    }
    for (Operation *op : alone) {
      if (isMarkedRegion(op))
        inlineRegion(op);
      else if (holdsMarkedRegion(op))
        findParts(op, inner);
    }
    return inner;
  }

  /// Code as short as a call stays.
  static constexpr int leastOperations = 8;

  /// Erases views and constants that only the functions need now.
  static void eraseUnused(func::FuncOp main) {
    main->walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
      if (isOpTriviallyDead(op))
        op->erase();
    });
  }
};

} // namespace
} // namespace mlir::array
